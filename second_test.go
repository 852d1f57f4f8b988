package sortkey_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/engine"
)

// shape returns the parts of a table's description that belong to its definition.
func shape(t *testing.T, db *sortkey.DB, name string) string {
	info, err := db.Describe(t.Context(), name)
	require.NoError(t, err)
	for i := range info.Indexes {
		ix := &info.Indexes[i]
		require.Equal(t, "ACTIVE", ix.Status)
		ix.Items, ix.Bytes = 0, 0
	}
	return fmt.Sprintf("%q %+v %v %q", info.Key, info.Indexes, info.Stream, info.TimeToLive)
}

func TestEnsureTable(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	first := []sortkey.TableOption{sortkey.Global("ByStatus", "status / placed:N"), sortkey.Local("ByTotal", "total:N")}
	for range 2 {
		require.NoError(t, db.EnsureTable(ctx, "Orders", "customer / order:N", first...))
	}
	orders := sortkey.Table[map[string]any](db, "Orders")
	for i := range 300 {
		order := map[string]any{"customer": "c", "order": i, "city": fmt.Sprint("c", i%2)}
		require.NoError(t, orders.Put(ctx, order))
	}
	before := shape(t, db, "Orders")

	second := append(first, sortkey.Global("ByCity", "city").Only("total", "a"), sortkey.Stream(),
		sortkey.TimeToLive("until"))
	require.NoError(t, db.EnsureTable(ctx, "Orders", "customer / order:N", second...))
	n, err := orders.Index("ByCity").Count(ctx, "c1")
	require.NoError(t, err)
	require.Equal(t, 150, n)
	after := shape(t, db, "Orders")
	require.NotEqual(t, before, after)
	require.NoError(t, db.EnsureTable(ctx, "Orders", "customer / order:N"), "the other indexes stay")
	require.Equal(t, after, shape(t, db, "Orders"))

	for _, tt := range []struct {
		key  string
		want string
		opts []sortkey.TableOption
	}{
		{"customer / order", `its key is "customer / order:N", not "customer / order"`, nil},
		{"customer", `its key is`, nil},
		{
			"customer / order:N", "it has no local index ByX, and one cannot be added",
			[]sortkey.TableOption{sortkey.Local("ByX", "x")},
		},
		{"customer / order:N",
			`"city" that projects the keys and a, total, not a global index with the key "city / order:N" that`,
			[]sortkey.TableOption{sortkey.Global("ByCity", "city / order:N").Only("a", "total")}},
		{"customer / order:N",
			`the keys and a, total, not a global index with the key "city" that projects all attributes`,
			[]sortkey.TableOption{sortkey.Global("ByCity", "city")}},
		{
			"customer / order:N", `index ByTotal is a local index with the key`,
			[]sortkey.TableOption{sortkey.Global("ByTotal", "total:N")},
		},
		{
			"customer / order:N", `index ByCity is a global index with the key "city"`,
			[]sortkey.TableOption{sortkey.Local("ByCity", "city")},
		},
		{"customer / order:N", "its key attribute city has the type S, not N as in index ByY",
			[]sortkey.TableOption{sortkey.Global("ByY", "city:N")}},
		{
			"customer / order:N", `its time to live attribute is "until", not "expires"`,
			[]sortkey.TableOption{sortkey.TimeToLive("expires")},
		},
	} {
		opts := append(tt.opts, sortkey.Global("New", "fresh")) // this index must not be added
		err := db.EnsureTable(ctx, "Orders", tt.key, opts...)
		require.ErrorContains(t, err, tt.want)
		require.ErrorIs(t, err, sortkey.ErrTableExists)
		require.Equal(t, 409, sortkey.StatusOf(err))
		require.Equal(t, after, shape(t, db, "Orders"))
	}
	err = db.EnsureTable(ctx, "Orders", "customer / order", sortkey.Local("ByX", "x"), sortkey.TimeToLive("expires"))
	require.Equal(t, 2, strings.Count(err.Error(), "; "), "one error names all: %v", err)
	require.ErrorIs(t, db.CreateTable(ctx, "Orders", "customer"), sortkey.ErrTableExists)
}

// TestEnsureTableTogether tests that several goroutines may ensure the same table at once.
func TestEnsureTableTogether(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	ensureTogether(t, 8, func(i int) error {
		return db.EnsureTable(ctx, "Tab", "p / s", sortkey.Global(fmt.Sprint("IxI", i%4), fmt.Sprint("a", i%4)),
			sortkey.Stream())
	})
	info, err := db.Describe(ctx, "Tab")
	require.NoError(t, err)
	require.Len(t, info.Indexes, 4)
	require.True(t, info.Stream)
}

func ensureTogether(t *testing.T, n int, ensure func(i int) error) {
	var all sync.WaitGroup
	failures := make([]error, n)
	for i := range n {
		all.Go(func() { failures[i] = ensure(i) })
	}
	all.Wait()
	require.NoError(t, errors.Join(failures...))
}

// TestEnsureTableDelay tests that EnsureTable waits while the table and its indexes are CREATING or UPDATING.
func TestEnsureTableDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, ctx := open(t, sortkey.Options{
			Clock: time.Now, Simulate: sortkey.Simulation{TableDelay: time.Minute},
		}), t.Context()
		items := sortkey.Table[map[string]any](db, "Tab")
		start := time.Now()
		require.NoError(t, db.EnsureTable(ctx, "Tab", "p"))
		require.NoError(t, items.Put(ctx, map[string]any{"p": "P", "a": "A"}))
		require.GreaterOrEqual(t, time.Since(start), time.Minute)
		ensureTogether(t, 4, func(i int) error { return db.EnsureTable(ctx, "Tab", "p", sortkey.Global("IxI", "a")) })
		n, err := items.Index("IxI").Count(ctx, "A")
		require.NoError(t, err)
		require.Equal(t, 1, n)

		require.NoError(t, db.AddIndex(ctx, "Tab", sortkey.Global("IxJ", "b")))
		require.NoError(t, db.DeleteIndex(ctx, "Tab", "IxI"))
		require.NoError(t, db.DeleteTable(ctx, "Tab"))
		require.NoError(t, db.EnsureTable(ctx, "Tab", "q"), "it waits for the deletion")

		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		err = db.EnsureTable(short, "Tub", "p")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "table Tub: it is CREATING")
		require.Equal(t, 503, sortkey.StatusOf(err))
	})
}

// TestDescription tests that a table that was created from the description of another table is equal to it, whatever
// names it has.
func TestDescription(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "b c", "d/e", "f,g", "h:N", "i`", "` j", "ß", "#k", "l.m", "N", ":"}
	kinds := []string{"", ":S", ":N", ":B"}
	for i := range 200 {
		kind := map[string]string{}
		attribute := func() string {
			name := names[r.IntN(len(names))]
			if _, ok := kind[name]; !ok {
				kind[name] = kinds[r.IntN(len(kinds))]
			}
			return "`" + strings.ReplaceAll(name, "`", "``") + "` " + kind[name]
		}
		two := func(sep string) string {
			first := attribute()
			for {
				if second := attribute(); second != first {
					return first + sep + second
				}
			}
		}
		var opts []sortkey.TableOption
		for n := range r.IntN(4) {
			index := sortkey.Global(fmt.Sprint("index", n), two(" / "))
			if r.IntN(3) == 0 {
				index = sortkey.Global(fmt.Sprint("index", n), two(","))
			}
			switch r.IntN(3) {
			case 0:
				index = index.Only("x", "an other")
			case 1:
				index = index.Only()
			}
			opts = append(opts, index)
		}
		key := two("/")
		if _, sort, _ := strings.Cut(key, "/"); r.IntN(2) == 0 && !strings.Contains(key, "d/e") {
			opts = append(opts, sortkey.Local("local", sort))
		}
		if r.IntN(2) == 0 {
			opts = append(opts, sortkey.Stream(), sortkey.TimeToLive("a time"))
		}
		one, other := fmt.Sprint("One", i), fmt.Sprint("Other", i)
		require.NoError(t, db.CreateTable(ctx, one, key, opts...), key)

		info, err := db.Describe(ctx, one)
		require.NoError(t, err)
		require.NoError(t, db.CreateTable(ctx, other, info.Key, info.Options()...))
		require.Equal(t, shape(t, db, one), shape(t, db, other))
		require.NoError(t, db.EnsureTable(ctx, one, info.Key, info.Options()...))
		require.Equal(t, shape(t, db, one), shape(t, db, other))
		again, err := db.Describe(ctx, one)
		require.NoError(t, err)
		require.Equal(t, info, again)
	}
}

func TestIndexes(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Tab", "p / s:N", sortkey.Local("IxL", "x")))
	items := sortkey.Table[map[string]any](db, "Tab")
	require.NoError(t, items.Put(ctx, map[string]any{"p": "P", "s": 1, "a": "A"}))
	require.NoError(t, db.AddIndex(ctx, "Tab", sortkey.Global("IxI", "a / s")), "s has the type of the table")
	n, err := items.Index("IxI").Count(ctx, "A", sortkey.Compare(">", 0))
	require.NoError(t, err)
	require.Equal(t, 1, n)

	require.ErrorContains(t, db.AddIndex(ctx, "Tab", sortkey.Global("IxI", "a")), "has an index IxI already")
	require.ErrorIs(t, db.AddIndex(ctx, "Tab", sortkey.Global("IxL", "a")), sortkey.ErrIndexExists)
	require.ErrorContains(t, db.AddIndex(ctx, "Tab", sortkey.Local("IxM", "a")), "can only be made by CreateTable")
	require.ErrorContains(t, db.AddIndex(ctx, "Tab", sortkey.Global("IxM", "a//")), "is not a key")
	require.ErrorContains(t, db.AddIndex(ctx, "Tab", sortkey.Index{}), "is not a key")
	require.ErrorContains(t, db.DeleteIndex(ctx, "Tab", "IxM"), `table Tab has no index "IxM", only IxL, IxI`)
	require.ErrorContains(t, db.DeleteIndex(ctx, "Tab", "IxL"), "cannot be deleted")
	require.ErrorIs(t, db.DeleteIndex(ctx, "None", "IxI"), sortkey.ErrNoTable)
	require.ErrorIs(t, db.AddIndex(ctx, "None", sortkey.Global("IxI", "a")), sortkey.ErrNoTable)
	require.NoError(t, db.DeleteIndex(ctx, "Tab", "IxI"))
	_, err = items.Index("IxI").Count(ctx, "A")
	require.ErrorIs(t, err, sortkey.ErrUsage)
}

// TestAddIndexTogether tests that of several concurrent calls that add the same index exactly one succeeds, and that
// the others fail with ErrIndexExists, whatever the table is doing meanwhile.
func TestAddIndexTogether(t *testing.T) {
	for _, delay := range []time.Duration{0, 5 * time.Millisecond} {
		db, ctx := open(t, sortkey.Options{}), t.Context()
		require.NoError(t, db.CreateTable(ctx, "Tab", "p"))
		db, err := db.Fork(func(o *sortkey.Options) { o.Simulate.TableDelay = delay })
		require.NoError(t, err)
		for round := range 8 {
			name := fmt.Sprintf("Ix%d", round)
			errs := make([]error, 4)
			var wg sync.WaitGroup
			for i := range errs {
				wg.Go(func() { errs[i] = db.AddIndex(ctx, "Tab", sortkey.Global(name, "a")) })
			}
			wg.Wait()
			added := 0
			for _, err := range errs {
				if err == nil {
					added++
					continue
				}
				require.ErrorIs(t, err, sortkey.ErrIndexExists)
				require.ErrorIs(t, err, sortkey.ErrUsage)
				require.Equal(t, 409, sortkey.StatusOf(err))
			}
			require.Equal(t, 1, added)
			require.NoError(t, db.DeleteIndex(ctx, "Tab", name))
		}
		require.NoError(t, db.Close())
	}
}

// TestBuilding tests what a program can do while an index is being built: stop waiting, ask for the progress, start
// again, write, and close the database.
func TestBuilding(t *testing.T) {
	const n = 4000
	full, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, full.CreateTable(ctx, "Items", "id:N"))
	require.NoError(t, full.Update(ctx, func(ctx context.Context) error {
		items := sortkey.Table[map[string]int](full, "Items")
		for i := range n {
			if err := items.Put(ctx, map[string]int{"id": i, "a": i % 2}); err != nil {
				return err
			}
		}
		return nil
	}))

	for round := range 6 {
		db, err := full.Fork()
		require.NoError(t, err)
		items := sortkey.Table[map[string]int](db, "Items")
		waiting, giveUp := context.WithCancel(ctx)
		done := make(chan error, 2)
		go func() { done <- db.EnsureTable(waiting, "Items", "id:N", sortkey.Global("ByA", "a:N")) }()
		go func() { done <- db.EnsureTable(ctx, "Items", "id:N", sortkey.Global("ByA", "a:N")) }()
		last := int64(0)
		for range 50 {
			info, err := db.Describe(ctx, "Items")
			require.NoError(t, err)
			require.EqualValues(t, n, info.Items)
			if len(info.Indexes) == 0 || info.Indexes[0].Status == "ACTIVE" {
				continue
			}
			require.GreaterOrEqual(t, info.Indexes[0].Examined, last)
			require.LessOrEqual(t, info.Indexes[0].Examined, int64(n))
			last = info.Indexes[0].Examined
			_, err = items.Index("ByA").Count(ctx, 1)
			if err != nil { // the build may have been completed meanwhile
				require.ErrorIs(t, err, sortkey.ErrUsage)
			}
		}
		if round%2 == 0 {
			giveUp()
		}
		if round >= 4 {
			require.NoError(t, db.Close())
		}
		for range 2 {
			if err := <-done; err != nil {
				require.Contains(t, []int{499, 503}, sortkey.StatusOf(err), "%v", err) // cancelled or closed
			}
		}
		giveUp()
		if round >= 4 {
			continue
		}
		require.NoError(t, db.EnsureTable(ctx, "Items", "id:N", sortkey.Global("ByA", "a:N")))
		count, err := items.Index("ByA").Count(ctx, 1)
		require.NoError(t, err)
		require.Equal(t, n/2, count)
		require.NoError(t, db.Close())
	}
}

func TestCountCollect(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Tab", "p / s:N"))
	items := sortkey.Table[map[string]any](db, "Tab")
	text := strings.Repeat("x", 20_000)
	for i := range 120 {
		require.NoError(t, items.Put(ctx, map[string]any{
			"p": fmt.Sprint("p", i%2), "s": i, "text": text, "even": i%2 == 0,
		}))
	}
	for _, tt := range []struct {
		args []any
		want int
	}{
		{nil, 120}, {[]any{"p1"}, 60}, {[]any{sortkey.Key{"p1"}}, 60}, {[]any{sortkey.Key{"p1", 7}}, 1},
		{[]any{"p2"}, 0}, {[]any{"p1", sortkey.Compare("<", 10)}, 5}, {[]any{sortkey.Where("even = :e", true)}, 60},
		{[]any{"p0", sortkey.Where("even = :e", false), sortkey.Consistent}, 0},
	} {
		n, err := items.Count(ctx, tt.args...)
		require.NoError(t, err)
		require.Equal(t, tt.want, n, "%v", tt.args)
		require.NoError(t, db.Update(ctx, func(ctx context.Context) error {
			n, err := items.Count(ctx, tt.args...)
			require.Equal(t, tt.want, n, "%v", tt.args)
			return err
		}))
	}
	_, err := items.Count(ctx, sortkey.Limit(1))
	require.ErrorContains(t, err, "Count takes no option Limit, only Where, Consistent")
	_, err = items.Count(ctx, sortkey.Compare("<", 1))
	require.ErrorIs(t, err, sortkey.ErrUsage)

	list, err := sortkey.Collect(items.Query(ctx, "p1", sortkey.Limit(3)))
	require.NoError(t, err)
	require.Len(t, list, 3)
	_, err = sortkey.Collect(items.Query(ctx, sortkey.Key{}))
	require.ErrorIs(t, err, sortkey.ErrUsage)
	_, err = sortkey.Collect[attr.Item](nil)
	require.ErrorIs(t, err, sortkey.ErrUsage)
}

func TestGetMany(t *testing.T) {
	type item struct {
		P    string `dynamodbav:"p"`
		S    int    `dynamodbav:"s"`
		Text string `dynamodbav:"text"`
	}
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Tab", "p / s:N"))
	items := sortkey.Table[item](db, "Tab")
	text := strings.Repeat("x", 90_000) // 250 of these items exceed one answer of BatchGetItem
	var keys []sortkey.Key
	for i := range 250 {
		if i%5 != 0 {
			require.NoError(t, items.Put(ctx, item{fmt.Sprint("p", i%3), i, text}))
		}
		keys = append(keys, sortkey.Key{fmt.Sprint("p", i%3), i})
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	keys = append(keys, keys[0], keys[1], sortkey.Key{"p1", 1.0})

	check := func(ctx context.Context) error {
		list, err := items.GetMany(ctx, keys)
		require.Len(t, list, len(keys))
		for i, got := range list {
			want, err := items.Get(ctx, keys[i])
			if errors.Is(err, sortkey.ErrNotFound) {
				require.Nil(t, got)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, want, *got)
		}
		return err
	}
	require.NoError(t, check(ctx))
	require.NoError(t, db.View(ctx, check))
	require.NoError(t, db.Update(ctx, func(ctx context.Context) error {
		require.NoError(t, items.Put(ctx, item{"p0", 0, "new"}))
		return check(ctx)
	}))

	none, err := items.GetMany(ctx, nil)
	require.NoError(t, err)
	require.Empty(t, none)
	for _, key := range []sortkey.Key{nil, {}, {"p"}, {"p", "s"}, {"p", 1, 2}, {"p", nil}, {"p", sortkey.Consistent}} {
		_, err := items.GetMany(ctx, []sortkey.Key{{"p", 1}, key})
		require.ErrorIs(t, err, sortkey.ErrUsage)
		require.ErrorContains(t, err, "key 2 of GetMany")
	}
	_, err = items.Index("IxI").GetMany(ctx, keys)
	require.ErrorIs(t, err, sortkey.ErrUsage)

	odd := map[string]any{"p": "odd", "s": 1, "text": []string{"x"}}
	require.NoError(t, sortkey.Table[map[string]any](db, "Tab").Put(ctx, odd))
	list, err := items.GetMany(ctx, []sortkey.Key{{"odd", 1}, {"p1", 1}})
	var misfit *sortkey.DecodeError
	require.ErrorAs(t, err, &misfit)
	require.Equal(t, `{"p":{"S":"odd"},"s":{"N":"1"}}`, string(misfit.Key.AppendJSON(nil)))
	require.Nil(t, list[0])
	require.NotNil(t, list[1])

	_, lift := engine.Of(db).Fail(fault.Fault{Operation: "BatchGetItem", Table: "Tab", Unprocessed: 100})
	_, err = items.GetMany(ctx, keys)
	require.Equal(t, 503, sortkey.StatusOf(err), "%v", err)
	lift()
}
