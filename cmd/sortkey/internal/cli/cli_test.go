package cli_test

import (
	"bytes"
	"strings"
	"testing"

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
