package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/design/check"
	"github.com/sortkey/sortkey/design/explain"
)

// card draws one pattern: its slice, its cost, and what is wrong with it.
func (p *page) card(i int) {
	pr := &p.r.Patterns[i]
	p.open("article", class("card"), id("pattern-%d", i+1))
	p.open("h3")
	p.badge(i + 1)
	p.leaf("span", pr.Pattern.Name)
	p.verdict("span", pr)
	p.close()
	if pr.Pattern.About != "" {
		p.leaf("p", pr.Pattern.About, class("about"))
	}
	told := !read(pr) && pr.Pattern.Expect.Error == "" // the refusal says it
	for _, f := range pr.Failures {
		if told {
			break
		}
		p.open("div", class("finding bad"))
		p.leaf("p", f.Message)
		p.keys(f.Keys)
		if f.Advice != "" {
			p.leaf("p", "To do: "+f.Advice, class("muted"))
		}
		p.close()
	}
	for _, s := range severities {
		for _, f := range p.r.Findings {
			if f.Severity == s.severity && f.Rule != check.Rule && f.Pattern == pr.Pattern.Name {
				p.open("div", class("finding "+s.kind))
				p.leaf("p", f.Message)
				switch {
				case f.Accepted != "":
					p.leaf("p", "Accepted: "+f.Accepted, class("muted"))
				case f.Advice != "":
					p.leaf("p", "To do: "+f.Advice, class("muted"))
				}
				p.close()
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
	p.close()
}

func (p *page) noRequest(pr *check.PatternResult) {
	if pr.Compile == nil { // it could not be asked
		for _, f := range pr.Failures {
			p.leaf("p", f.Message, class("bad-text"))
		}
		return
	}
	p.open("div", box(pr))
	p.leaf("p", "It is not one request: "+pr.Compile.Msg)
	if pr.Compile.Advice != "" {
		p.leaf("p", "Instead: "+pr.Compile.Advice, class("muted"))
	}
	p.close()
}

// box is the class of a box that says why a pattern has no slice.
func box(pr *check.PatternResult) at {
	if pr.OK() {
		return class("finding")
	}
	return class("finding bad")
}

func (p *page) refused(pr *check.PatternResult) {
	r := pr.Report
	p.leaf("pre", string(r.Request))
	p.open("div", box(pr))
	p.leaf("p", "The service refuses it: "+r.Refused.Code+": "+r.Refused.Message)
	if r.Refused.Rule != "" {
		p.open("p")
		p.text("Rule: " + r.Refused.Rule + " ")
		if strings.HasPrefix(r.Refused.Source, "https://docs.aws.amazon.com/") {
			p.leaf("a", "developer guide", at{"href", r.Refused.Source}, at{"rel", "noreferrer"})
		}
		p.close()
	}
	p.advice("Instead", r.Refused.Advice)
	p.close()
}

// question writes the request as a person would say it.
func (p *page) question(r *explain.Report) {
	p.open("p", class("question"))
	words := r.Operation + " " + r.Table
	if r.Index != "" {
		words += " by " + r.Index
	}
	p.text(words)
	if r.Clauses != "" {
		p.text(" where ")
		p.leaf("code", r.Clauses, class("key"))
	}
	if r.Filter != "" {
		p.text(", then keeps ")
		p.leaf("code", r.Filter, class("key"))
	}
	if r.Reverse {
		p.text(", backwards")
	}
	if r.Limit > 0 {
		p.text(fmt.Sprintf(", at most %s read", count(r.Limit, "row")))
	}
	p.close()
}

// picture draws a slice by itself: the row before it, its first and last rows,
// and the row after it.
func (p *page) picture(n int, pr *check.PatternResult) {
	r := pr.Report
	d := &drawing{page: p, s: p.slices[n-1], r: r, prefix: prefix(r)}
	low, high := edges(r)
	if r.Operation == "Scan" {
		low, high = "the start of the scan", "the end of the scan"
	}
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
	p.open("svg", at{"viewBox", fmt.Sprintf("0 0 %d %s", cardWidth, coordinate(d.y+4))}, class("slice picture fluid"), id("slice-%d", n), at{"role", "img"}, at{"aria-label", text})
	for _, draw := range d.marks {
		draw()
	}
	p.bracket(4, d.top, max(d.bottom, d.top+2))
	p.close()
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
		d.leaf("text", short(text, 50), class("small edge key"), num("x", 22), num("y", y+14))
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
	d.open("text", class("mono key "+classes), num("x", 30), num("y", y))
	rest, ok := strings.CutPrefix(text, d.prefix)
	if ok && d.prefix != "" {
		begin := short(d.prefix, max(cardKeys-width(rest), 12))
		d.leaf("tspan", begin, class("prefix"))
		if rest != "" {
			d.leaf("tspan", short(rest, cardKeys-width(begin)), class("rest"))
		}
	} else {
		d.text(short(text, cardKeys))
	}
	d.close()
}

// prefix is what the keys of a range of a prefix begin with, "" for other
// ranges.
func prefix(r *explain.Report) string {
	if r.Low.Bytes == nil || !r.Low.Inclusive || r.High.Inclusive || !strings.Contains(r.Clauses, "begins_with(") || r.Schema == nil || len(r.Schema.Range) != 1 {
		return ""
	}
	text, err := strconv.Unquote(r.Low.Text)
	if err != nil || visible(text) != text {
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
		d.open("g")
		d.leaf("title", full+" ("+named(entity)+"): outside, not read")
		d.void("rect", num("x", 18), num("y", y+1), num("width", cardWidth-20), num("height", 20), num("rx", 3), class("outside"))
		d.leaf("text", short(text, cardKeys), class("mono muted key"), num("x", 30), num("y", y+15))
		d.leaf("text", "outside", class("small muted end"), num("x", cardWidth-10), num("y", y+15))
		d.close()
	})
}

// body draws the rows of the range, in the order of the key.
func (d *drawing) body() {
	r := d.r
	if r.Examined == 0 {
		d.add(24, func(y float64) {
			d.leaf("text", "nothing there", class("small muted"), num("x", 30), num("y", y+15))
		})
		return
	}
	head, tail, cut := r.Rows, r.Tail, r.Examined-len(r.Rows)-len(r.Tail)
	if all := append(head[:len(head):len(head)], tail...); len(all) > 2*cardHead+1 || cut > 0 {
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
		for i := len(tail) - 1; i >= 0; i-- {
			d.row(tail[i])
		}
		d.gap(cut, head, tail)
		for i := len(head) - 1; i >= 0; i-- {
			d.row(head[i])
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
		d.void("rect", num("x", 18), num("y", y+1), num("width", cardWidth-20), num("height", 20), num("rx", 3), class("unread"))
		text := count(n, "row") + " of the range not read"
		if d.r.Limit > 0 {
			text += fmt.Sprintf(": the limit is %d", d.r.Limit)
		}
		d.leaf("text", text, class("small muted"), num("x", 30), num("y", y+15))
	})
}

// row is a row that was read.
func (d *drawing) row(row explain.Row) {
	text, full := d.label(row.Key)
	d.add(24, func(y float64) {
		d.open("g")
		what := "returned"
		if !row.Returned {
			what = "read, paid for and dropped"
		}
		d.leaf("title", fmt.Sprintf("%s (%s, %s): %s", full, named(row.Entity), count(row.Bytes, "byte"), what))
		note, classes := count(row.Bytes, "byte"), "small muted end"
		if d.s != nil && d.s.stray != nil && d.s.stray(text) && row.Returned {
			d.void("rect", num("x", 18.5), num("y", y+1.5), num("width", cardWidth-21), num("height", 19), num("rx", 3), class("stray "+d.color(row.Entity)))
			d.void("rect", num("x", 18), num("y", y+1), num("width", 6), num("height", 20), num("rx", 2), class("fill "+d.color(row.Entity)))
			d.key(text, "", y+15)
			d.leaf("text", "! sibling", class("small stray-mark end"), num("x", cardWidth-10), num("y", y+15))
			d.close()
			return
		}
		if row.Returned {
			c := d.color(row.Entity)
			d.void("rect", num("x", 18), num("y", y+1), num("width", cardWidth-20), num("height", 20), num("rx", 3), class("tint strong "+c))
			d.void("rect", num("x", 18), num("y", y+1), num("width", 6), num("height", 20), num("rx", 2), class("fill "+c))
			d.key(text, "", y+15)
		} else {
			d.void("rect", num("x", 18), num("y", y+1), num("width", cardWidth-20), num("height", 20), num("rx", 3), class("hatch soft"))
			d.void("rect", num("x", 18), num("y", y+1), num("width", 6), num("height", 20), num("rx", 2), class("fill "+d.color(row.Entity)))
			d.key(text, "over", y+15)
			note, classes = "dropped", classes+" over"
		}
		d.leaf("text", note, class(classes), num("x", cardWidth-10), num("y", y+15))
		d.close()
	})
}

// gap is a run of rows between the first and the last.
func (d *drawing) gap(n int, head, tail []explain.Row) {
	if n <= 0 {
		return
	}
	r := d.r
	dropped := r.Examined - r.Returned
	for _, row := range append(head[:len(head):len(head)], tail...) {
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
			d.void("rect", num("x", x), num("y", y+4), num("width", w), num("height", 22), class("band "+d.color(s.Entity)))
			x += w
		}
		if dropped > 0 {
			w := wide * float64(dropped) / float64(n)
			d.void("rect", num("x", 18+wide-w), num("y", y+4), num("width", w), num("height", 22), class("hatch soft"))
		}
		d.leaf("text", "⋮ "+text, class("small over"), num("x", 30), num("y", y+19))
	})
}
