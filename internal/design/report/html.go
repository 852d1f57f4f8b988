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

// templates returns the templates of the page.
var templates = sync.OnceValue(func() *template.Template { return template.Must(parsed().Clone()) })

// Extend returns the templates of pages together with those in files, which may use and replace them.
func Extend(files fs.FS, patterns ...string) *template.Template {
	return template.Must(template.Must(parsed().Clone()).ParseFS(files, patterns...))
}

// parsed returns the templates. It parses them when a program makes its first page.
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

// HTML writes a result as a self-contained page (see [Page]). W is the checked dataset. Without a bill the page has no
// money on it.
func HTML(out io.Writer, w *dataset.Dataset, r *check.Result, b *bill.Bill) error {
	p, err := NewPage(context.Background(), w, r, b)
	if err != nil {
		return err
	}
	return p.execute(out, "page")
}

// A Page shows the result of a check: the entities and their keys, what the patterns cost, the findings, money, each
// table and index, and each pattern with its slices.
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
	// Large reports whether the design is so large that its page folds what is not to be mended.
	Large bool

	colors palette
}

// A design is small up to these numbers of patterns, and of tables and indexes.
const (
	smallAccess = 12
	smallSpaces = 4
)

// NewPage returns the page of a result.
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

// A Top is the header of a page: where its reader is, and the pages or parts beside it.
type Top struct {
	Class         string
	Places, Pages []Place
}

// A Place is a part of a [Top]. Kind says what it is, or is "". Current is what aria-current says of it, or "".
type Place struct{ Kind, Text, Link, Current string }

// kindOfPage names the page of a design in its header.
const kindOfPage = "key design"

// Top is the header of the page.
func (p *Page) Top() Top { return Top{Places: []Place{{Text: kindOfPage}}} }

// Main writes what is in the element main of the page.
func (p *Page) Main(out io.Writer) error { return p.execute(out, "main") }

// Style returns the style sheet of pages with the colours e0 to eN.
func Style(colors int) string { return inside("style", colored(colors)) }

// colored is the data of a style sheet with a number of colours.
type colored int

// Hues are the colours that the style sheet does not name.
func (n colored) Hues() []hue { return hues(int(n), 0) }

// Live writes the page that shows p in a program that serves it together with [Script] and the
// [Page.Style], as page.js and page.css, and that answers its script. Source is the name of the model file, and
// text what is in it.
func (p *Page) Live(out io.Writer, source, text string) error {
	return execute(out, "live", live{Page: p, Form: p.Asked(), Source: source, Text: text})
}

// live is what the template "live" is executed with.
type live struct {
	*Page
	Form   Asked
	Source string
	Text   string // of the source
}

// Top is the header of the page.
func (l live) Top() Top {
	return Top{
		Places: []Place{{Text: kindOfPage}, {Text: l.Source, Link: "#source"}},
		Pages:  []Place{{Text: "Query", Link: "#query"}, {Text: "Source", Link: "#source"}},
	}
}

// Asked returns what queries can read.
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

// Asked is what the form of a query, the template "query form", asks about. [Script] sends the query and
// shows its answer.
type Asked struct {
	Spaces             []AskedSpace
	Partition, Request string // to begin with
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

// inside returns what a template writes inside an element.
func inside(name string, data any) string {
	var b strings.Builder
	if err := execute(&b, name, data); err != nil {
		panic(err) // a template without text of a model
	}
	_, text, _ := strings.Cut(b.String(), ">")
	return text[:strings.LastIndex(text, "<")]
}

// Style returns the style sheet of the page.
func (p *Page) Style() string { return inside("style", p) }

// Hues are the further colours of the page.
func (p *Page) Hues() []hue { return hues(len(p.Model.Entities), len(fieldColors(p.Model))) }

// Script returns the script of the page. Without it, all of the page can be read.
func Script() string { return inside("script", nil) }

// Policy is the content security policy of the page as a file: nothing from elsewhere, and no script but
// its own. Source: W3C, Content Security Policy Level 3.
func (p *Page) Policy() string {
	sum := sha256.Sum256([]byte(Script()))
	return "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
