package report

import (
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

// A ladder is the picture of one partition: its rows in order from top to
// bottom, and beside them the slices of patterns, with a bracket around each
// range. A run of rows without the edge of a slice is one line.
type ladder struct {
	*part
	More          bool // the slices are those for which an earlier ladder has no room
	Width, Height float64
	Marks         []marks
	Slices        []ladderSlice

	s     *space
	lines []line
	lanes [][]*pattern
	keys  float64 // width of the column of keys
	most  int     // characters of a key
	names float64 // width of the column of entities
	lane  float64 // width of a lane
}

// A ladderSlice is a slice in a lane of a ladder.
type ladderSlice struct {
	*pattern
	Cells   []marks
	Bracket string
	Labels  []label
}

// A line is a row, or a run of rows.
type line struct {
	at, n int
	y, h  float64
}

const (
	maxLadders  = 12
	smallSpace  = 40 // items of a space that is drawn entirely
	rowHeight   = 22
	runHeight   = 30
	leastKey    = 40 // characters of a key for which there is room in any case
	keyMargin   = 26
	charWidth   = 7.25                   // of the monospaced font
	laneLabel   = 16 + 8 + laneCells + 8 // offset of labels in a lane
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

// ladders draws partitions, those with the most slices first, in several
// pictures if they have many slices.
func (s *space) ladders() (all []*ladder) {
	least := 0
	if len(s.Rows) <= smallSpace {
		least = maxLadders
	}
	shown := s.choose(least, maxLadders)
	slices.SortStableFunc(shown, func(a, b *part) int { return len(b.Patterns) - len(a.Patterns) })
	for _, p := range shown {
		for rest, first := p.Patterns, true; first || len(rest) > 0; first = false {
			l := newLadder(s, p, rest)
			l.More = !first
			rest = l.pack(rest)
			l.draw()
			all = append(all, l)
		}
	}
	return all
}

// newLadder lays out the rows of a partition.
func newLadder(s *space, p *part, read []*pattern) *ladder {
	l := &ladder{part: p, s: s, lines: outline(len(p.Rows), read)}
	y := float64(ladderTop)
	longest, names := 12, 0
	for i := range l.lines {
		ln := &l.lines[i]
		ln.y, ln.h = y, rowHeight
		if ln.n > 1 {
			ln.h = runHeight
		} else {
			longest = max(longest, width(s.name(p, ln.at)))
			names = max(names, width(entity(&p.Rows[ln.at])))
		}
		y += ln.h
	}
	if len(s.entities) > 1 {
		l.names = float64(min(names, 14))*6.4 + 12
	}
	wide := ladderWidth - l.names - keyMargin - float64(min(len(read), maxLanes))*minLane // that lanes leave
	l.most = max(int(wide/charWidth), leastKey)
	l.keys = float64(min(longest, l.most))*charWidth + keyMargin
	room := ladderWidth - l.keys - l.names
	l.lane = min(max(room/float64(max(min(len(read), maxLanes), 1)), minLane), maxLane)
	return l
}

// outline selects the rows of a partition to show: all of a small one, and the
// rows near the ends and near the edges of slices of a large one.
func outline(n int, read []*pattern) (lines []line) {
	whole := wholeRows
	if len(read) == 0 {
		whole = unreadRows
	}
	if n <= whole {
		for i := range n {
			lines = append(lines, line{at: i, n: 1})
		}
		return lines
	}

	for about := 2; ; about-- {
		show := map[int]bool{}
		for i := range max(about, 1) {
			show[i], show[n-1-i] = true, true
		}

		for _, p := range read {
			for _, edge := range []int{p.lo, p.hi, p.from, p.to} {
				for i := edge - about; i < edge+about; i++ {
					show[i] = true
				}
			}
		}

		lines = nil
		for i := 0; i < n; {
			next := line{at: i, n: 1}
			for !show[i] && i+next.n < n && !show[i+next.n] {
				next.n++
			}
			lines = append(lines, next)
			i += next.n
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

// labels returns the lines beside a bracket, and the top and bottom of them: the
// name of the pattern, wrapped to the width of a lane, and what it reads.
func (l *ladder) labels(p *pattern) (all []label, top, bottom float64) {
	for _, s := range wrap(p.Pattern.Name, int((l.lane-laneLabel-6)/labelChar), 4) {
		all = append(all, label{Class: "lane-name", Text: s})
	}
	rows := text.Count(p.Report.Examined, "row")
	if p.Report.Examined == 0 {
		rows = "no rows"
	}
	all = append(all, label{Class: "small muted", Text: rows + " · " + p.RCU()})
	if n := p.Report.Examined - p.Report.Returned; n > 0 {
		words := fmt.Sprintf("%s dropped: %s", text.Thousands(n), text.Percent(p.Waste()))
		all = append(all, label{Class: "small bad-text", Text: words})
	}
	if p.Strayed > 0 {
		all = append(all, label{Class: "small bad-text", Text: text.Count(p.Strayed, "sibling") + " included"})
	}

	a, b := l.span(p.lo, p.hi)
	if p.to > p.from {
		a, b = l.span(p.from, p.to)
	}
	high := float64(len(all)) * labelLine
	top = max((a+b)/2-high/2, 0)
	for i := range all {
		all[i].Y = top + float64(i)*labelLine + 12
	}
	return all, top, top + high
}

// pack puts slices that do not overlap into the same lane, and returns those
// without room.
func (l *ladder) pack(all []*pattern) (rest []*pattern) {
	type extent struct{ top, bottom float64 }
	var taken [][]extent
	lanes := max(min(int((ladderWidth-l.keys-l.names)/l.lane), maxLanes), 1)
next:
	for _, p := range all {
		_, top, bottom := l.labels(p)
		a, b := l.span(p.lo, p.hi)
		mine := extent{min(a, top) - 6, max(b, bottom) + 6}
		for i := range taken {
			overlaps := func(o extent) bool { return mine.top < o.bottom && o.top < mine.bottom }
			if !slices.ContainsFunc(taken[i], overlaps) {
				taken[i] = append(taken[i], mine)
				l.lanes[i] = append(l.lanes[i], p)
				continue next
			}
		}
		if len(taken) == lanes {
			rest = append(rest, p)
			continue
		}
		taken = append(taken, []extent{mine})
		l.lanes = append(l.lanes, []*pattern{p})
	}
	return rest
}

// draw makes the marks of the rows and of the slices.
func (l *ladder) draw() {
	left := l.keys + l.names
	l.Width = left + float64(len(l.lanes))*l.lane
	for i, ln := range l.lines {
		if i%2 == 0 && len(l.lanes) > 0 { // a guide across all lanes
			l.Marks = append(l.Marks, marks{Boxes: []box{{l.keys - 2, ln.y, l.Width - l.keys + 2, ln.h, 0, "zebra"}}})
		}
		if ln.n > 1 {
			l.Marks = append(l.Marks, l.run(ln))
		} else {
			l.Marks = append(l.Marks, l.row(ln))
		}
		l.Height = ln.y + ln.h
	}
	for i, lane := range l.lanes {
		for _, p := range lane {
			s, bottom := l.slice(p, left+float64(i)*l.lane+16)
			l.Slices = append(l.Slices, s)
			l.Height = max(l.Height, bottom)
		}
	}
	l.Height += 8
}

// row draws a row.
func (l *ladder) row(ln line) marks {
	row := &l.Rows[ln.at]
	of := named(entity(row))
	color := l.s.colors[entity(row)]
	y := ln.y + ln.h/2 + 4
	name := terminal.Clip(text.Visible(l.s.name(l.part, ln.at)), l.most)
	m := marks{
		ID:    l.s.anchorRow(l.part, ln.at),
		Title: fmt.Sprintf("%s (%s, %s)", l.s.full(row.Item.Attributes), of, text.Count(row.Size(), "byte")),
		Boxes: []box{
			{0, ln.y + 1, l.keys - 6, ln.h - 2, 3, "tint " + color}, {0, ln.y + 1, 5, ln.h - 2, 2, "fill " + color},
		},
		Labels: []label{{X: 13, Y: y, Class: "mono key", Text: name}},
	}
	if l.names > 0 {
		m.Labels = append(m.Labels, label{X: l.keys + 2, Y: y, Class: "small muted", Text: short(of, 14)})
	}
	return m
}

// run draws a run of rows as a band with the colours of its entities.
func (l *ladder) run(ln line) marks {
	n := count(l.Rows[ln.at : ln.at+ln.n])
	var m marks
	var words []string
	x := 0.0
	for _, e := range l.s.entities {
		if n[e] > 0 {
			words = append(words, text.Thousands(n[e])+" of "+named(e))
			w := (l.keys - 6) * float64(n[e]) / float64(ln.n)
			m.Boxes = append(m.Boxes, box{x, ln.y + 4, w, ln.h - 8, 0, "band " + l.s.colors[e]})
			x += w
		}
	}
	more := text.Thousands(ln.n) + " more"
	m.Title = more + ": " + text.Join(words, "and")
	m.Labels = []label{{X: 13, Y: ln.y + ln.h/2 + 4, Class: "small", Text: "⋮ " + more}}
	return m
}

// slice draws one slice beside the rows, and returns how far down it reaches.
func (l *ladder) slice(p *pattern, x float64) (s ladderSlice, bottom float64) {
	s.pattern = p
	for _, ln := range l.lines {
		switch {
		case ln.at+ln.n > p.lo && ln.at < p.hi:
			s.Cells = append(s.Cells, l.cell(p, ln, x+8))
		case ln.n == 1 && (ln.at == p.lo-1 || ln.at == p.hi):
			s.Cells = append(s.Cells, marks{Boxes: []box{{x + 8, ln.y + 3, laneCells, ln.h - 6, 2, "outside"}}})
		}
	}
	from, to := l.span(p.lo, p.hi)
	s.Bracket = bracket(x, from, to)
	s.Labels, _, bottom = l.labels(p)
	for i := range s.Labels {
		s.Labels[i].X = x - 16 + laneLabel
	}
	return s, bottom
}

// cell draws a row in a lane: in colour if it was returned, hatched if it was
// dropped, faint if it was not read, framed if it is a sibling.
func (l *ladder) cell(p *pattern, ln line, x float64) (m marks) {
	y, h := ln.y+1, ln.h-2
	if ln.at >= p.to || ln.at+ln.n <= p.from {
		m.Boxes = []box{{x, y, laneCells, h, 2, "unread"}}
		return m
	}
	color := l.s.colors[entity(&l.Rows[ln.at])]
	if ln.n == 1 && p.stray(l.s.name(l.part, ln.at)) {
		m.Boxes = []box{{x + 1, y + 1, laneCells - 2, h - 2, 2, "stray " + color}}
		m.Labels = []label{{X: x + laneCells/2, Y: y + h/2 + 4, Class: "stray-mark mid", Text: "!"}}
		return m
	}
	lost := p.lost(ln.at, ln.at+ln.n)
	if lost < 1 {
		m.Boxes = append(m.Boxes, box{x, y, laneCells, h * (1 - lost), 2, "fill " + color})
	}
	if lost > 0 {
		m.Boxes = append(m.Boxes, dropped(color, x, y+h*(1-lost), laneCells, h*lost)...)
	}
	return m
}
