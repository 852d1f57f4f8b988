package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

const (
	pictureRows = 7   // rows that a picture shows at each end of a large slice
	maxColumns  = 6   // attributes beside the keys
	maxCell     = 24  // characters of a value that a cell shows
	maxTitle    = 400 // characters of a cut value that the title of its cell shows
	// maxLiteral is in bytes. A cell cuts a string that is longer. Of any other value that is larger, it shows only
	// the type and the size.
	maxLiteral = 4096
)

// A picture shows a slice of a partition as a table, in the order of reading: the rows just before the slice, the
// first and last rows of the slice, and the rows just after it.
type picture struct {
	*explain.Report
	ID, Title string
	Columns   []string // attributes beside the keys
	// Before, Slice and After are the rows before, in and after the slice.
	Before, Slice, After []pictureRow

	colors palette
	link   func(row attr.Item) string // returns the address of a row, or ""; nil if rows have no addresses
}

// A pictureRow is a row of the table. If Words is not "", the row is not an item: it spans the table and describes an
// end of the range, a gap or a remark.
type pictureRow struct {
	Class  string // CSS classes: whether the row was read or dropped, and its colour
	Words  string
	Name   string
	Title  string // says whether the row was returned, dropped or not read
	Link   string // the address of the item, or ""
	Note   string
	Values []pictureValue

	item attr.Item
}

// A pictureValue is the value of an attribute in a cell. If Text is cut, Title has more of the value; otherwise it is
// "".
type pictureValue struct{ Text, Title string }

// newPicture draws what a request reads.
func newPicture(r *explain.Report, id, title string, colors palette, link func(attr.Item) string) *picture {
	d := &picture{Report: r, ID: id, Title: title, colors: colors, link: link}
	into := &d.Before
	for _, l := range r.Picture(pictureRows) {
		switch l.Kind {
		case explain.Top:
			into = &d.Slice
			d.end(l.Text)
		case explain.Bottom:
			d.end(l.Text)
			into = &d.After
		case explain.Gap, explain.Stop:
			d.Slice = append(d.Slice, pictureRow{Class: "gap", Words: l.Text})
		default:
			*into = append(*into, d.row(l))
		}
	}
	d.fill()
	return d
}

// end appends a row that describes an end of the range. A GetItem gets no such row, because it reads one key.
func (d *picture) end(words string) {
	if d.Operation != "GetItem" {
		d.Slice = append(d.Slice, pictureRow{Class: "end", Words: words})
	}
}

// row returns a row that was read, or one just outside the slice.
func (d *picture) row(l explain.PictureLine) pictureRow {
	row := pictureRow{Name: text.Visible(l.Text), item: l.Item, Class: "outside", Note: "outside"}
	what := "not read"
	switch {
	case l.Kind == explain.NextRow:
		row.Note = "next page"
	case l.Kind == explain.ReadRow && l.Dropped:
		row.Class, row.Note, what = "hatch "+d.colors[l.Entity], "dropped", "read, paid for and dropped"
	case l.Kind == explain.ReadRow:
		row.Class, row.Note, what = "read "+d.colors[l.Entity], text.Thousands(l.Bytes), "returned"
	}
	row.Title = named(l.Entity) + ": " + what
	if row.item == nil {
		row.item = l.Key
	}
	if d.link != nil {
		row.Link = d.link(row.item)
	}
	return row
}

// Legend returns the entities whose rows the request reads. It returns nil if there is only one entity, which needs
// no legend.
func (d *picture) Legend() (all []entityColor) {
	if len(d.Entities) > 1 {
		for _, s := range d.Entities {
			all = append(all, entityColor{s.Entity, d.colors[s.Entity], s.Examined})
		}
	}
	return all
}

// Width returns the number of columns of the table without the bracket.
func (d *picture) Width() int { return len(d.Columns) + 2 }

// Describe describes the slice in a sentence for screen readers.
func (d *picture) Describe() string {
	words := "reads " + text.Count(d.Examined, "row")
	if n := d.Examined - d.Returned; n > 0 {
		words += fmt.Sprintf(" and drops %s", text.Thousands(n))
	}
	return strings.TrimPrefix(d.Title+": "+words, ": ")
}

// KeyTitle returns the title of the column of keys: the names of the key attributes.
func (d *picture) KeyTitle() string {
	var names []string
	for _, a := range d.keyAttributes() {
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}

// keyAttributes returns the attributes that a row shows as its key.
func (d *picture) keyAttributes() []keycond.Attribute {
	if d.Operation != "Scan" && len(d.Schema.Sort()) > 0 {
		return d.Schema.Sort()
	}
	return d.Schema.Attributes()
}

// fill chooses the columns and sets the values of all rows. It prefers attributes that more rows have. Among equally
// frequent attributes, those with sets, lists and maps come last. Attributes of the key get no column.
func (d *picture) fill() {
	known := d.keyAttributes()
	if d.Operation != "Scan" {
		known = slices.Concat(known, d.Schema.Partition())
	}
	var rows []*pictureRow
	found, documents := map[string]int{}, map[string]int{}
	for _, part := range [][]pictureRow{d.Before, d.Slice, d.After} {
		for i := range part {
			row := &part[i]
			rows = append(rows, row)
			for raw, v := range row.item.All() {
				name := string(raw)
				if slices.ContainsFunc(known, func(a keycond.Attribute) bool { return a.Name == name }) {
					continue
				}
				found[name]++
				if v.Kind() >= attr.List || v.Kind().IsSet() {
					documents[name]++
				}
			}
		}
	}

	d.Columns = slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(
			cmp.Compare(found[b], found[a]), cmp.Compare(documents[a], documents[b]), text.CompareNatural(a, b),
			cmp.Compare(a, b),
		)
	})
	d.Columns = d.Columns[:min(len(d.Columns), maxColumns)]
	for _, row := range rows {
		for _, name := range d.Columns {
			row.Values = append(row.Values, cellOf(row.item.Get(name)))
		}
	}
}

// cellOf returns the text of a value for a cell.
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
		whole = text.Visible(text.Literal(v))
	}

	shown := pictureValue{Text: terminal.Clip(whole, maxCell)}
	if shown.Text != whole {
		shown.Title = terminal.Clip(whole, maxTitle)
	}
	return shown
}

// A painter draws pictures of slices that it reads from a dataset.
type painter struct {
	ctx    context.Context
	target explain.Target
	m      *model.Model
	colors palette
}

func (d *painter) options() explain.Options {
	return explain.Options{Classify: d.m.EntityName, Items: 2 * pictureRows}
}

// slices draws the worst and the median slice that a pattern reads. If the check did not estimate other values, it
// draws only the slice for the values in the model.
func (d *painter) slices(p *pattern) (all []*picture, err error) {
	id := fmt.Sprintf("slice-%d", p.N)
	own := []*picture{newPicture(p.Report, id, "", d.colors, nil)}
	s := p.Spread
	if s == nil {
		return own, nil
	}
	for i, r := range []*load.Reading{&s.Worst, &s.P50} {
		if i > 0 && string(r.Request) == string(s.Worst.Request) {
			break
		}
		q, err := explain.Parse(p.Report.Operation, r.Request)
		if err != nil {
			return own, nil // for example, the reading consists of several requests
		}
		report, err := explain.Run(d.ctx, d.target, q, d.options())
		switch {
		case err != nil:
			return nil, err
		case report.Refused != nil:
			return own, nil
		}
		name := []string{"worst", "median"}[i]
		all = append(all, newPicture(report, id+[]string{"", "-median"}[i], name+": "+r.Place(), d.colors, nil))
	}
	return all, nil
}

// partition draws the whole partition that contains a row. It returns nil if no query can name the partition key.
func (d *painter) partition(s *space, row *dataset.Row) (*picture, error) {
	p := &model.Pattern{Name: s.Stats.Name(), Operation: "Query", Table: s.Table, Index: s.Index}
	for _, a := range s.Hash {
		p.Where = append(p.Where, model.Condition{
			Field: a.Name, Op: ast.Equal, Args: []string{model.TextOf(row.Item.Attributes.Get(a.Name))},
		})
	}
	in, err := compile.Pattern(p)
	if err != nil {
		return nil, nil // for example, the key is not text
	}
	report, err := explain.Run(d.ctx, d.target, explain.Question{Input: in}, d.options())
	if err != nil || report.Refused != nil {
		return nil, err
	}
	id := fmt.Sprintf("partition-%d", s.N)
	return newPicture(report, id, load.PartitionKeyOf(s.Space, row).Text(), d.colors, nil), nil
}
