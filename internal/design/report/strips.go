package report

import (
	"fmt"

	"github.com/sortkey/sortkey/internal/text"
)

// Limits of the pictures of a space.
const (
	maxStrips  = 14
	stripWidth = 1000
	binWidth   = 4
)

// Strips shows partitions one below the other, the largest first. Rest counts
// the others.
type strips struct {
	Shown []strip
	Rest  string
}

// A strip shows the rows of a partition from left to right.
type strip struct {
	*part
	Boxes []box
}

// Strips draws partitions, or returns nil for a space with only one.
func (s *space) Strips() *strips {
	if len(s.Partitions) < 2 {
		return nil
	}
	shown := s.choose(maxStrips, maxStrips+4)
	most := 1
	for _, p := range shown {
		most = max(most, len(p.Rows))
	}
	out := &strips{}
	items, bytes := len(s.Rows), s.Bytes
	for _, p := range shown {
		boxes := s.strip(p, float64(stripWidth)*float64(len(p.Rows))/float64(most))
		out.Shown = append(out.Shown, strip{p, boxes})
		items -= len(p.Rows)
		bytes -= p.Bytes
	}
	if n := len(s.Partitions) - len(shown); n > 0 {
		out.Rest = fmt.Sprintf(
			"and %s with %s, %s", text.Count(n, "more partition"), text.Count(items, "item"), text.Size(bytes),
		)
	}
	return out
}

// strip draws the rows of a partition as bands in the colours of their
// entities. A bin of several rows shows their shares.
func (s *space) strip(p *part, wide float64) (boxes []box) {
	rows := p.Rows
	wide = max(wide, 3)
	bins := min(len(rows), int(wide/binWidth)+1)
	pos := func(i int) float64 { return wide * float64(i) / float64(len(rows)) }
	gap := 0.0
	if wide/float64(len(rows)) > 12 {
		gap = 2 // separate the rows
	}

	var band *string // the entity of the last box, if more rows can extend it
	for b := range bins {
		from, to := b*len(rows)/bins, (b+1)*len(rows)/bins
		n := count(rows[from:to])
		if e := entity(&rows[from]); len(n) == 1 {
			if band == nil || *band != e || gap > 0 {
				boxes = append(boxes, box{X: pos(from), Y: 1, H: 14, Class: "fill " + s.colors[e]})
			}
			last := &boxes[len(boxes)-1]
			last.W = max(pos(to)-last.X-gap, 1)
			band = &e
			continue
		}
		band = nil
		y := 1.0
		for _, e := range s.entities {
			if n[e] > 0 {
				h := 14 * float64(n[e]) / float64(to-from)
				boxes = append(boxes, box{pos(from), y, pos(to) - pos(from), h, 0, "fill " + s.colors[e]})
				y += h
			}
		}
	}
	for _, r := range p.Patterns {
		if x := pos(r.from); r.to > r.from {
			boxes = append(boxes, box{x, 17, max(pos(r.to)-x-gap, 2), 3, 0, "mark"})
		}
	}
	return boxes
}
