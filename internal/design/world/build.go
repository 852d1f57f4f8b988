package world

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
)

// keyID returns a digest of the table and the key of an item. It reports false
// if the item lacks a key attribute.
func keyID(t *model.Table, it attr.Item) ([16]byte, bool) {
	var room [256]byte
	buf := append(append(room[:0], t.Name...), 0)
	for _, list := range [2][]model.Attribute{t.Partition, t.Sort} {
		for _, a := range list {
			v := it.Get(a.Name)
			if v.Kind() != a.Kind {
				return [16]byte{}, false
			}
			buf = item.AppendKey(buf, v)
		}
	}
	sum := sha256.Sum256(buf)
	return [16]byte(sum[:16]), true
}

// A generator generates the items of one entity.
type generator struct {
	e     *model.Entity
	hash  uint64
	count uint64
	// fields in the order in which they are drawn, those of the table key
	// first.
	fields  []*model.Field
	domains []*domain
	owns    []bool
	key     int // number of fields in the key
	next    uint64
	b       model.ItemBuilder
	id      []byte            // the key of the current item
	room    []byte            // for the next items
	values  map[string]string // of the current item
	// keys are the attributes in the table's key, and rest the others by name, in
	// the order of the item.
	keys, rest []*model.Template
}

func (b *builder) generate(ctx context.Context) error {
	declared := 0
	for _, e := range b.w.Model.Entities {
		declared += e.Count
	}
	if declared == 0 {
		return nil
	}
	limit := max(b.o.MaxItems, 0)
	generators, err := newGenerators(b.w.Model, b.o.Seed)
	if err != nil {
		return err
	}
	share := 1.0
	if declared > limit {
		share = float64(limit) / float64(declared)
	}
	if limit > 0 {
		if bytes := estimate(generators); bytes*share > float64(b.o.MaxBytes) {
			share, b.w.Bytes = float64(b.o.MaxBytes)/bytes, true
		}
	}
	b.grow(min(int(float64(declared)*share), 1<<21) + len(generators))
	made := 0
	for _, g := range generators {
		n := g.e.Count
		if share < 1 {
			// Each entity gets its share, but at least one item.
			n = int(float64(g.e.Count) * share)
			if n == 0 && g.e.Count > 0 && limit > 0 {
				n = 1
			}
		}
		g.count = uint64(n)
		if err := b.run(ctx, g); err != nil {
			return err
		}
		made += n
	}
	b.w.Scale = float64(made) / float64(declared)
	return nil
}

// estimate returns the bytes that all declared items have in tables and indexes,
// from the first of each entity.
func estimate(generators []*generator) float64 {
	const first = 64
	sum := 0.0
	for _, g := range generators {
		g.count = uint64(g.e.Count)
		n := min(g.count, first)
		bytes := 0
		for i := range n {
			for k, f := range g.fields {
				g.values[f.Name] = g.draw(k, i, 0)
			}
			it, err := g.build()
			if err != nil {
				break // reported when it is generated
			}
			for _, x := range append([]*model.Index{nil}, g.e.Table.Indexes...) {
				if size, ok := g.e.Table.RowSize(x, it); ok {
					bytes += size
				}
			}
		}
		sum += float64(bytes) / float64(n) * float64(g.count)
	}
	return sum
}

// newGenerators creates one domain per field, so that entities that share a
// field share its values.
func newGenerators(m *model.Model, seed uint64) ([]*generator, error) {
	owned := map[*model.Field]uint64{}
	owners := map[*model.Field]*model.Entity{}
	for _, e := range m.Entities {
		if f := ownedField(e); f != nil && e.Count > 0 {
			if uint64(e.Count) > owned[f] {
				owned[f], owners[f] = uint64(e.Count), e
			}
		}
	}
	domains := map[*model.Field]*domain{}
	var all []*generator
	for _, e := range m.Entities {
		if e.Count == 0 {
			continue
		}
		g := &generator{e: e, hash: hash64("entity", e.Name), values: map[string]string{}}
		for _, t := range e.Attributes {
			if e.Table.Has(t.Name) {
				g.keys = append(g.keys, t)
			} else {
				g.rest = append(g.rest, t)
			}
		}
		slices.SortFunc(g.rest, func(a, b *model.Template) int { return strings.Compare(a.Name, b.Name) })
		fields := slices.Clone(keyFields(e))
		g.key = len(fields)
		for _, f := range e.Fields {
			if !slices.Contains(fields, f) {
				fields = append(fields, f)
			}
		}
		g.fields = fields
		for _, f := range fields {
			if domains[f] == nil {
				owner := ""
				if !slices.Contains(m.Fields, f) {
					owner = e.Name
				}
				d, err := newDomain(f, seed, owner, owned[f])
				if err != nil {
					return nil, errorAt(f.Pos, "field %s: %v", f.Name, err)
				}
				domains[f] = d
			}
			g.domains = append(g.domains, domains[f])
			g.owns = append(g.owns, ownedField(e) == f)
		}
		all = append(all, g)
	}
	return all, nil
}

// keyFields returns the fields in the table key of e, in the order of the key.
func keyFields(e *model.Entity) []*model.Field {
	var all []*model.Field
	for _, a := range e.Table.Keys() {
		t := e.Attribute(a.Name)
		if t == nil || t.Template == nil {
			continue
		}
		for _, name := range t.Template.Components() {
			if f := e.Field(name); f != nil && !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// ownedField returns the only field in the key of e, each value of which identifies
// one item, or nil.
func ownedField(e *model.Entity) *model.Field {
	if fields := keyFields(e); len(fields) == 1 {
		return fields[0]
	}
	return nil
}

// attempts is how often to redraw an item whose key is taken before trying all
// keys in order.
const attempts = 16

func (b *builder) run(ctx context.Context, g *generator) error {
	for i := range g.count {
		it, id, ok, err := b.item(g, i)
		if err != nil {
			return err
		}
		if !ok {
			return model.Errors{{
				Pos:  g.e.Pos,
				Msg:  "entity " + g.e.Name + " has too few keys for its count",
				Hint: "lower count, add a field to the key that differs for each item, or raise distinct",
			}}
		}
		if err := b.put(ctx, id, it, g.e.Pos); err != nil {
			return err
		}
	}
	return nil
}

// item generates item i of g with a new key. It reports false if there are no
// more keys.
func (b *builder) item(g *generator, i uint64) (Item, [16]byte, bool, error) {
	values := g.values
	clear(values)
	for k, f := range g.fields {
		values[f.Name] = g.draw(k, i, 0)
	}
	drawn := Values{g: g, n: i}
	for attempt := uint64(1); ; attempt++ {
		key, err := g.buildKey()
		if err != nil {
			return Item{}, [16]byte{}, false, errorAt(g.e.Pos, "entity %s, a generated item: %v", g.e.Name, err)
		}
		id, ok := keyID(g.e.Table, key)
		if !ok {
			return Item{}, id, false, errorAt(
				g.e.Pos, "entity %s generates items without all keys of table %s", g.e.Name, g.e.Table.Name,
			)
		}
		if _, taken := b.seen[id]; !taken {
			it, err := g.buildRest()
			if err != nil {
				return Item{}, id, false, errorAt(g.e.Pos, "entity %s, a generated item: %v", g.e.Name, err)
			}
			return Item{Table: g.e.Table, Entity: g.e, Values: drawn, Attributes: it, Generated: true}, id, true, nil
		}
		if attempt <= attempts && !g.alone() {
			for k, f := range g.fields[:g.key] {
				values[f.Name] = g.draw(k, i, attempt)
			}
			drawn.n = i | attempt<<attemptBit
			continue
		}
		if !g.step(values, i+attempt<<32) {
			return Item{}, id, false, nil
		}
		drawn = Values{text: maps.Clone(values)}
	}
}

// build returns the item of the current values.
func (g *generator) build() (attr.Item, error) {
	if _, err := g.buildKey(); err != nil {
		return nil, err
	}
	return g.buildRest()
}

// buildKey returns the table key of the current values, valid until the next
// call. Many keys are taken, so an item is built in two steps.
func (g *generator) buildKey() (attr.Item, error) {
	g.b.Reset()
	if err := g.e.Add(&g.b, g.keys, g.values, nil, true); err != nil {
		return nil, err
	}
	g.id = g.b.AppendItem(g.id[:0])
	return g.id, nil
}

// buildRest returns the item whose key was built last.
func (g *generator) buildRest() (attr.Item, error) {
	if err := g.e.Add(&g.b, g.rest, g.values, nil, true); err != nil {
		return nil, err
	}
	// Items live as long as the world, so they share memory.
	if cap(g.room)-len(g.room) < 256 {
		g.room = make([]byte, 0, 1<<16)
	}
	end := len(g.room)
	it := g.b.AppendItem(g.room[end:])
	if len(it) <= cap(g.room)-end {
		g.room = g.room[:end+len(it)]
	}
	return it[:len(it):len(it)], nil
}

// grow makes room for n more items.
func (b *builder) grow(n int) {
	b.w.Items = slices.Grow(b.w.Items, n)
	seen := make(map[[16]byte]int32, len(b.seen)+n)
	maps.Copy(seen, b.seen)
	b.seen = seen
}

// alone reports whether redrawing gives the same key.
func (g *generator) alone() bool { return g.key == 0 || g.key == 1 && g.owns[0] }

// step sets the key fields to their next combination. It reports false after
// the last.
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
