package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

// run runs a command line and returns its exit code and output. Width is the width
// of the terminal, or 0 if there is none.
func run(width int, env map[string]string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = cli.Main(args, &app.Env{
		Stdout: &out, Stderr: &err,
		Getenv: func(name string) string { return env[name] },
		Width:  func() int { return width },
	})
	return code, out.String(), err.String()
}

func TestTerminal(t *testing.T) {
	query := []string{"query", "Drive", "DRIVE#a91", "root/photos/*", "--model", "file-tree", "--trace"}
	for _, tt := range []struct {
		name   string
		width  int
		env    map[string]string
		colour bool
	}{
		{"pipe", 0, nil, false},
		{"terminal", 60, nil, true},
		{"NO_COLOR", 60, map[string]string{"NO_COLOR": "1"}, false},
		{"dumb", 60, map[string]string{"TERM": "dumb"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, out, stderr := run(tt.width, tt.env, query...)
			if code != 0 || stderr != "" {
				t.Fatalf("exit code %d, %s", code, stderr)
			}
			if got := strings.Contains(out, "\x1b["); got != tt.colour {
				t.Errorf("colour: %v, want %v:\n%s", got, tt.colour, out)
			}
			if got := strings.Contains(out, "1 attribute does not fit: --json and -o lines show all"); got != (tt.width > 0) {
				t.Errorf("an attribute is left out: %v, want %v:\n%s", got, tt.width > 0, out)
			}
			if !strings.Contains(out, "root/photos/2026/sunset.jpg") {
				t.Errorf("the sort key is cut:\n%s", out)
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		code int
		args string
	}{
		{0, ""},
		{0, "help"},
		{0, "version"},
		{0, "demo file-tree"},
		{0, "demo --list --json"},
		{0, "query Drive x -m file-tree"},
		{1, "demo nothing"},
		{1, "query Nope x -m file-tree"},
		{1, "query Drive x --endpoint http://127.0.0.1:1"},
		{1, "query Drive x --endpoint http://nowhere.invalid"},
		{1, "serve --credentials @/nowhere/at/all"},
		{1, "serve --addr 192.0.2.1:0"},
		{0, "tables -m file-tree"},
		{0, "scan Drive -m file-tree --limit 1"},
		{1, "get Drive x y -m file-tree"},
		{2, "get"},
		{2, "get Drive x -m file-tree"},
		{2, "get Drive x y z -m file-tree"},
		{2, "put Drive {} -m file-tree"},
		{2, "put Drive nothing"},
		{2, "update Drive x"},
		{2, "delete Drive x y -m file-tree"},
		{2, "scan Drive -m file-tree -o xml"},
		{2, "scan Drive -m file-tree --limit -1"},
		{2, "tables x"},
		{2, "nothing"},
		{2, "demo a b"},
		{2, "demo --nothing"},
		{2, "query"},
		{2, "query Drive x >= -m file-tree"},
		{2, "serve --addr ::"},
		{2, "serve --cors ftp"},
	} {
		code, _, stderr := run(0, nil, strings.Fields(tt.args)...)
		if code != tt.code {
			t.Errorf("sortkey %s ends with %d, want %d: %s", tt.args, code, tt.code, stderr)
		}
		if (code != 0) != strings.HasPrefix(stderr, "sortkey: ") {
			t.Errorf("sortkey %s says %q", tt.args, stderr)
		}
		if code == 2 && !strings.Contains(stderr, "\nhint: ") {
			t.Errorf("sortkey %s gives no hint: %s", tt.args, stderr)
		}
	}
}

// TestTerminalShows prints an item with control characters and direction marks in every format: a terminal
// gets escapes, and a pipe the data as it is.
func TestTerminalShows(t *testing.T) {
	dir := t.TempDir()
	file, data := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "db")
	const marks = "\u202e\u2066\u009b31m\u0085\u007f\u200f"
	item := `{"pk":"a` + marks + `b","` + marks + `":{"` + marks + `":["` + marks + `"]},"set":"\u001b[31m\u0007"}`
	if err := os.WriteFile(file, []byte(item), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := run(0, nil, "import", file, "--table", "Rows", "--key", "pk", "--data", data); code != 0 {
		t.Fatal(stderr)
	}

	key := "a" + marks + "b"
	for _, args := range [][]string{
		{"scan", "Rows", "--json"}, {"scan", "Rows", "--plain-json"}, {"scan", "Rows", "-o", "csv"}, {"scan", "Rows", "-o", "lines"}, {"scan", "Rows"},
		{"scan", "Rows", "--json", "--limit", "1"}, {"get", "Rows", key, "--json"}, {"get", "Rows", key, "--plain-json"}, {"query", "Rows", key, "--json", "--trace"},
		{"export", "Rows", "--to", "-"}, {"export", "Rows", "--to", "-", "--format", "json"}, {"export", "Rows", "--to", "-", "--format", "csv"},
	} {
		args = append(args, "--data", data)
		code, piped, stderr := run(0, nil, args...)
		if code != 0 {
			t.Fatalf("%s: %s", args, stderr)
		}
		_, shown, _ := run(80, map[string]string{"NO_COLOR": "1"}, args...)
		for _, r := range shown {
			if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
				t.Errorf("%q: %U reaches the terminal in %q", args, r, shown)
			}
		}
		if slices.Contains(args, "--json") && !slices.Contains(args, "--trace") {
			var one, other any
			if json.Unmarshal([]byte(piped), &one) != nil || json.Unmarshal([]byte(shown), &other) != nil || !reflect.DeepEqual(one, other) {
				t.Errorf("%q: a terminal shows other data: %s", args, shown)
			}
		}
	}
}
