package report

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design"
)

// A space is the key space of a table or an index, with its rows in key order.
type space struct {
	id   int // from 1
	t    *design.Table
	x    *design.Index // nil for the table itself
	w    *design.World
	hash []design.Attribute
	sort []design.Attribute
	// parts are the partitions, the largest first.
	parts        []*part
	byKey        map[string]*part
	items, bytes int
	entities     []string // in the order of the model; "" is last
	slices       []*slice // of the patterns that read the space, in order
}

// A part is a partition.
type part struct {
	key           string // encoded
	name          string
	rows          []row    // in order once places is set
	places        [][]byte // encoded sort keys of rows
	bytes         int
	declared      float64 // bytes at the declared scale
	reads, writes float64 // units per second
	slices        []*slice
}

// A row is an item as stored in the space.
type row struct {
	item int32 // index in the world
	size int32
}

// spaces returns the spaces of all tables and indexes of a world.
func spaces(w *design.World) []*space {
	var all []*space
	for _, t := range w.Model.Tables {
		for _, x := range append([]*design.Index{nil}, t.Indexes...) {
			s := &space{id: len(all) + 1, t: t, x: x, w: w, hash: t.Partition, sort: t.Sort, byKey: map[string]*part{}}
			if x != nil {
				s.hash, s.sort = x.Partition, x.Sort
			}
			s.fill()
			all = append(all, s)
		}
	}
	return all
}

func (s *space) fill() {
	grow := s.w.Growth(s.hash)
	has := map[string]bool{}
	for r := range s.w.Rows(s.t, s.x) {
		it, n := r.Item, r.Size
		p := s.byKey[string(r.Partition)]
		if p == nil {
			p = &part{key: string(r.Partition), name: values(it.Attributes, s.hash)}
			s.byKey[p.key] = p
			s.parts = append(s.parts, p)
		}
		p.rows = append(p.rows, row{item: int32(r.N), size: int32(n)})
		p.bytes += n
		p.declared += grow.Of(it) * float64(n)
		s.items++
		s.bytes += n
		has[s.entity(int32(r.N))] = true
		reads, writes := s.w.Load(r, s.x, grow)
		p.reads += reads
		p.writes += writes
	}
	for _, e := range s.w.Model.Entities {
		if has[e.Name] {
			s.entities = append(s.entities, e.Name)
		}
	}
	if has[""] {
		s.entities = append(s.entities, "")
	}
	slices.SortFunc(s.parts, func(a, b *part) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.key, b.key))
	})
}

// entity returns the name of an item's entity, or "".
func (s *space) entity(item int32) string {
	if e := s.w.Items[item].Entity; e != nil {
		return e.Name
	}
	return ""
}

func (s *space) attributes(r row) attr.Item { return s.w.Items[r.item].Attributes }

// title names the space.
func (s *space) title() string {
	if s.x == nil {
		return s.t.Name
	}
	return s.t.Name + " by " + s.x.Name
}

// ordered returns the rows of a partition in the order of the space.
func (s *space) ordered(p *part) []row {
	if p.places != nil {
		return p.rows
	}
	type placed struct {
		row
		place []byte
	}
	schema := s.t.Schema(s.x)
	all := make([]placed, len(p.rows))
	for i, r := range p.rows {
		place, _ := schema.AppendSort(nil, s.attributes(r))
		all[i] = placed{r, place}
	}
	slices.SortFunc(all, func(a, b placed) int { return bytes.Compare(a.place, b.place) })
	p.places = make([][]byte, len(all))
	for i, r := range all {
		p.rows[i], p.places[i] = r.row, r.place
	}
	return p.rows
}

// find returns the index of the first row at or above an encoded sort key, and
// whether it is an exact match.
func (s *space) find(p *part, place []byte) (int, bool) {
	s.ordered(p)
	return slices.BinarySearchFunc(p.places, place, bytes.Compare)
}

// label returns the name of a row in its partition: its sort key, or the table
// key if there is none.
func (s *space) label(it attr.Item) string {
	if text := values(it, s.sort); text != "" {
		return text
	}
	if s.x == nil {
		return values(it, s.hash)
	}
	return values(it, s.t.Keys())
}

// full returns the whole key of a row, for a title.
func (s *space) full(it attr.Item) string {
	text := ""
	keys := append(append([]design.Attribute(nil), s.hash...), s.sort...)
	if s.x != nil {
		for _, a := range s.t.Keys() {
			if !slices.ContainsFunc(keys, func(k design.Attribute) bool { return k.Name == a.Name }) {
				keys = append(keys, a)
			}
		}
	}
	for _, a := range keys {
		if v := it.Get(a.Name); !v.IsZero() {
			if text != "" {
				text += ", "
			}
			text += a.Name + " = " + plain(v)
		}
	}
	return text
}

// name returns the name of row i of a partition: its label, with the table key
// if an adjacent row has the same label.
func (s *space) name(p *part, i int) string {
	rows := s.ordered(p)
	it := s.attributes(rows[i])
	text := s.label(it)
	if s.x == nil {
		return text
	}
	for _, j := range []int{i - 1, i + 1} {
		if j >= 0 && j < len(rows) && s.label(s.attributes(rows[j])) == text {
			return text + " ← " + values(it, s.t.Keys())
		}
	}
	return text
}
