package report

import (
	"cmp"
	"context"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
)

// A space is the key space of a table or an index, as the page shows it.
type space struct {
	*world.Space
	id int // from 1
	t  *model.Table
	x  *model.Index // nil for the table itself
	// parts are the partitions, the largest first.
	parts    []*part
	byKey    map[string]*part
	entities []string // in the order of the model; "" is last
	slices   []*slice // of the patterns that read the space, in order
}

// A part is a partition.
type part struct {
	key           string // encoded
	name          string
	at            world.Part
	rows          []world.Row // in order
	bytes         int
	declared      float64 // bytes at the declared scale
	reads, writes float64 // units per second
	slices        []*slice
}

// spaces returns the spaces of all tables and indexes of a world.
func spaces(ctx context.Context, w *world.World) ([]*space, error) {
	var all []*space
	for _, t := range w.Model.Tables {
		for _, x := range append([]*model.Index{nil}, t.Indexes...) {
			rows, err := w.Space(ctx, t, x)
			if err != nil {
				return nil, err
			}
			s := &space{Space: rows, id: len(all) + 1, t: t, x: x, byKey: make(map[string]*part, len(rows.Parts))}
			rates, err := w.Rates(ctx, rows)
			if err != nil {
				return nil, err
			}
			s.fill(w, rates)
			all = append(all, s)
		}
	}
	return all, nil
}

func (s *space) fill(w *world.World, rates *world.Rates) {
	grow := w.Growth(s.Hash)
	has := map[string]bool{}
	for _, at := range s.Parts {
		rows := s.In(at)
		p := &part{
			key: string(s.PartitionOf(nil, &rows[0])), name: values(rows[0].Item.Attributes, s.Hash), at: at,
			rows: rows,
		}
		s.byKey[p.key] = p
		s.parts = append(s.parts, p)
		p.reads, p.writes = rates.Of(at)
		for i := range rows {
			r := &rows[i]
			p.bytes += r.Size()
			p.declared += grow.Of(r.Item) * float64(r.Size())
			has[entity(r)] = true
		}
	}
	for _, e := range w.Model.Entities {
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

// entity returns the name of the entity of a row's item, or "".
func entity(r *world.Row) string {
	if e := r.Item.Entity; e != nil {
		return e.Name
	}
	return ""
}

// title names the space.
func (s *space) title() string {
	if s.x == nil {
		return s.t.Name
	}
	return s.t.Name + " by " + s.x.Name
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
	if text := values(it, s.Sort); text != "" {
		return text
	}
	if s.x == nil {
		return values(it, s.Hash)
	}
	return values(it, s.t.Keys())
}

// full returns the whole key of a row, for a title.
func (s *space) full(it attr.Item) string {
	text := ""
	keys := append(append([]model.Attribute(nil), s.Hash...), s.Sort...)
	if s.x != nil {
		for _, a := range s.t.Keys() {
			if !slices.ContainsFunc(keys, func(k model.Attribute) bool { return k.Name == a.Name }) {
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
	rows := p.rows
	it := rows[i].Item.Attributes
	text := s.label(it)
	if s.x == nil {
		return text
	}
	for _, j := range []int{i - 1, i + 1} {
		if j >= 0 && j < len(rows) && s.label(rows[j].Item.Attributes) == text {
			return text + " ← " + values(it, s.t.Keys())
		}
	}
	return text
}
