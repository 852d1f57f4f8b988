package fuzz_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	binary "github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// attrOf returns the value in the form of package attr.
func attrOf(v value) (attr.Value, error) { return attr.ParseValue(v.wire()) }

func attrItem(it item) (attr.Item, error) { return attr.ParseItem(marshal(it.wire())) }

func sign(n int) int { return min(max(n, -1), 1) }

// pair returns two values of one kind, often close to each other.
func (d draw) pair(k kind) (a, b value) {
	a = d.key(k, 64, nil)
	return a, d.key(k, 64, []value{a})
}

// checkOrder compares the order of two values with the order of their bytes.
func checkOrder(d draw) error {
	a, b := d.pair(pick(d, kinds))
	x, err := attrOf(a)
	if err != nil {
		return err
	}
	y, err := attrOf(b)
	if err != nil {
		return err
	}
	want := sign(compare(a, b))
	if got := sign(bytes.Compare(x.Raw(), y.Raw())); got != want {
		return fmt.Errorf("bytes of %q and %q compare %d, want %d", a.data, b.data, got, want)
	}
	if got, ok := attr.Compare(x, y); sign(got) != want || !ok {
		return fmt.Errorf("Compare(%q, %q) = %d, %v, want %d", a.data, b.data, got, ok, want)
	}
	if got := attr.Equal(x, y); got != (want == 0) {
		return fmt.Errorf("Equal(%q, %q) = %v", a.data, b.data, got)
	}
	if x.Size() != a.size() {
		return fmt.Errorf("the size of %q is %d, want %d", a.data, x.Size(), a.size())
	}
	if got := store.Hash(x.Raw()); got != scanHash(a) {
		return fmt.Errorf("the hash of %q is %#x, want %#x", a.data, got, scanHash(a))
	}
	if a.kind == 'N' && string(x.AppendNumber(nil)) != plain(a.num) {
		return fmt.Errorf("%q is printed as %s, want %s", a.data, x.AppendNumber(nil), plain(a.num))
	}
	return nil
}

// checkTuple compares the order of two tuples with the order of their bytes.
func checkTuple(d draw) error {
	var x, y []byte
	want := 0
	for range d.upTo(1, 4) {
		a, b := d.pair(pick(d, kinds))
		if d.often(60) {
			b = a
		}
		va, err := attrOf(a)
		if err != nil {
			return err
		}
		vb, err := attrOf(b)
		if err != nil {
			return err
		}
		x, y = binary.AppendKey(x, va), binary.AppendKey(y, vb)
		if want == 0 {
			want = sign(compare(a, b))
		}
		payload, _, ok := binary.CutKey(nil, binary.AppendKey(nil, va))
		if !ok || !bytes.Equal(payload, va.Raw()) {
			return fmt.Errorf("CutKey(%q) = %q, %v", va.Raw(), payload, ok)
		}
	}
	if got := sign(bytes.Compare(x, y)); got != want {
		return fmt.Errorf("tuples %q and %q compare %d, want %d", x, y, got, want)
	}
	return nil
}

// checkUpper compares the bounds of a prefix with their definition.
func checkUpper(d draw) error {
	p, s := d.pair('B')
	hi := store.AppendUpper(nil, []byte(p.data))
	got := store.Range{Lo: []byte(p.data), Hi: hi}.Contains([]byte(s.data))
	if want := hasPrefix(s, p); got != want {
		return fmt.Errorf("%q is in the range of the prefix %q to %q: %v, want %v", s.data, p.data, hi, got, want)
	}
	return nil
}

// checkSegment compares the bounds of a segment with their definition: the
// hashes whose place among all hashes is in that part of total.
func checkSegment(d draw) error {
	total := uint32(pick(d, []int{d.upTo(1, 20), d.upTo(1, 1_000_000)}))
	i := uint32(d.IntN(int(total)))
	s := store.Segment(i, total)
	place := func(hash uint32) uint32 { return uint32(uint64(hash) * uint64(total) >> 24) }
	hashes := []uint32{uint32(d.IntN(1 << 24)), s.First, s.Last, s.First - 1, s.Last + 1, s.First + 1, 0, 1<<24 - 1}
	for _, hash := range hashes {
		if got, want := s.First <= hash && hash <= s.Last, place(hash) == i; hash < 1<<24 && got != want {
			return fmt.Errorf("the hash %#x is in segment %d of %d, %#x … %#x: %v, want %v", hash, i, total, s.First, s.Last, got, want)
		}
	}
	return nil
}

// checkItem converts an item to its stored form and back.
func checkItem(d draw) error {
	it := item{}
	for range d.IntN(8) {
		it[d.string(nil, 20)] = d.payload(nil, 200)
	}
	x, err := attrItem(it)
	if err != nil {
		return err
	}
	if x.Size() != it.size() {
		return fmt.Errorf("the size of %s is %d, want %d", it.canon(), x.Size(), it.size())
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(x.AppendJSON(nil), &members); err != nil {
		return err
	}
	back, err := parseItem(members)
	if err != nil || back.canon() != it.canon() {
		return fmt.Errorf("%s becomes %s: %w", it.canon(), back.canon(), err)
	}
	if _, err := binary.Check(x); err != nil {
		return fmt.Errorf("%s: %w", it.canon(), err)
	}
	y, err := attrItem(back)
	if err != nil || !x.Equal(y) {
		return fmt.Errorf("%s has two stored forms: %w", it.canon(), err)
	}
	return nil
}

// checkRange compiles a key condition. It checks which items are in its range
// and how every two of them are ordered.
func checkRange(d draw) error {
	w := &world{draw: d, pools: map[string][]value{}}
	m := &model{name: "T", hash: "k0", kinds: map[string]kind{}, items: map[string]item{}}
	for _, name := range keyAttributes {
		m.kinds[name] = pick(d, kinds)
	}
	if d.often(80) {
		m.sort = "k1"
	}
	v := view{m: m}
	if d.often(70) {
		v.ix = w.newIndex(m, m.sort != "" && d.often(30))
		v.ix.projection = "ALL"
		m.indexes = []*index{v.ix}
	}
	for range d.upTo(1, 12) {
		it := item{}
		for _, name := range v.keyNames() {
			it[name] = w.keyValue(m, name)
		}
		m.items[m.id(it)] = it
	}
	schema := m.schema(v)
	clauses := w.newClauses(v)
	e := &expression{draw: d}
	src := w.keyExpression(e, clauses)
	values := item{}
	for name, raw := range e.values {
		var err error
		if values[name], err = parseValueAny(raw); err != nil {
			return err
		}
	}
	args, err := attrItem(values)
	if err != nil {
		return err
	}
	env, err := expr.NewEnv(expr.Params{Names: e.names, Values: args})
	if err != nil {
		return err
	}
	cond, err := env.Condition(expr.KeyConditionExpression, src)
	if err != nil {
		return fmt.Errorf("%s: %w", src, err)
	}
	slice, err := keycond.Compile(schema, cond)
	if err != nil {
		return fmt.Errorf("%s: %w", src, err)
	}
	type place struct {
		it              item
		partition, sort []byte
	}
	var places []place
	for _, it := range v.entries() {
		x, err := attrItem(it)
		if err != nil {
			return err
		}
		p, ok := schema.AppendPartition(nil, x)
		s, ok2 := schema.AppendSort(nil, x)
		if !ok || !ok2 {
			return fmt.Errorf("%s has no position", it.canon())
		}
		in := bytes.Equal(p, slice.Partition) && slice.Range.Contains(s)
		if want := matchAll(clauses, it); in != want {
			return fmt.Errorf("%s of %s: %s in the range: %v, want %v", src, values.canon(), it.canon(), in, want)
		}
		places = append(places, place{it, p, s})
	}
	for _, a := range places {
		for _, b := range places {
			samePartition := !slices.ContainsFunc(v.hash(), func(name string) bool { return compare(a.it[name], b.it[name]) != 0 })
			if bytes.Equal(a.partition, b.partition) != samePartition {
				return fmt.Errorf("%s and %s have the same partition", a.it.canon(), b.it.canon())
			}
			if got, want := sign(bytes.Compare(a.sort, b.sort)), sign(v.compareSort(a.it, b.it)); got != want {
				return fmt.Errorf("%s and %s compare %d, want %d", a.it.canon(), b.it.canon(), got, want)
			}
		}
	}
	return nil
}

// parseValueAny parses a value of a request, with numbers in any notation.
func parseValueAny(raw json.RawMessage) (value, error) {
	var n struct{ N *string }
	if err := json.Unmarshal(raw, &n); err == nil && n.N != nil {
		return number(*n.N), nil
	}
	return parseValue(raw)
}

// schema returns the engine's schema of a view.
func (m *model) schema(v view) *keycond.Schema {
	attributes := func(names []string) (out []keycond.Attribute) {
		for _, name := range names {
			k, _ := attr.ParseKind(m.kinds[name].String())
			out = append(out, keycond.Attribute{Name: name, Kind: k})
		}
		return out
	}
	s := keycond.NewSchema(attributes([]string{m.hash}), attributes(m.keyNames()[1:]))
	if v.ix == nil {
		return s
	}
	return s.NewIndex(v.ix.name, attributes(v.ix.hash), attributes(v.ix.sort))
}

// values checks a property of values.
func values(t *testing.T, n, least, most int, check func(draw) error) {
	t.Parallel()
	property := func(t *proptest.T) {
		if err := check(draw{t}); err != nil {
			t.Fatalf("%v", err)
		}
	}
	proptest.CheckTapes(t, n, least, most, func(tape []byte) string { return proptest.Play(t, tape, property) }, nil)
}

func TestPropertyOrder(t *testing.T)   { values(t, 20000, 1, 200, checkOrder) }
func TestPropertyTuple(t *testing.T)   { values(t, 10000, 1, 400, checkTuple) }
func TestPropertyUpper(t *testing.T)   { values(t, 20000, 1, 60, checkUpper) }
func TestPropertySegment(t *testing.T) { values(t, 20000, 8, 30, checkSegment) }
func TestPropertyItem(t *testing.T)    { values(t, 3000, 1, 300, checkItem) }
func TestPropertyRange(t *testing.T)   { values(t, 4000, 50, 800, checkRange) }
