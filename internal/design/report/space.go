package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

// A space is the key space of a table or an index.
type space struct {
	*world.Space
	N          int        // from 1
	Partitions []*part    // the largest first
	Patterns   []*pattern // those that read the space, in order
	byKey      map[string]*part
	entities   []string // in the order of the model; "" is last
	colors     palette
	declaredOf map[string]float64 // items by entity, at the declared scale

	Large    bool // see [Page]
	Ladders  []*ladder
	Grid     []collection
	anchored int // rows with an anchor
}

// A part is a partition.
type part struct {
	Name     string
	Rows     []world.Row // in order
	Bytes    int
	Patterns []*pattern // those that read the partition
	key      string     // encoded
	anchors  map[int]string
	at       world.Part
}

// anchorRow gives a row of a partition the anchor to which links lead, and returns it. It returns "" if the row has one
// elsewhere on the page.
func (s *space) anchorRow(p *part, row int) string {
	if _, ok := p.anchors[row]; ok {
		return ""
	}
	if p.anchors == nil {
		p.anchors = map[int]string{}
	}
	s.anchored++
	p.anchors[row] = fmt.Sprintf("row-%d-%d", s.N, s.anchored)
	return p.anchors[row]
}

// anchor returns the address of a row on the page, or "".
func (s *space) anchor(row attr.Item) string {
	id, ok := s.Schema.AppendPartition(nil, row)
	if !ok {
		return ""
	}
	p := s.byKey[string(id)]
	if p == nil {
		return ""
	}
	place, ok := s.Schema.AppendSort(nil, row)
	if !ok {
		return ""
	}
	i, ok := s.find(p, place)
	if name := p.anchors[i]; ok && name != "" {
		return "#" + name
	}
	return ""
}

// Size returns the number of items and their size.
func (p *part) Size() string { return text.Count(len(p.Rows), "item") + ", " + text.Size(p.Bytes) }

// spaces returns the spaces of all tables and indexes of a world.
func spaces(ctx context.Context, w *world.World, colors palette) ([]*space, error) {
	var all []*space
	for _, t := range w.Model.Tables {
		for _, x := range append([]*model.Index{nil}, t.Indexes...) {
			rows, err := w.Space(ctx, t, x) // sorted by the check, usually
			if err != nil {
				return nil, err
			}
			s := &space{
				Space: rows, N: len(all) + 1, byKey: make(map[string]*part, len(rows.Parts)), colors: colors,
				declaredOf: map[string]float64{},
			}
			s.fill(w)
			all = append(all, s)
		}
	}
	return all, nil
}

func (s *space) fill(w *world.World) {
	for _, at := range s.Parts {
		rows := s.In(at)
		p := &part{
			Name: values(rows[0].Item.Attributes, s.Hash), Rows: rows, key: string(s.PartitionOf(nil, &rows[0])),
			at: at,
		}
		s.byKey[p.key] = p
		s.Partitions = append(s.Partitions, p)
		for i := range rows {
			p.Bytes += rows[i].Size()
			s.declaredOf[entity(&rows[i])] += w.Represents(rows[i].Item)
		}
	}

	n := count(s.Rows)
	for _, e := range w.Model.Entities {
		if n[e.Name] > 0 {
			s.entities = append(s.entities, e.Name)
		}
	}

	if n[""] > 0 {
		s.entities = append(s.entities, "")
	}
	slices.SortFunc(s.Partitions, func(a, b *part) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.key, b.key))
	})
}

// entity returns the name of the entity of a row's item, or "".
func entity(r *world.Row) string {
	if e := r.Item.Entity; e != nil {
		return e.Name
	}
	return ""
}

// count returns the number of rows of each entity.
func count(rows []world.Row) map[string]int {
	n := map[string]int{}
	for i := range rows {
		n[entity(&rows[i])]++
	}
	return n
}

// index returns the name of the index, or "" for the table itself.
func (s *space) index() string {
	if s.Index == nil {
		return ""
	}
	return s.Index.Name
}

// Title names the table, and the index.
func (s *space) Title() string {
	if s.Index == nil {
		return s.Table.Name
	}
	return s.Table.Name + " by " + s.Index.Name
}

// Projection says what an index projects.
func (s *space) Projection() string {
	words := strings.ReplaceAll(strings.ToLower(s.Index.Projection), "_", " ")
	if len(s.Index.Include) > 0 {
		words += " " + strings.Join(s.Index.Include, ", ")
	}
	return words
}

// attributes names key attributes, with types other than strings.
func attributes(keys []model.Attribute) string {
	var words []string
	for _, a := range keys {
		word := a.Name
		switch a.Kind {
		case attr.Number:
			word += " (number)"
		case attr.Binary:
			word += " (binary)"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// An entityColor is an entity in a legend, with its number of rows.
type entityColor struct {
	Entity, Color string
	Rows          int
}

// Legend returns the entities of the space.
func (s *space) Legend() (all []entityColor) {
	n := count(s.Rows)
	for _, e := range s.entities {
		all = append(all, entityColor{e, s.colors[e], n[e]})
	}
	return all
}

// find returns the index of the first row of a partition at or above an encoded
// sort key, and whether it is an exact match.
func (s *space) find(p *part, place []byte) (int, bool) {
	i, ok := s.Find(p.at, place)
	return i - p.at.From, ok
}

// label returns the name of a row in its partition: its sort key, or the table
// key if there is none.
func (s *space) label(it attr.Item) string {
	if label := values(it, s.Sort); label != "" {
		return label
	}
	if s.Index == nil {
		return values(it, s.Hash)
	}
	return values(it, s.Table.Keys())
}

// full returns the whole key of a row, for a title.
func (s *space) full(it attr.Item) string {
	keys := slices.Concat(s.Hash, s.Sort)
	if s.Index != nil {
		for _, a := range s.Table.Keys() {
			if !slices.ContainsFunc(keys, func(k model.Attribute) bool { return k.Name == a.Name }) {
				keys = append(keys, a)
			}
		}
	}
	var parts []string
	for _, a := range keys {
		if v := it.Get(a.Name); !v.IsZero() {
			parts = append(parts, a.Name+" = "+plain(v))
		}
	}
	return strings.Join(parts, ", ")
}

// name returns the name of row i of a partition: its label, with the table key
// if an adjacent row has the same label.
func (s *space) name(p *part, i int) string {
	it := p.Rows[i].Item.Attributes
	label := s.label(it)
	if s.Index == nil {
		return label
	}
	for _, j := range []int{i - 1, i + 1} {
		if j >= 0 && j < len(p.Rows) && s.label(p.Rows[j].Item.Attributes) == label {
			return label + " ← " + values(it, s.Table.Keys())
		}
	}
	return label
}

// kinds returns the largest partition of each kind in a space. Partitions with
// the same entities are of the same kind.
func (s *space) kinds() (out []*part) {
	seen := map[string]bool{}
	for _, p := range s.Partitions {
		if kind := strings.Join(slices.Sorted(maps.Keys(count(p.Rows))), "\x00"); !seen[kind] {
			seen[kind] = true
			out = append(out, p)
		}
	}
	return out
}

// choose returns between least and most partitions in the order of the space:
// those that patterns read, one of each kind, and then the largest.
func (s *space) choose(least, most int) (out []*part) {
	take := map[*part]bool{}
	add := func(limit int, parts []*part) {
		for _, p := range parts {
			if len(take) < limit {
				take[p] = true
			}
		}
	}
	unread := func(p *part) bool { return len(p.Patterns) == 0 }
	read := slices.DeleteFunc(slices.Clone(s.Partitions), unread)
	add(most-min(most/4, len(s.Partitions)), read)
	add(most, s.kinds())
	add(most, read)
	add(least, s.Partitions)
	for _, p := range s.Partitions {
		if take[p] {
			out = append(out, p)
		}
	}
	return out
}
