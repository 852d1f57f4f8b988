package explain

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
)

// A sketchLine is one line of the picture of a slice.
type sketchLine struct {
	mark string // the border of the slice
	key  string
	note string
	code string // colour
	edge bool   // a line of the border, which needs no column
}

// picture draws the slice: the row before it, its first and last rows and the
// row after it, in the order they are read.
//
//	  "root/photos-old/1.jpg"   outside
//	┌ from "root/photos/"
//	│ "root/photos/1.jpg"       120 bytes
//	│ … 7 rows
//	│ "root/photos/9.jpg"       120 bytes, filtered out
//	└ before "root/photos0"
//	  "root/videos"             outside
func (p *printer) picture() {
	r := p.r
	if p.o.Rows < 0 || r.Operation == opGetItem && r.Examined == 0 && r.Before == nil && r.After == nil {
		return
	}
	var lines []sketchLine
	above, below := r.Before, r.After
	aboveEntity, belowEntity := r.BeforeEntity, r.AfterEntity
	top, bottom := p.edge(r.Low, "from ", "after ", "start"), p.edge(r.High, "to ", "before ", "end")
	if r.Reverse {
		above, below, top, bottom = below, above, bottom, top
		aboveEntity, belowEntity = belowEntity, aboveEntity
	}
	if above != nil {
		lines = append(lines, sketchLine{mark: " ", key: p.keyText(above), note: notes(aboveEntity, "outside"), code: faint})
	}
	lines = append(lines, sketchLine{mark: "┌", key: top, edge: true})
	if r.Start != nil {
		lines = append(lines, sketchLine{mark: "│", key: "… up to the ExclusiveStartKey", edge: true})
	}
	lines = append(lines, p.rows()...)
	if r.Next != nil {
		why := "stopped at " + r.Stop
		if r.Stop == string(table.StopLimit) {
			why = "Limit " + strconv.Itoa(r.Limit)
		}
		lines = append(lines, sketchLine{mark: "├", key: why, edge: true},
			sketchLine{mark: "┆", key: p.keyText(r.Next), note: "the next page begins here", code: faint})
	}
	lines = append(lines, sketchLine{mark: "└", key: bottom, edge: true})
	if below != nil {
		lines = append(lines, sketchLine{mark: " ", key: p.keyText(below), note: notes(belowEntity, "outside"), code: faint})
	}
	p.sketch(lines)
}

func (p *printer) edge(b Bound, inclusive, exclusive, open string) string {
	switch {
	case p.r.Operation == opScan:
		return open + " of the scan"
	case b.Bytes == nil || b.Text == "":
		return open + " of the partition"
	case b.Inclusive:
		return inclusive + b.Text
	}
	return exclusive + b.Text
}

// rows are the lines of the rows examined.
func (p *printer) rows() []sketchLine {
	r := p.r
	line := func(row Row) sketchLine {
		l := sketchLine{mark: "│", key: p.keyText(row.Key), note: notes(row.Entity, plural(row.Bytes, "byte"))}
		if !row.Returned {
			l.mark, l.code, l.note = "│✗", bad, l.note+", filtered out"
		}
		return l
	}
	if r.Examined == 0 {
		return []sketchLine{{mark: "│", key: "no rows", edge: true}}
	}
	kept := append(slices.Clip(r.Rows), r.Tail...)
	head, tail := kept, kept[:0:0]
	if len(kept) > 2*p.o.Rows+1 || len(kept) < r.Examined {
		head = r.Rows[:min(p.o.Rows, len(r.Rows))]
		tail = kept[max(len(kept)-p.o.Rows, len(head)):]
	}
	var lines []sketchLine
	for _, row := range head {
		lines = append(lines, line(row))
	}
	if n := r.Examined - len(head) - len(tail); n > 0 {
		lines = append(lines, sketchLine{mark: "│", key: "… " + plural(n, "more row"), edge: true})
	}
	for _, row := range tail {
		lines = append(lines, line(row))
	}
	return lines
}

func notes(parts ...string) string {
	out := parts[:0:0]
	for _, s := range parts {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}

// sketch aligns lines and cuts them to the width.
func (p *printer) sketch(lines []sketchLine) {
	const indent, gap = 4, 2
	keys, side := 0, 0
	for _, l := range lines {
		if !l.edge {
			keys = max(keys, text.StringWidthWithoutEscSequences(l.key))
			side = max(side, text.StringWidthWithoutEscSequences(l.note))
		}
	}
	if p.o.Width > 0 {
		keys = min(keys, max(p.o.Width-indent-3-gap-side, 16))
	}
	p.out.WriteByte('\n')
	for _, l := range lines {
		mark := text.Pad(l.mark, 3, ' ')
		s := p.cut(l.key, indent+3)
		if !l.edge {
			s = text.Pad(text.Snip(l.key, keys, "…"), keys+gap, ' ') + l.note
			s = p.cut(strings.TrimRight(s, " "), indent+3)
		}
		out := strings.Repeat(" ", indent) + mark + p.paint(l.code, s)
		p.out.WriteString(strings.TrimRight(out, " ") + "\n")
	}
	p.out.WriteByte('\n')
}

// keyText writes the key of a row without what all rows of the slice share.
func (p *printer) keyText(key attr.Item) string {
	s := p.r.Schema
	if s == nil {
		return string(key.AppendJSON(nil))
	}
	var parts []string
	shared := p.r.Operation != opScan
	for _, a := range s.Attributes() {
		if shared && len(s.Range) > 0 {
			hash := false
			for _, h := range s.Hash {
				hash = hash || h.Name == a.Name
			}
			if hash {
				continue
			}
		}
		v := key.Get(a.Name)
		if v.IsZero() {
			continue
		}
		if len(s.Range) == 1 && s.Table == nil && shared {
			return Literal(v)
		}
		parts = append(parts, Literal(v))
	}
	return strings.Join(parts, ", ")
}
