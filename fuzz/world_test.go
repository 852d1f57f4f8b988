package fuzz_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// A world is a database and the model of its content. Its methods send random
// requests to both and compare the answers.
type world struct {
	*client
	draw
	bulk   int // length of large attributes
	tables []*model
	pools  map[string][]value // values that attributes often have
	made   int                // tables and indexes so far
	// streams is true if every table has a stream, which check replays.
	streams bool
}

func newWorld(t *proptest.T) *world {
	w := &world{client: newClient(t), draw: draw{t}, bulk: 3000, pools: map[string][]value{}}
	t.Cleanup(func() { _ = w.db.Close() })
	return w
}

// Names of attributes: those that can be keys, and others, some of which need a
// placeholder.
var (
	keyAttributes = []string{"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"}
	payloads      = []string{"p", "q", "Status", "é 😀.x"}
	kinds         = []kind{'S', 'N', 'B'}
)

// poolSize is the number of values in the pool of an attribute. Few partitions
// make long ones.
const (
	poolSize = 7
	hashPool = 3
)

// value returns a value for a key attribute: one used before, or one close to
// it.
func (w *world) value(m *model, name string, limit int) value {
	id := m.name + "." + name
	pool := w.pools[id]
	size := poolSize
	if name == m.hash {
		size = hashPool
	}
	if len(pool) < size {
		v := w.key(m.kinds[name], limit, pool)
		w.pools[id] = append(pool, v)
		return v
	}
	v := pick(w.draw, pool)
	switch {
	case w.often(15):
		v = w.key(m.kinds[name], limit, pool)
	case v.kind == 'N':
		v = w.rewrite(v)
	}
	if v.kind != 'N' && len(v.data) > limit {
		v.data = v.data[:1]
		if v.kind == 'S' {
			v.data = "a"
		}
	}
	return v
}

// keyValue is value, limited to what every key with the attribute allows.
func (w *world) keyValue(m *model, name string) value {
	return w.value(m, name, m.limit(name))
}

// limit returns the most bytes of a value in all keys with the attribute.
func (m *model) limit(name string) int {
	if m.sort == name || slices.ContainsFunc(m.indexes, func(ix *index) bool { return slices.Contains(ix.sort, name) }) {
		return 1024
	}
	return 2048
}

// createTable creates a table with at most the given number of indexes.
func (w *world) createTable(indexes int) *model {
	m, in := w.newTable(indexes)
	w.must("CreateTable", in, nil)
	w.tables = append(w.tables, m)
	return m
}

// newTable returns a table with at most the given number of indexes, and the request that
// creates it.
func (w *world) newTable(indexes int) (m *model, in map[string]any) {
	m = &model{name: fmt.Sprintf("Table-%d", w.made), hash: "k0", kinds: map[string]kind{}, items: map[string]item{}}
	w.made++
	for _, name := range keyAttributes {
		m.kinds[name] = pick(w.draw, kinds)
	}
	if w.often(80) {
		m.sort = "k1"
	}
	if m.sort != "" {
		for range w.IntN(min(indexes, 3) + 1) {
			ix := w.newIndex(m, true)
			m.indexes = append(m.indexes, ix)
		}
	}
	for range w.IntN(indexes + 1) {
		m.indexes = append(m.indexes, w.newIndex(m, false))
	}
	in = map[string]any{
		"TableName": m.name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": keySchema([]string{m.hash}, m.keyNames()[1:]),
		"AttributeDefinitions": m.definitions(),
	}
	var local, global []any
	for _, ix := range m.indexes {
		if ix.local {
			local = append(local, ix.wire())
		} else {
			global = append(global, ix.wire())
		}
	}
	if local != nil {
		in["LocalSecondaryIndexes"] = local
	}
	if global != nil {
		in["GlobalSecondaryIndexes"] = global
	}
	if w.streams {
		in["StreamSpecification"] = map[string]any{"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}
	}
	return m, in
}

// newIndex returns an index with a new name.
func (w *world) newIndex(m *model, local bool) *index {
	ix := &index{name: fmt.Sprintf("Index_%d", w.made), local: local, projection: pick(w.draw, []string{"ALL", "KEYS_ONLY", "INCLUDE"})}
	w.made++
	left := slices.Clone(keyAttributes)
	take := func() string {
		i := w.IntN(len(left))
		name := left[i]
		left = slices.Delete(left, i, i+1)
		return name
	}
	if local {
		left = left[1:]
		ix.hash, ix.sort = []string{m.hash}, []string{take()}
	} else {
		hashes, sorts := 1, w.IntN(3)
		if w.often(40) {
			hashes, sorts = w.upTo(1, 4), w.IntN(5)
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
			if w.often(25) {
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

// definitions returns the AttributeDefinitions of all keys.
func (m *model) definitions() (out []any) {
	for _, name := range keyAttributes {
		if m.isKey(name) {
			out = append(out, map[string]any{"AttributeName": name, "AttributeType": m.kinds[name].String()})
		}
	}
	return out
}

// createIndex adds a global index to a table with items. If the table has as many as it may, it deletes one instead.
func (w *world) createIndex(m *model) {
	if len(m.global()) == maxGlobal {
		w.deleteIndex(m)
		return
	}
	w.must("UpdateTable", m.addIndex(w.newIndex(m, false)), nil)
}

// addIndex adds a global index to the model and returns the request that creates it.
func (m *model) addIndex(ix *index) map[string]any {
	m.indexes = append(slices.Clone(m.indexes), ix)
	return map[string]any{
		"TableName": m.name, "AttributeDefinitions": m.definitions(),
		"GlobalSecondaryIndexUpdates": []any{map[string]any{"Create": ix.wire()}},
	}
}

// maxGlobal is how many global indexes a table may have. Source: DG/Limits.html.
const maxGlobal = 20

// global returns the positions of the global indexes.
func (m *model) global() (at []int) {
	for i, ix := range m.indexes {
		if !ix.local {
			at = append(at, i)
		}
	}
	return at
}

// deleteIndex deletes a global index, if the table has one.
func (w *world) deleteIndex(m *model) {
	global := m.global()
	if global == nil {
		return
	}
	i := pick(w.draw, global)
	w.must("UpdateTable", map[string]any{
		"TableName":                   m.name,
		"GlobalSecondaryIndexUpdates": []any{map[string]any{"Delete": map[string]any{"IndexName": m.indexes[i].name}}},
	}, nil)
	m.indexes = slices.Delete(slices.Clone(m.indexes), i, i+1)
}

func (w *world) deleteTable(m *model) {
	w.must("DeleteTable", map[string]any{"TableName": m.name}, nil)
	w.tables = slices.DeleteFunc(w.tables, func(o *model) bool { return o == m })
}

// newKey returns the key of an item, which often exists.
func (w *world) newKey(m *model) item {
	if len(m.items) > 0 && w.often(50) {
		it := m.items[pick(w.draw, sortedNames(m.items))].only(m.keyNames())
		for _, name := range m.keyNames() {
			if v := it[name]; v.kind == 'N' {
				it[name] = w.rewrite(v)
			}
		}
		return it
	}
	key := item{}
	for _, name := range m.keyNames() {
		key[name] = w.keyValue(m, name)
	}
	return key
}

// newItem returns an item that is valid for the table and its indexes. Many
// indexes omit it.
func (w *world) newItem(m *model) item {
	it := w.newKey(m)
	for _, name := range m.keyNames() { // an index may be newer than the old key, which may not fit it
		if v := it[name]; len(v.data) > 1024 && !fits(v, m.kinds[name], m.limit(name) > 1024) {
			it[name] = w.keyValue(m, name)
		}
	}
	for _, name := range keyAttributes {
		switch {
		case it[name].kind != 0 || !w.often(80):
		case m.isKey(name) || w.often(70):
			it[name] = w.keyValue(m, name)
		default: // not part of a key, so it can have any value
			it[name] = w.payload(nil, 10)
		}
	}
	for _, name := range payloads {
		if w.often(50) {
			it[name] = w.payload(w.pools[m.name+".k1"], w.bulk)
		}
	}
	return it
}

// newTest returns a condition on attributes in names, or nil.
func (w *world) newTest(m *model, names []string, depth int) *test {
	if len(names) == 0 {
		return nil
	}
	if depth > 0 {
		switch w.IntN(6) {
		case 0:
			return &test{op: "NOT", l: w.newTest(m, names, depth-1)}
		case 1:
			return &test{op: "AND", l: w.newTest(m, names, depth-1), r: w.newTest(m, names, depth-1)}
		case 2:
			return &test{op: "OR", l: w.newTest(m, names, depth-1), r: w.newTest(m, names, depth-1)}
		}
	}
	name := pick(w.draw, names)
	t := new(test)
	t.op = pick(w.draw, []string{"attribute_exists", "attribute_not_exists", "=", "<>", "<", "<=", ">", ">=", "begins_with"})
	arg := w.payload(w.pools[m.name+"."+name], 3)
	if m.kinds[name] != 0 && w.often(60) {
		arg = w.value(m, name, 2048)
	}
	switch {
	case !arg.kind.scalar() && t.op != "=" && t.op != "<>",
		arg.kind == 'N' && t.op == "begins_with":
		arg = text("a")
	}
	t.args = []operand{{path: attribute(name)}}
	if !strings.HasPrefix(t.op, "attribute_") {
		t.args = append(t.args, operand{arg: arg})
	}
	return t
}

// wrong returns a copy of the item that must be refused, or nil: a key
// attribute is missing, empty, too long or of another kind.
func (w *world) wrong(m *model, it item) item {
	bad := maps.Clone(it)
	name := pick(w.draw, keyAttributes)
	if !m.isKey(name) {
		return nil
	}
	table := slices.Contains(m.keyNames(), name)
	switch w.IntN(4) {
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
