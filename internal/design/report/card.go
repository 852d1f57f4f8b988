package report

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/markup"
	"github.com/sortkey/sortkey/internal/text"
)

// card draws one pattern: its failures, its slice and its cost.
func (p *page) card(i int) {
	pr := &p.r.Patterns[i]
	p.Open("article", markup.Class("card"), markup.ID("pattern-%d", i+1))
	p.Open("h3")
	p.badge(i + 1)
	p.Leaf("span", pr.Pattern.Name)
	p.verdict(pr)
	p.Close()
	if pr.Pattern.About != "" {
		p.Leaf("p", pr.Pattern.About, markup.Class("about"))
	}
	told := !read(pr) && pr.Pattern.Expect.Error == "" // the refusal is shown below
	for _, f := range pr.Failures {
		if told {
			break
		}
		p.Open("div", markup.Class("finding bad"))
		p.Leaf("p", f.Message)
		p.keys(f.Keys)
		if f.Advice != "" {
			p.Leaf("p", "To do: "+f.Advice, markup.Class("muted"))
		}
		p.Close()
	}
	for _, s := range severities {
		for _, f := range p.r.Findings {
			if f.Severity == s.severity && f.Rule != check.Rule && f.Pattern == pr.Pattern.Name {
				p.Open("div", markup.Class("finding "+s.kind))
				p.Leaf("p", f.Message)
				switch {
				case f.Accepted != "":
					p.Leaf("p", "Accepted: "+f.Accepted, markup.Class("muted"))
				case f.Advice != "":
					p.Leaf("p", "To do: "+f.Advice, markup.Class("muted"))
				}
				p.Close()
			}
		}
	}
	switch {
	case pr.Report == nil:
		p.noRequest(pr)
	case pr.Report.Refused != nil:
		p.refused(pr)
	default:
		p.question(pr.Report)
		p.picture(i+1, pr)
		p.cost(pr)
		if pr.Spread != nil {
			p.spread(pr.Spread)
		}
		p.remarks(pr.Report)
	}
	p.Close()
}

func (p *page) noRequest(pr *check.PatternResult) {
	if pr.Compile == nil { // the request could not be run
		for _, f := range pr.Failures {
			p.Leaf("p", f.Message, markup.Class("bad-text"))
		}
		return
	}
	p.Open("div", box(pr))
	p.Leaf("p", "Not one request: "+pr.Compile.Msg)
	if pr.Compile.Advice != "" {
		p.Leaf("p", "Instead: "+pr.Compile.Advice, markup.Class("muted"))
	}
	p.Close()
}

// box returns the class of the box that says why a pattern has no slice.
func box(pr *check.PatternResult) markup.Attr {
	if pr.OK() {
		return markup.Class("finding")
	}
	return markup.Class("finding bad")
}

func (p *page) refused(pr *check.PatternResult) {
	r := pr.Report
	p.Leaf("pre", string(r.Request))
	p.Open("div", box(pr))
	p.Leaf("p", "The service refuses the request: "+r.Refused.Code+": "+r.Refused.Message)
	if r.Refused.Rule != "" {
		p.Open("p")
		p.Text("Rule: " + r.Refused.Rule + " ")
		if strings.HasPrefix(r.Refused.Source, "https://docs.aws.amazon.com/") {
			p.Leaf("a", "developer guide", markup.Link(r.Refused.Source), markup.A("rel", "noreferrer"))
		}
		p.Close()
	}
	p.advice("Instead", r.Refused.Advice)
	p.Close()
}

// question describes the request in words.
func (p *page) question(r *explain.Report) {
	p.Open("p", markup.Class("question"))
	words := r.Operation + " " + r.Table
	if r.Index != "" {
		words += " by " + r.Index
	}
	p.Text(words)
	if r.Clauses != nil {
		p.Text(" where ")
		p.Leaf("code", r.KeyCondition(), markup.Class("key"))
	}
	if r.Filter != "" {
		p.Text(", filter ")
		p.Leaf("code", r.Filter, markup.Class("key"))
	}
	if r.Reverse {
		p.Text(", descending")
	}
	if r.Limit > 0 {
		p.Text(fmt.Sprintf(", limit %d", r.Limit))
	}
	p.Close()
}

// picture draws the slice of a pattern: the row before it, its first and last
// rows, and the row after it, in the order in which they are read.
func (p *page) picture(n int, pr *check.PatternResult) {
	r := pr.Report
	d := &drawing{page: p, s: p.slices[n-1], r: r, prefix: prefix(r)}
	dropped := r.Examined - r.Returned
	lines := r.Picture(cardHead)
	for _, l := range lines {
		if l.Dropped {
			dropped--
		}
	}
	for _, l := range lines {
		switch l.Kind {
		case explain.OutsideRow:
			d.outside(l)
		case explain.Top:
			d.end(l.Text)
			d.top = d.y
		case explain.ReadRow:
			d.row(l)
		case explain.Gap:
			if l.Hidden > 0 {
				d.gap(l.Hidden, dropped)
			} else {
				d.remark(l.Text)
			}
		case explain.Stop:
			d.unread()
		case explain.Bottom:
			d.bottom = d.y
			d.end(l.Text)
		}
	}
	label := pr.Pattern.Name
	if d.s != nil {
		label = d.s.describe()
	}
	p.Open(
		"svg", markup.A("viewBox", fmt.Sprintf("0 0 %d %s", cardWidth, markup.Coordinate(d.y+4))),
		markup.Class("slice picture fluid"), markup.ID("slice-%d", n), markup.A("role", "img"),
		markup.A("aria-label", label),
	)
	for _, draw := range d.marks {
		draw()
	}
	p.bracket(4, d.top, max(d.bottom, d.top+2))
	p.Close()
}

const (
	cardWidth = 370
	cardKeys  = 36 // characters of a key in a card
	cardHead  = 7  // rows drawn from each end of a large slice
)

// A drawing collects the marks of a card's picture from top to bottom.
type drawing struct {
	*page
	s           *slice
	r           *explain.Report
	prefix      string // of the keys
	y           float64
	top, bottom float64
	marks       []func()
}

func (d *drawing) add(h float64, draw func(y float64)) {
	y := d.y
	d.marks = append(d.marks, func() { draw(y) })
	d.y += h
}

// end writes an end of the range, which a single key does not have.
func (d *drawing) end(words string) {
	if d.r.Operation == "GetItem" {
		return
	}
	d.add(20, func(y float64) {
		d.Leaf("text", short(words, 50), markup.Class("small edge key"), markup.Num("x", 22), markup.Num("y", y+14))
	})
}

// remark writes a line without a row.
func (d *drawing) remark(words string) {
	d.add(24, func(y float64) {
		d.Leaf("text", words, markup.Class("small muted"), markup.Num("x", 30), markup.Num("y", y+15))
	})
}

// label returns the name of a row and its whole key.
func (d *drawing) label(key attr.Item) (name, full string) {
	if d.s == nil {
		return "", ""
	}
	if d.r.Operation == "Scan" {
		return values(key, d.s.space.t.Keys()), d.s.space.full(key)
	}
	if d.s.part != nil {
		if i, ok := d.s.at(key); ok {
			return d.s.space.name(d.s.part, i), d.s.space.full(key)
		}
	}
	return d.s.space.label(key), d.s.space.full(key)
}

// key writes the name of a row, with the common prefix of the range in a
// fainter colour.
func (d *drawing) key(name, classes string, y float64) {
	d.Open("text", markup.Class("mono key "+classes), markup.Num("x", 30), markup.Num("y", y))
	rest, ok := strings.CutPrefix(name, d.prefix)
	if ok && d.prefix != "" {
		begin := short(d.prefix, max(cardKeys-width(rest), 12))
		d.Leaf("tspan", begin, markup.Class("prefix"))
		if rest != "" {
			d.Leaf("tspan", short(rest, cardKeys-width(begin)), markup.Class("rest"))
		}
	} else {
		d.Text(short(name, cardKeys))
	}
	d.Close()
}

// prefix returns the prefix of a begins_with condition, or "".
func prefix(r *explain.Report) string {
	if len(r.Clauses) == 0 || len(r.Schema.Range) != 1 {
		return ""
	}
	last := r.Clauses[len(r.Clauses)-1]
	begin := string(last.Values[0].Raw())
	if last.Op != ast.OpBeginsWith || last.Attribute.Kind != attr.String || markup.Visible(begin) != begin {
		return ""
	}
	return begin
}

// outside draws a row just outside the range.
func (d *drawing) outside(l explain.PictureLine) {
	name, full := d.label(l.Key)
	d.add(24, func(y float64) {
		d.Open("g")
		d.Leaf("title", full+" ("+named(l.Entity)+"): outside, not read")
		d.Void(
			"rect", markup.Num("x", 18), markup.Num("y", y+1), markup.Num("width", cardWidth-20),
			markup.Num("height", 20), markup.Num("rx", 3), markup.Class("outside"),
		)
		d.Leaf(
			"text", short(name, cardKeys), markup.Class("mono muted key"), markup.Num("x", 30), markup.Num("y", y+15),
		)
		d.Leaf("text", "outside", markup.Class("small muted end"), markup.Num("x", cardWidth-10), markup.Num("y", y+15))
		d.Close()
	})
}

// unread draws the rows of the range after the last page.
func (d *drawing) unread() {
	if d.s == nil || d.s.part == nil {
		return
	}
	n := d.s.hi - d.s.to
	if d.r.Reverse {
		n = d.s.from - d.s.lo
	}
	words := text.Count(n, "row") + " of the range not read"
	if d.r.Limit > 0 {
		words += fmt.Sprintf(": the limit is %d", d.r.Limit)
	}
	d.add(24, func(y float64) {
		d.Void(
			"rect", markup.Num("x", 18), markup.Num("y", y+1), markup.Num("width", cardWidth-20),
			markup.Num("height", 20), markup.Num("rx", 3), markup.Class("unread"),
		)
		d.Leaf("text", words, markup.Class("small muted"), markup.Num("x", 30), markup.Num("y", y+15))
	})
}

// row draws a row that was read.
func (d *drawing) row(row explain.PictureLine) {
	name, full := d.label(row.Key)
	d.add(24, func(y float64) {
		d.Open("g")
		what := "returned"
		if row.Dropped {
			what = "read, paid for and dropped"
		}
		d.Leaf("title", fmt.Sprintf("%s (%s, %s): %s", full, named(row.Entity), text.Count(row.Bytes, "byte"), what))
		note, classes := text.Count(row.Bytes, "byte"), "small muted end"
		if d.s != nil && d.s.stray != nil && d.s.stray(name) && !row.Dropped {
			d.Void(
				"rect", markup.Num("x", 18.5), markup.Num("y", y+1.5), markup.Num("width", cardWidth-21),
				markup.Num("height", 19), markup.Num("rx", 3), markup.Class("stray "+d.color(row.Entity)),
			)
			d.Void(
				"rect", markup.Num("x", 18), markup.Num("y", y+1), markup.Num("width", 6), markup.Num("height", 20),
				markup.Num("rx", 2), markup.Class("fill "+d.color(row.Entity)),
			)
			d.key(name, "", y+15)
			d.Leaf(
				"text", "! sibling", markup.Class("small stray-mark end"), markup.Num("x", cardWidth-10),
				markup.Num("y", y+15),
			)
			d.Close()
			return
		}
		if !row.Dropped {
			c := d.color(row.Entity)
			d.Void(
				"rect", markup.Num("x", 18), markup.Num("y", y+1), markup.Num("width", cardWidth-20),
				markup.Num("height", 20), markup.Num("rx", 3), markup.Class("tint strong "+c),
			)
			d.Void(
				"rect", markup.Num("x", 18), markup.Num("y", y+1), markup.Num("width", 6), markup.Num("height", 20),
				markup.Num("rx", 2), markup.Class("fill "+c),
			)
			d.key(name, "", y+15)
		} else {
			d.Void(
				"rect", markup.Num("x", 18), markup.Num("y", y+1), markup.Num("width", cardWidth-20),
				markup.Num("height", 20), markup.Num("rx", 3), markup.Class("hatch soft"),
			)
			d.Void(
				"rect", markup.Num("x", 18), markup.Num("y", y+1), markup.Num("width", 6), markup.Num("height", 20),
				markup.Num("rx", 2), markup.Class("fill "+d.color(row.Entity)),
			)
			d.key(name, "over", y+15)
			note, classes = "dropped", classes+" over"
		}
		d.Leaf("text", note, markup.Class(classes), markup.Num("x", cardWidth-10), markup.Num("y", y+15))
		d.Close()
	})
}

// gap draws a run of n rows, of which the filter dropped some.
func (d *drawing) gap(n, dropped int) {
	r := d.r
	words := text.Count(n, "more row")
	if dropped > 0 {
		words += fmt.Sprintf(", %s of them dropped", text.Thousands(dropped))
	}
	d.add(30, func(y float64) {
		x, wide := 18.0, float64(cardWidth-20)
		for _, s := range r.Entities {
			w := wide * float64(s.Examined) / float64(r.Examined)
			d.Void(
				"rect", markup.Num("x", x), markup.Num("y", y+4), markup.Num("width", w), markup.Num("height", 22),
				markup.Class("band "+d.color(s.Entity)),
			)
			x += w
		}
		if dropped > 0 {
			w := wide * float64(dropped) / float64(n)
			d.Void(
				"rect", markup.Num("x", 18+wide-w), markup.Num("y", y+4), markup.Num("width", w),
				markup.Num("height", 22), markup.Class("hatch soft"),
			)
		}
		d.Leaf("text", "⋮ "+words, markup.Class("small over"), markup.Num("x", 30), markup.Num("y", y+19))
	})
}
