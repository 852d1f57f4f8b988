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

// layers lists the packages from the bottom up. A package imports only packages of lower layers; tests are exempt.
// TestLayers fails for a package that is missing here: decide where it belongs, and document that in docs/design.md.
var layers = [][]string{
	// The library, with the engines and the test helpers.
	{
		"store", "keys", "internal/item/blob", "internal/item/number", "internal/item/token", "internal/lines",
		"internal/api/fault", "internal/api/throughput", "internal/admission", "internal/throttle", "internal/seeded",
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
	{"server", "internal/tests/apitest"},
	{"sdk", "internal/tests/dbtest"},
	{"sortkeytest"},
	{"examples/music", "examples/orders", "fuzz/replay"},

	// The workbench.
	{"internal/design/terminal", "internal/design/advice"},
	{"internal/design/files"},
	{"internal/design/tabledef", "internal/design/literal", "internal/design/awscli", "internal/design/model"},
	{"internal/design/compile", "internal/design/mask"},
	{"internal/design/explain"},
	{"internal/design/modelfile", "internal/design/dataset"},
	{"internal/design/convert", "internal/design/export", "internal/design/gen"},
	{"internal/design/load"},
	{"internal/design/check"},
	{"internal/design/bill"},
	{"internal/design/lint"},
	{"internal/design/diff"},
	{"internal/design/report", "design", "design/examples"},
	{"design/designtest"},

	// The benchmarks, on top of the library.
	{"bench/measure", "bench/work", "bench/contest"},
	{"bench/layer"},
	{"bench"},
	{"bench/embedded", "bench/embedded/hello"},
}

// alone lists packages that import no other package of this repository.
var alone = []string{"store", "keys", "internal/apigen"}

// tops lists folders whose programs and tests may import anything.
var tops = []string{"cmd", "fuzz"}

// noSDK lists packages that must not depend on the AWS SDK, directly or not;
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

// withSDK lists the packages that may import the AWS SDK; tops may, too.
var withSDK = []string{
	"sdk", "sortkeytest", "design/designtest", "keys/keyexpr", "bench/layer", "internal/sdkvalue",
	"internal/design/tabledef", "internal/tests/cmdtest",
}

func TestSDK(t *testing.T) {
	for pkg, paths := range packages(t) {
		top, _, _ := strings.Cut(pkg, "/")
		if slices.Contains(withSDK, pkg) || slices.Contains(tops, top) {
			continue
		}
		for _, path := range paths {
			if strings.HasPrefix(path, "github.com/aws/") {
				t.Errorf("package %q imports %q: add it to withSDK and to docs/design.md, or do without", pkg, path)
			}
		}
	}
}

// packages returns the folders with Go files, each with the imports of its files except tests.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for path, paths := range files(t) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "tools/") {
			continue
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		if pkg == "." {
			pkg = ""
		}
		found[pkg] = slices.Concat(found[pkg], paths)
	}
	return found
}

// files returns the imports of each Go file, by path.
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

func TestLayers(t *testing.T) {
	layer := map[string]int{}
	for i, packages := range layers {
		for _, pkg := range packages {
			layer[pkg] = i + 1
		}
	}
	for pkg, paths := range packages(t) {
		top, _, _ := strings.Cut(pkg, "/")
		isAlone := slices.Contains(alone, pkg)
		if layer[pkg] == 0 && !isAlone {
			if !slices.Contains(tops, top) {
				t.Errorf("package %q is in no layer: add it to layers in policy_test.go and to docs/design.md", pkg)
			}
			continue
		}
		for _, path := range paths {
			inner, ours := strings.CutPrefix(path, module)
			inner = strings.TrimPrefix(inner, "/")
			switch {
			case !ours:
			case isAlone:
				t.Errorf("package %q imports %q, but it has to stand alone", pkg, inner)
			case layer[inner] == 0 || layer[inner] >= layer[pkg]:
				t.Errorf("package %q imports %q, which is in no layer below it", pkg, inner)
			}
		}
	}
}

func TestDependencies(t *testing.T) {
	args := []string{"list", "-f", `{{.ImportPath}}{{"\n"}}{{range .Deps}} {{.}}{{end}}`}
	for _, pkg := range slices.Concat(noSDK, noHTTP, []string{"sortkeytest"}) {
		args = append(args, "./"+pkg)
	}
	out, err := exec.Command("go", args...).Output()
	require.NoError(t, err)

	reached := map[string]string{} // by package, one a line
	lines := strings.Split(string(out), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		pkg := strings.TrimPrefix(strings.TrimPrefix(lines[i], module), "/")
		reached[pkg] = strings.ReplaceAll(lines[i+1], " ", "\n") + "\n"
	}
	deps := func(pkg string) string {
		require.NotEmpty(t, reached[pkg], "what %q reaches", pkg)
		return reached[pkg]
	}
	for _, pkg := range noSDK {
		all := deps(pkg)
		if strings.Contains(all, "github.com/aws/") {
			t.Errorf("package %q reaches the AWS SDK", pkg)
		}
		if strings.Contains(all, "github.com/cockroachdb/pebble") {
			t.Errorf("package %q reaches Pebble, which a program in memory does not need", pkg)
		}
		if strings.Contains(all, "github.com/jackc/pgx") {
			t.Errorf("package %q reaches pgx, which a program without PostgreSQL does not need", pkg)
		}
		if strings.Contains(all, "github.com/tikv/") {
			t.Errorf("package %q reaches client-go, which a program without TiKV does not need", pkg)
		}
	}
	for _, pkg := range noHTTP {
		if strings.Contains(deps(pkg), "\nnet/http\n") {
			t.Errorf("package %q reaches net/http", pkg)
		}
	}
	// Every test that imports sortkeytest compiles all dependencies of sortkeytest, so keep large ones out.
	all := deps("sortkeytest")
	for _, path := range []string{
		"github.com/go-json-experiment/json",
	} {
		if strings.Contains(all, "\n"+path+"\n") {
			t.Errorf("sortkeytest reaches %s, which a test without design/designtest does not need", path)
		}
	}
	for _, pkg := range []string{"", "sortkeytest"} {
		if strings.Contains(deps(pkg), "\nhtml/template\n") {
			t.Errorf("package %q reaches html/template, which makes programs larger", pkg)
		}
	}
}

// TestModules tests that the three modules of docs/design.md import each other only downwards: the library imports
// neither the workbench nor the examples, and the workbench does not import the command. Tests count, because the
// go.mod of a module also lists what its tests need.
func TestModules(t *testing.T) {
	part := func(path string) string {
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
		from := part(file)
		for _, path := range paths {
			inner, ours := strings.CutPrefix(path, module+"/")
			if to := part(inner); ours && slices.Contains(above[from], to) {
				t.Errorf("%s imports %s: %s must not point to %s", file, path, from, to)
			}
		}
	}

	mod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	// Drop the replace lines that scripts/check-modules.sh adds.
	required, _, _ := strings.Cut(string(mod), "\nreplace ")
	for _, needless := range []string{"go.yaml.in/yaml/v4", "hashicorp/hcl", "runewidth", "uniseg", module + "/"} {
		require.NotContains(t, required, needless, "what reads files and measures text is above the library")
	}
}

// columns is the limit for lines of hand-written code. A tab counts as 4.
const columns = 120

// TestWidth tests that no hand-written line of code outside tests is longer than columns.
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

// generated matches the line that marks a generated file.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// TestEscaping checks that no package uses the types whose values html/template
// writes without escaping them.
func TestEscaping(t *testing.T) {
	unescaped := []string{"CSS", "HTML", "HTMLAttr", "JS", "JSStr", "Srcset", "URL"}
	for pkg, paths := range packages(t) {
		if !slices.Contains(paths, "html/template") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(".", pkg, "*.go"))
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

// TestReadme checks that the README's Go code is part of tested examples.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var tested strings.Builder
	for _, file := range []string{"keycond/core_test.go", "sortkeytest/shop/shop_test.go"} {
		code, err := os.ReadFile(file)
		require.NoError(t, err)
		tested.Write(code)
		tested.WriteString(strings.ReplaceAll(string(code), "\n\t", "\n"))
	}

	blocks := strings.Split(string(readme), "```go\n")[1:]
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		if code, _, _ := strings.Cut(block, "```"); !strings.Contains(tested.String(), code) {
			t.Errorf("this code of README.md is in no tested example; copy it from one:\n%s", code)
		}
	}
}

// link matches a Markdown link to a file of the repository.
var link = regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)\s]*)?\)`)

// TestLinks tests that the files exist that documents link to.
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

// TestPinned tests that everything from others that we build or run is pinned by its hash: actions, images in deploy
// that are not our own, and the command in the example workflow.
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
