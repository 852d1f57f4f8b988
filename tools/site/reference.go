package site

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/sortkey/sortkey"

// A goPackage is a package while its page is made.
type goPackage struct {
	*builder
	page *page
	fset *token.FileSet
	doc  *doc.Package
	html strings.Builder
}

// reference makes the page of a package.
func (b *builder) reference(p *page) error {
	g := &goPackage{builder: b, page: p, fset: token.NewFileSet()}
	if err := g.parse(); err != nil {
		return err
	}

	p.title = "Package " + path.Base(p.source)
	if p.source == "." {
		p.title = "Package sortkey"
	}
	p.sections = append(p.sections, section{heading: p.title})
	g.printf("<h1>%s</h1>\n<pre tabindex=\"0\"><code>import %q</code></pre>\n", p.title, g.doc.ImportPath)
	g.comment(g.doc.Doc)
	g.examples(g.doc.Examples)

	g.values("Constants", g.doc.Consts)
	g.values("Variables", g.doc.Vars)
	if len(g.doc.Funcs) > 0 {
		g.heading(2, "Functions", "functions")
		g.funcs(g.doc.Funcs)
	}
	if len(g.doc.Types) > 0 {
		g.heading(2, "Types", "types")
	}
	for _, t := range g.doc.Types {
		g.symbol("type "+t.Name, t.Name, t.Decl)
		g.comment(t.Doc)
		g.examples(t.Examples)
		for _, v := range slices.Concat(t.Consts, t.Vars) {
			g.value(v)
		}
		g.funcs(slices.Concat(t.Funcs, t.Methods))
	}
	p.body = template.HTML(g.html.String())
	return nil
}

// parse reads the files that Linux builds, and those of tests with examples.
func (g *goPackage) parse() error {
	target := build.Default
	target.GOOS, target.GOARCH, target.CgoEnabled = "linux", "amd64", false
	folder := filepath.Join(g.Root, filepath.FromSlash(g.page.source))
	found, err := target.ImportDir(folder, 0)
	if err != nil {
		return err
	}

	var parsed []*ast.File
	for _, name := range slices.Concat(found.GoFiles, found.TestGoFiles, found.XTestGoFiles) {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, "_test.go") && !bytes.Contains(text, []byte("\nfunc Example")) {
			continue
		}
		f, err := parser.ParseFile(g.fset, path.Join(g.page.source, name), text, parser.ParseComments)
		if err != nil {
			return err
		}
		parsed = append(parsed, f)
	}
	g.doc, err = doc.NewFromFiles(g.fset, parsed, path.Join(module, g.page.source))
	return err
}

// printf adds HTML. Its arguments are escaped unless they are HTML.
func (g *goPackage) printf(layout string, args ...any) {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = template.HTMLEscapeString(arg)
		case template.HTML:
			args[i] = string(arg)
		}
	}
	fmt.Fprintf(&g.html, layout, args...)
}

// heading begins a part of the page.
func (g *goPackage) heading(level int, title, id string) {
	g.page.contents = append(g.page.contents, heading{level, id, title})
	g.printf("<h%d id=%q>%s<a class=\"anchor\" href=\"#%s\" aria-label=\"this section\">#</a></h%d>\n",
		level, id, title, id, level)
}

// symbol begins the part of a type, a function or a method.
func (g *goPackage) symbol(title, name string, decl ast.Decl) {
	at := g.fset.Position(decl.Pos())
	level := 3
	if strings.Contains(name, ".") || !strings.HasPrefix(title, "type") && g.html.Len() > 0 && g.inType(decl) {
		level = 4
	}
	if level == 3 {
		g.page.contents = append(g.page.contents, heading{3, name, name})
	}
	g.page.sections = append(g.page.sections, section{id: name, heading: name})
	g.printf("<h%d id=%q class=\"symbol\">%s<a class=\"anchor\" href=\"#%s\" aria-label=\"this section\">#</a>"+
		"<a class=\"source\" href=%q aria-label=\"source of %s\">source</a></h%d>\n",
		level, name, title, name, fmt.Sprintf("%s#L%d", g.onGitHub(at.Filename), at.Line), name, level)
	g.declaration(decl)
}

// inType tells whether a function stands with the type that it returns.
func (g *goPackage) inType(decl ast.Decl) bool {
	f, ok := decl.(*ast.FuncDecl)
	return ok && !slices.ContainsFunc(g.doc.Funcs, func(other *doc.Func) bool { return other.Decl == f })
}

func (g *goPackage) funcs(funcs []*doc.Func) {
	for _, f := range funcs {
		name, title := f.Name, "func "+f.Name
		if f.Recv != "" {
			name = strings.TrimPrefix(f.Recv, "*") + "." + f.Name
			if generic := strings.Index(name, "["); generic >= 0 {
				name = name[:generic] + "." + f.Name
			}
			title = "method " + name
		}
		g.symbol(title, name, f.Decl)
		g.comment(f.Doc)
		g.examples(f.Examples)
	}
}

func (g *goPackage) values(title string, values []*doc.Value) {
	if len(values) == 0 {
		return
	}
	g.heading(2, title, strings.ToLower(title))
	for _, v := range values {
		g.value(v)
	}
}

func (g *goPackage) value(v *doc.Value) {
	var names []string
	for _, name := range v.Names {
		if ast.IsExported(name) {
			names = append(names, name)
		}
	}
	g.page.sections = append(g.page.sections, section{id: names[0], heading: strings.Join(names, ", ")})
	g.declaration(v.Decl)
	g.comment(v.Doc)
}

// declaration prints a declaration with the places of what links can name in it.
func (g *goPackage) declaration(decl ast.Decl) {
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for _, name := range n.Names {
				if name.IsExported() {
					g.printf("<span id=%q></span>", name.Name)
				}
			}
		case *ast.TypeSpec:
			g.members(n)
			return false
		}
		return true
	})

	var out bytes.Buffer
	if err := format.Node(&out, g.fset, decl); err != nil {
		panic(err) // the parser has accepted it
	}
	kind := "declaration"
	if _, ok := decl.(*ast.FuncDecl); ok {
		kind = "signature"
	}
	g.printf("<pre tabindex=\"0\" class=%q><code>%s</code></pre>\n", kind, out.String())
}

// members marks the fields of a struct and the methods of an interface.
func (g *goPackage) members(spec *ast.TypeSpec) {
	var fields *ast.FieldList
	switch t := spec.Type.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return
	}
	for _, field := range fields.List {
		for _, name := range field.Names {
			if name.IsExported() {
				g.printf("<span id=%q></span>", spec.Name.Name+"."+name.Name)
			}
		}
	}
}

// comment prints a doc comment, and lets search find it below the symbol that was printed last.
func (g *goPackage) comment(text string) {
	g.page.sections[len(g.page.sections)-1].text.WriteString(text)
	p := g.doc.Printer()
	p.HeadingLevel = 2
	p.DocLinkURL = g.docLink
	for _, block := range g.doc.Parser().Parse(text).Content {
		one := &comment.Doc{Content: []comment.Block{block}}
		if h, ok := block.(*comment.Heading); ok {
			var title strings.Builder
			for _, t := range h.Text {
				if plain, ok := t.(comment.Plain); ok {
					title.WriteString(string(plain))
				}
			}
			g.heading(2, title.String(), h.DefaultID())
			continue
		}
		g.html.WriteString(strings.ReplaceAll(string(p.HTML(one)), "<pre>", `<pre tabindex="0">`))
	}
}

// docLink returns where a link of a doc comment leads.
func (g *goPackage) docLink(l *comment.DocLink) string {
	symbol := l.Name
	if l.Recv != "" {
		symbol = strings.TrimPrefix(l.Recv, "*") + "." + l.Name
	}
	if symbol != "" {
		symbol = "#" + symbol
	}
	if l.ImportPath == "" {
		return symbol
	}

	inner, ours := strings.CutPrefix(l.ImportPath, module)
	if !ours {
		return "https://pkg.go.dev/" + l.ImportPath + symbol
	}
	source := path.Join(".", inner)
	if inner = strings.TrimPrefix(inner, "/"); inner != "" {
		source = inner
	}
	if other := g.bySource[source]; other != nil {
		return relative(g.page.path, other.path) + symbol
	}
	return g.onGitHub(source)
}

// output matches what an example prints, which is shown apart.
var output = regexp.MustCompile(`(?is)\n[ \t]*//[ \t]*(unordered )?output:.*`)

func (g *goPackage) examples(examples []*doc.Example) {
	for _, e := range examples {
		title := "Example"
		if e.Suffix != "" {
			title += ": " + strings.ReplaceAll(e.Suffix, "_", " ")
		}
		var code bytes.Buffer
		node := &printer.CommentedNode{Node: e.Code, Comments: e.Comments}
		if err := format.Node(&code, g.fset, node); err != nil {
			panic(err) // the parser has accepted it
		}
		text := code.String()
		if _, isBody := e.Code.(*ast.BlockStmt); isBody { // and no whole file
			text = strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
			text = strings.ReplaceAll(output.ReplaceAllString(text, ""), "\n\t", "\n")
		}

		g.printf("<details class=\"example\"><summary>%s</summary>\n", title)
		if e.Doc != "" {
			g.printf("<p>%s</p>\n", e.Doc)
		}
		g.printf("<pre tabindex=\"0\"><code>%s</code></pre>\n", strings.TrimSpace(text))
		if e.Output != "" {
			g.printf("<p>Output:</p>\n<pre tabindex=\"0\"><code>%s</code></pre>\n", strings.TrimSpace(e.Output))
		}
		g.printf("</details>\n")
	}
}

// referenceIndex makes the page that lists the packages.
func (b *builder) referenceIndex(p *page) error {
	p.title = referenceGroup
	g := &goPackage{builder: b, page: p}
	g.printf("<h1>%s</h1>\n<p>The packages that programs may import, with every exported name and the examples. "+
		"All other packages are internal and may change at any time.</p>\n", p.title)
	g.printf("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table>\n" +
		"<thead><tr><th>package</th><th>what it is</th></tr></thead>\n<tbody>\n")
	for _, other := range b.pages {
		if other.group != referenceGroup || other == p {
			continue
		}
		o := &goPackage{builder: b, page: other, fset: token.NewFileSet()}
		if err := o.parse(); err != nil {
			return err
		}
		g.printf("<tr><td><a href=%q>%s</a></td><td>%s</td></tr>\n",
			relative(p.path, other.path), other.label, strings.TrimRight(o.doc.Synopsis(o.doc.Doc), ":."))
	}
	g.printf("</tbody></table></div>\n")
	p.body = template.HTML(g.html.String())
	p.sections = append(p.sections, section{heading: p.title})
	return nil
}
