package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

const (
	gridRows     = 100 // rows of a page
	firstColumns = 10  // columns visible by default, besides those of the key
	maxColumns   = 24  // columns in a page, hidden ones included, besides those of the key
	maxCell      = 80  // characters of a value in a cell, if it is not in the key
	maxFold      = 36  // characters of a document when it is folded
	maxDocument  = 600 // characters of a document when it is open
)

// A grid shows rows of a table or an index. Its columns are the attributes of the rows.
type grid struct {
	Place   string // name under which the browser stores the visible columns: the table and index
	Columns []column
	Left    int // attributes without a column
	Rows    []gridRow
	Kinds   []kindCount
	Bytes   int // of the rows

	Examined int     // rows that were read
	Met      int     // rows that met the filter, including those for the next page
	Units    float64 // read units
}

// A column is an attribute of the rows of a grid.
type column struct {
	ID, Name string // ID is the name, escaped for an address
	Rows     int    // rows that have the attribute
	Key      bool
	Hidden   bool // until somebody chooses it
	Number   bool // all its values are numbers

	name      string
	documents int // rows in which the attribute is a list, a map or a set
}

// A gridRow is an item, or a row of an index.
type gridRow struct {
	Color, Kind, Link, Sum string
	Bytes                  int
	Cells                  []gridCell
}

// A gridCell is the value of an attribute in a row. If Class is "", the row does not have the attribute.
type gridCell struct {
	Class string // by the kind of the value
	Link  string // or ""
	Text  string
	Size  string // size of a value that is cut, or ""
	Open  string // text of a document when it is open, or ""
	Rank  int    // in the order of the column
}

// A gridPlace determines which rows a grid shows.
type gridPlace struct {
	t         *keyschema.Table
	index     string
	partition string // as a person types it, or "" if the rows are from a scan
	filter    string
	rows      int // at most

	path  string   // path of the page in its address, with "?"
	pairs []string // names and values in its query
}

// table returns the names and values in a URL that identify the table, the index and the filter.
func (p *gridPlace) table() []string {
	return []string{"name", p.t.Name, "index", p.index, "filter", p.filter}
}

// address returns the address of the page. To its query it adds more, which alternates names and values.
func (p *gridPlace) address(more ...string) string {
	return p.path + query(slices.Concat(p.pairs, more)...)
}

// gridOf returns a grid of items in the given order.
func (s *Server) gridOf(p *gridPlace, items []attr.Item) *grid {
	g := &grid{Place: p.t.Name + "/" + p.index}
	keys := keysOf(p.t, p.index)
	g.columns(p, keys, items)

	n := map[string]int{}
	for _, it := range items {
		row := s.gridRow(p, g.Columns, keys, it)
		if n[row.Kind]++; n[row.Kind] == 1 {
			g.Kinds = append(g.Kinds, kindCount{Kind: row.Kind, Color: row.Color})
		}
		g.Bytes += row.Bytes
		g.Rows = append(g.Rows, row)
	}
	for i := range g.Kinds {
		g.Kinds[i].N = n[g.Kinds[i].Kind]
	}
	g.rank(items)
	return g
}

// keysOf returns the key attributes of an index, followed by the other key attributes of the table.
func keysOf(t *keyschema.Table, index string) []keycond.Attribute {
	all := slices.Clone(t.Schema(index).Attributes())
	for _, a := range t.Key.Attributes() {
		if !hasAttribute(all, a.Name) {
			all = append(all, a)
		}
	}
	return all
}

func hasAttribute(all []keycond.Attribute, name string) bool {
	return slices.ContainsFunc(all, func(a keycond.Attribute) bool { return a.Name == name })
}

// columns sets g.Columns. The key attributes come first. The other attributes follow; those that more rows have
// precede.
func (g *grid) columns(p *gridPlace, keys []keycond.Attribute, items []attr.Item) {
	found := map[string]*column{}
	for _, a := range keys {
		found[a.Name] = &column{name: a.Name, Key: true}
		g.Columns = append(g.Columns, column{})
	}
	for _, it := range items {
		for name, v := range it.All() {
			c := found[string(name)]
			if c == nil {
				c = &column{name: string(name), Number: true}
				found[c.name] = c
			}
			c.Rows++
			c.Number = c.Number && v.Kind() == attr.Number
			if v.Kind() >= attr.List || v.Kind().IsSet() {
				c.documents++
			}
		}
	}

	var rest []*column
	for _, c := range found {
		c.Name, c.ID = clip(text.Visible(c.name), maxValue), url.QueryEscape(c.name)
		if i := slices.IndexFunc(keys, func(a keycond.Attribute) bool { return a.Name == c.name }); i >= 0 {
			c.Number = keys[i].Kind == attr.Number
			c.Hidden = p.partition != "" && len(keys) > 1 && hasAttribute(p.t.Schema(p.index).Partition(), c.name)
			g.Columns[i] = *c
			continue
		}
		rest = append(rest, c)
	}
	slices.SortFunc(rest, func(a, b *column) int {
		return cmp.Or(
			cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.documents, b.documents),
			text.CompareNatural(a.name, b.name), cmp.Compare(a.name, b.name),
		)
	})

	shown := 0
	for _, c := range rest {
		if shown == maxColumns || len(c.name) > maxName {
			g.Left++
			continue
		}
		c.Hidden = shown >= firstColumns
		g.Columns = append(g.Columns, *c)
		shown++
	}
}

func (s *Server) gridRow(p *gridPlace, columns []column, keys []keycond.Attribute, it attr.Item) gridRow {
	kind := s.kind(p.t, it)
	row := gridRow{
		Kind: kind, Color: s.color(kind), Bytes: it.Size(),
		Sum:  sumOf(it),
		Link: itemLink(p.t, it),
	}
	for i := range columns {
		cell := cellOf(it.Get(columns[i].name), columns[i].Key)
		switch {
		case i == len(keys)-1:
			cell.Link = row.Link
		case i == 0 && p.partition == "":
			asked := askText(it, p.t.Schema(p.index).Partition())
			cell.Link = "collection?" + query("name", p.t.Name, "index", p.index, "partition", asked)
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// cellOf returns the cell of a value. It cuts a long text after maxCell characters, or after maxKey characters if key
// is set. It cuts a document after maxFold characters.
func cellOf(v attr.Value, key bool) gridCell {
	most := maxCell
	if key {
		most = maxKey
	}
	switch v.Kind() {
	case 0:
		return gridCell{}
	case attr.String:
		return stringCell(v.Raw(), most)
	case attr.Number:
		return gridCell{Class: "n", Text: text.Literal(v)}
	case attr.Binary:
		c := gridCell{Class: "b", Text: text.Hex(v.Raw()[:min(len(v.Raw()), most/2)])}
		if len(v.Raw()) > most/2 {
			c.Text, c.Size = c.Text+"…", text.Count(len(v.Raw()), "byte")
		}
		return c
	case attr.Bool, attr.Null:
		return gridCell{Class: "word", Text: text.Literal(v)}
	}

	written := text.Literal(v)
	c := gridCell{Class: "doc", Text: clip(written, maxFold)}
	if c.Text != written {
		c.Size = written[:1] + text.Thousands(v.Len()) + written[len(written)-1:] // such as {3}
		c.Open = clip(written, maxDocument)
	}
	if c.Open != written && c.Open != "" {
		c.Size += " " + text.Size(v.Size())
	}
	return c
}

func stringCell(raw []byte, most int) gridCell {
	c := gridCell{Class: "s"}
	if len(raw) == 0 {
		return gridCell{Class: "word", Text: `""`}
	}
	head := raw
	if len(head) > 4*(most+1) { // a character has at most 4 bytes
		head = head[:4*(most+1)]
	}
	if n := utf8.RuneCount(head); n <= most && len(head) == len(raw) {
		c.Text = text.Visible(string(raw))
		return c
	}
	c.Text = clip(text.Visible(string([]rune(string(head))[:most])), most)
	c.Size = text.Count(utf8.RuneCount(raw), "character")
	return c
}

// rank sets the Rank of each cell to its place in the sorted column, by which a page sorts its rows. It sorts values
// of different kinds by kind. Equal cells have the same rank.
func (g *grid) rank(items []attr.Item) {
	for i := range g.Columns {
		var rows []int
		for k := range g.Rows {
			if g.Rows[k].Cells[i].Class != "" {
				rows = append(rows, k)
			}
		}
		compare := func(a, b int) int {
			v, w := items[a].Get(g.Columns[i].name), items[b].Get(g.Columns[i].name)
			if n, ok := attr.Compare(v, w); ok {
				return n
			}
			shown, other := g.Rows[a].Cells[i].Text, g.Rows[b].Cells[i].Text
			return cmp.Or(cmp.Compare(v.Kind(), w.Kind()), cmp.Compare(shown, other))
		}
		slices.SortFunc(rows, compare)
		rank := 0
		for k, row := range rows {
			if k == 0 || compare(rows[k-1], row) != 0 {
				rank++
			}
			g.Rows[row].Cells[i].Rank = rank
		}
	}
}

// most returns the number of rows that a request asks for, at most gridRows. A browser asks for fewer if it needs
// only some rows to fill its page.
func most(r *http.Request) int {
	if n, err := strconv.Atoi(r.FormValue("rows")); err == nil && n > 0 && n < gridRows {
		return n
	}
	return gridRows
}
