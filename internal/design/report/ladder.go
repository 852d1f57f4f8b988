package report

import (
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/internal/markup"
	"github.com/sortkey/sortkey/internal/text"
)

// A ladder is the picture of one partition: its rows in order from top to
// bottom, and beside them the slices of patterns, with a bracket around each
// range. A run of rows without the edge of a slice is one line.
type ladder struct {
	s     *space
	p     *part
	lines []line
	lanes [][]*slice
	keys  float64 // width of the column of keys
	names float64 // width of the column of entities
	lane  float64 // width of a lane
}

// A line is a row, or a run of rows.
type line struct {
	at, n int
	y, h  float64
}

const (
	rowHeight   = 22
	runHeight   = 30
	charWidth   = 7.25 // of the monospaced font
	laneCells   = 20
	maxLanes    = 5
	minLane     = 168
	maxLane     = 210
	ladderWidth = 1156 // of a wide window
	maxRows     = 46
	wholeRows   = 36 // partitions up to this size are drawn whole
	unreadRows  = 12 // if no pattern reads them
	ladderTop   = 8
	labelLine   = 15
	labelChar   = 7.8 // of the bold font of labels
)

// newLadder lays out a partition.
func newLadder(s *space, p *part, lanes []*slice) *ladder {
	l := &ladder{s: s, p: p}
	rows := p.rows
	l.lines = outline(len(rows), lanes)
	y := float64(ladderTop)
	longest, names := 12, 0
	for i := range l.lines {
		ln := &l.lines[i]
		ln.y, ln.h = y, rowHeight
		if ln.n > 1 {
			ln.h = runHeight
		} else {
			longest = max(longest, width(s.name(p, ln.at)))
			names = max(names, width(entity(&rows[ln.at])))
		}
		y += ln.h
	}
	l.keys = float64(min(longest, 40))*charWidth + 26
	if len(s.entities) > 1 {
		l.names = float64(min(names, 14))*6.4 + 12
	}
	room := ladderWidth - l.keys - l.names
	l.lane = min(max(room/float64(max(min(len(lanes), maxLanes), 1)), minLane), maxLane)
	return l
}

// outline selects the rows of a partition to show: all of a small one, and the
// rows near the ends and near the edges of slices of a large one.
func outline(n int, lanes []*slice) []line {
	whole := wholeRows
	if len(lanes) == 0 {
		whole = unreadRows
	}
	if n <= whole {
		lines := make([]line, n)
		for i := range lines {
			lines[i] = line{at: i, n: 1}
		}
		return lines
	}
	for about := 2; ; about-- {
		show := map[int]bool{}
		for i := range max(about, 1) {
			show[i], show[n-1-i] = true, true
		}
		for _, s := range lanes {
			for _, edge := range []int{s.lo, s.hi, s.from, s.to} {
				for i := edge - about; i < edge+about; i++ {
					show[i] = true
				}
			}
		}
		var lines []line
		for i := 0; i < n; {
			if show[i] {
				lines = append(lines, line{at: i, n: 1})
				i++
				continue
			}
			run := line{at: i}
			for i < n && !show[i] {
				i++
			}
			run.n = i - run.at
			lines = append(lines, run)
		}
		if len(lines) <= maxRows || about == 0 {
			return lines
		}
	}
}

// span returns the vertical extent of some rows on the page. An empty range is
// the line between two rows.
func (l *ladder) span(from, to int) (top, bottom float64) {
	top, bottom = ladderTop, ladderTop
	for _, ln := range l.lines {
		if ln.at < from {
			top = ln.y + ln.h
		}
		if ln.at < to {
			bottom = ln.y + ln.h
		}
	}
	return top, max(top, bottom)
}

// title returns the name of a pattern, wrapped to the width of a lane.
func (l *ladder) title(s *slice) []string {
	return wrap(s.pr.Pattern.Name, int((l.lane-laneLabel-6)/labelChar), 4)
}

// laneLabel is the offset of labels in a lane.
const laneLabel = 16 + 8 + laneCells + 8

// label returns the lines beside a bracket and their position.
func (l *ladder) label(s *slice) (lines []string, top float64) {
	lines = l.title(s)
	r := s.report()
	cost := text.Count(r.Examined, "row")
	if r.Examined == 0 {
		cost = "no rows"
	}
	lines = append(lines, cost+" · "+rcu(s.pr))
	if n := r.Examined - r.Returned; n > 0 {
		lines = append(lines, fmt.Sprintf("%s dropped: %s", text.Thousands(n), text.Percent(s.pr.Waste())))
	}
	if n := s.strayed; n > 0 {
		lines = append(lines, text.Count(n, "sibling")+" included")
	}
	a, b := l.span(s.lo, s.hi)
	if s.to > s.from {
		a, b = l.span(s.from, s.to)
	}
	return lines, max((a+b)/2-float64(len(lines))*labelLine/2, 0)
}

// pack puts slices that do not overlap into the same lane, and returns those
// without room.
func (l *ladder) pack(all []*slice) (rest []*slice) {
	type box struct{ top, bottom float64 }
	var taken [][]box
next:
	for _, s := range all {
		lines, top := l.label(s)
		a, b := l.span(s.lo, s.hi)
		mine := box{min(a, top) - 6, max(b, top+float64(len(lines))*labelLine) + 6}
		for i := range taken {
			if !slices.ContainsFunc(taken[i], func(o box) bool { return mine.top < o.bottom && o.top < mine.bottom }) {
				taken[i] = append(taken[i], mine)
				l.lanes[i] = append(l.lanes[i], s)
				continue next
			}
		}
		if len(taken) == max(min(int((ladderWidth-l.keys-l.names)/l.lane), maxLanes), 1) {
			rest = append(rest, s)
			continue
		}
		taken = append(taken, []box{mine})
		l.lanes = append(l.lanes, []*slice{s})
	}
	return rest
}

// ladders draws a partition, in several pictures if it has many slices.
func (p *page) ladders(s *space, part *part) {
	for rest, first := part.slices, true; first || len(rest) > 0; first = false {
		l := newLadder(s, part, rest)
		rest = l.pack(rest)
		p.ladder(l, first)
	}
}

func (p *page) ladder(l *ladder, first bool) {
	x0 := l.keys + l.names
	wide := x0 + float64(len(l.lanes))*l.lane
	end := l.lines[len(l.lines)-1]
	high := end.y + end.h
	for _, lane := range l.lanes {
		for _, s := range lane {
			lines, top := l.label(s)
			high = max(high, top+float64(len(lines))*labelLine)
		}
	}
	high += 8
	p.Open("div", markup.Class("ladder"))
	p.Open("p", markup.Class("partition"))
	p.Leaf("span", "partition ", markup.Class("muted"))
	p.Leaf("code", short(l.p.name, 60), markup.Class("key"), markup.A("title", l.p.name))
	more := ""
	if !first {
		more = ", more slices"
	}
	p.Leaf(
		"span", fmt.Sprintf(" %s, %s%s", text.Count(len(l.p.rows), "item"), text.Size(float64(l.p.bytes)), more),
		markup.Class("muted"),
	)
	p.Close()
	p.Open(
		"div", markup.Class("scroll"), markup.A("tabindex", "0"), markup.A("role", "group"),
		markup.A("aria-label", "Rows of partition "+l.p.name+" in order, with the slices of patterns"),
	)
	p.Open(
		"svg", markup.A("viewBox", fmt.Sprintf("0 0 %s %s", markup.Coordinate(wide), markup.Coordinate(high))),
		markup.Num("width", wide), markup.Num("height", high), markup.Class("picture"),
	)
	for i, ln := range l.lines {
		p.ladderLine(l, i, ln, wide)
	}
	for i, lane := range l.lanes {
		for _, s := range lane {
			p.lane(l, s, x0+float64(i)*l.lane+16)
		}
	}
	p.Close()
	p.Close()
	p.Close()
}

// ladderLine draws a row or a run of rows, with a guide across all lanes.
func (p *page) ladderLine(l *ladder, i int, ln line, wide float64) {
	rows := l.p.rows
	if i%2 == 0 && len(l.lanes) > 0 {
		p.Void(
			"rect", markup.Num("x", l.keys-2), markup.Num("y", ln.y), markup.Num("width", wide-l.keys+2),
			markup.Num("height", ln.h), markup.Class("zebra"),
		)
	}
	if ln.n > 1 {
		p.run(l, ln)
		return
	}
	it := rows[ln.at].Item.Attributes
	of := entity(&rows[ln.at])
	p.Open("g")
	p.Leaf("title", fmt.Sprintf("%s (%s, %s)", l.s.full(it), named(of), text.Count(rows[ln.at].Size(), "byte")))
	p.rowBox(of, 0, ln.y+1, l.keys-6, ln.h-2)
	p.Leaf(
		"text", short(l.s.name(l.p, ln.at), 40), markup.Class("mono key"), markup.Num("x", 13),
		markup.Num("y", ln.y+ln.h/2+4),
	)
	if l.names > 0 {
		p.Leaf(
			"text", short(named(of), 14), markup.Class("small muted"), markup.Num("x", l.keys+2),
			markup.Num("y", ln.y+ln.h/2+4),
		)
	}
	p.Close()
}

// rowBox draws the box of a row in the colour of its entity.
func (p *page) rowBox(entity string, x, y, w, h float64) {
	c := p.color(entity)
	p.Void(
		"rect", markup.Num("x", x), markup.Num("y", y), markup.Num("width", w), markup.Num("height", h),
		markup.Num("rx", 3), markup.Class("tint "+c),
	)
	p.Void(
		"rect", markup.Num("x", x), markup.Num("y", y), markup.Num("width", 5), markup.Num("height", h),
		markup.Num("rx", 2), markup.Class("fill "+c),
	)
}

// run draws a run of rows as a band with the colours of its entities.
func (p *page) run(l *ladder, ln line) {
	rows := l.p.rows
	shares := map[string]int{}
	for _, r := range rows[ln.at : ln.at+ln.n] {
		shares[entity(&r)]++
	}
	p.Open("g")
	p.Leaf("title", fmt.Sprintf("%s more: %s", text.Thousands(ln.n), sharesText(l.s.entities, shares)))
	x := 0.0
	for _, e := range l.s.entities {
		if shares[e] == 0 {
			continue
		}
		w := (l.keys - 6) * float64(shares[e]) / float64(ln.n)
		p.Void(
			"rect", markup.Num("x", x), markup.Num("y", ln.y+4), markup.Num("width", w), markup.Num("height", ln.h-8),
			markup.Class("band "+p.color(e)),
		)
		x += w
	}
	p.Leaf(
		"text", "⋮ "+text.Thousands(ln.n)+" more", markup.Class("small"), markup.Num("x", 13),
		markup.Num("y", ln.y+ln.h/2+4),
	)
	p.Close()
}

// lane draws one slice beside the rows.
func (p *page) lane(l *ladder, s *slice, x float64) {
	p.Open(
		"a", markup.To("pattern-%d", s.n), markup.Class("slice"), markup.ID("lane-%d", s.n),
		markup.A("aria-label", s.describe()),
	)
	p.Leaf("title", s.describe())
	for _, ln := range l.lines {
		switch {
		case ln.at+ln.n > s.lo && ln.at < s.hi:
			p.cell(l, s, ln, x+8)
		case ln.n == 1 && (ln.at == s.lo-1 || ln.at == s.hi):
			p.Void(
				"rect", markup.Num("x", x+8), markup.Num("y", ln.y+3), markup.Num("width", laneCells),
				markup.Num("height", ln.h-6), markup.Num("rx", 2), markup.Class("outside"),
			)
		}
	}
	top, bottom := l.span(s.lo, s.hi)
	p.bracket(x, top, bottom)
	lines, y := l.label(s)
	title := len(l.title(s))
	tx := x + 8 + laneCells + 8
	for i, text := range lines {
		c := "lane-name"
		switch {
		case i == title:
			c = "small muted"
		case i > title:
			c = "small bad-text"
		}
		p.Leaf("text", text, markup.Class(c), markup.Num("x", tx), markup.Num("y", y+float64(i)*labelLine+12))
	}
	p.Close()
}

// bracket draws the border of a range.
func (p *page) bracket(x, top, bottom float64) {
	if bottom-top < 1 { // between two rows
		p.Void(
			"path", markup.Class("bracket"),
			markup.A("d", fmt.Sprintf("M%s %s h%d m%d -4 v8", markup.Coordinate(x), markup.Coordinate(top), laneCells+10, -laneCells-10)),
		)
		return
	}
	p.Void(
		"path", markup.Class("bracket"),
		markup.A("d", fmt.Sprintf("M%s %s h-6 V%s h6", markup.Coordinate(x+6), markup.Coordinate(top+1.5), markup.Coordinate(bottom-1.5))),
	)
}

// cell draws a row in a lane: in colour if it was returned, hatched if it was
// dropped, faint if it was not read.
func (p *page) cell(l *ladder, s *slice, ln line, x float64) {
	y, h := ln.y+1, ln.h-2
	if ln.at >= s.to || ln.at+ln.n <= s.from {
		p.Void(
			"rect", markup.Num("x", x), markup.Num("y", y), markup.Num("width", laneCells), markup.Num("height", h),
			markup.Num("rx", 2), markup.Class("unread"),
		)
		return
	}
	rows := l.p.rows
	c := p.color(entity(&rows[ln.at]))
	if s.stray != nil && ln.n == 1 && s.stray(l.s.name(l.p, ln.at)) {
		p.strayCell(c, x, y, laneCells, h)
		return
	}
	lost := s.dropped(ln.at, ln.at+ln.n) / float64(ln.n)
	if lost < 1 {
		p.Void(
			"rect", markup.Num("x", x), markup.Num("y", y), markup.Num("width", laneCells),
			markup.Num("height", h*(1-lost)), markup.Num("rx", 2), markup.Class("fill "+c),
		)
	}
	if lost > 0 {
		p.wasted(c, x, y+h*(1-lost), laneCells, h*lost)
	}
}

// strayCell draws a returned row that the pattern does not want.
func (p *page) strayCell(c string, x, y, w, h float64) {
	p.Void(
		"rect", markup.Num("x", x+1), markup.Num("y", y+1), markup.Num("width", w-2), markup.Num("height", h-2),
		markup.Num("rx", 2), markup.Class("stray "+c),
	)
	p.Leaf("text", "!", markup.Class("stray-mark mid"), markup.Num("x", x+w/2), markup.Num("y", y+h/2+4))
}

// wasted draws a hatched box.
func (p *page) wasted(c string, x, y, w, h float64) {
	p.Void(
		"rect", markup.Num("x", x), markup.Num("y", y), markup.Num("width", w), markup.Num("height", h),
		markup.Class("lost "+c),
	)
	p.Void(
		"rect", markup.Num("x", x), markup.Num("y", y), markup.Num("width", w), markup.Num("height", h),
		markup.Class("hatch"),
	)
}
