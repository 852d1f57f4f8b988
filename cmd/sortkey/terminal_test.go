package main

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

// runAt runs a command line and returns its exit code and output. Width is the width of the terminal, or 0 if the
// output is not a terminal.
func runAt(width int, env map[string]string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = cli.Main(args, &app.Env{
		Stdin: strings.NewReader("tables"), Stdout: &out, Stderr: &err,
		Getenv: func(name string) string { return env[name] },
		Width:  func() int { return width },
	})
	return code, out.String(), err.String()
}

func TestTerminal(t *testing.T) {
	model := filepath.Join(writeModels(t), "file-tree.yaml")
	query := []string{"query", "Drive", "DRIVE#a91", "root/photos/*", "--model", model, "--trace"}
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
			code, out, stderr := runAt(tt.width, tt.env, query...)
			if code != 0 || stderr != "" {
				t.Fatalf("exit code %d, %s", code, stderr)
			}
			if got := strings.Contains(out, "\x1b["); got != tt.colour {
				t.Errorf("colour: %v, want %v:\n%s", got, tt.colour, out)
			}
			if got := strings.Contains(out, "───"); got != (tt.width == 0) {
				t.Errorf("a table: %v, want %v:\n%s", got, tt.width == 0, out)
			}
			if !strings.Contains(out, "root/photos/2026/sunset.jpg") {
				t.Errorf("the sort key is cut:\n%s", out)
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	t.Chdir(t.TempDir())
	const drive = "name: drive\ntables: {Drive: {partition: PK, sort: SK}}\n" +
		"entities: {File: {attributes: {PK: \"D#{drive}\", SK: \"{file}\"}, count: 10}}\n"
	if err := os.WriteFile("drive.yaml", []byte(drive), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		code int
		args string
	}{
		{0, ""},
		{0, "help"},
		{0, "version"},
		{0, "demo file-tree"},
		{0, "query Drive x -m drive.yaml"},
		{1, "demo nothing"},
		{1, "query Nope x -m drive.yaml"},
		{1, "query Drive x --endpoint http://127.0.0.1:1"},
		{1, "query Drive x --endpoint http://nowhere.invalid"},
		{1, "serve --credentials @/nowhere/at/all"},
		{1, "serve --addr 192.0.2.1:0"},
		{0, "tables -m drive.yaml"},
		{0, "scan Drive -m drive.yaml --limit 1"},
		{1, "get Drive x y -m drive.yaml"},
		{2, "get"},
		{2, "get Drive x -m drive.yaml"},
		{2, "get Drive x y z -m drive.yaml"},
		{2, "put Drive {} -m drive.yaml"},
		{2, "put Drive nothing"},
		{2, "update Drive x"},
		{2, "delete Drive x y -m drive.yaml"},
		{2, "scan Drive -m drive.yaml -o xml"},
		{2, "scan Drive -m drive.yaml --limit -1"},
		{2, "tables x"},
		{2, "nothing"},
		{2, "demo a b"},
		{2, "demo --nothing"},
		{2, "query"},
		{2, "query Drive x >= -m drive.yaml"},
		{2, "serve --addr ::"},
		{2, "serve --cors ftp"},
	} {
		code, _, stderr := runAt(0, nil, strings.Fields(tt.args)...)
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

// commands returns all commands that completion lists, except help, completion and the topics of help.
func commands(t *testing.T, path ...string) (all [][]string) {
	t.Helper()
	_, list, _ := runAt(0, nil, append(append([]string{"__complete"}, path...), "")...)
	for line := range strings.Lines(list) {
		name, about, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || name == "help" || name == "completion" || strings.HasPrefix(about, "Where to begin") {
			continue
		}
		at := append(slices.Clone(path), name)
		all = append(all, at)
		if name == "design" || name == "key" || name == "bench" && len(path) == 0 {
			all = append(all, commands(t, at...)...)
		}
	}
	return all
}

// TestWrongUse tests for all commands that the exit code is 2 if the command line itself is wrong. It must be 1 if
// only the server or file that the command line names is the cause of the error.
func TestWrongUse(t *testing.T) {
	free := strings.Fields("import explain sql bench get put update delete query serve")
	fails := func(want int, args ...string) {
		t.Helper()
		code, _, stderr := runAt(0, nil, args...)
		if code != want || !strings.Contains(stderr, "\nhint: ") {
			t.Errorf("sortkey %q ends with %d, want %d: %s", args, code, want, stderr)
		}
	}
	all := commands(t)
	if len(all) < 30 {
		t.Fatalf("only %d commands: %s", len(all), all)
	}
	for _, path := range all {
		fails(2, append(path, "--no-such-flag")...)
		if last := path[len(path)-1]; !slices.Contains(free, last) || last == "import" && len(path) == 1 {
			fails(map[bool]int{true: 1, false: 2}[last == "import"], append(path, "a", "b", "c", "d")...)
		}
	}

	const nowhere = "http://127.0.0.1:1"
	for _, args := range []string{
		"tables", "create T a", "alter T --no-ttl", "drop T --yes", "get T a", "put T {\"a\":1}", "update T a REMOVE\ufeffb",
		"delete T a", "query T a", "scan T", "sql SELECT\ufeff*\ufeffFROM\ufeffT", "explain T a", "shell " + nowhere, "console",
		"export T --to - --endpoint", "design import --from " + nowhere, "design check shop --against " + nowhere,
	} {
		words := strings.Fields(args)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "\ufeff", " ")
		}
		if !strings.Contains(args, nowhere) {
			words = append(slices.DeleteFunc(words, func(w string) bool { return w == "--endpoint" }), "--endpoint", nowhere)
		}
		fails(1, words...)
	}

	// A flag without a value is wrong use. So is a flag that needs another flag, without that.
	for _, args := range []string{
		"serve --stale-oldest", "serve --accept-loss", "serve --slow 1s", "serve -P a=b",
		"serve --max-items 1", "serve --control", "serve --design shop",
		"import a.json --format json --columns a",
		"import a.json --data x --workers 2", "query Drive x -m file-tree --trace -o csv", "design import --all a.json",
		"design import --from x -P a=b", "design check shop --against x --prices y", "design nosuch", "key nosuch",
		"key format {a} b=1", "key range {a}# b=1", "import a.json --key a:X", "import a.json --type a=X",
	} {
		fails(2, strings.Fields(args)...)
	}
	fails(2, "serve", "--data", "")
}

// TestRefusedImport tests that a refused import leaves no database folder, and that a complete import does.
func TestRefusedImport(t *testing.T) {
	dir := t.TempDir()
	file, data := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "db")
	if err := os.WriteFile(file, []byte(`{"pk": "a"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{"", "--table Tab", "--table Tab --key pk:N --type pk=S", "--key pk --table Tab --delimiter ;"} {
		args := append([]string{"import", file, "--data", data}, strings.Fields(more)...)
		if code, _, stderr := runAt(0, nil, args...); code != 1 {
			t.Errorf("%q ends with %d: %s", args, code, stderr)
		}
		if _, err := os.Stat(data); !os.IsNotExist(err) {
			t.Errorf("%q leaves %s: %v", args, data, err)
		}
	}
	if code, _, stderr := runAt(0, nil, "import", file, "--data", data, "--table", "Tab", "--key", "pk"); code != 0 {
		t.Error(stderr)
	}
	if _, err := os.Stat(data); err != nil {
		t.Error(err)
	}
}

// TestTerminalShows prints an item with control characters and direction marks in every format. It tests that a
// terminal gets escapes in place of them, and that a pipe gets the data unchanged.
func TestTerminalShows(t *testing.T) {
	dir := t.TempDir()
	file, data := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "db")
	const marks = "\u202e\u2066\u009b31m\u0085\u007f\u200f"
	item := `{"pk":"a` + marks + `b","` + marks + `":{"` + marks + `":["` + marks + `"]},"set":"\u001b[31m\u0007"}`
	if err := os.WriteFile(file, []byte(item), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := runAt(0, nil, "import", file, "--table", "Rows", "--key", "pk", "--data", data); code != 0 {
		t.Fatal(stderr)
	}

	key := "a" + marks + "b"
	for _, args := range [][]string{
		{"scan", "Rows", "--json"}, {"scan", "Rows", "-o", "plain-json"}, {"scan", "Rows", "-o", "csv"}, {"scan", "Rows", "-o", "lines"}, {"scan", "Rows"},
		{"scan", "Rows", "--json", "--limit", "1"}, {"get", "Rows", key, "--json"}, {"get", "Rows", key, "-o", "plain-json"}, {"query", "Rows", key, "--json", "--trace"},
		{"export", "Rows", "--to", "-"},
	} {
		args = append(args, "--data", data)
		code, piped, stderr := runAt(0, nil, args...)
		if code != 0 {
			t.Fatalf("%s: %s", args, stderr)
		}
		_, shown, _ := runAt(80, map[string]string{"NO_COLOR": "1"}, args...)
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
