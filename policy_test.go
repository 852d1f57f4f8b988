package sortkey_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rules of docs/design.md that a test can keep.

const module = "github.com/sortkey/sortkey"

// fences says which rooms a room may import, tests aside. A room not listed
// here fails TestFences: decide where it belongs.
var fences = map[string][]string{
	"attr":                     {},
	"expr":                     {"attr"},
	"store":                    {},
	"store/memory":             {"store"},
	"store/disk":               {"store"},
	"store/storetest":          {"store"},
	"keycond":                  {"attr", "expr", "store"},
	"table":                    {"attr", "expr", "store", "keycond"},
	"api":                      {"attr", "expr", "store", "keycond", "table"},
	"server":                   {},
	"":                         {"store", "store/memory", "table", "api", "server"},
	"sdk":                      {"", "api", "attr", "table"},
	"sortkeytest":              {"", "sdk", "attr", "store/memory", "table"},
	"examples":                 {"attr", "design", "keys"},
	"sdk/sdkvalue":             {"attr"},
	"transfer":                 {"attr", "table", "sdk/sdkvalue"},
	"metrics":                  {"", "api", "table", "store", "store/disk"},
	"bench":                    nil, // measures every room
	"bench/...":                nil,
	"markup":                   {},
	"keys":                     {},
	"keys/keyexpr":             {"keys"},
	"design":                   {"attr", "expr", "keys", "keycond", "store", "table", "api", ""},
	"design/awscli":            {},
	"design/explain":           {"attr", "expr", "keys", "keycond", "store", "table", "api", "", "design"},
	"design/check":             {"attr", "keys", "", "table", "design", "design/explain", "design/lint"},
	"design/lint":              {"attr", "keys", "keycond", "store", "table", "design", "design/explain"},
	"design/convert":           {"attr", "expr", "keys", "keycond", "table", "design", "design/awscli"},
	"design/report":            {"attr", "keys", "store", "table", "design", "design/check", "design/explain", "design/lint", "markup"},
	"design/gen":               {"attr", "expr", "keys", "design"},
	"design/designtest":        {"attr", "design", "design/check"},
	"fuzz":                     {},
	"fuzz/diff":                {},
	"fuzz/replay":              {""},
	"internal/apigen":          {},
	"cmd/sortkey":              nil, // commands may import what they need
	"cmd/sortkey/internal/...": nil,
}

// noSDK are rooms whose every dependency keeps away from the AWS SDK, and
// noHTTP those that keep away from net/http too.
var (
	noSDK  = []string{"attr", "expr", "store", "store/memory", "keycond", "table", "api", "server", "keys", ""}
	noHTTP = []string{"attr", "expr", "store", "store/memory", "keycond", "table", "keys"}
)

// rooms returns the folders with Go files, with the imports of their files
// other than tests.
func rooms(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "tools") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		room := filepath.ToSlash(filepath.Dir(path))
		if room == "." {
			room = ""
		}
		found[room] = slices.Concat(found[room], imports(f))
		return nil
	}))
	return found
}

func imports(f *ast.File) (paths []string) {
	for _, spec := range f.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	if paths == nil {
		paths = []string{}
	}
	return paths
}

func TestFences(t *testing.T) {
	for room, paths := range rooms(t) {
		allowed, ok := fences[room]
		for pattern := range fences {
			if prefix, tree := strings.CutSuffix(pattern, "/..."); tree && strings.HasPrefix(room, prefix+"/") {
				allowed, ok = fences[pattern], true
			}
		}
		if !ok {
			t.Errorf("room %q is in no fence: add it to fences in policy_test.go and to docs/design.md", room)
			continue
		}
		if allowed == nil {
			continue
		}
		for _, path := range paths {
			inner, ours := strings.CutPrefix(path, module)
			inner = strings.TrimPrefix(inner, "/")
			if ours && !slices.Contains(allowed, inner) {
				t.Errorf("room %q imports %q, which is not above it in docs/design.md", room, inner)
			}
		}
	}
}

func TestDependencies(t *testing.T) {
	deps := func(room string) string {
		out, err := exec.Command("go", "list", "-deps", "./"+room).Output()
		require.NoError(t, err)
		return string(out)
	}
	for _, room := range noSDK {
		all := deps(room)
		if strings.Contains(all, "github.com/aws/") {
			t.Errorf("room %q reaches the AWS SDK", room)
		}
		if strings.Contains(all, "github.com/cockroachdb/pebble") {
			t.Errorf("room %q reaches Pebble, which a program in memory does not need", room)
		}
	}
	for _, room := range noHTTP {
		if strings.Contains(deps(room), "\nnet/http\n") {
			t.Errorf("room %q reaches net/http", room)
		}
	}
}

func TestPackageDocs(t *testing.T) {
	for room := range rooms(t) {
		files, err := filepath.Glob(filepath.Join(".", room, "*.go"))
		require.NoError(t, err)
		var name string
		var doc strings.Builder
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
			require.NoError(t, err)
			name = f.Name.Name
			doc.WriteString(f.Doc.Text())
		}
		if want := "Package " + name + " "; name != "main" && !strings.HasPrefix(doc.String(), want) || doc.Len() == 0 {
			t.Errorf("package %s in %q has no doc that begins with %q", name, room, want)
		}
	}
}

// TestGenerated generates again and compares.
func TestGenerated(t *testing.T) {
	before := generated(t)
	require.NotEmpty(t, before)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "api"), os.DirFS("api")))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "internal"), os.DirFS("internal")))
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	cmd := exec.Command("go", "generate", "./api")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	for name, want := range before {
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./api", name)
		}
	}
}

func generated(t *testing.T) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("api/*_gen.go")
	require.NoError(t, err)
	files := map[string][]byte{}
	for _, name := range names {
		files[name], err = os.ReadFile(name)
		require.NoError(t, err)
	}
	return files
}

// TestReadme holds the README's Go code to the example that is tested.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(readme), "```go\n")
	require.True(t, ok, "README.md has no Go code")
	code, _, _ := strings.Cut(rest, "```")
	test, err := os.ReadFile("sortkeytest/readme_test.go")
	require.NoError(t, err)
	if strings.TrimSpace(code) != strings.TrimSpace(string(test)) {
		t.Error("the Go code of README.md is not sortkeytest/readme_test.go: copy it over")
	}
}
