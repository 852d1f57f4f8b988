package sortkey_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write docs/api.txt anew")

// maxIdentifiers bounds the public API: the exported identifiers of all public
// packages together.
const maxIdentifiers = 383

const apiHead = `# The public face of Sortkey: every exported type, function, method, constant and
# variable of the packages that programs may import. go test . -run TestAPI keeps
# this list; with -rewrite it writes it anew.
#
# Before version 1 anything here may change in a minor version, and CHANGELOG.md
# says what to do about it. What is not here is internal and may change any time.
# Modules bench, fuzz and cmd/sortkey are programs and have no face.

`

// TestAPI compares the exported identifiers of public packages with
// docs/api.txt, so that nobody exports one by accident.
func TestAPI(t *testing.T) {
	var lines []string
	for room := range rooms(t) {
		if isPublic(room) {
			lines = append(lines, exported(t, room)...)
		}
	}
	slices.Sort(lines)
	got := apiHead + strings.Join(lines, "\n") + "\n"
	const file = "docs/api.txt"
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	if got != string(want) {
		t.Errorf("%s is stale: review what was added or removed, then go test . -run TestAPI -rewrite", file)
	}
	if len(lines) > maxIdentifiers {
		t.Errorf("%d identifiers are exported, want at most %d", len(lines), maxIdentifiers)
	}
}

// isPublic reports whether programs may import the package.
func isPublic(room string) bool {
	for part := range strings.SplitSeq(room, "/") {
		if part == "internal" {
			return false
		}
	}
	top, _, _ := strings.Cut(room, "/")
	return top != "bench" && top != "fuzz" && top != "cmd"
}

// exported returns a line for each exported identifier of a package.
func exported(t *testing.T, room string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(".", room, "*.go"))
	require.NoError(t, err)
	fset := token.NewFileSet()
	say := func(n ast.Node) string {
		var b strings.Builder
		require.NoError(t, printer.Fprint(&b, fset, n))
		return strings.Join(strings.Fields(b.String()), " ")
	}
	add := func(text string) { lines = append(lines, strings.TrimSuffix("sortkey/"+room, "/")+": "+text) }
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, file, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
					d.Body, d.Doc = nil, nil
					add(say(d))
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						if s.Name.IsExported() {
							add("type " + s.Name.Name + kindOf(s.Type))
						}
					case *ast.ValueSpec:
						for _, name := range s.Names {
							if name.IsExported() {
								add(d.Tok.String() + " " + name.Name)
							}
						}
					}
				}
			}
		}
	}
	return lines
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func kindOf(e ast.Expr) string {
	switch e.(type) {
	case *ast.StructType:
		return " struct"
	case *ast.InterfaceType:
		return " interface"
	}
	return ""
}
