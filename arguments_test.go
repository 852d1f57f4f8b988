package sortkey_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keys"
	"github.com/sortkey/sortkey/store/memory"
)

type object = map[string]any

// last returns the last error that a loop yields.
func last[T any](loop iter.Seq2[T, error]) (err error) {
	for _, err = range loop {
	}
	return err
}

// collect returns the items that a loop yields. It fails the test at an error.
func collect[T any](t *testing.T, loop iter.Seq2[T, error]) (list []T) {
	t.Helper()
	for item, err := range loop {
		require.NoError(t, err)
		list = append(list, item)
	}
	return list
}

// requests is an observer that counts requests.
type requests struct{ atomic.Int64 }

func (r *requests) Begin(context.Context, *sortkey.Event) {}
func (r *requests) End(context.Context, *sortkey.Event)   { r.Add(1) }

// TestSeveralConditions tests that all conditions and filters of an operation must hold, and that each of them keeps
// its values and its meaning.
func TestSeveralConditions(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p"))
	items := sortkey.Table[object](db, "Items")

	list := func(conditions ...any) (opts, filters []sortkey.Option) {
		for i := 0; i < len(conditions); i += 2 {
			values := conditions[i+1].([]any)
			opts = append(opts, sortkey.If(conditions[i].(string), values...))
			filters = append(filters, sortkey.Where(conditions[i].(string), values...))
		}
		return opts, filters
	}
	none := []any(nil)
	for _, tt := range []struct {
		conditions []any
		holds      bool
	}{
		{[]any{"attribute_not_exists(A)", none, "attribute_exists(B)", none}, false},
		{[]any{"attribute_exists(B)", none, "attribute_not_exists(A)", none}, false},
		{[]any{"A = :x", []any{1}, "B = :x", []any{2}}, true},
		{[]any{"A = :x", []any{2}, "B = :x", []any{2}}, false},
		{[]any{"A = :x", []any{1}, "B = A", none}, false},
		{[]any{"A = :x OR A = :y", []any{1, 9}, "B = :x", []any{9}}, false},
		{[]any{"B = :x", []any{9}, "A = :x OR A = :y", []any{9, 1}}, false},
		{[]any{"NOT A = :x", []any{9}, "B = :x", []any{2}, "size = :x OR `s-t` = :x", []any{"s"}}, true},
		{[]any{"(A = :x)", []any{1}, " (B = :x OR A = :x) ", []any{2}, "(A = :x) AND (B = :y)", []any{1, 2}}, true},
		{[]any{"(A = :x) OR (B = :y)", []any{1, 2}, "A = :x", []any{9}}, false},
	} {
		item := object{"p": "P", "A": 1, "B": 2, "size": "s", "s-t": "t"}
		require.NoError(t, items.Put(ctx, item))
		conditions, filters := list(tt.conditions...)
		found := collect(t, items.Scan(ctx, filters...))
		require.Equal(t, tt.holds, len(found) == 1, "%v", tt.conditions)

		_, updated := items.Update(ctx, sortkey.Key{"P"}, "SET A = :x", append([]any{1}, anyOf(conditions)...)...)
		for name, err := range map[string]error{
			"Update": updated, "Put": items.Put(ctx, item, conditions...),
			"Delete": items.Delete(ctx, append([]any{"P"}, anyOf(conditions)...)...),
		} {
			if tt.holds {
				require.NoError(t, err, "%s %v", name, tt.conditions)
			} else {
				require.ErrorIs(t, err, sortkey.ErrConditionFailed, "%s %v", name, tt.conditions)
			}
		}
	}
	err := items.Put(ctx, object{"p": "P"}, sortkey.If("p = :x) OR (p = :x", "P"), sortkey.If("p = :x", "Q"))
	require.ErrorContains(t, err, "its parentheses do not match")
}

func anyOf(opts []sortkey.Option) (list []any) {
	for _, o := range opts {
		list = append(list, o)
	}
	return list
}

// TestOptionsTwice tests that an operation refuses an option that is given twice, with an error that names the
// option.
func TestOptionsTwice(t *testing.T) {
	var seen requests
	db, ctx := open(t, sortkey.Options{Observer: &seen}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p", sortkey.Stream()))
	items := sortkey.Table[object](db, "Items")
	item, before := object{"p": "P"}, seen.Load()

	var a, b attr.Item
	for name, pair := range map[string][2]sortkey.Option{
		"Only": {sortkey.Only("a"), sortkey.Only("b")}, "Limit": {sortkey.Limit(5), sortkey.Limit(1)},
		"After": {sortkey.After(""), sortkey.After("")}, "Segment": {sortkey.Segment(0, 2), sortkey.Segment(1, 2)},
		"Old": {sortkey.Old(&a), sortkey.Old(&b)}, "Consistent": {sortkey.Consistent, sortkey.Consistent},
		"Descending": {sortkey.Descending, sortkey.Descending}, "UntilNow": {sortkey.UntilNow, sortkey.UntilNow},
	} {
		refused := 0
		want := ": " + name + " is given twice; give it once"
		_, get := items.Get(ctx, "P", pair[0], pair[1])
		_, query := items.QueryPage(ctx, "P", pair[0], pair[1])
		_, scan := items.ScanPage(ctx, pair[:]...)
		for _, err := range []error{
			get, query, scan, items.Put(ctx, item, pair[:]...), items.Delete(ctx, "P", pair[0], pair[1]),
			last(items.Changes(ctx, "", pair[:]...)),
		} {
			if err != nil && strings.Contains(err.Error(), want) {
				refused++
			} else {
				require.ErrorContains(t, err, "takes no option "+name)
			}
		}
		require.Positive(t, refused, name)
	}
	err := db.CreateTable(ctx, "More", "p", sortkey.Stream(), sortkey.Stream())
	require.ErrorContains(t, err, "Stream is given twice")
	require.Equal(t, before, seen.Load(), "nothing was done")
}

// TestNil tests that a nil context or option causes an error that names the method.
func TestNil(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p", sortkey.Stream()))
	items := sortkey.Table[object](db, "Items")
	item := object{"p": "P"}
	key := sortkey.Key{"P"}
	var none sortkey.Option

	_, get := items.Get(nilContext, "P")
	_, query := items.QueryPage(nilContext, 1)
	_, scan := items.ScanPage(nilContext)
	_, update := items.Update(nilContext, key, "SET a = p")
	_, sweep := db.Sweep(nilContext)
	_, tables := db.Tables(nilContext)
	_, stats := db.Stats(nilContext)
	_, describe := db.Describe(nilContext, "Items")
	_, count := items.Count(nilContext)
	_, many := items.GetMany(nilContext, []sortkey.Key{key})
	within := func(context.Context) error { return nil }
	for method, err := range map[string]error{
		"TableOf.Get": get, "TableOf.QueryPage": query, "TableOf.ScanPage": scan, "TableOf.Update": update,
		"TableOf.PutMany": items.PutMany(nilContext, slices.Values([]object{item})),
		"TableOf.Put":     items.Put(nilContext, item), "TableOf.Delete": items.Delete(nilContext, "P"),
		"TableOf.Query": last(items.Query(nilContext, "P")), "TableOf.Scan": last(items.Scan(nilContext)),
		"TableOf.Changes": last(items.Changes(nilContext, "")), "DB.Sweep": sweep, "DB.Tables": tables,
		"DB.CreateTable": db.CreateTable(nilContext, "More", "p"),
		"DB.DeleteTable": db.DeleteTable(nilContext, "Items"), "DB.Describe": describe,
		"DB.EnsureTable": db.EnsureTable(nilContext, "More", "p"), "TableOf.Count": count, "TableOf.GetMany": many,
		"DB.AddIndex":    db.AddIndex(nilContext, "Items", sortkey.Global("ByA", "a")),
		"DB.DeleteIndex": db.DeleteIndex(nilContext, "Items", "ByA"),
		"DB.Update":      db.Update(nilContext, within), "DB.View": db.View(nilContext, within),
		"DB.Snapshot": db.Snapshot(nilContext, "x"), "DB.Compact": db.Compact(nilContext),
		"DB.Backup": db.Backup(nilContext, io.Discard), "DB.Stats": stats,
		"Restore": sortkey.Restore(nilContext, memory.Open(), strings.NewReader("")),
	} {
		require.ErrorContains(t, err, "sortkey: "+method+": the context is nil; pass context.Background()")
	}

	_, get = items.Get(ctx, "P", none)
	_, query = items.QueryPage(ctx, "P", none)
	_, scan = items.ScanPage(ctx, none)
	_, update = items.Update(ctx, key, "SET a = p", none)
	_, fork := db.Fork(nil)
	for want, err := range map[string]error{
		"Get: argument 2 is nil": get, "Query: argument 2 is nil": query, "Scan: argument 1 is nil": scan,
		"Put: option 1 is nil": items.Put(ctx, item, none), "Delete: argument 2 is nil": items.Delete(ctx, "P", none),
		"Changes: option 1 is nil":        last(items.Changes(ctx, "", none)),
		"DB.CreateTable: option 1 is nil": db.CreateTable(ctx, "More", "p", nil), "DB.Fork: option 1 is nil": fork,
		"DB.EnsureTable: option 1 is nil":       db.EnsureTable(ctx, "More", "p", nil),
		"SET a = p: 1 value has no placeholder": update,
	} {
		require.ErrorContains(t, err, want)
	}
	_, count = items.Count(ctx, "P", (*keys.Template)(nil))
	require.ErrorContains(t, count, "Count: argument 2 is a *keys.Template; give In(r), where r is the range of a template")
}

// TestIndexIsForReading tests that an index refuses the operations that only a table supports.
func TestIndexIsForReading(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p", sortkey.Global("ByN", "n:N"), sortkey.Stream()))
	index := sortkey.Table[object](db, "Items").Index("ByN")
	_, get := index.Get(ctx, "P")
	_, update := index.Update(ctx, sortkey.Key{"P"}, "SET n = :n", 1)
	for name, err := range map[string]error{
		"Get": get, "Update": update, "Put": index.Put(ctx, object{"p": "P"}), "Delete": index.Delete(ctx, "P"),
		"Changes": last(index.Changes(ctx, "", sortkey.UntilNow)),
	} {
		require.EqualError(t, err, "sortkey: index ByN of table Items is for Query and Scan: use the table", name)
	}
	require.Empty(t, collect(t, sortkey.Table[object](db, "Items").Scan(ctx)))
}

// TestSortRanges tests that an invalid range is refused before anything is read.
func TestSortRanges(t *testing.T) {
	var seen requests
	db, ctx := open(t, sortkey.Options{Observer: &seen}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p / s:N"))
	items := sortkey.Table[object](db, "Items")
	for i := range 5 {
		require.NoError(t, items.Put(ctx, object{"p": "P", "s": i}))
	}
	for operator, want := range map[string]int{"=": 1, "<": 2, "<=": 3, ">": 2, ">=": 3} {
		require.Len(t, collect(t, items.Query(ctx, "P", sortkey.Compare(operator, 2))), want, operator)
	}

	before := seen.Load()
	for _, operator := range []string{"", "<>", "==", "begins_with", "BETWEEN", "> :v1 OR p", " <"} {
		_, err := items.QueryPage(ctx, "P", sortkey.Compare(operator, 2))
		require.ErrorContains(t, err, fmt.Sprintf("Compare(%q, …): want =, <, <=, > or >=", operator))
		require.Equal(t, err, last(items.Query(ctx, "P", sortkey.Compare(operator, 2))))
	}
	for _, value := range []any{
		sortkey.BeginsWith("x"), keys.Range{}, (*keys.Template)(nil), sortkey.Key{1}, sortkey.Consistent, sortkey.Limit(1),
	} {
		want := fmt.Sprintf("s = :v: :v: got %T, want a value that can be stored", value)
		require.ErrorContains(t, last(items.Scan(ctx, sortkey.Where("s = :v", value))), want)
		require.ErrorContains(t, items.Put(ctx, object{"p": "P", "s": 1}, sortkey.If("s = :v", value)), want)
		if _, isOption := value.(sortkey.Option); !isOption {
			_, err := items.Update(ctx, sortkey.Key{"P", 1}, "SET n = :v", value)
			require.ErrorContains(t, err, fmt.Sprintf(":v: got %T, want a value", value))
		}
		_, err := items.QueryPage(ctx, "P", sortkey.Between(1, value))
		require.ErrorContains(t, err, fmt.Sprintf("key attribute s: got %T, want a value", value))
	}
	require.Equal(t, before, seen.Load(), "nothing was read or written")
	require.Len(t, collect(t, items.Query(ctx, "P", sortkey.In(keys.Range{}))), 5, "all keys are a range of package keys")
}

// A knot points to itself.
type knot *knot

// An ownForm decodes itself.
type ownForm struct{}

func (*ownForm) UnmarshalAttr(attr.Value) error { return nil }

// TestOldDestinations tests that a write with an invalid destination for Old writes nothing.
func TestOldDestinations(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p"))
	items := sortkey.Table[object](db, "Items")
	first, second := object{"p": "P", "n": 1.0}, object{"p": "P", "n": 2.0}

	type row struct {
		P string `dynamodbav:"p"`
		N int    `dynamodbav:"n"`
	}
	var none *row
	var tied knot
	tied = &tied
	var self any
	self = &self
	text, kept := "text", any(new(string))
	for name, dst := range map[string]any{
		"nil": nil, "a struct": row{}, "a map": object{}, "an item": attr.Item{}, "a nil pointer": none,
		"a string": &text, "a slice": &[]row{}, "a channel": new(chan int), "a pointer in an interface": &kept,
		"a circle of interfaces": self, "a circle": tied, "a circle in an interface": &[]any{tied}[0],
	} {
		require.NoError(t, items.Put(ctx, first))
		err := items.Put(ctx, second, sortkey.Old(dst))
		require.ErrorContains(t, err, "sortkey: Old(", name)
		require.ErrorContains(t, items.Delete(ctx, "P", sortkey.Old(dst)), "sortkey: Old(", name)
		got, err := items.Get(ctx, "P")
		require.NoError(t, err)
		require.Equal(t, first, got, "Old of %s", name)
	}

	var decoded row
	var item attr.Item
	var pointer *row
	var anything any
	var m map[string]attr.Value
	inside := any(&row{})
	other, nothing := any("text"), any((*row)(nil))
	for _, dst := range []any{&decoded, &item, &pointer, &anything, &m, &inside, &other, &nothing, new(ownForm)} {
		require.NoError(t, items.Put(ctx, first))
		require.NoError(t, items.Put(ctx, second, sortkey.Old(dst)), "%T", dst)
	}
	require.Equal(t, row{"P", 1}, decoded)
	require.Equal(t, &decoded, pointer)
	require.Equal(t, any(first), anything)
	require.Equal(t, any(&row{"P", 1}), inside)
	require.Equal(t, any(first), nothing)
	require.Equal(t, 2, item.Len())

	// Old overwrites everything that the destination held.
	require.NoError(t, items.Put(ctx, object{"p": "P"}))
	require.ErrorIs(t, items.Delete(ctx, "P", sortkey.If("n = 2"), sortkey.Old(&decoded)), sortkey.ErrConditionFailed)
	require.Equal(t, row{"P", 1}, decoded, "a write that fails changes nothing")
	same := decoded
	for _, dst := range []any{&decoded, &pointer, &inside} {
		require.NoError(t, items.Put(ctx, object{"p": "P"}, sortkey.Old(dst)))
	}
	require.Equal(t, []any{row{"P", 0}, &row{"P", 0}, any(&row{"P", 0})}, []any{decoded, pointer, inside})
	require.NoError(t, items.Delete(ctx, "P"))
	require.NoError(t, items.Put(ctx, object{"p": "P"}, sortkey.Old(&same)))
	require.Zero(t, same, "there was no item")

	require.NoError(t, items.Put(ctx, object{"p": "P", "n": "text"}))
	err := items.Put(ctx, second, sortkey.Old(&decoded))
	var misfit *sortkey.DecodeError
	require.ErrorAs(t, err, &misfit)
	require.Equal(t, `{"p":{"S":"P"}}`, string(misfit.Key.AppendJSON(nil)))
}

// TestNotText tests that every argument refuses text that is not UTF-8. Otherwise two different keys could be stored
// as one.
func TestNotText(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p / s"))
	items := sortkey.Table[object](db, "Items")
	type named string
	const bad = "a\xff"

	update := func(expression string, args ...any) error {
		_, err := items.Update(ctx, sortkey.Key{"P", "S"}, expression, args...)
		return err
	}
	get := func(args ...any) error { _, err := items.Get(ctx, args...); return err }
	query := func(partition any, opts ...sortkey.QueryOption) error {
		return last(items.Query(ctx, partition, opts...))
	}
	var b attr.Builder
	b.Add("p", attr.NewString("P"))
	b.Add("s", attr.NewString(bad))

	for name, err := range map[string]error{
		"key": get("P", bad), "named key": get("P", named(bad)), "made key": get("P", attr.NewString(bad)),
		"key of Delete": items.Delete(ctx, "P", bad), "query": query(bad), "sort key": query(sortkey.Key{"P", bad}),
		"prefix": query("P", sortkey.BeginsWith(bad)), "bound": query("P", sortkey.Compare(">", bad)),
		"between": query("P", sortkey.Between("a", named(bad))), "range": query("P", sortkey.In(keys.Range{Low: bad})),
		"value": update("SET a = :a", bad), "nested value": update("SET a = :a", []any{object{"b": bad}}),
		"name in a value": update("SET a = :a", object{bad: 1}), "name": update("SET `" + bad + "` = p"),
		"condition":            items.Put(ctx, object{"p": "P", "s": "S"}, sortkey.If("a = :a", bad)),
		"filter":               last(items.Scan(ctx, sortkey.Where("a = :a", bad))),
		"filter text":          last(items.Scan(ctx, sortkey.Where("`"+bad+"` = p"))),
		"projection":           last(items.Scan(ctx, sortkey.Only("`"+bad+"`"))),
		"item":                 items.Put(ctx, object{"p": "P", "s": bad}),
		"nested":               items.Put(ctx, object{"p": "P", "s": "S", "a": []any{[]string{bad}}}),
		"name of an attribute": items.Put(ctx, object{"p": "P", "s": "S", bad: 1}),
		"built item":           sortkey.Table[attr.Item](db, "Items").Put(ctx, b.Item()),
		"table's key":          db.CreateTable(ctx, "More", bad),
		"index":                db.CreateTable(ctx, "More", "a", sortkey.Global("ByA", bad)),
		"projected":            db.CreateTable(ctx, "More", "a", sortkey.Global("ByA", "a").Only(bad)),
	} {
		require.ErrorContains(t, err, "UTF-8", name)
	}
	require.Empty(t, collect(t, items.Scan(ctx)))
	tables, err := db.Tables(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"Items"}, tables)
}

// nilContext is a nil context that a caller passes by mistake.
var nilContext context.Context
