package explain

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

// A Picture shows what a request reads as lines, in the order of reading: the row before the range, the start of the
// range, its rows, its end, and the row after it.
type Picture []PictureLine

// A PictureLine is one line of a [Picture].
type PictureLine struct {
	Kind lineKind
	// Text is the key of a row without the partition key. For an end of the range or a gap, Text describes it.
	Text string
	// Key has all key attributes of a row. Item has all attributes of the row that the endpoint returned.
	Key, Item attr.Item
	// Entity and Bytes describe a row. Bytes is 0 if the row was not read.
	Entity string
	Bytes  int
	// Dropped is true if the filter dropped the row after it was read.
	Dropped bool
	// Hidden is set for a gap: the number of rows that were read but that the picture does not show.
	Hidden int
}

// A lineKind is the kind of a [PictureLine].
type lineKind uint8

// The kinds of lines.
const (
	OutsideRow lineKind = iota + 1 // the row just outside the range
	Top                            // where reading begins
	Bottom                         // where the range ends
	ReadRow                        // a row that was read
	Gap                            // a remark, or the number of rows that are not shown
	Stop                           // says why the page ended inside the range
	NextRow                        // the first row of the next page
)

// Picture returns the picture of a request that was not refused. It shows at most the given number of rows at each
// end of the range.
func (r *Report) Picture(rows int) Picture {
	outside := func(key, item attr.Item, entity string) PictureLine {
		return PictureLine{Kind: OutsideRow, Text: r.KeyText(key), Key: key, Item: item, Entity: entity}
	}
	before := outside(r.Before, r.BeforeItem, r.BeforeEntity)
	after := outside(r.After, r.AfterItem, r.AfterEntity)
	top, bottom := r.Ends()
	if r.Reverse {
		before, after, top, bottom = after, before, bottom, top
	}

	var p Picture
	if before.Text != "" {
		p = append(p, before)
	}
	p = append(p, PictureLine{Kind: Top, Text: top})
	if r.Start != nil {
		p = append(p, PictureLine{Kind: Gap, Text: "… up to the ExclusiveStartKey"})
	}

	p = append(p, r.rows(rows)...)
	if r.Next != nil {
		why := "stopped at " + r.Stop
		if r.Stop == keycond.StopLimit.String() {
			why = "Limit " + strconv.Itoa(r.Limit)
		}
		p = append(
			p, PictureLine{Kind: Stop, Text: why}, PictureLine{Kind: NextRow, Text: r.KeyText(r.Next), Key: r.Next},
		)
	}

	p = append(p, PictureLine{Kind: Bottom, Text: bottom})
	if after.Text != "" {
		p = append(p, after)
	}
	return p
}

// Ends describes both ends of the range in words.
func (r *Report) Ends() (low, high string) {
	where := "partition"
	if r.Operation == opScan {
		where = "scan"
	}
	low, high = "from the start of the "+where, "to the end of the "+where
	if r.Low.Bytes != nil {
		low = r.Low.Words
	}
	if r.High.Bytes != nil {
		high = r.High.Words
	}
	return low, high
}

// rows returns lines for the rows that were read: up to most rows from each end, with a gap in place of the rows
// between them.
func (r *Report) rows(most int) Picture {
	if r.Examined == 0 {
		return Picture{{Kind: Gap, Text: "no rows"}}
	}

	most = max(most, 0)
	kept := slices.Concat(r.Rows, r.Tail)
	head, tail := kept, kept[:0]
	if len(kept) > 2*most+1 || len(kept) < r.Examined {
		head = r.Rows[:min(most, len(r.Rows))]
		tail = kept[max(len(kept)-most, len(head)):]
	}

	var p Picture
	add := func(rows []Row) {
		for _, row := range rows {
			p = append(
				p,
				PictureLine{
					Kind: ReadRow, Text: r.KeyText(row.Key), Key: row.Key, Item: row.Item, Entity: row.Entity,
					Bytes: row.Bytes, Dropped: !row.Returned,
				},
			)
		}
	}
	add(head)
	if n := r.Examined - len(head) - len(tail); n > 0 {
		p = append(p, PictureLine{Kind: Gap, Text: "… " + text.Count(n, "more row"), Hidden: n})
	}

	add(tail)
	return p
}

// KeyText returns the key of a row as text, or "" for nil. It omits the partition key, except in a Scan.
func (r *Report) KeyText(key attr.Item) string {
	s := r.Schema
	switch {
	case key == nil:
		return ""
	case s == nil:
		return string(key.AppendJSON(nil))
	}
	attrs := s.Attributes()
	if r.Operation != opScan && len(s.Sort()) > 0 {
		attrs = attrs[len(s.Partition()):]
	}
	var parts []string
	for _, a := range attrs {
		if v := key.Get(a.Name); !v.IsZero() {
			parts = append(parts, text.Literal(v))
		}
	}
	return strings.Join(parts, ", ")
}

// The column widths of a picture as text.
const (
	pictureIndent = 4
	borderWidth   = 3
	columnGap     = 2
)

// Text formats the picture for a terminal. Each line ends with a newline.
//
//	   "root/photos-old/1.jpg"  outside
//	┌  from "root/photos/"
//	│  "root/photos/1.jpg"      120 bytes
//	│  … 7 more rows
//	│✗ "root/photos/9.jpg"      120 bytes, filtered out
//	└  before "root/photos0"
//	   "root/videos"            outside
func (p Picture) Text(paint terminal.Paint) string {
	keys := 0
	for _, l := range p {
		if l.note() != "" {
			keys = max(keys, terminal.Width(l.Text))
		}
	}
	var out strings.Builder
	for _, l := range p {
		s := l.Text
		if note := l.note(); note != "" {
			s = terminal.Pad(s, keys+columnGap) + note
		}
		switch {
		case l.Dropped:
			s = paint.Bad(s)
		case l.Kind == OutsideRow || l.Kind == NextRow:
			s = paint.Faint(s)
		}
		out.WriteString(strings.Repeat(" ", pictureIndent) + terminal.Pad(l.border(), borderWidth) + s + "\n")
	}
	return out.String()
}

// border returns the mark at the left of a line. The marks show where the range begins and ends.
func (l PictureLine) border() string {
	switch l.Kind {
	case Top:
		return "┌"
	case Bottom:
		return "└"
	case Stop:
		return "├"
	case NextRow:
		return "┆"
	case OutsideRow:
		return ""
	}
	if l.Dropped {
		return "│✗"
	}
	return "│"
}

// note returns the remark at the right of a row, or "" for a line that is not a row.
func (l PictureLine) note() string {
	var note string
	switch l.Kind {
	case OutsideRow:
		note = "outside"
	case NextRow:
		return "first row of the next page"
	case ReadRow:
		note = text.Count(l.Bytes, "byte")
		if l.Dropped {
			note += ", filtered out"
		}
	default:
		return ""
	}
	if l.Entity != "" {
		note = l.Entity + ", " + note
	}
	return note
}
