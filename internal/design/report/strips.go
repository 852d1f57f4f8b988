package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/markup"
	"github.com/sortkey/sortkey/internal/text"
)

// Limits of the pictures of a space.
const (
	maxStrips  = 14
	maxLadders = 12
	smallSpace = 40 // items of a space that is drawn entirely
	stripWidth = 1000
	binWidth   = 4
)

// space draws a table or an index.
func (p *page) space(s *space) {
	p.Open("section", markup.Class("space"), markup.ID("space-%d", s.id))
	p.Leaf("h3", s.title())
	p.Open("p", markup.Class("muted"))
	p.Text("partition key ")
	p.Leaf("code", attributes(s.Hash))
	if len(s.Sort) > 0 {
		p.Text(", sort key ")
		p.Leaf("code", attributes(s.Sort))
	}
	if s.x != nil {
		p.Text(", projects " + strings.ReplaceAll(strings.ToLower(s.x.Projection), "_", " "))
		if len(s.x.Include) > 0 {
			p.Text(" " + strings.Join(s.x.Include, ", "))
		}
	}
	p.Text(fmt.Sprintf(". %s, %s, in %s.", text.Count(len(s.Rows), "item"), text.Size(float64(s.Bytes)), text.Count(len(s.parts), "partition")))
	p.Close()
	p.entities(s)
	for _, sl := range s.slices {
		if sl.report().Operation == "Scan" {
			p.Open("p", markup.Class("scan"))
			p.badge(sl.n)
			p.Leaf("a", sl.pr.Pattern.Name, markup.To("pattern-%d", sl.n))
			p.Text(fmt.Sprintf(" scans %s, %s", text.Count(sl.report().Examined, "row"), rcu(sl.pr)))
			p.Close()
		}
	}
	if len(s.parts) > 1 {
		p.strips(s)
	}
	drawn := ladderParts(s)
	if len(drawn) > 0 {
		p.Leaf("h4", "Rows in sort order")
		p.Open("div", markup.Class("ladders"))
		for _, part := range drawn {
			p.ladders(s, part)
		}
		p.Close()
	}
	p.skew(s)
	p.Close()
}

// attributes names key attributes, with types other than strings.
func attributes(keys []model.Attribute) string {
	var words []string
	for _, a := range keys {
		text := a.Name
		switch a.Kind {
		case attr.Number:
			text += " (number)"
		case attr.Binary:
			text += " (binary)"
		}
		words = append(words, text)
	}
	return strings.Join(words, ", ")
}

// entities draws the legend of the colours in a space.
func (p *page) entities(s *space) {
	n := map[string]int{}
	for _, part := range s.parts {
		for _, r := range part.rows {
			n[entity(&r)]++
		}
	}
	if len(n) == 0 {
		return
	}
	p.Open("p", markup.Class("legend"))
	for _, e := range s.entities {
		p.Open("span", markup.Class("key-mark"))
		p.Open(
			"svg", markup.A("viewBox", "0 0 14 14"), markup.Num("width", 14), markup.Num("height", 14),
			markup.A("aria-hidden", "true"),
		)
		p.Void(
			"rect", markup.Num("width", 14), markup.Num("height", 14), markup.Num("rx", 3),
			markup.Class("fill "+p.color(e)),
		)
		p.Close()
		p.Text(" " + named(e) + " ")
		p.Leaf("span", text.Thousands(n[e]), markup.Class("muted"))
		p.Close()
		p.Text(" ")
	}
	p.Close()
}

// kinds returns the largest partition of each kind in a space. Partitions with
// the same entities are of the same kind.
func kinds(s *space) []*part {
	seen := map[string]bool{}
	var out []*part
	for _, part := range s.parts {
		has := map[string]bool{}
		for _, r := range part.rows {
			has[entity(&r)] = true
		}
		if kind := strings.Join(slices.Sorted(maps.Keys(has)), "\x00"); !seen[kind] {
			seen[kind] = true
			out = append(out, part)
		}
	}
	return out
}

// choose returns between least and most partitions in the order of the space:
// those that patterns read, one of each kind, and then the largest.
func choose(s *space, least, most int) []*part {
	take := map[*part]bool{}
	add := func(limit int, parts []*part) {
		for _, part := range parts {
			if len(take) < limit {
				take[part] = true
			}
		}
	}
	var read []*part
	for _, part := range s.parts {
		if len(part.slices) > 0 {
			read = append(read, part)
		}
	}
	add(most-min(most/4, len(s.parts)), read)
	add(most, kinds(s))
	add(most, read)
	add(least, s.parts)
	var out []*part
	for _, part := range s.parts {
		if take[part] {
			out = append(out, part)
		}
	}
	return out
}

// ladderParts returns the partitions to draw row by row, those with the most
// slices first.
func ladderParts(s *space) []*part {
	least := 0
	if len(s.Rows) <= smallSpace {
		least = maxLadders
	}
	out := choose(s, least, maxLadders)
	slices.SortStableFunc(out, func(a, b *part) int { return len(b.slices) - len(a.slices) })
	return out
}

// strips draws partitions one below the other, the largest first, with their
// rows from left to right.
func (p *page) strips(s *space) {
	shown := choose(s, maxStrips, maxStrips+4)
	most := 1
	for _, part := range shown {
		most = max(most, len(part.rows))
	}
	p.Leaf("h4", "Partitions")
	p.Open("div", markup.Class("strips"))
	for _, part := range shown {
		p.Open("div", markup.Class("strip"))
		p.Leaf("code", short(part.name, 34), markup.Class("key"), markup.A("title", part.name))
		p.Open("svg", markup.A("viewBox", fmt.Sprintf("0 0 %d 22", stripWidth)), markup.A("preserveAspectRatio", "none"), markup.A("role", "img"),
			markup.A("aria-label", fmt.Sprintf("%s, %s", text.Count(len(part.rows), "item"), text.Size(float64(part.bytes)))))
		p.strip(s, part, float64(stripWidth)*float64(len(part.rows))/float64(most))
		p.Close()
		p.Open("span", markup.Class("strip-note"))
		p.Leaf(
			"span", text.Thousands(len(part.rows)), markup.Class("muted"),
			markup.A("title", fmt.Sprintf("%s, %s", text.Count(len(part.rows), "item"), text.Size(float64(part.bytes)))),
		)
		for _, sl := range part.slices {
			p.Open("a", markup.To("pattern-%d", sl.n), markup.A("title", sl.describe()))
			p.badge(sl.n)
			p.Close()
		}
		p.Close()
		p.Close()
	}
	if n := len(s.parts) - len(shown); n > 0 {
		items, bytes := len(s.Rows), s.Bytes
		for _, part := range shown {
			items -= len(part.rows)
			bytes -= part.bytes
		}
		p.Leaf(
			"p",
			fmt.Sprintf("and %s with %s, %s", text.Count(n, "more partition"), text.Count(items, "item"), text.Size(float64(bytes))),
			markup.Class("muted"),
		)
	}
	p.Close()
}

// strip draws the rows of a partition as bands in the colours of their
// entities. A bin of several rows shows their shares.
func (p *page) strip(s *space, part *part, wide float64) {
	rows := part.rows
	wide = max(wide, 3)
	bins := min(len(rows), int(wide/binWidth)+1)
	pos := func(i int) float64 { return wide * float64(i) / float64(len(rows)) }
	gap := 0.0
	if wide/float64(len(rows)) > 12 {
		gap = 2 // separate the rows
	}
	type band struct {
		entity   string
		from, to int
	}
	var last *band
	flush := func() {
		if last != nil {
			x := pos(last.from)
			p.Void(
				"rect", markup.Num("x", x), markup.Num("y", 1), markup.Num("width", max(pos(last.to)-x-gap, 1)),
				markup.Num("height", 14), markup.Class("fill "+p.color(last.entity)),
			)
			last = nil
		}
	}
	for b := range bins {
		from, to := b*len(rows)/bins, (b+1)*len(rows)/bins
		n := map[string]int{}
		for _, r := range rows[from:to] {
			n[entity(&r)]++
		}
		if len(n) == 1 {
			e := entity(&rows[from])
			if last == nil || last.entity != e || gap > 0 {
				flush()
				last = &band{e, from, to}
			}
			last.to = to
			continue
		}
		flush()
		y := 1.0
		for _, e := range s.entities {
			if n[e] > 0 {
				h := 14 * float64(n[e]) / float64(to-from)
				p.Void(
					"rect", markup.Num("x", pos(from)), markup.Num("y", y), markup.Num("width", pos(to)-pos(from)),
					markup.Num("height", h), markup.Class("fill "+p.color(e)),
				)
				y += h
			}
		}
	}
	flush()
	for _, sl := range part.slices {
		if sl.to > sl.from {
			x := pos(sl.from)
			p.Void(
				"rect", markup.Num("x", x), markup.Num("y", 17), markup.Num("width", max(pos(sl.to)-x-gap, 2)),
				markup.Num("height", 3), markup.Class("mark"),
			)
		}
	}
}

// sharesText lists the number of rows of each entity.
func sharesText(entities []string, n map[string]int) string {
	var words []string
	for _, e := range entities {
		if n[e] > 0 {
			words = append(words, text.Thousands(n[e])+" of "+named(e))
		}
	}
	return text.Join(words, "and")
}
