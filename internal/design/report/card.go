package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/markup"
)

// card draws one pattern: its slice, its cost, and what is wrong with it.
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
	told := !read(pr) && pr.Pattern.Expect.Error == "" // the refusal says it
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
		p.remarks(pr.Report)
	}
	p.Close()
}

func (p *page) noRequest(pr *check.PatternResult) {
	if pr.Compile == nil { // it could not be asked
		for _, f := range pr.Failures {
			p.Leaf("p", f.Message, markup.Class("bad-text"))
		}
		return
	}
	p.Open("div", box(pr))
	p.Leaf("p", "It is not one request: "+pr.Compile.Msg)
	if pr.Compile.Advice != "" {
		p.Leaf("p", "Instead: "+pr.Compile.Advice, markup.Class("muted"))
	}
	p.Close()
}

// box is the class of a box that says why a pattern has no slice.
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
	p.Leaf("p", "The service refuses it: "+r.Refused.Code+": "+r.Refused.Message)
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

// question writes the request as a person would say it.
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
		p.Text(", then keeps ")
		p.Leaf("code", r.Filter, markup.Class("key"))
	}
	if r.Reverse {
		p.Text(", backwards")
	}
	if r.Limit > 0 {
		p.Text(fmt.Sprintf(", at most %s read", count(r.Limit, "row")))
	}
	p.Close()
}

// picture draws a slice by itself: the row before it, its first and last rows,
// and the row after it.
func (p *page) picture(n int, pr *check.PatternResult) {
	r := pr.Report
	d := &drawing{page: p, s: p.slices[n-1], r: r, prefix: prefix(r)}
	low, high := r.Ends()
	d.outside(r.Before, r.BeforeEntity)
	if r.Operation != "GetItem" {
		d.edge(low)
	}
	d.top = d.y
	d.body()
	d.bottom = d.y
	if r.Operation != "GetItem" {
		d.edge(high)
	}
	d.outside(r.After, r.AfterEntity)
	text := pr.Pattern.Name
	if d.s != nil {
		text = d.s.words()
	}
	p.Open("svg", markup.A("viewBox", fmt.Sprintf("0 0 %d %s", cardWidth, markup.Coordinate(d.y+4))), markup.Class("slice picture fluid"), markup.ID("slice-%d", n), markup.A("role", "img"), markup.A("aria-label", text))
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

// A drawing is a card's picture in the making: marks from top to bottom.
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

// edge is a bound in words.
func (d *drawing) edge(text string) {
	d.add(20, func(y float64) {
		d.Leaf("text", short(text, 50), markup.Class("small edge key"), markup.Num("x", 22), markup.Num("y", y+14))
	})
}

// label names a row by its key.
func (d *drawing) label(key attr.Item) (text, full string) {
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

// key writes the name of a row. What all rows of the range begin with is
// fainter than what tells them apart.
func (d *drawing) key(text, classes string, y float64) {
	d.Open("text", markup.Class("mono key "+classes), markup.Num("x", 30), markup.Num("y", y))
	rest, ok := strings.CutPrefix(text, d.prefix)
	if ok && d.prefix != "" {
		begin := short(d.prefix, max(cardKeys-width(rest), 12))
		d.Leaf("tspan", begin, markup.Class("prefix"))
		if rest != "" {
			d.Leaf("tspan", short(rest, cardKeys-width(begin)), markup.Class("rest"))
		}
	} else {
		d.Text(short(text, cardKeys))
	}
	d.Close()
}

// prefix is what the keys of a range of a prefix begin with, "" for other
// ranges.
func prefix(r *explain.Report) string {
	if len(r.Clauses) == 0 || len(r.Schema.Range) != 1 {
		return ""
	}
	last := r.Clauses[len(r.Clauses)-1]
	text := string(last.Values[0].Raw())
	if last.Op != "begins_with" || last.Attribute.Kind != attr.String || markup.Visible(text) != text {
		return ""
	}
	return text
}

// outside is a row beside the range.
func (d *drawing) outside(key attr.Item, entity string) {
	if key == nil {
		return
	}
	text, full := d.label(key)
	d.add(24, func(y float64) {
		d.Open("g")
		d.Leaf("title", full+" ("+named(entity)+"): outside, not read")
		d.Void("rect", markup.Num("x", 18), markup.Num("y", y+1), markup.Num("width", cardWidth-20), markup.Num("height", 20), markup.Num("rx", 3), markup.Class("outside"))
		d.Leaf("text", short(text, cardKeys), markup.Class("mono muted key"), markup.Num("x", 30), markup.Num("y", y+15))
		d.Leaf("text", "outside", markup.Class("small muted end"), markup.Num("x", cardWidth-10), markup.Num("y", y+15))
		d.Close()
	})
}

// body draws the rows of the range, in the order of the key.
func (d *drawing) body() {
	r := d.r
	if r.Examined == 0 {
		d.add(24, func(y float64) {
			d.Leaf("text", "nothing there", markup.Class("small muted"), markup.Num("x", 30), markup.Num("y", y+15))
		})
		return
	}
	head, tail, cut := r.Rows, r.Tail, r.Examined-len(r.Rows)-len(r.Tail)
	if all := append(slices.Clip(head), tail...); len(all) > 2*cardHead+1 || cut > 0 {
		a, b := min(cardHead, len(head)), min(cardHead, len(all)-min(cardHead, len(head)))
		head, tail, cut = all[:a], all[len(all)-b:], r.Examined-a-b
	} else {
		head, tail = all, nil
	}
	unread := func(after bool) {
		if d.s == nil || d.s.part == nil {
			return
		}
		n := d.s.from - d.s.lo
		if after {
			n = d.s.hi - d.s.to
		}
		if n > 0 {
			d.rest(n)
		}
	}
	unread(false)
	if r.Reverse {
		for _, t := range slices.Backward(tail) {
			d.row(t)
		}
		d.gap(cut, head, tail)
		for _, h := range slices.Backward(head) {
			d.row(h)
		}
	} else {
		for _, row := range head {
			d.row(row)
		}
		d.gap(cut, head, tail)
		for _, row := range tail {
			d.row(row)
		}
	}
	unread(true)
}

// rest are rows of the range that were not read.
func (d *drawing) rest(n int) {
	d.add(24, func(y float64) {
		d.Void("rect", markup.Num("x", 18), markup.Num("y", y+1), markup.Num("width", cardWidth-20), markup.Num("height", 20), markup.Num("rx", 3), markup.Class("unread"))
		text := count(n, "row") + " of the range not read"
		if d.r.Limit > 0 {
			text += fmt.Sprintf(": the limit is %d", d.r.Limit)
		}
		d.Leaf("text", text, markup.Class("small muted"), markup.Num("x", 30), markup.Num("y", y+15))
	})
}

// row is a row that was read.
func (d *drawing) row(row explain.Row) {
	text, full := d.label(row.Key)
	d.add(24, func(y float64) {
		d.Open("g")
		what := "returned"
		if !row.Returned {
			what = "read, paid for and dropped"
		}
		d.Leaf("title", fmt.Sprintf("%s (%s, %s): %s", full, named(row.Entity), count(row.Bytes, "byte"), what))
		note, classes := count(row.Bytes, "byte"), "small muted end"
		if d.s != nil && d.s.stray != nil && d.s.stray(text) && row.Returned {
			d.Void("rect", markup.Num("x", 18.5), markup.Num("y", y+1.5), markup.Num("width", cardWidth-21), markup.Num("height", 19), markup.Num("rx", 3), markup.Class("stray "+d.color(row.Entity)))
			d.Void("rect", markup.Num("x", 18), markup.Num("y", y+1), markup.Num("width", 6), markup.Num("height", 20), markup.Num("rx", 2), markup.Class("fill "+d.color(row.Entity)))
			d.key(text, "", y+15)
			d.Leaf("text", "! sibling", markup.Class("small stray-mark end"), markup.Num("x", cardWidth-10), markup.Num("y", y+15))
			d.Close()
			return
		}
		if row.Returned {
			c := d.color(row.Entity)
			d.Void("rect", markup.Num("x", 18), markup.Num("y", y+1), markup.Num("width", cardWidth-20), markup.Num("height", 20), markup.Num("rx", 3), markup.Class("tint strong "+c))
			d.Void("rect", markup.Num("x", 18), markup.Num("y", y+1), markup.Num("width", 6), markup.Num("height", 20), markup.Num("rx", 2), markup.Class("fill "+c))
			d.key(text, "", y+15)
		} else {
			d.Void("rect", markup.Num("x", 18), markup.Num("y", y+1), markup.Num("width", cardWidth-20), markup.Num("height", 20), markup.Num("rx", 3), markup.Class("hatch soft"))
			d.Void("rect", markup.Num("x", 18), markup.Num("y", y+1), markup.Num("width", 6), markup.Num("height", 20), markup.Num("rx", 2), markup.Class("fill "+d.color(row.Entity)))
			d.key(text, "over", y+15)
			note, classes = "dropped", classes+" over"
		}
		d.Leaf("text", note, markup.Class(classes), markup.Num("x", cardWidth-10), markup.Num("y", y+15))
		d.Close()
	})
}

// gap is a run of rows between the first and the last.
func (d *drawing) gap(n int, head, tail []explain.Row) {
	if n <= 0 {
		return
	}
	r := d.r
	dropped := r.Examined - r.Returned
	for _, row := range append(slices.Clip(head), tail...) {
		if !row.Returned {
			dropped--
		}
	}
	text := more(n, "row")
	if dropped > 0 {
		text += fmt.Sprintf(", %s of them dropped", thousands(dropped))
	}
	d.add(30, func(y float64) {
		x, wide := 18.0, float64(cardWidth-20)
		for _, s := range r.Entities {
			w := wide * float64(s.Examined) / float64(r.Examined)
			d.Void("rect", markup.Num("x", x), markup.Num("y", y+4), markup.Num("width", w), markup.Num("height", 22), markup.Class("band "+d.color(s.Entity)))
			x += w
		}
		if dropped > 0 {
			w := wide * float64(dropped) / float64(n)
			d.Void("rect", markup.Num("x", 18+wide-w), markup.Num("y", y+4), markup.Num("width", w), markup.Num("height", 22), markup.Class("hatch soft"))
		}
		d.Leaf("text", "⋮ "+text, markup.Class("small over"), markup.Num("x", 30), markup.Num("y", y+19))
	})
}
