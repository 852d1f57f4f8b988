package sortkey_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
)

// Baggage is an item whose parts the caller can all change after a call.
type Baggage struct {
	P      []byte            `dynamodbav:"p"`
	S      []byte            `dynamodbav:"s"`
	Bytes  []byte            `dynamodbav:"bytes"`
	Lists  [][][]byte        `dynamodbav:"lists"`
	Set    [][]byte          `dynamodbav:"set"`
	Map    map[string][]byte `dynamodbav:"map"`
	Target *[]byte           `dynamodbav:"target"`
	Any    any               `dynamodbav:"any"`
	Value  attr.Value        `dynamodbav:"value"`
	Item   attr.Item         `dynamodbav:"item"`
	Own    ownBytes          `dynamodbav:"own"`
}

// ownBytes have a marshaler whose result shares their memory.
type ownBytes []byte

func (b ownBytes) MarshalAttr() (attr.Value, error) { return attr.NewBinary(b), nil }

func (b *ownBytes) UnmarshalAttr(v attr.Value) error {
	*b = bytes.Clone(v.Raw())
	return nil
}

// An owner makes arguments of a given size, and overwrites them after the call.
type owner struct {
	size  int
	given [][]byte
	lists [][]any
}

// bytes returns bytes of the owner's size that begin with what and n.
func (o *owner) bytes(what string, n int) []byte {
	text := fmt.Appendf(nil, "%s %06d ", what, n)
	if missing := o.size - len(text); missing > 0 {
		text = append(text, strings.Repeat("x", missing)...)
	}
	return o.own(text)
}

// key returns bytes that are short enough for a key.
func (o *owner) key(n int) []byte { return o.own(fmt.Appendf(nil, "key %06d", n)) }

func (o *owner) own(b []byte) []byte {
	o.given = append(o.given, b)
	return b
}

// list returns a list of arguments. The owner overwrites the list too.
func (o *owner) list(args ...any) []any {
	o.lists = append(o.lists, args)
	return args
}

func (o *owner) item(n int) Baggage {
	part := func(i int) []byte { return (&owner{size: o.size / 20}).bytes("part", i) }
	owned := func(i int) []byte { return o.own(part(i)) }
	target := owned(6)
	var b attr.Builder
	b.Add("inner", attr.NewBinary(part(9)))
	return Baggage{
		P: o.key(n % 3), S: o.key(n), Bytes: o.bytes("bytes", n), Lists: [][][]byte{{owned(1)}, {owned(2), owned(3)}},
		Set: [][]byte{owned(4), owned(5)}, Map: map[string][]byte{"a": owned(n)}, Target: &target, Any: owned(7),
		Value: attr.NewBinary(owned(8)), Item: attr.Item(o.own(b.Item())), Own: owned(10),
	}
}

// overwrite overwrites all arguments that the owner has made.
func (o *owner) overwrite() {
	for _, b := range o.given {
		spoilBytes(b)
	}
	for _, list := range o.lists {
		for i := range list {
			list[i] = "overwritten"
		}
	}
	o.given, o.lists = nil, nil
}

func spoilBytes(b []byte) {
	for i := range b {
		b[i] ^= 0x55
	}
}

// spoilItem overwrites an item that an operation has returned.
func spoilItem(b *Baggage) {
	for _, part := range [][]byte{
		b.P, b.S, b.Bytes, *b.Target, b.Any.([]byte), b.Value.Raw(), b.Item, b.Own, b.Map["a"],
	} {
		spoilBytes(part)
	}
	for _, list := range append(b.Lists, b.Set) {
		for _, part := range list {
			spoilBytes(part)
		}
	}
}

// TestArgumentsStayTheCallers tests that the caller may overwrite the arguments of an operation after it has
// returned, and what it has returned, without changing what is stored.
func TestArgumentsStayTheCallers(t *testing.T) {
	for _, size := range []int{10, 200, 2_000, 5_000, 100_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { testArguments(t, size) })
	}
}

func testArguments(t *testing.T, size int) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p:B / s:B", sortkey.Global("ByS", "s:B"), sortkey.Stream()))
	rows, items := sortkey.Table[Baggage](db, "Items"), sortkey.Table[attr.Item](db, "Items")
	o := &owner{size: size}
	want := map[string]attr.Item{} // what is stored, by sort key
	expect := func(n int, change func(b *attr.Builder)) {
		it, err := attr.MarshalItem((&owner{size: size}).item(n))
		require.NoError(t, err)
		var b attr.Builder
		for name, v := range it.All() {
			b.AddBytes(name, v)
		}
		if change != nil {
			change(&b)
		}
		want[string((&owner{}).key(n))] = b.Item()
	}
	check := func(step string) {
		t.Helper()
		o.overwrite()
		got := map[string]attr.Item{}
		for it, err := range items.Scan(ctx) {
			require.NoError(t, err)
			got[string(it.Get("s").Raw())] = it
		}
		require.Len(t, got, len(want), step)
		for key, it := range want {
			require.True(t, bytes.Equal(it, got[key]), "%s changed the item %s", step, key)
		}
	}

	const n = 6
	for i := range n {
		require.NoError(t, rows.Put(ctx, o.item(i)))
		expect(i, nil)
		o.overwrite()
	}
	check("Put of a struct")

	var buffer []byte
	for i := range n {
		made, err := attr.MarshalItem((&owner{size: size}).item(n + i))
		require.NoError(t, err)
		buffer = append(buffer[:0], made...)
		require.NoError(t, items.Put(ctx, buffer))
		expect(n+i, nil)
	}
	spoilBytes(buffer)
	check("Put of an item")

	var old Baggage
	var oldItem attr.Item
	condition := sortkey.If(
		"bytes = :b AND begins_with(bytes, :c)", o.bytes("bytes", 0), attr.NewBinary(o.own([]byte("bytes"))),
	)
	o.overwrite() // the condition exists already; the operation runs later
	require.NoError(t, rows.Put(ctx, o.item(0), condition, sortkey.Old(&old)))
	require.NoError(t, items.Put(ctx, mustItem(t, (&owner{size: size}).item(0)), condition, sortkey.Old(&oldItem)))
	require.True(t, bytes.Equal(oldItem, want[string((&owner{}).key(0))]))
	spoilItem(&old)
	spoilBytes(oldItem)
	check("Put with options")

	err := rows.Put(ctx, o.item(1), condition)
	var refused *sortkey.Error
	require.True(t, errors.Is(err, sortkey.ErrConditionFailed) && errors.As(err, &refused))
	spoilBytes(refused.Item)
	check("a refused Put")

	key := sortkey.Key(o.list(o.key(2), o.key(2)))
	one, two := o.bytes("one", 1), attr.NewBinary(o.bytes("two", 2))
	set := o.list(one, two, object{"a": o.key(1)}, attr.Item(o.own(mustItem(t, object{"n": 1}))))
	updated, err := rows.Update(ctx, key, "SET one = :a, two = :b, three = :c, four = :d", set...)
	require.NoError(t, err)
	updatedItem, err := items.Update(ctx, sortkey.Key{(&owner{}).key(2), (&owner{}).key(2)}, "SET two = two")
	require.NoError(t, err)
	spoilItem(&updated)
	spoilBytes(updatedItem)
	expect(2, func(b *attr.Builder) {
		plain := &owner{size: size}
		b.Add("one", attr.NewBinary(plain.bytes("one", 1)))
		b.Add("two", attr.NewBinary(plain.bytes("two", 2)))
		b.Add("three", attr.NewMap(mustItem(t, object{"a": plain.key(1)})))
		b.Add("four", attr.NewMap(mustItem(t, object{"n": 1})))
	})
	check("Update")

	got, err := rows.Get(ctx, o.list(o.key(0), o.key(3))...)
	require.NoError(t, err)
	gotItem, err := items.Get(ctx, o.list(attr.NewBinary(o.key(0)), o.key(3))...)
	require.NoError(t, err)
	require.True(t, bytes.Equal(gotItem, want[string(o.key(3))]))
	spoilItem(&got)
	spoilBytes(gotItem)
	check("Get")

	// The arguments of a loop are overwritten before it begins, and it runs twice.
	values := o.list(o.own([]byte("b")), o.own([]byte("c")), attr.NewBinary(o.own([]byte("d"))))
	filter := sortkey.Where("bytes <> :b AND NOT bytes IN (:c, :d)", values...)
	paths := []string{"p", "s", "bytes"}
	only := sortkey.Only(paths...)
	paths[2] = "overwritten"
	opts := []sortkey.Option{filter, only}
	queries := map[string]func() (sortkey.Page[attr.Item], error){
		"Query": all(items.Query(ctx, o.key(0), sortkey.Between(o.key(0), o.key(9)), filter, only)),
		"of a value": all(items.Query(
			ctx, attr.NewBinary(o.key(0)), sortkey.Compare("<=", attr.NewBinary(o.key(9))), only,
		)),
		"of a prefix": all(items.Query(ctx, o.key(0), sortkey.BeginsWith(o.own([]byte("key"))), only)),
		"Scan":        all(items.Scan(ctx, opts...)),
	}
	opts[0], opts[1] = sortkey.Only("overwritten"), sortkey.Limit(1)
	pages := map[string]func() (*sortkey.Page[attr.Item], error){
		"QueryPage": func() (*sortkey.Page[attr.Item], error) {
			return items.QueryPage(ctx, o.key(0), sortkey.Between(o.key(0), o.key(9)), filter, only)
		},
		"ScanPage": func() (*sortkey.Page[attr.Item], error) { return items.ScanPage(ctx, filter, only) },
	}
	o.overwrite()
	for name, page := range pages {
		queries[name] = func() (sortkey.Page[attr.Item], error) {
			p, err := page()
			o.overwrite()
			return *p, err
		}
	}
	for name, query := range queries {
		for range 2 {
			page, err := query()
			require.NoError(t, err, name)
			found := 4 // in the partition
			switch name {
			case "Scan":
				found = 2 * n
			case "ScanPage":
				found = min(2*n, len(page.Items)) // a page ends before large items
			}
			require.Equal(t, found, len(page.Items), name) //nolint:testifylint // Len prints the items
			for _, it := range page.Items {
				is := want[string(it.Get("s").Raw())]
				require.Equal(t, 3, it.Len(), name)
				require.True(t,
					attr.Equal(it.Get("bytes"), is.Get("bytes")) && attr.Equal(it.Get("p"), is.Get("p")), name)
				spoilBytes(it)
			}
			check(name)
		}
	}
	for row, err := range rows.Index("ByS").Query(ctx, o.key(3)) {
		require.NoError(t, err)
		spoilItem(&row)
	}
	check("Query of an index")

	changes := 0
	for range 2 {
		changes = 0
		for change, err := range items.Changes(ctx, "", sortkey.UntilNow) {
			require.NoError(t, err)
			changes++
			spoilBytes(change.Key)
			for _, image := range []*attr.Item{change.Old, change.New} {
				if image != nil {
					require.Equal(t, len(*image), len(mustItem(t, *image)), "a whole item")
					spoilBytes(*image)
				}
			}
		}
	}
	require.Equal(t, 2*n+1, changes, "a put of the item as it was is not a change")
	check("Changes")

	require.NoError(t, rows.Delete(ctx, o.list(o.key(0), o.key(0), condition, sortkey.Old(&old))...))
	spoilItem(&old)
	delete(want, string((&owner{}).key(0)))
	check("Delete")
}

// all returns a function that runs a loop and returns its items as a page.
func all(loop func(func(attr.Item, error) bool)) func() (sortkey.Page[attr.Item], error) {
	return func() (page sortkey.Page[attr.Item], err error) {
		for it, e := range loop {
			if err = e; err != nil {
				return page, err
			}
			page.Items = append(page.Items, it)
		}
		return page, nil
	}
}

func mustItem(t *testing.T, v any) attr.Item {
	t.Helper()
	it, err := attr.MarshalItem(v)
	require.NoError(t, err)
	return it
}
