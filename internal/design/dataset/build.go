package dataset

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
)

// place returns the position in b.seen for the key of an item. taken is true if the builder already has an item with
// that key. ok is false if the item lacks a key attribute.
func (b *builder) place(t *model.Table, it attr.Item) (at uint64, taken, ok bool) {
	var arena [256]byte
	buf := append(append(arena[:0], t.Name...), 0)
	for _, list := range [2][]model.Attribute{t.Partition, t.Sort} {
		for _, a := range list {
			v := it.Get(a.Name)
			if v.Kind() != a.Kind {
				return 0, false, false
			}
			buf = item.AppendKey(buf, v)
		}
	}
	for at = maphash.Bytes(b.seed, buf); ; at++ { // several keys can have the same hash
		i, ok := b.seen[at]
		if !ok {
			return at, false, true
		}
		if o := &b.w.Items[i]; o.Table == t && sameKey(t, o.Attributes, it) {
			return at, true, true
		}
	}
}

// sameKey reports whether two items of a table have the same primary key.
func sameKey(t *model.Table, a, b attr.Item) bool {
	for _, list := range [2][]model.Attribute{t.Partition, t.Sort} {
		for _, k := range list {
			if !attr.Equal(a.Get(k.Name), b.Get(k.Name)) {
				return false
			}
		}
	}
	return true
}

// A generator generates the items of one entity.
type generator struct {
	w     *Dataset
	e     *model.Entity
	hash  uint64
	count uint64
	bytes float64 // estimated bytes of an item in its table and indexes
	least float64 // smallest number of items to make, even if the generated share of the declared items is smaller
	first int     // index of its first item in Dataset.Items, or -1 until it has made one
	links []*link // to the parents of the entity
	// fields are in the order in which their values are drawn: first those in the table's key that the items do not
	// copy from a parent.
	fields  []*model.Field
	domains []*domain
	owns    []bool
	from    [][]*link // by field: path to the ancestor whose items give the value, or empty
	key     int       // number of fields in the key that are not copied
	next    uint64
	// attempts has, for each planned item of a census, how often the generator redraws its key.
	attempts []uint64
	b        model.ItemBuilder
	id       []byte            // the key of the current item
	arena    []byte            // memory for the next items
	values   map[string]string // of the current item
	// keys are the templates of the table's key attributes. rest are those of the other attributes, sorted by name
	// like the attributes of an item.
	keys, rest []*model.Template
}

func (b *builder) generate(ctx context.Context) error {
	generators, err := newGenerators(b.w, b.o.Seed)
	if err != nil || len(generators) == 0 {
		return err
	}
	if err := b.plan(generators); err != nil {
		return err
	}
	declared, made := 0, 0
	for _, g := range generators {
		declared += g.e.Count
		made += int(g.count)
	}
	b.grow(made)
	for _, g := range generators {
		if err := b.run(ctx, g); err != nil {
			return err
		}
	}
	b.w.Scale = float64(made) / float64(declared)
	return nil
}

// estimate returns the average number of bytes that an item takes in its table and indexes. It builds the first 64
// items of the generator and measures them.
func (g *generator) estimate() float64 {
	const first = 64
	g.count = uint64(g.e.Count)
	n := min(g.count, first)
	bytes := 0
	for i := range n {
		for k, f := range g.fields {
			g.values[f.Name] = g.draw(k, i, 0)
		}
		it, err := g.build()
		if err != nil {
			break // run reports the error
		}
		for _, x := range append([]*model.Index{nil}, g.e.Table.Indexes...) {
			if size, ok := g.e.Table.RowSize(x, it); ok {
				bytes += size
			}
		}
	}
	return float64(bytes) / float64(n)
}

// newGenerators creates the generators of a model, parents before children. It creates one domain for each field, so
// entities that share a field share its values.
func newGenerators(w *Dataset, seed uint64) ([]*generator, error) {
	domains := map[*model.Field]*domain{}
	w.generators = map[*model.Entity]*generator{}
	var all []*generator
	for _, e := range parentsFirst(w.Model.Entities) {
		if e.Count == 0 {
			continue
		}

		g := &generator{w: w, e: e, hash: hash64("entity", cmp.Or(e.Origin, e.Name)), first: -1, values: map[string]string{}}
		for _, p := range e.Parents {
			l, err := newLink(e, p, w.generators[p.Entity])
			if err != nil {
				return nil, err
			}
			g.links = append(g.links, l)
		}

		for _, t := range e.Attributes {
			if e.Table.Has(t.Name) {
				g.keys = append(g.keys, t)
			} else {
				g.rest = append(g.rest, t)
			}
		}

		slices.SortFunc(g.rest, func(a, b *model.Template) int { return strings.Compare(a.Name, b.Name) })
		g.fields = ownKeyFields(e)
		g.key = len(g.fields)
		for _, f := range e.Fields {
			if !slices.Contains(g.fields, f) {
				g.fields = append(g.fields, f)
			}
		}

		for _, f := range g.fields {
			if domains[f] == nil {
				owner := ""
				if !slices.Contains(w.Model.Fields, f) {
					owner = cmp.Or(e.Origin, e.Name)
				}
				owned, spare := 0, 0
				if e := w.owners[f]; e != nil {
					owned, spare = e.Count, len(e.Samples) // a sample may have any of the values
				}
				d, err := newDomain(f, seed, owner, uint64(owned), uint64(spare))
				if err != nil {
					return nil, errorAt(f.Pos, "field %s: %v", f.Name, err)
				}
				domains[f] = d
			}
			g.domains = append(g.domains, domains[f])
			g.owns = append(g.owns, ownedField(e) == f || slices.Contains(e.Unique, f.Name))
			g.from = append(g.from, g.way(f, e))
		}

		w.generators[e] = g
		all = append(all, g)
	}
	return all, nil
}

// ownKeyFields returns the fields in the table's key that items of e do not copy from a parent.
func ownKeyFields(e *model.Entity) []*model.Field {
	return slices.DeleteFunc(e.KeyFields(), func(f *model.Field) bool { return e.CarriedFrom(f) != nil })
}

// ownedField returns the field that is the whole key of e, so that each value identifies one item. It returns nil if
// e has no such field.
func ownedField(e *model.Entity) *model.Field {
	if own := ownKeyFields(e); len(own) == 1 && len(e.KeyFields()) == 1 {
		return own[0]
	}
	return nil
}

// ownersOf returns, for each field, the entity that owns it (see [ownedField]). If several entities own a field, it
// returns the one with the most items.
func ownersOf(m *model.Model) map[*model.Field]*model.Entity {
	owners := map[*model.Field]*model.Entity{}
	for _, e := range m.Entities {
		if f := ownedField(e); f != nil && e.Count > 0 && (owners[f] == nil || e.Count > owners[f].Count) {
			owners[f] = e
		}
	}
	return owners
}

// attempts is how often the generator redraws an item whose key is taken. If all redraws give taken keys, it tries
// all combinations of key values in order.
const attempts = 16

func (b *builder) run(ctx context.Context, g *generator) error {
	g.first = len(b.w.Items)
	for i := range g.count {
		it, at, ok, err := b.item(g, i)
		if err != nil {
			return err
		}
		if !ok {
			return g.tooFewKeys(i)
		}
		if err := b.put(ctx, at, it, g.e.Pos); err != nil {
			return err
		}
		if i%4096 == 0 && b.o.Progress != nil {
			b.o.Progress(len(b.w.Items))
		}
	}
	return nil
}

// tooFewKeys returns the error for an item that gets no key because all keys are taken.
func (g *generator) tooFewKeys(item uint64) error {
	err := &model.ParseError{
		Pos:  g.e.Pos,
		Msg:  "entity " + g.e.Name + " has too few keys for its count",
		Hint: "lower count, add a field to the key that differs for each item, or raise distinct",
	}
	if len(g.links) > 0 {
		n, parent := 0, g.links[0].index(item)
		for _, of := range g.links[0].of {
			if uint64(of) == parent {
				n++
			}
		}
		err.Msg = fmt.Sprintf(
			"entity %s has too few keys: one %s has %d of them", g.e.Name, g.links[0].parent.e.Name, n,
		)
		err.Hint = "lower per or count, add a component of its own to the key, or give one more values"
	}
	return model.Errors{err}
}

// item generates item i of g with a key that no other item has. It also returns the position of this key in b.seen.
// It returns false if all keys are taken.
func (b *builder) item(g *generator, i uint64) (Item, uint64, bool, error) {
	values := g.values
	clear(values)
	for k, f := range g.fields {
		values[f.Name] = g.draw(k, i, 0)
	}

	drawn := Values{g: g, n: i}
	if slices.ContainsFunc(g.links, func(l *link) bool { return i > 0 && l.of[i] != l.of[i-1] }) {
		g.next = 0 // under another parent, all keys are free again
	}
	for attempt := uint64(1); ; attempt++ {
		key, err := g.buildKey()
		if err != nil {
			return Item{}, 0, false, errorAt(g.e.Pos, "entity %s, a generated item: %v", g.e.Name, err)
		}

		at, taken, ok := b.place(g.e.Table, key)
		if !ok {
			return Item{}, 0, false, errorAt(
				g.e.Pos, "entity %s generates items without all keys of table %s", g.e.Name, g.e.Table.Name,
			)
		}

		if !taken {
			it, err := g.buildRest()
			if err != nil {
				return Item{}, 0, false, errorAt(g.e.Pos, "entity %s, a generated item: %v", g.e.Name, err)
			}
			return Item{Table: g.e.Table, Entity: g.e, Values: drawn, Attributes: it, Generated: true}, at, true, nil
		}

		if attempt <= attempts && !g.alone() {
			for k, f := range g.fields[:g.key] {
				values[f.Name] = g.draw(k, i, attempt)
			}
			drawn.n = i | attempt<<attemptBit
			continue
		}

		if !g.step(values, i+attempt<<32) {
			return Item{}, 0, false, nil
		}
		drawn = Values{text: maps.Clone(values), g: g, n: i}
	}
}

// build returns the item with the current values.
func (g *generator) build() (attr.Item, error) {
	if _, err := g.buildKey(); err != nil {
		return nil, err
	}
	return g.buildRest()
}

// buildKey returns the table key for the current values. The key is valid until the next call. buildKey leaves the
// other attributes to buildRest: many keys turn out to be taken, and their items are never needed.
func (g *generator) buildKey() (attr.Item, error) {
	g.b.Reset()
	if err := g.e.Add(&g.b, g.keys, g.values, nil, true); err != nil {
		return nil, err
	}
	g.id = g.b.AppendItem(g.id[:0])
	return g.id, nil
}

// buildRest returns the whole item that has the key from the last call of buildKey.
func (g *generator) buildRest() (attr.Item, error) {
	if err := g.e.Add(&g.b, g.rest, g.values, nil, true); err != nil {
		return nil, err
	}
	// Items live as long as the dataset, so they can share large allocations.
	if cap(g.arena)-len(g.arena) < 256 {
		g.arena = make([]byte, 0, 1<<16)
	}
	end := len(g.arena)
	it := g.b.AppendItem(g.arena[end:])
	if len(it) <= cap(g.arena)-end {
		g.arena = g.arena[:end+len(it)]
	}
	return it[:len(it):len(it)], nil
}

// grow allocates space for n more items.
func (b *builder) grow(n int) {
	b.w.Items = slices.Grow(b.w.Items, n)
	seen := make(map[uint64]int32, len(b.seen)+n)
	maps.Copy(seen, b.seen)
	b.seen = seen
}

// alone reports whether a redraw cannot give an item another key.
func (g *generator) alone() bool { return g.key == 0 || g.key == 1 && g.owns[0] }

// step sets the key fields to their next combination of values. It returns false if there are no more combinations.
func (g *generator) step(values map[string]string, fresh uint64) bool {
	rest := g.next
	endless := false
	for k := g.key - 1; k >= 0; k-- {
		d := g.domains[k]
		if d.size == 0 {
			values[g.fields[k].Name] = d.fresh(mix(g.hash)^fresh, 0)
			endless = true
			continue
		}
		values[g.fields[k].Name] = d.text(rest%d.size, g.count)
		rest /= d.size
	}
	g.next++
	return rest == 0 || endless && fresh>>32 < 1000
}
