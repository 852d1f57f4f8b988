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

// maxIdentifiers bounds the public API: the number of exported identifiers of all public packages together.
const maxIdentifiers = 451

const apiHead = `# The public API of Sortkey: every exported type, function, method, constant and
# variable of the packages that programs may import. go test . -run TestAPI keeps
# this list; with -rewrite it writes it anew.
#
# Before version 1 anything here may change in a minor version, and CHANGELOG.md
# says what to do about it. What is not here is internal and may change any time.
# Modules bench, fuzz and cmd/sortkey are programs and export nothing.

`

// TestAPI compares the exported identifiers of public packages with
// docs/api.txt, so that nobody exports one by accident.
func TestAPI(t *testing.T) {
	var lines []string
	for pkg := range packages(t) {
		if isPublic(pkg) {
			lines = append(lines, exported(t, pkg)...)
		}
	}
	slices.Sort(lines)
	got := apiHead + strings.Join(lines, "\n") + "\n"
	const file = "docs/api.txt"
	if flag.Lookup("rewrite").Value.String() == "true" { // a flag of package datadriven
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

// strangers are prefixes of packages whose types the public API must not mention. Programs cannot name internal
// types, and the other packages promise no compatibility: a new major version of theirs would force a new one of
// ours.
var strangers = []string{module + "/internal/", "github.com/go-json-experiment/", "github.com/cockroachdb/"}

// TestPublicTypes looks for types that programs cannot name or should not depend on, in exported functions, methods,
// fields and interfaces.
func TestPublicTypes(t *testing.T) {
	for pkg := range packages(t) {
		if !isPublic(pkg) {
			continue
		}
		for file, f := range parsed(t, pkg) {
			for where, path := range mentioned(f) {
				t.Errorf("%s: %s mentions a type of %s", file, where, path)
			}
		}
	}
}

// parsed returns the syntax trees of a package's files, except tests, by file name.
func parsed(t *testing.T, pkg string) map[string]*ast.File {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(".", pkg, "*.go"))
	require.NoError(t, err)
	syntax := map[string]*ast.File{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		syntax[file], err = parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
	}
	return syntax
}

// mentioned returns the strangers that the exported declarations of a file mention, by declaration.
func mentioned(f *ast.File) map[string]string {
	found := map[string]string{}
	names := importsOf(f)
	look := func(where string, n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok {
				path := names[x.Name]
				if slices.ContainsFunc(strangers, func(p string) bool { return strings.HasPrefix(path+"/", p) }) {
					found[where] = path
				}
			}
			return false
		})
	}
	fields := func(where string, list *ast.FieldList) {
		for _, field := range list.List {
			public := len(field.Names) == 0
			for _, name := range field.Names {
				public = public || name.IsExported()
			}
			if public {
				look(where, field.Type)
			}
		}
	}

	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
				look(d.Name.Name, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				s, ok := spec.(*ast.TypeSpec)
				if !ok || !s.Name.IsExported() || s.Assign.IsValid() { // aliases name the type publicly
					continue
				}
				switch typ := s.Type.(type) {
				case *ast.StructType:
					fields(s.Name.Name, typ.Fields)
				case *ast.InterfaceType:
					fields(s.Name.Name, typ.Methods)
				case *ast.SelectorExpr: // a new type, whose fields are not part of the API
				default:
					look(s.Name.Name, typ)
				}
			}
		}
	}
	return found
}

// isPublic reports whether other modules may import the package.
func isPublic(pkg string) bool {
	for part := range strings.SplitSeq(pkg, "/") {
		if part == "internal" {
			return false
		}
	}
	top, _, _ := strings.Cut(pkg, "/")
	return !slices.Contains([]string{"bench", "fuzz", "cmd", "examples"}, top)
}

// exported returns a line for each exported identifier of a package.
func exported(t *testing.T, pkg string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(".", pkg, "*.go"))
	require.NoError(t, err)
	fset := token.NewFileSet()
	say := func(n ast.Node) string {
		var b strings.Builder
		// A set without the file: its lines do not matter, and methodsOf returns nodes of files in other sets.
		require.NoError(t, printer.Fprint(&b, token.NewFileSet(), n))
		return strings.Join(strings.Fields(b.String()), " ")
	}
	add := func(text string) { lines = append(lines, strings.TrimSuffix("sortkey/"+pkg, "/")+": "+text) }
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
							for _, method := range methodsOf(t, f, s) {
								method.Body, method.Doc = nil, nil
								add(say(method))
							}
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

// methodsOf returns the exported methods of a type that a public alias names. They are part of the API although the
// type is in another package of this module.
func methodsOf(t *testing.T, f *ast.File, s *ast.TypeSpec) (methods []*ast.FuncDecl) {
	t.Helper()
	of, ok := s.Type.(*ast.SelectorExpr)
	if !ok || !s.Assign.IsValid() {
		return nil
	}
	folder, ok := strings.CutPrefix(importsOf(f)[of.X.(*ast.Ident).Name], module+"/")
	if !ok || isPublic(folder) { // a public package lists its methods itself
		return nil
	}
	for file, f := range parsed(t, folder) {
		for _, d := range f.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || !d.Name.IsExported() || d.Recv == nil || receiver(d.Recv.List[0].Type) != of.Sel.Name {
				continue
			}
			methods = append(methods, d)
			ast.Inspect(d.Type, func(n ast.Node) bool {
				if x, ok := n.(*ast.SelectorExpr); ok {
					path := importsOf(f)[x.X.(*ast.Ident).Name]
					if strings.HasPrefix(path, module+"/internal/") {
						t.Errorf("%s: %s.%s mentions a type of %s", file, of.Sel.Name, d.Name.Name, path)
					}
				}
				return true
			})
		}
	}
	return methods
}

// importsOf returns the import paths of a file by the names that the file uses for them.
func importsOf(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = path
	}
	return names
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
