package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/text"
)

//go:embed templates
var files embed.FS

// templates returns the templates to execute. They are a copy of parsed, because html/template cannot clone a
// template after its execution, and [Extend] must still be able to clone parsed.
var templates = sync.OnceValue(func() *template.Template { return template.Must(parsed().Clone()) })

// Extend returns the templates of this package together with those in files. A template in files can call a template
// of this package, and replaces a template of the same name.
func Extend(files fs.FS, patterns ...string) *template.Template {
	return template.Must(template.Must(parsed().Clone()).ParseFS(files, patterns...))
}

// parsed returns the templates of this package. The first call parses them.
var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"amount":     amount,
		"attributes": attributes,
		"count":      text.Count[int],
		"figure":     text.Figure,
		"named":      named,
		"percent":    text.Percent,
		"round":      func(f float64) int { return int(f + 0.5) },
		"short":      short,
		"size":       text.Size[int],
		"thousands":  text.Thousands[int],
	}).ParseFS(files, "templates/*"))
})

// HTML writes a result as a self-contained page (see [Page]). w is the dataset that was checked. If b is nil, the
// page shows no prices.
func HTML(out io.Writer, w *dataset.Dataset, r *check.Result, b *bill.Bill) error {
	p, err := NewPage(context.Background(), w, r, b)
	if err != nil {
		return err
	}
	return p.execute(out, "page")
}

// A Page shows the result of a check: entities with their keys, what patterns cost, findings, the bill, tables and
// indexes, and the slices of each pattern.
type Page struct {
	*check.Result
	Bill     *bill.Bill // nil without prices
	Entities []*entityRow
	Access   []*pattern
	Spaces   []*space
	Groups   []group
	// Missed is the number of patterns that do not meet their expectations.
	Missed int
	// Size is the size of all items.
	Size int
	// Large is true if the design has so many patterns, tables or indexes that the page folds notes, tables and
	// indexes.
	Large bool

	colors palette
}

// A design is large if it has more than smallAccess patterns, or more than smallSpaces tables and indexes in total.
const (
	smallAccess = 12
	smallSpaces = 4
)

// NewPage returns the page of a result. w is the dataset that was checked. If b is nil, the page shows no prices.
func NewPage(ctx context.Context, w *dataset.Dataset, r *check.Result, b *bill.Bill) (*Page, error) {
	p := &Page{Result: r, Bill: b, colors: newPalette(w.Model)}
	var err error
	if p.Spaces, err = spaces(ctx, w, r, p.colors); err != nil {
		return nil, err
	}
	p.Groups = groups(r, p.Spaces)
	d := &painter{ctx, w.Target(), w.Model, p.colors}
	for i := range r.Patterns {
		one := p.pattern(&r.Patterns[i], i+1)
		if one.Read() {
			if one.Slices, err = d.slices(one); err != nil {
				return nil, err
			}
		}
		if !one.OK() {
			p.Missed++
		}
		p.Access = append(p.Access, one)
	}

	p.Large = len(p.Access) > smallAccess || len(p.Spaces) > smallSpaces
	for _, s := range p.Spaces {
		if err := s.draw(d); err != nil {
			return nil, err
		}
		s.Large = p.Large
		if s.Index == nil {
			p.Size += s.Bytes
		}
	}
	p.Entities = p.chart()
	return p, nil
}

// A Top is the data of a page's header. Places are the steps of the path that leads to the page. Pages are links to
// pages at the same level, or to the panes of the page.
type Top struct {
	Class         string
	Places, Pages []Place
}

// A Place is an entry of a [Top]. Kind says what the place is, such as a table. Current is the aria-current attribute
// of the entry. Both may be "".
type Place struct{ Kind, Text, Link, Current string }

// kindOfPage is the name of this kind of page in its header.
const kindOfPage = "key design"

// Top returns the header of the page.
func (p *Page) Top() Top { return Top{Places: []Place{{Text: kindOfPage}}} }

// Main writes the main element of the page.
func (p *Page) Main(out io.Writer) error { return p.execute(out, "main") }

// Style returns a style sheet for pages without a model. It has colours of entities with the classes e0, e1 and so on.
func Style(entities int) string { return inside("style", colors{entities, 0}) }

// colors are the numbers of entities and of fields for which the style sheet defines a colour.
type colors struct{ Entities, Fields int }

// Live writes p as a page that a program serves. The program must also serve [Script] as page.js and [Page.Style] as
// page.css, and must answer the requests of the script. source is the name of the model file, and text is its
// content.
func (p *Page) Live(out io.Writer, source, text string) error {
	return execute(out, "live", live{Page: p, Form: p.Asked(), Source: source, Text: text})
}

// live is the data of the template "live".
type live struct {
	*Page
	Form   Asked
	Source string
	Text   string // of the source
}

// Top returns the header of the page, with links to its panes.
func (l live) Top() Top {
	return Top{
		Places: []Place{{Text: kindOfPage}, {Text: l.Source, Link: "#source"}},
		Pages:  []Place{{Text: "Query", Link: "#query"}, {Text: "Source", Link: "#source"}},
	}
}

// Asked returns the data of the query form: the tables and indexes that a user can choose.
func (p *Page) Asked() (asked Asked) {
	for _, s := range p.Spaces {
		title := s.Title() + " (" + attributes(s.Hash)
		if len(s.Sort) > 0 {
			title += ", " + attributes(s.Sort)
		}
		asked.Spaces = append(asked.Spaces, AskedSpace{s.N, title + ")"})
	}
	return asked
}

// Asked is the data of the template "query form": the choices that the form offers, and the values that it has at
// first. [Script] sends the query and shows the answer.
type Asked struct {
	Spaces             []AskedSpace
	Partition, Request string // initial values of the form
}

// An AskedSpace is a table or an index that a query can read, with its number from 1.
type AskedSpace struct {
	N     int    `json:"n"`
	Title string `json:"title"`
}

func (p *Page) execute(out io.Writer, name string) error { return execute(out, name, p) }

func execute(out io.Writer, name string, data any) error {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	_, err := io.WriteString(out, text.VisibleLines(b.String()))
	return err
}

// inside executes a template and returns its output without the outer element.
func inside(name string, data any) string {
	var b strings.Builder
	if err := execute(&b, name, data); err != nil {
		panic(err) // this can only be a bug in a template, because these templates do not depend on the model
	}
	_, text, _ := strings.Cut(b.String(), ">")
	return text[:strings.LastIndex(text, "<")]
}

// Style returns the style sheet of the page.
func (p *Page) Style() string { return inside("style", p.Colors()) }

// Colors returns the data of the template "style".
func (p *Page) Colors() any { return colors{len(p.Model.Entities), len(fieldColors(p.Model))} }

// Script returns the script of the page. The page can be read without it.
func Script() string { return inside("script", nil) }

// Policy returns the content security policy of a page that is a file. The policy allows the page's own script, but
// no other script and no content from elsewhere. Source: W3C, Content Security Policy Level 3.
func (p *Page) Policy() string {
	sum := sha256.Sum256([]byte(Script()))
	return "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
