package sortkey_test

import (
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
	"internal/table":           {"attr", "expr", "store", "keycond"},
	"internal/wire":            {"attr"},
	"internal/wire/wiretest":   {"attr", "internal/wire"},
	"internal/api":             {"attr", "expr", "store", "keycond", "internal/table", "internal/wire"},
	"internal/server":          {},
	"":                         {"store", "store/memory", "internal/table", "internal/api", "internal/server"},
	"sdk":                      {"", "attr", "internal/api", "internal/table", "internal/wire"},
	"sortkeytest":              {"", "sdk", "attr", "store/memory", "internal/table"},
	"internal/sdkvalue":        {"attr"},
	"keys":                     {},
	"keys/keyexpr":             {"keys"},
	"internal/markup":          {},
	"internal/design":          {"attr", "expr", "keys", "keycond", "store", "internal/table", "internal/api", "internal/wire", ""},
	"internal/design/awscli":   {},
	"internal/design/explain":  {"attr", "expr", "keys", "keycond", "store", "internal/table", "internal/api", "", "internal/design"},
	"internal/design/check":    {"attr", "keys", "", "internal/table", "internal/design", "internal/design/explain", "internal/design/lint"},
	"internal/design/lint":     {"attr", "keys", "keycond", "store", "internal/table", "internal/design", "internal/design/explain"},
	"internal/design/convert":  {"attr", "expr", "keys", "keycond", "internal/table", "internal/design", "internal/design/awscli"},
	"internal/design/report":   {"attr", "keys", "store", "internal/table", "internal/design", "internal/design/check", "internal/design/explain", "internal/design/lint", "internal/markup"},
	"internal/design/gen":      {"attr", "expr", "keys", "internal/design"},
	"design/designtest":        {"attr", "internal/design", "internal/design/check"},
	"design/examples":          {"attr", "internal/design", "keys"},
	"internal/apigen":          {},
	"bench":                    nil, // measures every room
	"bench/...":                nil,
	"fuzz":                     {},
	"fuzz/diff":                {},
	"fuzz/replay":              {""},
	"cmd/sortkey":              nil, // commands may import what they need
	"cmd/sortkey/internal/...": nil,
}

// noSDK are rooms whose every dependency keeps away from the AWS SDK, and
// noHTTP those that keep away from net/http too.
var (
	noSDK  = []string{"attr", "expr", "store", "store/memory", "keycond", "internal/table", "internal/api", "internal/server", "keys", ""}
	noHTTP = []string{"attr", "expr", "store", "store/memory", "keycond", "internal/table", "keys"}
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
