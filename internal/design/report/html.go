package report

import (
	"context"
	_ "embed"
	"fmt"
	"io"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/markup"
	"github.com/sortkey/sortkey/internal/text"
)

//go:embed page.css
var sheet string

// A page writes the HTML file.
type page struct {
	markup.Writer
	w      *world.World
	r      *check.Result
	spaces []*space
	slices []*slice // by pattern; nil if it has none
	colors map[string]string
}

// colors is the number of colours for entities. More entities share them.
const colors = 8

// HTML writes a result as a self-contained page: the key space of each table
// and index with the slices of its patterns, the reads and the cost of each
// pattern, the skew of partitions, and the findings. W is the checked world; it
// may be closed, but must not change.
func HTML(out io.Writer, w *world.World, r *check.Result) error {
	all, err := spaces(context.Background(), w) // sorted by the check, usually
	if err != nil {
		return err
	}
	p := &page{w: w, r: r, spaces: all, colors: map[string]string{"": "en"}}
	for i, e := range w.Model.Entities {
		p.colors[e.Name] = fmt.Sprintf("e%d", i%colors)
	}
	p.slices = findSlices(p.spaces, r)
	p.html()
	_, err = p.WriteTo(out)
	return err
}

// color returns the class of an entity's colour.
func (p *page) color(entity string) string { return p.colors[entity] }

// named returns an entity's name for sentences.
func named(entity string) string {
	if entity == "" {
		return "no entity"
	}
	return entity
}

func (p *page) html() {
	p.Doctype()
	p.Open("html", markup.A("lang", "en"), markup.A("xmlns", "http://www.w3.org/1999/xhtml"))
	p.Open("head")
	p.Void("meta", markup.A("charset", "utf-8"))
	p.Void("meta", markup.A("name", "viewport"), markup.A("content", "width=device-width, initial-scale=1"))
	p.Void("meta", markup.A("name", "color-scheme"), markup.A("content", "light dark"))
	p.Void("meta", markup.A("name", "generator"), markup.A("content", "sortkey design check"))
	p.Leaf("title", p.r.Model.Name+": key design")
	p.Style(sheet)
	p.Close()
	p.Open("body")
	p.hatches()
	p.Open("main")
	p.header()
	p.overview()
	p.Open("section", markup.ID("space"))
	p.Leaf("h2", "Key space")
	p.legend()
	for _, s := range p.spaces {
		p.space(s)
	}
	p.Close()
	p.Open("section", markup.ID("patterns"))
	p.Leaf("h2", "What each pattern reads")
	p.Open("div", markup.Class("cards"))
	for i := range p.r.Patterns {
		p.card(i)
	}
	p.Close()
	p.Close()
	p.findings()
}

// hatches defines the fill pattern of dropped rows.
func (p *page) hatches() {
	p.Open(
		"svg", markup.Class("defs"), markup.Num("width", 0), markup.Num("height", 0), markup.A("aria-hidden", "true"),
	)
	p.Open("defs")
	p.Open(
		"pattern", markup.ID("hatch"), markup.Num("width", 6), markup.Num("height", 6),
		markup.A("patternUnits", "userSpaceOnUse"), markup.A("patternTransform", "rotate(45)"),
	)
	p.Void("rect", markup.Num("width", 2.4), markup.Num("height", 6), markup.Class("hatch-line"))
	p.CloseTo(p.Depth() - 3)
}

// legend explains the marks of the pictures.
func (p *page) legend() {
	p.Open("p", markup.Class("legend"))
	mark := func(text string, draw func()) {
		p.Open("span", markup.Class("key-mark"))
		p.Open(
			"svg", markup.A("viewBox", "0 0 26 18"), markup.Num("width", 26), markup.Num("height", 18),
			markup.A("aria-hidden", "true"),
		)
		draw()
		p.Close()
		p.Text(" " + text)
		p.Close()
		p.Text(" ")
	}
	mark("range of a slice", func() { p.bracket(10, 1, 17) })
	mark("read and returned", func() {
		p.Void(
			"rect", markup.Num("x", 3), markup.Num("y", 2), markup.Num("width", 20), markup.Num("height", 14),
			markup.Num("rx", 2), markup.Class("fill e0"),
		)
	})
	mark("read, paid for and dropped", func() { p.wasted("e0", 3, 2, 20, 14) })
	mark("a sibling with the same prefix", func() { p.strayCell("e0", 3, 2, 20, 14) })
	mark("in the range, not read", func() {
		p.Void(
			"rect", markup.Num("x", 3), markup.Num("y", 2), markup.Num("width", 20), markup.Num("height", 14),
			markup.Num("rx", 2), markup.Class("unread"),
		)
	})
	mark("just outside", func() {
		p.Void(
			"rect", markup.Num("x", 3), markup.Num("y", 2), markup.Num("width", 20), markup.Num("height", 14),
			markup.Num("rx", 2), markup.Class("outside"),
		)
	})
	p.Close()
}

// header shows the model and a summary of the result.
func (p *page) header() {
	p.Open("header")
	p.Leaf("p", "key design", markup.Class("kicker"))
	p.Leaf("h1", p.r.Model.Name)
	if p.r.Model.About != "" {
		p.Leaf("p", p.r.Model.About, markup.Class("about"))
	}
	ok := 0
	for i := range p.r.Patterns {
		if p.r.Patterns[i].OK() {
			ok++
		}
	}
	p.Open("ul", markup.Class("chips"))
	chip := func(kind, label, where string) {
		p.Open("li")
		p.Leaf("a", label, markup.Class("chip "+kind), markup.To("%s", where))
		p.Close()
	}
	kind, label := "good", fmt.Sprintf("✓ %d of %s as expected", ok, text.Count(len(p.r.Patterns), "pattern"))
	if ok < len(p.r.Patterns) {
		kind, label = "bad", fmt.Sprintf(
			"✗ %d of %s not as expected", len(p.r.Patterns)-ok, text.Count(len(p.r.Patterns), "pattern"),
		)
	}
	chip(kind, label, "overview")
	for _, s := range severities {
		if n := p.r.Count(s.severity); n > 0 {
			chip(s.kind, text.Count(n, s.severity.String()), "findings-"+s.severity.String())
		}
	}
	if len(p.r.Findings) == 0 {
		chip("good", "✓ no findings", "findings")
	}
	bytes := 0
	for _, s := range p.spaces {
		if s.x == nil {
			bytes += s.Bytes
		}
	}
	chip("", text.Count(p.r.Items, "item")+", "+text.Size(float64(bytes)), "space")
	p.Close()
	if p.r.Scale < 1 {
		p.Leaf(
			"p",
			text.Percent(p.r.Scale)+" of the declared items were generated. Pictures and counts show these; skew, rates and findings are for the declared scale.",
			markup.Class("muted"),
		)
	}
	p.Close()
}
