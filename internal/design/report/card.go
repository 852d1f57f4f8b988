package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

const (
	cardHead   = 7    // rows drawn from each end of a large slice
	runWidth   = 1000 // of the bar of the rows between them
	maxColumns = 6    // attributes beside the keys
	maxCell    = 24   // characters of a value in its cell
	maxTitle   = 400  // characters of one that is cut, in its title
	maxLiteral = 4096 // bytes of a value that is not text, and is written
)

// What a column takes, in pixels. The style sheet shows a column from a multiple of columnStep on.
const (
	columnStep  = 80
	firstStep   = 3
	lastStep    = 18
	monoChar    = 7.6
	cellPadding = 16
	noteWidth   = 110 // of the bracket and the last column
)

// A picture shows what a pattern reads as a table, in the order in which it is read: the row before its slice,
// the first and last rows of it, and the row after it.
type picture struct {
	*pattern
	Columns              []pictureColumn
	Before, Slice, After []pictureRow
}

// A pictureColumn is an attribute of the rows. Class says from which width of the table on there is room for it.
type pictureColumn struct {
	Name, Class string

	name            string
	rows, documents int  // that have it, and in which it is a list, a map or a set
	number          bool // all its values are numbers
	width           int  // in characters
}

// A pictureRow is a row, or words across the table: an end of the range, rows that are left out, or a remark.
type pictureRow struct {
	Class        string // what became of the row, and its colour
	Words        string
	Runs         []box // the kinds of the rows that are left out
	Prefix, Name string
	Title        string // the whole key, and what became of the row
	Link         string // the address of the item, or ""
	Note         string
	Values       []pictureValue

	item attr.Item
}

// A pictureValue is the value of an attribute. Title is what Text leaves out, or "".
type pictureValue struct{ Class, Text, Title string }

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

	rows := &d.Before
	for _, l := range lines {
		switch l.Kind {
		case explain.OutsideRow:
			*rows = append(*rows, d.outside(l))
		case explain.Top:
			rows = &d.Slice
			d.end(l.Text)
		case explain.ReadRow:
			d.Slice = append(d.Slice, d.row(l))
		case explain.Gap:
			gap := pictureRow{Class: "gap", Words: l.Text}
			if l.Hidden > 0 {
				gap = d.gap(l.Hidden, lost)
			}
			d.Slice = append(d.Slice, gap)
		case explain.Stop:
			d.unread()
		case explain.Bottom:
			d.end(l.Text)
			rows = &d.After
		}
	}
	d.chooseColumns()
	return d
}

// Width is the number of columns of the table beside the bracket.
func (d *picture) Width() int { return len(d.Columns) + 2 }

// KeyTitle names the attributes of a row's key.
func (d *picture) KeyTitle() string {
	var names []string
	for _, a := range d.keyAttributes() {
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}

// keyAttributes are the attributes in the name of a row.
func (d *picture) keyAttributes() []keycond.Attribute {
	s := d.Report.Schema
	if d.Report.Operation != "Scan" && len(s.Sort()) > 0 {
		return s.Sort()
	}
	return s.Attributes()
}

// chooseColumns chooses the attributes that most rows have, and gives the rows their values. A column is only shown
// where there is room for the whole keys and the columns before it.
func (d *picture) chooseColumns() {
	var rows []*pictureRow
	key := 12
	for _, part := range [][]pictureRow{d.Before, d.Slice, d.After} {
		for i := range part {
			if r := &part[i]; r.item != nil {
				rows = append(rows, r)
				key = max(key, width(r.Prefix+r.Name))
			}
		}
	}

	room := noteWidth + cellPadding + float64(key)*monoChar
	for _, c := range d.attributes(rows) {
		room += cellPadding + float64(c.width)*monoChar
		step := max(int(math.Ceil(room/columnStep)), firstStep)
		if step > lastStep {
			return
		}
		c.Class = fmt.Sprintf("w%d", step)
		if c.number {
			c.Class += " n"
		}
		d.Columns = append(d.Columns, *c)
		for _, r := range rows {
			value := cellOf(r.item.Get(c.name))
			value.Class = c.Class
			r.Values = append(r.Values, value)
		}
	}
}

// attributes returns the attributes of rows that are neither in their names nor the same in all of them: those of most
// rows first, and of these the narrowest, as more of them fit.
func (d *picture) attributes(rows []*pictureRow) []*pictureColumn {
	known := d.keyAttributes()
	if d.Report.Operation != "Scan" && d.Report.Schema != nil {
		known = slices.Concat(known, d.Report.Schema.Partition())
	}

	found := map[string]*pictureColumn{}
	for _, r := range rows {
		for raw, v := range r.item.All() {
			name := string(raw)
			if slices.ContainsFunc(known, func(a keycond.Attribute) bool { return a.Name == name }) {
				continue
			}
			c := found[name]
			if c == nil {
				c = &pictureColumn{Name: terminal.Clip(text.Visible(name), maxCell), name: name, number: true}
				c.width = width(c.Name)
				found[name] = c
			}
			c.rows++
			c.width = max(c.width, width(cellOf(v).Text))
			c.number = c.number && v.Kind() == attr.Number
			if v.Kind() >= attr.List || v.Kind().IsSet() {
				c.documents++
			}
		}
	}

	all := slices.SortedFunc(maps.Values(found), func(a, b *pictureColumn) int {
		return cmp.Or(
			cmp.Compare(b.rows, a.rows), cmp.Compare(a.documents, b.documents), cmp.Compare(a.width, b.width),
			text.CompareNatural(a.name, b.name), cmp.Compare(a.name, b.name),
		)
	})
	return all[:min(len(all), maxColumns)]
}

// cellOf returns a value as it is shown beside a key.
func cellOf(v attr.Value) pictureValue {
	var whole string
	switch {
	case v.IsZero():
		return pictureValue{}
	case v.Kind() == attr.String:
		whole = text.Visible(string(v.Raw()[:min(len(v.Raw()), maxLiteral)]))
	case v.Size() > maxLiteral:
		return pictureValue{Text: v.Kind().String() + ", " + text.Size(v.Size())}
	default:
		whole = text.Visible(gridValue(v))
	}

	shown := pictureValue{Text: terminal.Clip(whole, maxCell)}
	if shown.Text != whole {
		shown.Title = terminal.Clip(whole, maxTitle)
	}
	return shown
}

// end appends an end of the range, which a single key does not have.
func (d *picture) end(words string) {
	if d.Report.Operation != "GetItem" {
		d.Slice = append(d.Slice, pictureRow{Class: "end", Words: words})
	}
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

// keyed returns a row with its name, in which the common prefix of the range is fainter. What says what became of it.
func (d *picture) keyed(l explain.PictureLine, name, full, what string) pictureRow {
	row := pictureRow{Name: text.Visible(name), item: l.Item}
	if row.item == nil {
		row.item = l.Key
	}
	if l.Kind == explain.ReadRow {
		what = text.Count(l.Bytes, "byte") + "): " + what
	} else {
		what = "outside): " + what
	}
	row.Title = text.Visible(full) + " (" + named(l.Entity) + ", " + what
	if rest, ok := strings.CutPrefix(name, d.prefix()); ok && rest != "" && l.Kind == explain.ReadRow {
		row.Prefix, row.Name = d.prefix(), text.Visible(rest)
	}
	if d.link != nil {
		row.Link = d.link(row.item)
	}
	return row
}

// outside returns a row just outside the range.
func (d *picture) outside(l explain.PictureLine) pictureRow {
	name, full := d.name(l.Key)
	row := d.keyed(l, name, full, "not read")
	row.Class, row.Note = "outside", "outside"
	return row
}

// unread appends the rows of the range after the last page.
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
	d.Slice = append(d.Slice, pictureRow{Class: "gap unread", Words: words})
}

// row returns a row that was read.
func (d *picture) row(l explain.PictureLine) pictureRow {
	name, full := d.name(l.Key)
	what, class, note := "returned", "read", text.Thousands(l.Bytes)
	switch {
	case l.Dropped:
		what, class, note = "read, paid for and dropped", "hatch", "dropped"
	case d.stray(name):
		class, note = "stray", "! sibling"
	}
	row := d.keyed(l, name, full, what)
	row.Class, row.Note = class+" "+d.colors[l.Entity], note
	return row
}

// gap returns a run of n rows, of which the filter dropped lost.
func (d *picture) gap(n, lost int) pictureRow {
	row := pictureRow{Class: "gap", Words: "⋮ " + text.Count(n, "more row")}
	x := 0.0
	for _, s := range d.Report.Entities {
		w := runWidth * float64(s.Examined) / float64(d.Report.Examined)
		row.Runs = append(row.Runs, box{x, 0, w, 8, 0, "band " + d.colors[s.Entity]})
		x += w
	}
	if lost > 0 {
		row.Words += fmt.Sprintf(", %s of them dropped", text.Thousands(lost))
		w := runWidth * float64(lost) / float64(n)
		row.Runs = append(row.Runs, box{runWidth - w, 0, w, 8, 0, "hatch soft"})
	}
	return row
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
