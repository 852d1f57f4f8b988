package report

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/text"
)

const (
	cardWidth = 370
	cardKeys  = 36 // characters of a key in a card
	cardHead  = 7  // rows drawn from each end of a large slice

	cardRow  = cardWidth - 20 // width of a row
	cardNote = cardWidth - 10 // where the note of a row ends
)

// A picture shows what a pattern reads, from top to bottom: the row before its
// slice, the first and last rows of it, and the row after it, in the order in
// which they are read.
type picture struct {
	*pattern
	Marks   []marks
	Bracket string
	Height  float64
}

// Picture draws what the pattern reads.
func (p *pattern) Picture() *picture {
	d := &picture{pattern: p}
	lost := p.Report.Examined - p.Report.Returned
	lines := p.Report.Picture(cardHead)
	for _, l := range lines {
		if l.Dropped {
			lost--
		}
	}

	var top, bottom float64
	for _, l := range lines {
		switch l.Kind {
		case explain.OutsideRow:
			d.outside(l)
		case explain.Top:
			d.end(l.Text)
			top = d.Height
		case explain.ReadRow:
			d.row(l)
		case explain.Gap:
			if l.Hidden > 0 {
				d.gap(l.Hidden, lost)
			} else {
				d.add(24, marks{Labels: []label{d.words("small muted", l.Text)}})
			}
		case explain.Stop:
			d.unread()
		case explain.Bottom:
			bottom = d.Height
			d.end(l.Text)
		}
	}
	d.Bracket = bracket(4, top, max(bottom, top+2))
	d.Height += 4
	return d
}

// add appends marks of a height.
func (d *picture) add(h float64, m marks) {
	d.Marks = append(d.Marks, m)
	d.Height += h
}

// words returns a label at the left of the next row.
func (d *picture) words(class, text string) label {
	return label{X: 30, Y: d.Height + 15, Class: class, Text: text}
}

// note returns a label at the right of the next row.
func (d *picture) note(class, text string) label {
	return label{X: cardNote, Y: d.Height + 15, Class: class, Text: text}
}

// body returns the box of the next row.
func (d *picture) body(class string) box { return box{18, d.Height + 1, cardRow, 20, 3, class} }

// end writes an end of the range, which a single key does not have.
func (d *picture) end(words string) {
	if d.Report.Operation == "GetItem" {
		return
	}
	d.add(20, marks{Labels: []label{{X: 22, Y: d.Height + 14, Class: "small edge key", Text: short(words, 50)}}})
}

// name returns the name of a row and its whole key.
func (d *picture) name(key attr.Item) (name, full string) {
	if d.space == nil {
		name = d.Report.KeyText(key)
		return name, name
	}
	name, full = d.space.label(key), d.space.full(key)
	if d.Report.Operation == "Scan" {
		name = values(key, d.space.Table.Keys())
	} else if d.part != nil {
		if i, ok := d.at(key); ok {
			name = d.space.name(d.part, i)
		}
	}
	return name, full
}

// key returns the name of the next row, with the common prefix of the range in a
// fainter colour.
func (d *picture) key(class, name string) label {
	l := d.words("mono key "+class, short(name, cardKeys))
	prefix := d.prefix()
	if rest, ok := strings.CutPrefix(name, prefix); ok && prefix != "" {
		l.Prefix = short(prefix, max(cardKeys-width(rest), 12))
		l.Text = short(rest, cardKeys-width(l.Prefix))
	}
	return l
}

// outside draws a row just outside the range.
func (d *picture) outside(l explain.PictureLine) {
	name, full := d.name(l.Key)
	d.add(24, marks{
		Title: full + " (" + named(l.Entity) + "): outside, not read",
		Boxes: []box{d.body("outside")},
		Labels: []label{
			d.words("mono muted key", short(name, cardKeys)), d.note("small muted end", "outside"),
		},
	})
}

// unread draws the rows of the range after the last page.
func (d *picture) unread() {
	if d.part == nil {
		return
	}
	n := d.hi - d.to
	if d.Report.Reverse {
		n = d.from - d.lo
	}
	words := text.Count(n, "row") + " of the range not read"
	if d.Report.Limit > 0 {
		words += fmt.Sprintf(": the limit is %d", d.Report.Limit)
	}
	d.add(24, marks{Boxes: []box{d.body("unread")}, Labels: []label{d.words("small muted", words)}})
}

// row draws a row that was read.
func (d *picture) row(l explain.PictureLine) {
	name, full := d.name(l.Key)
	color := d.colors[l.Entity]
	what, body, key := "returned", d.body("tint strong "+color), d.key("", name)
	note := d.note("small muted end", text.Count(l.Bytes, "byte"))
	switch {
	case l.Dropped:
		what, body, key = "read, paid for and dropped", d.body("hatch soft"), d.key("over", name)
		note = d.note("small muted end over", "dropped")
	case d.stray(name):
		body = box{18.5, d.Height + 1.5, cardRow - 1, 19, 3, "stray " + color}
		note = d.note("small stray-mark end", "! sibling")
	}
	d.add(24, marks{
		Title:  fmt.Sprintf("%s (%s, %s): %s", full, named(l.Entity), text.Count(l.Bytes, "byte"), what),
		Boxes:  []box{body, {18, d.Height + 1, 6, 20, 2, "fill " + color}},
		Labels: []label{key, note},
	})
}

// gap draws a run of n rows, of which the filter dropped lost.
func (d *picture) gap(n, lost int) {
	words := "⋮ " + text.Count(n, "more row")
	var m marks
	x := 18.0
	for _, s := range d.Report.Entities {
		w := cardRow * float64(s.Examined) / float64(d.Report.Examined)
		m.Boxes = append(m.Boxes, box{x, d.Height + 4, w, 22, 0, "band " + d.colors[s.Entity]})
		x += w
	}
	if lost > 0 {
		words += fmt.Sprintf(", %s of them dropped", text.Thousands(lost))
		w := cardRow * float64(lost) / float64(n)
		m.Boxes = append(m.Boxes, box{18 + cardRow - w, d.Height + 4, w, 22, 0, "hatch soft"})
	}
	m.Labels = []label{{X: 30, Y: d.Height + 19, Class: "small over", Text: words}}
	d.add(30, m)
}

// A share is an entity in the legend of a card.
type share struct {
	explain.Share
	Color string
}

// Legend returns the entities that the pattern reads, if there are several.
func (p *pattern) Legend() (all []share) {
	if len(p.Report.Entities) > 1 {
		for _, s := range p.Report.Entities {
			all = append(all, share{s, p.colors[s.Entity]})
		}
	}
	return all
}

// Guide returns the page of the developer guide about the rule that the request
// breaks, or "".
func (p *pattern) Guide() string {
	if source := p.Report.Refused.Source; strings.HasPrefix(source, "https://docs.aws.amazon.com/") {
		return source
	}
	return ""
}
