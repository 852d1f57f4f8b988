package report

import (
	_ "embed"
	"fmt"
	"io"

	"github.com/sortkey/sortkey/design"
	"github.com/sortkey/sortkey/design/check"
)

//go:embed page.css
var sheet string

// A page is the HTML file in the making.
type page struct {
	markup
	w      *design.World
	r      *check.Result
	spaces []*space
	slices []*slice // by pattern, nil where there is none
	colors map[string]string
}

// colors is how many colours there are for entities; more entities share them.
const colors = 8

// HTML writes a result as one page that needs nothing but itself: the key
// space of each table and index with the slices of its patterns, what each
// pattern reads and costs, how partitions are skewed, and the findings. W is
// the world that was checked; it may be closed by now, but must not change.
// An error is that of out.
func HTML(out io.Writer, w *design.World, r *check.Result) error {
	p := &page{w: w, r: r, spaces: spaces(w), colors: map[string]string{"": "en"}}
	for i, e := range w.Model.Entities {
		p.colors[e.Name] = fmt.Sprintf("e%d", i%colors)
	}
	p.slices = cut(p.spaces, r)
	p.html()
	_, err := p.out.WriteTo(out)
	return err
}

// color is the class of an entity's colour.
func (p *page) color(entity string) string { return p.colors[entity] }

// named is an entity's name in a sentence.
func named(entity string) string {
	if entity == "" {
		return "no entity"
	}
	return entity
}

func (p *page) html() {
	p.out.WriteString("<!DOCTYPE html>\n")
	p.open("html", at{"lang", "en"}, at{"xmlns", "http://www.w3.org/1999/xhtml"})
	p.open("head")
	p.void("meta", at{"charset", "utf-8"})
	p.void("meta", at{"name", "viewport"}, at{"content", "width=device-width, initial-scale=1"})
	p.void("meta", at{"name", "color-scheme"}, at{"content", "light dark"})
	p.void("meta", at{"name", "generator"}, at{"content", "sortkey design check"})
	p.leaf("title", p.r.Model.Name+": key design")
	p.style(word(sheet))
	p.close()
	p.open("body")
	p.hatches()
	p.open("main")
	p.header()
	p.overview()
	p.open("section", id("space"))
	p.leaf("h2", "Key space")
	p.legend()
	for _, s := range p.spaces {
		p.space(s)
	}
	p.close()
	p.open("section", id("patterns"))
	p.leaf("h2", "What each pattern reads")
	p.open("div", class("cards"))
	for i := range p.r.Patterns {
		p.card(i)
	}
	p.close()
	p.close()
	p.findings()
	p.closeTo(0)
	p.out.WriteByte('\n')
}

// hatches defines the pattern of rows that were read and dropped.
func (p *page) hatches() {
	p.open("svg", class("defs"), num("width", 0), num("height", 0), at{"aria-hidden", "true"})
	p.open("defs")
	p.open("pattern", id("hatch"), num("width", 6), num("height", 6), at{"patternUnits", "userSpaceOnUse"}, at{"patternTransform", "rotate(45)"})
	p.void("rect", num("width", 2.4), num("height", 6), class("hatch-line"))
	p.closeTo(len(p.stack) - 3)
}

// legend explains the marks of the pictures.
func (p *page) legend() {
	p.open("p", class("legend"))
	mark := func(text string, draw func()) {
		p.open("span", class("key-mark"))
		p.open("svg", at{"viewBox", "0 0 26 18"}, num("width", 26), num("height", 18), at{"aria-hidden", "true"})
		draw()
		p.close()
		p.text(" " + text)
		p.close()
		p.text(" ")
	}
	mark("range of a slice", func() { p.bracket(10, 1, 17) })
	mark("read and returned", func() {
		p.void("rect", num("x", 3), num("y", 2), num("width", 20), num("height", 14), num("rx", 2), class("fill e0"))
	})
	mark("read, paid for and dropped", func() { p.wasted("e0", 3, 2, 20, 14) })
	mark("a sibling that only begins alike", func() { p.strayCell("e0", 3, 2, 20, 14) })
	mark("in the range, not read", func() {
		p.void("rect", num("x", 3), num("y", 2), num("width", 20), num("height", 14), num("rx", 2), class("unread"))
	})
	mark("just outside", func() {
		p.void("rect", num("x", 3), num("y", 2), num("width", 20), num("height", 14), num("rx", 2), class("outside"))
	})
	p.close()
}

// header says what was checked and how it went.
func (p *page) header() {
	p.open("header")
	p.leaf("p", "key design", class("kicker"))
	p.leaf("h1", p.r.Model.Name)
	if p.r.Model.About != "" {
		p.leaf("p", p.r.Model.About, class("about"))
	}
	ok := 0
	for i := range p.r.Patterns {
		if p.r.Patterns[i].OK() {
			ok++
		}
	}
	p.open("ul", class("chips"))
	chip := func(kind, text, where string) {
		p.open("li")
		p.leaf("a", text, class("chip "+kind), to("%s", where))
		p.close()
	}
	kind, text := "good", fmt.Sprintf("✓ %d of %s as expected", ok, count(len(p.r.Patterns), "pattern"))
	if ok < len(p.r.Patterns) {
		kind, text = "bad", fmt.Sprintf("✗ %d of %s not as expected", len(p.r.Patterns)-ok, count(len(p.r.Patterns), "pattern"))
	}
	chip(kind, text, "overview")
	for _, s := range severities {
		if n := p.r.Count(s.severity); n > 0 {
			chip(s.kind, count(n, s.severity.String()), "findings-"+s.severity.String())
		}
	}
	if len(p.r.Findings) == 0 {
		chip("good", "✓ no findings", "findings")
	}
	bytes := 0
	for _, s := range p.spaces {
		if s.x == nil {
			bytes += s.bytes
		}
	}
	chip("", count(p.r.Items, "item")+", "+size(float64(bytes)), "space")
	p.close()
	if p.r.Scale < 1 {
		p.leaf("p", percent(p.r.Scale)+" of the items that the model declares were generated; pictures and counts are of these.", class("muted"))
	}
	p.close()
}
