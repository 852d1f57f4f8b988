package load

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/table"
)

// mostMoved is the most items whose move is counted, evenly over those of the entity, if nothing goes along.
const mostMoved = 10_000

// A Move is what a move costs, by the values that can be moved.
type Move struct {
	// Values is the number of values: folders, or items that are moved.
	Values int `json:"-"`
	// P50 and P95 are those that half and 95 % of the values do not exceed, by write units.
	P50   Moved `json:"p50"`
	P95   Moved `json:"p95"`
	Worst Moved `json:"worst"`
	// Entity and Field are what is moved. Rekeyed says that items get another key in their table, by a delete and
	// a put.
	Entity  *model.Entity `json:"entity"`
	Field   *model.Field  `json:"field"`
	Rekeyed bool          `json:"-"`
	// MeanItems and MeanActions are the averages of the items that are rewritten, and of the actions.
	MeanItems   float64 `json:"items"`
	MeanActions float64 `json:"-"`
	// Path says that the field is a path, so that everything under a value is moved too. Generated says that
	// there are generated paths, which hardly share folders.
	Path      bool `json:"-"`
	Generated bool `json:"generated,omitempty"`
}

// A Moved is the cost of moving one value, at the declared scale.
type Moved struct {
	// Name has the values of the key fields of the item, or those of a folder.
	Name string `json:"value"`
	// Items are the items that are rewritten, by so many actions: an update, or a delete and a put.
	Items   float64 `json:"items"`
	Actions float64 `json:"actions"`
	// Transactions is the least number of transactions, one after the other; 0 means a single update.
	Transactions float64 `json:"transactions"`
	// Units are the write units in all tables and indexes.
	Units float64 `json:"units"`

	spaces    []float64 // units in each table and index
	generated bool      // some items are
	group     *moving
	size      size
}

// A mover counts what the items of a world cost that a move rewrites.
type mover struct {
	w    *world.World
	move *model.Write
	// of are the fields in which items are as the moved one: those of its key, or for a path those before it.
	of []string
	// paths are the fields with paths, or nil if the field is none. Slashed says that folders end with "/".
	paths   []string
	slashed bool

	spaces  []space
	plans   map[planID]*plan
	groups  map[string]*moving
	ordered []*moving // those that are moved, in the order of the items
}

// A space is a table or an index, with the sizes of its rows.
type space struct {
	SpaceCost
	sizes *model.RowSizes
}

// A moving is a value with the rows that carry it.
type moving struct {
	values string // of the key fields, joined by zero bytes
	rows   []world.Row
	masks  []uint8 // which fields of each row change
	moved  bool    // it is a value that can be moved
	folder bool    // an item lies in it
}

// A plan says what changes in the items of an entity if some of their fields do.
type plan struct {
	touched, rekeyed bool
	spaces           []change
}

// A change is what changes in a row of a space.
type change struct{ touched, rekeyed bool }

type planID struct {
	e    *model.Entity
	mask uint8
}

const maxPaths = 8 // bits of a mask

// moveOf counts what a move costs: for each value, all items that carry it.
func moveOf(ctx context.Context, w *world.World, p *model.Pattern) (*Cost, error) {
	m := &mover{w: w, move: &p.Writes[0], plans: map[planID]*plan{}, groups: map[string]*moving{}}
	m.prepare()
	alone := m.alone()
	var own []*world.Item
	for i := range w.Items {
		if i%1024 == 0 {
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
		}
		switch it := &w.Items[i]; {
		case alone && it.Entity == m.move.Entity && has(it, m.move.Where):
			own = append(own, it)
		case !alone && it.Entity != nil:
			m.add(it)
		}
	}
	n := min(len(own), mostMoved)
	for i := range n {
		m.add(own[i*len(own)/n])
	}

	m.choose()
	if len(m.ordered) == 0 {
		return nil, ErrNoItem
	}
	c := m.cost()
	c.Move.Values = max(c.Move.Values, len(own))
	return c, nil
}

// alone reports whether each item is moved by itself: no other entity carries the value.
func (m *mover) alone() bool {
	return m.paths == nil && !slices.ContainsFunc(m.w.Model.Entities, func(e *model.Entity) bool {
		lacks := func(name string) bool { return e.Field(name) == nil }
		return e != m.move.Entity && !slices.ContainsFunc(m.of, lacks)
	})
}

// prepare sets what is the same for all items.
func (m *mover) prepare() {
	e, f := m.move.Entity, m.move.Field
	if f.Type.Name == "path" {
		m.paths = []string{f.Name} // the moved one first
		for _, other := range e.Fields {
			if other != f && other.Type.Name == "path" && len(m.paths) < maxPaths {
				m.paths = append(m.paths, other.Name)
			}
		}
	}

	m.of = m.scope()
	m.spaces = spacesOf(m.w)
	if m.paths == nil {
		return
	}
	for i := range m.w.Items {
		it := &m.w.Items[i]
		if it.Entity == e && strings.HasSuffix(it.Values.Get(f.Name), "/") {
			m.slashed = true
			return
		}
	}
}

// scope returns the fields in which items are as the moved one. A path stands in a tree of its own for the
// fields before it, in the key of the table or of the first index that has it.
func (m *mover) scope() (names []string) {
	e, f := m.move.Entity, m.move.Field
	if m.paths == nil {
		for _, field := range e.KeyFields() {
			names = append(names, field.Name)
		}
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
		return names
	}

	keys := [][]model.Attribute{e.Table.Keys()}
	for _, x := range e.Table.Indexes {
		keys = append(keys, x.Keys())
	}
	for _, key := range keys {
		names = nil
		for _, a := range key {
			t := e.Attribute(a.Name)
			if t == nil {
				continue
			}
			for _, name := range t.Components() {
				if name == f.Name {
					return names
				}
				if !slices.Contains(m.paths, name) && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return nil
}

// add adds an item to the groups of all values that it carries.
func (m *mover) add(it *world.Item) {
	values := make([]string, 0, len(m.of))
	for _, name := range m.of {
		v, ok := it.Values.Lookup(name)
		if !ok || it.Entity.Field(name) == nil {
			return
		}
		values = append(values, v)
	}

	own := it.Entity == m.move.Entity
	if m.paths == nil {
		g := m.group(values)
		g.rows, g.masks = append(g.rows, world.Row{Item: it}), append(g.masks, 1)
		g.moved = g.moved || own && has(it, m.move.Where)
		return
	}

	for k, name := range m.paths {
		v, ok := it.Values.Lookup(name)
		if !ok {
			continue
		}
		path := m.normal(v)
		for _, folder := range m.folders(path) {
			g := m.group(append(values, folder))
			if n := len(g.rows); n > 0 && g.rows[n-1].Item == it { // by another of its paths
				g.masks[n-1] |= 1 << k
			} else {
				g.rows, g.masks = append(g.rows, world.Row{Item: it}), append(g.masks, 1<<k)
			}
			if own && k == 0 {
				g.folder = g.folder || m.slashed && strings.HasSuffix(folder, "/") || folder != path
				g.moved = g.moved || len(m.move.Where) == 0 || folder == path && has(it, m.move.Where)
			}
		}
	}
}

// folders returns a path and the folders in which it lies.
func (m *mover) folders(path string) (all []string) {
	for i := range len(path) {
		switch {
		case path[i] != '/':
		case m.slashed:
			all = append(all, path[:i+1])
		case i > 0:
			all = append(all, path[:i])
		}
	}
	if !m.slashed || !strings.HasSuffix(path, "/") {
		all = append(all, path)
	}
	return all
}

// normal returns a path as folders are compared: without "/" at its end, unless only folders have one.
func (m *mover) normal(path string) string {
	if m.slashed {
		return path
	}
	return strings.TrimSuffix(path, "/")
}

// group returns the group of a value.
func (m *mover) group(values []string) *moving {
	id := strings.Join(values, "\x00")
	g := m.groups[id]
	if g == nil {
		g = &moving{values: id}
		m.groups[id] = g
		m.ordered = append(m.ordered, g)
	}
	return g
}

// name returns the values of a group with the names of their fields.
func (m *mover) name(g *moving) string {
	names := m.of
	if m.paths != nil {
		names = append(slices.Clone(names), m.move.Field.Name)
	}
	values := strings.Split(g.values, "\x00")
	for i, v := range values[:min(len(values), len(names))] {
		values[i] = names[i] + " " + v
	}
	return strings.Join(values, ", ")
}

// choose keeps the values that can be moved: of paths the folders, unless where chooses items or there are none.
func (m *mover) choose() {
	m.ordered = slices.DeleteFunc(m.ordered, func(g *moving) bool { return !g.moved })
	isFolder := func(g *moving) bool { return g.folder }
	if len(m.move.Where) == 0 && slices.ContainsFunc(m.ordered, isFolder) {
		m.ordered = slices.DeleteFunc(m.ordered, func(g *moving) bool { return !isFolder(g) })
	}
}

// cost computes the figures of all values.
func (m *mover) cost() *Cost {
	move := &Move{
		Values: len(m.ordered), Entity: m.move.Entity, Field: m.move.Field, Path: m.paths != nil,
	}
	sizes := m.sizes()
	var all []Moved
	means := make([]float64, len(m.spaces))
	n := 0.0
	for _, g := range m.ordered {
		for _, s := range sizes(g) {
			one := m.moved(g, s.rows)
			one.size = s
			all = append(all, one)
			n += s.times
			move.Generated = move.Generated || one.generated && m.paths != nil
			move.MeanItems += s.times * one.Items
			move.MeanActions += s.times * one.Actions
			move.Rekeyed = move.Rekeyed || one.Actions > one.Items
			for k, units := range one.spaces {
				means[k] += s.times * units
				m.spaces[k].Worst = max(m.spaces[k].Worst, units)
			}
		}
	}

	move.MeanItems, move.MeanActions = move.MeanItems/n, move.MeanActions/n
	c := &Cost{Items: move.Values, First: all[0].Units, Move: move}
	slices.SortStableFunc(all, func(a, b Moved) int { return cmp.Compare(a.Units, b.Units) })
	rank := func(share float64) Moved {
		below := 0.0
		at := slices.IndexFunc(all, func(one Moved) bool {
			below += one.size.times
			return below >= share*n*(1-1e-9)
		})
		if at < 0 || share == 1 {
			at = len(all) - 1
		}
		one := all[at]
		one.Name = m.name(one.group)
		return one
	}
	move.P50, move.P95, move.Worst = rank(0.5), rank(0.95), rank(1)
	c.P50, c.P95, c.Worst = move.P50.Units, move.P95.Units, move.Worst.Units
	for k := range m.spaces {
		if s := m.spaces[k].SpaceCost; s.Worst > 0 {
			s.Mean = means[k] / n
			c.Spaces = append(c.Spaces, s)
		}
	}
	return c
}

// A size is how many items at the declared scale each item of a group stands for, in so many of the values.
type size struct {
	rows  func(*world.Item) float64
	times float64
}

// sizes returns the sizes of a group. The items of a folder are as they are.
func (m *mover) sizes() func(*moving) []size {
	if m.paths != nil || m.w.Scale >= 1 {
		one := []size{{func(*world.Item) float64 { return 1 }, 1}}
		return func(*moving) []size { return one }
	}
	grow := m.w.GrowthOf(m.of)
	for _, g := range m.ordered {
		grow.Count(g.rows)
	}
	return func(g *moving) (all []size) {
		rows := grow.In(g.rows)
		for i := range g.rows {
			it := g.rows[i].Item
			stands, ok := grow.Stands(it.Entity, it)
			if !ok || !it.Generated {
				continue
			}
			for _, s := range stands {
				all = append(all, size{func(it *world.Item) float64 { return rows(it) * s.Rows }, s.Times})
			}
			if len(all) == 0 { // it stands for no other, but is there
				all = []size{{rows, 0}}
			}
			return all
		}
		return []size{{rows, 1}}
	}
}

// plan returns what changes in the items of an entity.
func (m *mover) plan(e *model.Entity, mask uint8) *plan {
	id := planID{e, mask}
	if p := m.plans[id]; p != nil {
		return p
	}
	fields := []string{m.move.Field.Name}
	if m.paths != nil {
		fields = nil
		for k, name := range m.paths {
			if mask&(1<<k) != 0 {
				fields = append(fields, name)
			}
		}
	}

	changes := func(name string) bool {
		t := e.Attribute(name)
		return t != nil && slices.ContainsFunc(fields, t.DependsOn)
	}
	inKey := func(a model.Attribute) bool { return changes(a.Name) }
	p := &plan{rekeyed: slices.ContainsFunc(e.Table.Keys(), inKey)}
	for _, t := range e.Attributes {
		p.touched = p.touched || changes(t.Name)
	}
	for _, s := range m.spaces {
		keys := s.Table.Keys()
		if s.Index != nil {
			keys = s.Index.Keys()
		}
		c := change{rekeyed: p.rekeyed || slices.ContainsFunc(keys, inKey)}
		c.touched = c.rekeyed || s.Index == nil && p.touched
		for _, t := range e.Attributes {
			projected := s.Index != nil && (s.Index.Projection == "ALL" || slices.Contains(s.Index.Include, t.Name))
			c.touched = c.touched || projected && changes(t.Name)
		}
		p.spaces = append(p.spaces, c)
	}
	m.plans[id] = p
	return p
}

// moved returns what a value costs without its time.
func (m *mover) moved(g *moving, grow func(*world.Item) float64) Moved {
	one := Moved{group: g, spaces: make([]float64, len(m.spaces))}
	bytes := 0.0
	for i := range g.rows {
		it := g.rows[i].Item
		p := m.plan(it.Entity, g.masks[i])
		if !p.touched {
			continue
		}
		n := grow(it)
		one.generated = one.generated || it.Generated
		one.Items += n
		one.Actions += n
		bytes += n * float64(it.Attributes.Size())
		if p.rekeyed {
			one.Actions += n
		}
		for k, c := range p.spaces {
			one.spaces[k] += n * m.units(k, it, c)
		}
	}

	double := one.Actions > 1
	if double {
		one.Transactions = max(
			math.Ceil(one.Actions/api.MaxTransactActions-1e-9), math.Ceil(bytes/api.MaxTransactBytes-1e-9),
		)
	}
	for k := range one.spaces {
		if double && m.spaces[k].Index == nil {
			one.spaces[k] *= 2 // a transaction prepares each write and commits it
		}
		one.Units += one.spaces[k]
	}
	return one
}

// units returns the write units of an item in a space, whose new value is as long as the old one: those of a row
// that is replaced, or twice as many if it gets another key.
func (m *mover) units(k int, it *world.Item, c change) float64 {
	s := &m.spaces[k]
	if !c.touched || s.Table != it.Table {
		return 0
	}
	size, ok := s.sizes.Of(it.Attributes)
	switch {
	case !ok:
		return 0
	case c.rekeyed:
		return 2 * table.WriteUnits(size)
	}
	return table.WriteUnits(size)
}
