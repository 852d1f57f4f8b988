package fuzz_test

import (
	"fmt"
	"maps"
	"slices"
)

// bulk is the length of large attributes.
const bulk = 3000

// Names of attributes: those that can be keys, and others, some of which need a
// placeholder.
var (
	keyAttributes = []string{"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"}
	payloads      = []string{"p", "q", "Status", "é 😀.x"}
	kinds         = []kind{'S', 'N', 'B'}
)

// poolSize is the number of values in the pool of an attribute. With few values, there are few partitions, and they
// are long.
const (
	poolSize = 7
	hashPool = 3
)

// value returns a value for a key attribute: one that was used before, or one close to it.
func (g *generator) value(m *model, name string, limit int) value {
	id := m.name + "." + name
	pool := g.pools[id]
	size := poolSize
	if name == m.hash {
		size = hashPool
	}
	if len(pool) < size {
		v := g.key(m.kinds[name], limit, pool)
		g.pools[id] = append(pool, v)
		return v
	}
	v := pick(g.draw, pool)
	switch {
	case g.often(15):
		v = g.key(m.kinds[name], limit, pool)
	case v.kind == 'N':
		v = g.rewrite(v)
	}
	if v.kind != 'N' && len(v.data) > limit {
		v.data = v.data[:1]
		if v.kind == 'S' {
			v.data = "a"
		}
	}
	return v
}

// keyValue is value, limited to the size that all keys with the attribute allow.
func (g *generator) keyValue(m *model, name string) value {
	return g.value(m, name, m.limit(name))
}

// limit returns the largest size in bytes that all keys with the attribute allow.
func (m *model) limit(name string) int {
	if m.sort == name || slices.ContainsFunc(m.indexes, func(ix *index) bool { return slices.Contains(ix.sort, name) }) {
		return 1024
	}
	return 2048
}

// newTable returns a table with at most the given number of indexes, and the request that
// creates it.
func (g *generator) newTable(indexes int) (m *model, in map[string]any) {
	m = &model{name: fmt.Sprintf("Table-%d", g.made), hash: "k0", kinds: map[string]kind{}, items: map[string]item{}}
	g.made++
	for _, name := range keyAttributes {
		m.kinds[name] = pick(g.draw, kinds)
	}
	if g.often(80) {
		m.sort = "k1"
	}
	if m.sort != "" {
		for range g.IntN(min(indexes, 3) + 1) {
			m.indexes = append(m.indexes, g.newIndex(m, true))
		}
	}
	for range g.IntN(indexes + 1) {
		m.indexes = append(m.indexes, g.newIndex(m, false))
	}
	in = map[string]any{
		"TableName": m.name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": keySchema([]string{m.hash}, m.keyNames()[1:]),
		"AttributeDefinitions": m.definitions(),
	}
	for member, local := range map[string]bool{"LocalSecondaryIndexes": true, "GlobalSecondaryIndexes": false} {
		var list []any
		for _, ix := range m.indexes {
			if ix.local == local {
				list = append(list, ix.wire())
			}
		}
		if list != nil {
			in[member] = list
		}
	}
	return m, in
}

// newIndex returns a random index with a new name.
func (g *generator) newIndex(m *model, local bool) *index {
	ix := &index{name: fmt.Sprintf("Index_%d", g.made), local: local}
	ix.projection = pick(g.draw, []string{"ALL", "KEYS_ONLY", "INCLUDE"})
	g.made++
	left := slices.Clone(keyAttributes)
	take := func() string {
		i := g.IntN(len(left))
		name := left[i]
		left = slices.Delete(left, i, i+1)
		return name
	}
	if local {
		left = left[1:]
		ix.hash, ix.sort = []string{m.hash}, []string{take()}
	} else {
		hashes, sorts := 1, g.IntN(3)
		if g.often(40) {
			hashes, sorts = g.upTo(1, 4), g.IntN(5)
		}
		for range hashes {
			ix.hash = append(ix.hash, take())
		}
		for range sorts {
			ix.sort = append(ix.sort, take())
		}
	}
	if ix.projection == "INCLUDE" {
		for _, name := range slices.Concat(payloads, left) {
			if g.often(25) {
				ix.include = append(ix.include, name)
			}
		}
		if ix.include == nil {
			ix.include = []string{"p"}
		}
	}
	return ix
}

func (ix *index) wire() map[string]any {
	p := map[string]any{"ProjectionType": ix.projection}
	if ix.include != nil {
		p["NonKeyAttributes"] = ix.include
	}
	return map[string]any{"IndexName": ix.name, "KeySchema": keySchema(ix.hash, ix.sort), "Projection": p}
}

// definitions returns the AttributeDefinitions of the table and its indexes.
func (m *model) definitions() (out []any) {
	for _, name := range keyAttributes {
		if m.isKey(name) {
			out = append(out, map[string]any{"AttributeName": name, "AttributeType": m.kinds[name].String()})
		}
	}
	return out
}

// addIndex adds a global index to the model and returns the request that creates it.
func (m *model) addIndex(ix *index) map[string]any {
	m.indexes = append(slices.Clone(m.indexes), ix)
	return map[string]any{
		"TableName": m.name, "AttributeDefinitions": m.definitions(),
		"GlobalSecondaryIndexUpdates": []any{map[string]any{"Create": ix.wire()}},
	}
}

// newKey returns a random key. Half of the keys are those of existing items.
func (g *generator) newKey(m *model) item {
	if len(m.items) > 0 && g.often(50) {
		it := m.items[pick(g.draw, sortedNames(m.items))].only(m.keyNames())
		for _, name := range m.keyNames() {
			if v := it[name]; v.kind == 'N' {
				it[name] = g.rewrite(v)
			}
		}
		return it
	}
	key := item{}
	for _, name := range m.keyNames() {
		key[name] = g.keyValue(m, name)
	}
	return key
}

// newItem returns a random item that is valid for the table and its indexes. The item lacks the keys of many indexes.
func (g *generator) newItem(m *model) item {
	it := g.newKey(m)
	for _, name := range m.keyNames() { // a key of an older item may not fit an index that was added later
		if v := it[name]; len(v.data) > 1024 && !fits(v, m.kinds[name], m.limit(name) > 1024) {
			it[name] = g.keyValue(m, name)
		}
	}
	for _, name := range keyAttributes {
		switch {
		case it[name].kind != 0 || !g.often(80):
		case m.isKey(name) || g.often(70):
			it[name] = g.keyValue(m, name)
		default: // not a key attribute, so any value is valid
			it[name] = g.payload(nil, 10)
		}
	}
	for _, name := range payloads {
		if g.often(50) {
			it[name] = g.payload(g.pools[m.name+".k1"], bulk)
		}
	}
	return it
}

// wrong returns an invalid copy of the item, or nil: a key attribute is missing, empty, too long or of another kind.
func (g *generator) wrong(m *model, it item) item {
	bad := maps.Clone(it)
	name := pick(g.draw, keyAttributes)
	if !m.isKey(name) {
		return nil
	}
	table := slices.Contains(m.keyNames(), name)
	switch g.IntN(4) {
	case 0:
		if !table {
			return nil
		}
		delete(bad, name)
	case 1:
		bad[name] = other(`{"NULL":true}`)
	case 2:
		if bad[name] = text(""); m.kinds[name] == 'B' {
			bad[name] = blob("")
		}
	default:
		long := make([]byte, 2049)
		if m.sort == name {
			long = long[:1025]
		}
		if bad[name] = text(string(long)); m.kinds[name] == 'B' {
			bad[name] = blob(string(long))
		}
	}
	return bad
}
