package sortkey_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// These tests enforce the rules of docs/design.md that a test can check.

const module = "github.com/sortkey/sortkey"

// floors lists the packages from the ground up. A package imports only packages
// of lower floors; tests are exempt. TestFloors fails for a package that is
// missing here: decide where it belongs, and document that in docs/design.md.
var floors = [][]string{
	// The library, with the engines and the helpers of tests.
	{
		"store", "keys", "internal/item/blob", "internal/item/number", "internal/item/token", "internal/lines",
		"internal/api/fault", "internal/api/throughput", "internal/admission", "internal/heavy", "internal/seeded",
		"internal/untagged",
		"internal/tests/proptest", "internal/tests/processor", "internal/tests/cmdtest",
	},
	{"internal/address", "internal/capability", "internal/tests/pgtest", "internal/item/doc"},
	{"store/internal/remote"},
	{
		"attr", "keys/keyexpr",
		"store/memory", "store/btree", "store/storetest", "store/disk", "store/postgres", "store/tikv",
	},
	{"internal/expr/ast", "internal/item", "internal/text", "internal/sdkvalue", "internal/api/s3files"},
	{"internal/lex", "internal/requestfile", "internal/table/lock"},
	{"internal/wire"},
	{"internal/expr", "internal/wire/wiretest"},
	{"expr"},
	{"keycond"},
	{"internal/legacy", "internal/partiql", "internal/keyschema", "internal/table"},
	{"internal/api/event", "internal/table/life"},
	{"internal/table/tabletest"},
	{"internal/api", "internal/server"},
	{"internal/engine"},
	{""},
	{"server", "internal/tests/facetest"},
	{"sdk", "internal/tests/dbtest"},
	{"sortkeytest"},
	{"examples/music", "examples/orders", "examples/rangescan", "fuzz/replay"},

	// The workbench.
	{"internal/design/terminal", "internal/design/advice"},
	{"internal/design/files"},
	{"internal/design/tabledef", "internal/design/literal", "internal/design/awscli", "internal/design/model"},
	{"internal/design/compile", "internal/design/mask"},
	{"internal/design/explain"},
	{"internal/design/modelfile", "internal/design/world"},
	{"internal/design/convert", "internal/design/export", "internal/design/gen"},
	{"internal/design/load"},
	{"internal/design/check"},
	{"internal/design/lint/rule", "internal/design/bill"},
	{"internal/design/lint"},
	{"internal/design/diff"},
	{"internal/design/report", "design", "design/examples"},
	{"design/designtest"},

	// The benchmarks, on the library.
	{"bench/measure", "bench/work", "bench/contest"},
	{"bench/layer"},
	{"bench"},
	{"bench/embedded", "bench/embedded/hello"},
}

// alone lists packages that import no other package of this repository.
var alone = []string{"store", "keys", "internal/apigen", "internal/apigen/reduce"}

// tops lists folders whose programs and tests may import anything.
var tops = []string{"cmd", "fuzz"}

// noSDK lists rooms that must not depend on the AWS SDK, directly or not;
// noHTTP lists those that must not depend on net/http either.
var (
	noSDK = []string{
		"attr", "expr", "store", "store/memory", "keycond", "internal/table", "internal/table/life",
		"internal/api", "internal/server", "keys", "", "server",
	}
	noHTTP = []string{
		"attr", "expr", "store", "store/memory", "keycond", "internal/table", "internal/table/life",
		"internal/api", "keys", "",
	}
)

// withSDK lists the rooms that may import the AWS SDK; tops may, too.
var withSDK = []string{
	"sdk", "sortkeytest", "design/designtest", "keys/keyexpr", "bench/layer", "internal/sdkvalue",
	"internal/design/tabledef", "internal/tests/cmdtest",
}

func TestSDK(t *testing.T) {
	for room, paths := range rooms(t) {
		top, _, _ := strings.Cut(room, "/")
		if slices.Contains(withSDK, room) || slices.Contains(tops, top) {
			continue
		}
		for _, path := range paths {
			if strings.HasPrefix(path, "github.com/aws/") {
				t.Errorf("package %q imports %q: add it to withSDK and to docs/design.md, or do without", room, path)
			}
		}
	}
}

// rooms returns the folders with Go files, each with the imports of its files
// other than tests.
func rooms(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for path, paths := range files(t) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "tools/") {
			continue
		}
		room := filepath.ToSlash(filepath.Dir(path))
		if room == "." {
			room = ""
		}
		found[room] = slices.Concat(found[room], paths)
	}
	return found
}

// files returns the imports of each Go file.
func files(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		found[filepath.ToSlash(path)] = imports(f)
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

func TestFloors(t *testing.T) {
	floor := map[string]int{}
	for i, rooms := range floors {
		for _, room := range rooms {
			floor[room] = i + 1
		}
	}
	for room, paths := range rooms(t) {
		top, _, _ := strings.Cut(room, "/")
		isAlone := slices.Contains(alone, room)
		if floor[room] == 0 && !isAlone {
			if !slices.Contains(tops, top) {
				t.Errorf("package %q is on no floor: add it to floors in policy_test.go and to docs/design.md", room)
			}
			continue
		}
		for _, path := range paths {
			inner, ours := strings.CutPrefix(path, module)
			inner = strings.TrimPrefix(inner, "/")
			switch {
			case !ours:
			case isAlone:
				t.Errorf("package %q imports %q, but it has to stand alone", room, inner)
			case floor[inner] == 0 || floor[inner] >= floor[room]:
				t.Errorf("package %q imports %q, which is not on a floor below it", room, inner)
			}
		}
	}
}

func TestDependencies(t *testing.T) {
	args := []string{"list", "-f", `{{.ImportPath}}{{"\n"}}{{range .Deps}} {{.}}{{end}}`}
	for _, room := range slices.Concat(noSDK, noHTTP, []string{"sortkeytest"}) {
		args = append(args, "./"+room)
	}
	out, err := exec.Command("go", args...).Output()
	require.NoError(t, err)

	reached := map[string]string{} // by room, one a line
	lines := strings.Split(string(out), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		room := strings.TrimPrefix(strings.TrimPrefix(lines[i], module), "/")
		reached[room] = strings.ReplaceAll(lines[i+1], " ", "\n") + "\n"
	}
	deps := func(room string) string {
		require.NotEmpty(t, reached[room], "what %q reaches", room)
		return reached[room]
	}
	for _, room := range noSDK {
		all := deps(room)
		if strings.Contains(all, "github.com/aws/") {
			t.Errorf("room %q reaches the AWS SDK", room)
		}
		if strings.Contains(all, "github.com/cockroachdb/pebble") {
			t.Errorf("room %q reaches Pebble, which a program in memory does not need", room)
		}
		if strings.Contains(all, "github.com/jackc/pgx") {
			t.Errorf("room %q reaches pgx, which a program without PostgreSQL does not need", room)
		}
		if strings.Contains(all, "github.com/tikv/") {
			t.Errorf("room %q reaches client-go, which a program without TiKV does not need", room)
		}
	}
	for _, room := range noHTTP {
		if strings.Contains(deps(room), "\nnet/http\n") {
			t.Errorf("room %q reaches net/http", room)
		}
	}
	// Every test that imports sortkeytest compiles what it reaches.
	all := deps("sortkeytest")
	for _, path := range []string{
		"github.com/go-json-experiment/json",
	} {
		if strings.Contains(all, "\n"+path+"\n") {
			t.Errorf("sortkeytest reaches %s, which a test without design/designtest does not need", path)
		}
	}
	for _, room := range []string{"", "sortkeytest"} {
		if strings.Contains(deps(room), "\nhtml/template\n") {
			t.Errorf("room %q reaches html/template, which makes programs larger", room)
		}
	}
}

// TestHouses holds the arrows between the three houses of docs/design.md: nothing points from the library
// to the workbench or the examples, nor from the workbench to the command; tests count, since the go.mod of
// a module names what its tests need.
func TestHouses(t *testing.T) {
	house := func(path string) string {
		for _, h := range []struct{ name, path string }{
			{"the workbench", "internal/design"}, {"the workbench", "design"}, {"the command", "cmd"},
			{"the examples", "examples"}, {"bench", "bench"}, {"fuzz", "fuzz"}, {"tools", "tools"},
			{"an engine", "store/disk"}, {"an engine", "store/postgres"}, {"an engine", "store/tikv"},
		} {
			if path == h.path || strings.HasPrefix(path, h.path+"/") {
				return h.name
			}
		}
		return "the library"
	}
	above := map[string][]string{
		"the library":   {"the workbench", "the command", "the examples", "bench", "fuzz", "an engine"},
		"the workbench": {"the command", "the examples", "bench", "fuzz", "an engine"},
		"an engine":     {"the workbench", "the command", "the examples", "bench", "fuzz"},
		"bench":         {"the workbench", "the command", "the examples", "fuzz"},
		"the command":   {"the examples"},
	}
	for file, paths := range files(t) {
		from := house(file)
		for _, path := range paths {
			inner, ours := strings.CutPrefix(path, module+"/")
			if to := house(inner); ours && slices.Contains(above[from], to) {
				t.Errorf("%s imports %s: %s must not point to %s", file, path, from, to)
			}
		}
	}

	mod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	required, _, _ := strings.Cut(string(mod), "\nreplace ") // which scripts/check-modules.sh adds
	for _, needless := range []string{"go.yaml.in/yaml/v4", "hashicorp/hcl", "runewidth", "uniseg", module + "/"} {
		require.NotContains(t, required, needless, "what reads files and measures text is above the library")
	}
}

// columns is the longest line of code that is written by hand. A tab counts as 4.
const columns = 120

// TestWidth holds the longest line of code that is written by hand and is not a test.
func TestWidth(t *testing.T) {
	proptest.SkipShort(t)
	for path := range files(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if generated.Match(text) {
			continue
		}

		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			width := utf8.RuneCountInString(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    "))
			if width > columns {
				t.Errorf("%s:%d has %d columns: break the line at %d", path, n, width, columns)
			}
		}
	}
}

// generated matches the line by which a generated file says so.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// TestEscaping checks that no package uses the types whose values html/template
// writes without escaping them.
func TestEscaping(t *testing.T) {
	unescaped := []string{"CSS", "HTML", "HTMLAttr", "JS", "JSStr", "Srcset", "URL"}
	for room, paths := range rooms(t) {
		if !slices.Contains(paths, "html/template") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(".", room, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			require.NoError(t, err)
			ast.Inspect(f, func(n ast.Node) bool {
				use, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				from, ok := use.X.(*ast.Ident)
				if ok && from.Name == "template" && slices.Contains(unescaped, use.Sel.Name) {
					t.Errorf("%s uses template.%s: let html/template escape the text", file, use.Sel.Name)
				}
				return true
			})
		}
	}
}

// TestReadme checks that the README's Go code is the tested example.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(readme), "```go\n")
	require.True(t, ok, "README.md has no Go code")
	code, _, _ := strings.Cut(rest, "```")
	test, err := os.ReadFile("sortkeytest/shop/shop_test.go")
	require.NoError(t, err)
	if strings.TrimSpace(code) != strings.TrimSpace(string(test)) {
		t.Error("the Go code of README.md is not sortkeytest/shop/shop_test.go: copy it over")
	}

	_, rest, ok = strings.Cut(rest, "\n## The core\n")
	require.True(t, ok, "README.md has no section on the core")
	_, rest, _ = strings.Cut(rest, "```go\n")
	code, _, _ = strings.Cut(rest, "```")
	example, err := os.ReadFile("keycond/core_test.go")
	require.NoError(t, err)
	if dedented := strings.ReplaceAll(string(example), "\n\t", "\n"); !strings.Contains(dedented, code) {
		t.Error("the code of the core in README.md is not that of keycond/core_test.go: copy it over")
	}
}

// link is a link of a document to a file of the repository.
var link = regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)\s]*)?\)`)

// TestLinks holds that documents link to files that exist.
func TestLinks(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.md", "docs/*.md", "bench/*.md", "design/examples/*.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		files = append(files, found...)
	}

	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", file, m[1])
			}
		}
	}
}

// TestPinned holds that what others build or run for us is named by its hash: actions, the images of
// deploy that are not our own, and the command in the example of a workflow.
func TestPinned(t *testing.T) {
	floating := regexp.MustCompile(`uses: +[^@\s]+@v|@latest|:latest|image: +postgres:[0-9.]+\s|FROM +golang:[0-9.]+\s`)
	for _, pattern := range []string{".github/workflows/*.yml", "deploy/*"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			if found := floating.Find(text); found != nil {
				t.Errorf("%s: %q may be another thing tomorrow: name it by its hash or version", path, found)
			}
		}
	}
	release, err := os.ReadFile(".github/workflows/release.yml")
	require.NoError(t, err)
	require.Contains(t, string(release), "cache: false", "the job that may write must not read a cache")
}
