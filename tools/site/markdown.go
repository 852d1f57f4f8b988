package site

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(fragmentRenderer{}, 100))),
)

// scrolling lets wide tables and code scroll by themselves, also by keyboard. Goldmark escapes what documents say, so
// that these tags are its own.
var scrolling = strings.NewReplacer(
	"<table>", `<div class="scroll" tabindex="0" role="group" aria-label="table"><table>`, "</table>", "</table></div>",
	"<pre>", `<pre tabindex="0">`,
	"<th></th>", "<td></td>", // which heads nothing
)

// document makes the page of a Markdown file.
func (b *builder) document(p *page) error {
	source, err := os.ReadFile(filepath.Join(b.Root, filepath.FromSlash(p.source)))
	if err != nil {
		return err
	}
	root := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(
		parser.NewContext(parser.WithIDs(slugs{}))))

	headings, models, err := b.visit(p, root, source)
	if err != nil {
		return err
	}

	p.collect(root, source)
	for _, h := range headings {
		addAnchor(h)
	}
	for paragraph, names := range models {
		if err := b.showModels(p, paragraph, names); err != nil {
			return err
		}
	}
	name, words := tried[p.source], "Edit a model in the playground while you read"
	if example, ok := strings.CutPrefix(path.Dir(p.source), "design/examples/"); ok {
		name, words = example, "Open this model in the playground"
	}
	if b.playground && name != "" {
		root.InsertAfter(root, headings[0], &fragment{html: try(p, name, words)})
	}

	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, source, root); err != nil {
		return err
	}
	p.body = template.HTML(scrolling.Replace(out.String()))
	return nil
}

// visit makes the links of a document those of the site. It returns the headings, and the models of lints that a
// paragraph links to, for what the document gets beside its own text.
func (b *builder) visit(p *page, root ast.Node, source []byte) ([]*ast.Heading, map[ast.Node][]string, error) {
	var headings []*ast.Heading
	models := map[ast.Node][]string{}
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			headings = append(headings, n)
		case *ast.CodeSpan:
			markLong(n, source)
		case *ast.Link:
			file, err := b.follow(p, n, source)
			if err != nil {
				return ast.WalkStop, err
			}
			if parent := n.Parent(); isLintModel(file) {
				models[parent] = append(models[parent], file)
			}
		}
		return ast.WalkContinue, nil
	})
	return headings, models, err
}

// follow makes the link of a document to a file that of its page, or of the file in the repository. A link whose
// text is the name of a document, as docs/lints.md, gets the title of its page. Follow returns the file, or "" for
// another link.
func (b *builder) follow(p *page, n *ast.Link, source []byte) (string, error) {
	u, err := url.Parse(string(n.Destination))
	if err != nil {
		return "", err
	}
	if u.IsAbs() || u.Path == "" {
		return "", nil
	}

	file := path.Join(path.Dir(p.source), u.Path)
	if _, err := os.Stat(filepath.Join(b.Root, filepath.FromSlash(file))); err != nil {
		return "", fmt.Errorf("links to %s, which does not exist", file)
	}
	to := b.onGitHub(file)
	other := b.bySource[file]
	if other == nil {
		other = b.bySource[path.Join(file, "README.md")]
	}
	if other != nil {
		to = relative(p.path, other.path)
		var name strings.Builder
		addText(&name, n, source)
		if name.String() == u.Path && path.Ext(file) == ".md" {
			n.RemoveChildren(n)
			n.AppendChild(n, ast.NewString([]byte(other.title)))
		}
	}
	if u.Fragment != "" {
		to += "#" + u.Fragment
	}
	n.Destination = []byte(to)
	return file, nil
}

// collect takes the table of contents and the text for search from a document.
func (p *page) collect(root ast.Node, source []byte) {
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		h, isHeading := n.(*ast.Heading)
		if !isHeading {
			if len(p.sections) > 0 {
				addText(&p.sections[len(p.sections)-1].text, n, source)
			}
			continue
		}

		var words strings.Builder
		addText(&words, h, source)
		name := strings.Join(strings.Fields(words.String()), " ")
		id, _ := h.AttributeString("id")
		slug := string(id.([]byte))
		switch {
		case h.Level == 1:
			slug = ""
		case h.Level <= 3:
			p.contents = append(p.contents, heading{h.Level, slug, name})
		}
		p.sections = append(p.sections, section{id: slug, heading: name})
	}
}

// addText adds the words below a node.
func addText(to *strings.Builder, n ast.Node, source []byte) {
	switch n := n.(type) {
	case *ast.Text:
		to.Write(n.Segment.Value(source))
		if n.SoftLineBreak() {
			to.WriteByte(' ')
		}
	case *ast.String:
		to.Write(n.Value)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		to.Write(n.Lines().Value(source))
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		addText(to, c, source)
	}
	if n.Type() == ast.TypeBlock {
		to.WriteByte(' ')
	}
}

// markLong lets code break in a narrow column if a word of it is longer than one.
func markLong(n *ast.CodeSpan, source []byte) {
	var code strings.Builder
	addText(&code, n, source)
	isLong := func(word string) bool { return len(word) > 30 }
	if slices.ContainsFunc(strings.Fields(code.String()), isLong) {
		n.SetAttributeString("class", []byte("long"))
	}
}

// addAnchor lets a reader copy the address of a heading.
func addAnchor(h *ast.Heading) {
	id, ok := h.AttributeString("id")
	if !ok || h.Level == 1 {
		return
	}
	a := ast.NewLink()
	a.Destination = append([]byte("#"), id.([]byte)...)
	a.SetAttributeString("class", []byte("anchor"))
	a.SetAttributeString("aria-label", []byte("this section"))
	a.AppendChild(a, ast.NewString([]byte("#")))
	h.AppendChild(h, a)
}

// isLintModel tells whether a file is the model of a lint.
func isLintModel(file string) bool {
	ok, _ := path.Match("internal/design/lint/testdata/*/*.yaml", file)
	return ok
}

// showModels adds models of a lint behind the paragraph that links to them and the finding that follows it.
func (b *builder) showModels(p *page, paragraph ast.Node, names []string) error {
	after := paragraph.NextSibling()
	if after == nil {
		return errors.New("a paragraph links to models of a lint, and no finding follows it")
	}
	titles := map[string]string{"bad.yaml": "The model with the hazard", "good.yaml": "The model without it"}
	for i := len(names) - 1; i >= 0; i-- { // each is added before the one that was added last
		model, err := os.ReadFile(filepath.Join(b.Root, filepath.FromSlash(names[i])))
		if err != nil {
			return err
		}
		var html strings.Builder
		rule, kind := path.Base(path.Dir(names[i])), path.Base(names[i])
		fmt.Fprintf(&html, "<details><summary>%s</summary>\n", titles[kind])
		if b.playground {
			name := "lints/" + rule + "-" + strings.TrimSuffix(kind, ".yaml")
			b.models[modelFile(name)] = model
			html.WriteString(try(p, name, "Try it: edit this model in the playground"))
		}
		fmt.Fprintf(&html, "<pre><code>%s</code></pre></details>\n", template.HTMLEscapeString(string(model)))
		after.Parent().InsertAfter(after.Parent(), after, &fragment{html: html.String()})
	}
	return nil
}

// try returns a part of a page that opens a model in the playground, which has it as examples/NAME.yaml: there, once it
// is unfolded, or as a page of its own.
func try(p *page, name, words string) string {
	address := fmt.Sprintf("%s?model=%s", relative(p.path, playgroundPage), name)
	return fmt.Sprintf("<details class=\"try\"><summary>Edit this model here</summary>"+
		"<iframe loading=\"lazy\" title=\"The playground with the model %s\" src=\"%s\"></iframe></details>\n"+
		"<p><a href=\"%s\">%s</a></p>\n", name, address, address, words)
}

// slugs gives headings the ids that GitHub gives them, so that a link is right here and there.
type slugs map[string]int

// Generate implements parser.IDs.
func (s slugs) Generate(value []byte, _ ast.NodeKind) []byte {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(value)))

	n := s[slug]
	s[slug]++
	if n > 0 {
		slug = fmt.Sprintf("%s-%d", slug, n)
	}
	return []byte(slug)
}

// Put implements parser.IDs.
func (s slugs) Put(value []byte) { s[string(value)]++ }

// A fragment is a block of HTML that the site adds to a document.
type fragment struct {
	ast.BaseBlock
	html string
}

var fragmentKind = ast.NewNodeKind("Fragment")

func (*fragment) Kind() ast.NodeKind              { return fragmentKind }
func (f *fragment) Dump(source []byte, level int) { ast.DumpHelper(f, source, level, nil, nil) }

// A fragmentRenderer renders fragments.
type fragmentRenderer struct{}

func (fragmentRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(fragmentKind, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, err := w.WriteString(n.(*fragment).html)
			return ast.WalkSkipChildren, err
		}
		return ast.WalkContinue, nil
	})
}
