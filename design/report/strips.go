package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/design"
)

// Limits of what is drawn of a space.
const (
	maxStrips  = 14
	maxLadders = 12
	smallSpace = 40 // items of a space whose partitions are all drawn
	stripWidth = 1000
	binWidth   = 4
)

// space draws a table or an index.
func (p *page) space(s *space) {
	p.open("section", class("space"), id("space-%d", s.id))
	p.leaf("h3", s.title())
	p.open("p", class("muted"))
	p.text("partition key ")
	p.leaf("code", attributes(s.hash))
	if len(s.sort) > 0 {
		p.text(", sort key ")
		p.leaf("code", attributes(s.sort))
	}
	if s.x != nil {
		p.text(", projects " + strings.ToLower(s.x.Projection))
		if len(s.x.Include) > 0 {
			p.text(" " + strings.Join(s.x.Include, ", "))
		}
	}
	p.text(fmt.Sprintf(". %s, %s, in %s.", count(s.items, "item"), size(float64(s.bytes)), count(len(s.parts), "partition")))
	p.close()
	p.entities(s)
	for _, sl := range s.slices {
		if sl.report().Operation == "Scan" {
			p.open("p", class("scan"))
			p.badge(sl.n)
			p.leaf("a", sl.pr.Pattern.Name, to("pattern-%d", sl.n))
			p.text(fmt.Sprintf(" scans: it reads %s, %s", count(sl.report().Examined, "row"), rcu(sl.pr)))
			p.close()
		}
	}
	if len(s.parts) > 1 {
		p.strips(s)
	}
	drawn := ladderParts(s)
	if len(drawn) > 0 {
		p.leaf("h4", "Rows in sort order")
		p.open("div", class("ladders"))
		for _, part := range drawn {
			p.ladders(s, part)
		}
		p.close()
	}
	p.skew(s)
	p.close()
}

// attributes names key attributes, with the types that are not strings.
func attributes(keys []design.Attribute) string {
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

// entities is the legend of the colours in a space.
func (p *page) entities(s *space) {
	n := map[string]int{}
	for _, part := range s.parts {
		for _, r := range part.rows {
			n[s.entity(r.item)]++
		}
	}
	if len(n) == 0 {
		return
	}
	p.open("p", class("legend"))
	for _, e := range s.entities {
		p.open("span", class("key-mark"))
		p.open("svg", at{"viewBox", "0 0 14 14"}, num("width", 14), num("height", 14), at{"aria-hidden", "true"})
		p.void("rect", num("width", 14), num("height", 14), num("rx", 3), class("fill "+p.color(e)))
		p.close()
		p.text(" " + named(e) + " ")
		p.leaf("span", thousands(n[e]), class("muted"))
		p.close()
		p.text(" ")
	}
	p.close()
}

// kinds are the largest partition of each kind in a space. Partitions are of a
// kind when they hold the same entities.
func kinds(s *space) []*part {
	seen := map[string]bool{}
	var out []*part
	for _, part := range s.parts {
		has := map[string]bool{}
		for _, r := range part.rows {
			has[s.entity(r.item)] = true
		}
		if kind := strings.Join(slices.Sorted(maps.Keys(has)), "\x00"); !seen[kind] {
			seen[kind] = true
			out = append(out, part)
		}
	}
	return out
}

// choose returns some partitions in the order of the space: those that
// patterns read, one of each kind, and then the largest, at most most of them
// and at least least.
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

// ladderParts chooses the partitions that are drawn row by row, those that
// patterns read first.
func ladderParts(s *space) []*part {
	least := 0
	if s.items <= smallSpace {
		least = maxLadders
	}
	out := choose(s, least, maxLadders)
	slices.SortStableFunc(out, func(a, b *part) int { return len(b.slices) - len(a.slices) })
	return out
}

// strips draws partitions one below the other, the largest first, the rows of
// each from left to right.
func (p *page) strips(s *space) {
	shown := choose(s, maxStrips, maxStrips+4)
	most := 1
	for _, part := range shown {
		most = max(most, len(part.rows))
	}
	p.leaf("h4", "Partitions")
	p.open("div", class("strips"))
	for _, part := range shown {
		p.open("div", class("strip"))
		p.leaf("code", short(part.name, 34), class("key"), at{"title", part.name})
		p.open("svg", at{"viewBox", fmt.Sprintf("0 0 %d 22", stripWidth)}, at{"preserveAspectRatio", "none"}, at{"role", "img"},
			at{"aria-label", fmt.Sprintf("%s, %s", count(len(part.rows), "item"), size(float64(part.bytes)))})
		p.strip(s, part, float64(stripWidth)*float64(len(part.rows))/float64(most))
		p.close()
		p.open("span", class("strip-note"))
		p.leaf("span", thousands(len(part.rows)), class("muted"), at{"title", fmt.Sprintf("%s, %s", count(len(part.rows), "item"), size(float64(part.bytes)))})
		for _, sl := range part.slices {
			p.open("a", to("pattern-%d", sl.n), at{"title", sl.words()})
			p.badge(sl.n)
			p.close()
		}
		p.close()
		p.close()
	}
	if n := len(s.parts) - len(shown); n > 0 {
		items, bytes := s.items, s.bytes
		for _, part := range shown {
			items -= len(part.rows)
			bytes -= part.bytes
		}
		p.leaf("p", fmt.Sprintf("and %s with %s, %s", more(n, "partition"), count(items, "item"), size(float64(bytes))), class("muted"))
	}
	p.close()
}

// more is a count of what is left.
func more(n int, noun string) string {
	if n == 1 {
		return "1 more " + noun
	}
	return thousands(n) + " more " + noun + "s"
}

// strip draws the rows of a partition as bands of their entities' colours. A
// stretch that is too narrow to tell rows apart shows their shares.
func (p *page) strip(s *space, part *part, wide float64) {
	rows := s.ordered(part)
	wide = max(wide, 3)
	bins := min(len(rows), int(wide/binWidth)+1)
	pos := func(i int) float64 { return wide * float64(i) / float64(len(rows)) }
	gap := 0.0
	if wide/float64(len(rows)) > 12 {
		gap = 2 // rows stand apart
	}
	type band struct {
		entity   string
		from, to int
	}
	var last *band
	flush := func() {
		if last != nil {
			x := pos(last.from)
			p.void("rect", num("x", x), num("y", 1), num("width", max(pos(last.to)-x-gap, 1)), num("height", 14), class("fill "+p.color(last.entity)))
			last = nil
		}
	}
	for b := range bins {
		from, to := b*len(rows)/bins, (b+1)*len(rows)/bins
		n := map[string]int{}
		for _, r := range rows[from:to] {
			n[s.entity(r.item)]++
		}
		if len(n) == 1 {
			e := s.entity(rows[from].item)
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
				p.void("rect", num("x", pos(from)), num("y", y), num("width", pos(to)-pos(from)), num("height", h), class("fill "+p.color(e)))
				y += h
			}
		}
	}
	flush()
	for _, sl := range part.slices {
		if sl.to > sl.from {
			x := pos(sl.from)
			p.void("rect", num("x", x), num("y", 17), num("width", max(pos(sl.to)-x-gap, 2)), num("height", 3), class("mark"))
		}
	}
}

// sharesText writes how many rows each entity has of some.
func sharesText(entities []string, n map[string]int) string {
	var words []string
	for _, e := range entities {
		if n[e] > 0 {
			words = append(words, thousands(n[e])+" of "+named(e))
		}
	}
	return list(words)
}
