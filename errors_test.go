package sortkey_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/keys"
	"github.com/sortkey/sortkey/server"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/btree"
	"github.com/sortkey/sortkey/store/memory"
)

// TestStatuses tests that StatusOf tells, for every failure that a handler may meet, who is at fault, and that errors
// that DynamoDB does not have are no *Error.
func TestStatuses(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p / s:N", sortkey.Global("ByA", "a"), sortkey.Stream()))
	require.NoError(t, db.CreateTable(ctx, "Other", "p"))
	items := sortkey.Table[map[string]any](db, "Items")
	other := sortkey.Table[map[string]any](db, "Other")
	for i := range 3 {
		require.NoError(t, items.Put(ctx, map[string]any{"p": "P", "s": i, "a": "A"}))
	}
	require.NoError(t, other.Put(ctx, map[string]any{"p": "P"}))
	page, err := items.QueryPage(ctx, "P", sortkey.Limit(1))
	require.NoError(t, err)
	get := func(table *sortkey.TableOf[map[string]any], args ...any) error {
		_, err := table.Get(ctx, args...)
		return err
	}
	query := func(table *sortkey.TableOf[map[string]any], partition any, opts ...sortkey.QueryOption) error {
		_, err := table.QueryPage(ctx, partition, opts...)
		return err
	}
	mine := errors.New("mine")
	ended, end := context.WithCancelCause(ctx)
	end(mine)
	late, stop := context.WithDeadline(ctx, time.Unix(0, 0))
	defer stop()
	closed, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	require.NoError(t, closed.CreateTable(ctx, "Items", "p"))
	require.NoError(t, closed.Close())
	forged := func(text string) sortkey.Option {
		return sortkey.After(base64.RawURLEncoding.EncodeToString([]byte(text)))
	}
	_, lift := engine.Of(db).Fail(fault.Fault{
		Operation: "PutItem", Table: "Other", Code: "ProvisionedThroughputExceededException",
	})
	throttled := other.Put(ctx, map[string]any{"p": "Q"})
	lift()

	for i, tt := range []struct {
		err    error
		status int
		is     error
		answer bool // err is an *Error, as from DynamoDB
	}{
		{nil, 200, nil, false},
		{get(items, "P", 9), 404, sortkey.ErrNotFound, false},
		{get(sortkey.Table[map[string]any](db, "None"), "P"), 404, sortkey.ErrNoTable, true},
		{db.CreateTable(ctx, "Items", "p"), 409, sortkey.ErrTableExists, true},
		{
			items.Put(ctx, map[string]any{"p": "P", "s": 1}, sortkey.If("attribute_not_exists(p)")), 412,
			sortkey.ErrConditionFailed, true,
		},
		{throttled, 503, nil, true},

		{get(items, "P"), 400, sortkey.ErrUsage, false},
		{get(items, "P", 1, 2), 400, sortkey.ErrUsage, false},
		{get(items, "P", "1"), 400, sortkey.ErrUsage, false},
		{get(items, "P", nil), 400, sortkey.ErrUsage, false},
		{get(items, "P", 1, sortkey.Limit(1)), 400, sortkey.ErrUsage, false},
		{get(items.Index("ByA"), "A"), 400, sortkey.ErrUsage, false},
		{query(items, "P", sortkey.Limit(0)), 400, sortkey.ErrUsage, false},
		{query(items, "P", sortkey.Where("p = ")), 400, sortkey.ErrUsage, true},
		{query(items, "P", sortkey.Compare("!", 1)), 400, sortkey.ErrUsage, false},
		{query(items.Index("None"), "P"), 400, sortkey.ErrUsage, true},
		{get(items, "", 1), 400, sortkey.ErrUsage, true},
		{get(items, strings.Repeat("p", 3000), 1), 400, sortkey.ErrUsage, true},
		{items.Put(ctx, map[string]any{"p": "P"}), 400, sortkey.ErrUsage, true},
		{
			items.Put(ctx, map[string]any{"p": "P", "s": 1, "big": strings.Repeat("x", 500_000)}), 400,
			sortkey.ErrUsage, true,
		},
		{items.Put(ctx, map[string]any{"p": "P\xff", "s": 1}), 400, sortkey.ErrUsage, false},
		{items.Put(nilContext, nil), 400, sortkey.ErrUsage, false},
		{sortkey.Table[attr.Item](db, "Items").Put(ctx, attr.Item("damaged")), 400, sortkey.ErrUsage, false},

		{query(items, "P", sortkey.After("x")), 400, sortkey.ErrCursor, false},
		{query(items, "P", sortkey.After(strings.Repeat("x", 1<<20))), 400, sortkey.ErrCursor, false},
		{query(other, "P", sortkey.After(page.Cursor)), 400, sortkey.ErrCursor, false},
		{query(items.Index("ByA"), "A", sortkey.After(page.Cursor)), 400, sortkey.ErrCursor, false},
		{query(items, "Q", sortkey.After(page.Cursor)), 400, sortkey.ErrCursor, true},
		{query(items, "P", sortkey.Compare(">", 5), sortkey.After(page.Cursor)), 400, sortkey.ErrCursor, true},
		{query(items, "P", forged(`{"t":"Items","k":{"p":{"S":"P"}}}`)), 400, sortkey.ErrCursor, true},
		{query(items, "P", forged(`{"t":"Items","k":{"p":{"S":"P"},"s":{"S":"1"}}}`)), 400, sortkey.ErrCursor, true},
		{query(items, "P", forged(`{"t":"Items","k":{"p":{"S":""},"s":{"N":"1"}}}`)), 400, sortkey.ErrCursor, true},
		{query(items, "P", forged(`{"t":"Items","k":{"p":{"N":"1"},"s":{"N":"1"}}}`)), 400, sortkey.ErrCursor, true},
		{query(items, "P", forged(`{"t":"Items"}`)), 400, sortkey.ErrCursor, false},
		{query(items, "P", forged(`{"t":"Items","k":{"p":7}}`)), 400, sortkey.ErrCursor, false},
		{query(items, "P", forged(`{"t":"Items","k":null}`)), 400, sortkey.ErrCursor, false},
		{query(items, "P", forged(`{"t":"Items","k":{}}`)), 400, sortkey.ErrCursor, true},
		{query(items, "P", forged(`null`)), 400, sortkey.ErrCursor, false},
		{last(items.Changes(ctx, "bnVsbA", sortkey.UntilNow)), 400, sortkey.ErrCursor, false},
		{last(items.Changes(ctx, "x", sortkey.UntilNow)), 400, sortkey.ErrCursor, false},
		{last(items.Changes(ctx, page.Cursor, sortkey.UntilNow)), 400, sortkey.ErrCursor, false},

		{func() error { _, err := items.Get(ended, "P", 1); return err }(), 499, context.Canceled, false},
		{func() error { _, err := items.Get(late, "P", 1); return err }(), 503, context.DeadlineExceeded, false},
		{last(items.Query(ended, "P")), 499, context.Canceled, false},
		{items.Put(ended, map[string]any{"p": "P", "s": 1}), 499, context.Canceled, false},
		{db.Update(ended, func(ctx context.Context) error { return ctx.Err() }), 499, context.Canceled, false},
		{db.CreateTable(ended, "New", "p"), 499, context.Canceled, false},
		{db.EnsureTable(ended, "New", "p"), 499, context.Canceled, false},
		{func() error { _, err := db.Tables(ended); return err }(), 499, mine, false},
		{func() error { _, err := db.Sweep(ended); return err }(), 499, mine, false},
		{func() error { _, err := db.Tables(ended); return err }(), 499, context.Canceled, false},
		{func() error { _, err := db.Sweep(ended); return err }(), 499, context.Canceled, false},
		{db.AddIndex(ctx, "Items", sortkey.Global("ByA", "s")), 409, sortkey.ErrIndexExists, false},
		{db.Snapshot(ctx, "none"), 501, errors.ErrUnsupported, false},
		{closed.CreateTable(ctx, "New", "p"), 503, store.ErrClosed, false},
		{closed.EnsureTable(ctx, "New", "p"), 503, store.ErrClosed, false},
		{func() error { _, err := closed.Fork(); return err }(), 503, store.ErrClosed, false},
		{get(sortkey.Table[map[string]any](closed, "Items"), "P"), 503, store.ErrClosed, false},
		{fmt.Errorf("mine: %w", store.ErrUnavailable), 503, store.ErrUnavailable, false},
		{mine, 500, nil, false},
		{fmt.Errorf("mine: %w", get(items, "P", 9)), 404, sortkey.ErrNotFound, false},
		{last(sortkey.Table[struct{ P []int }](db, "Items").Query(ctx, "P")), 500, nil, false},
	} {
		name := fmt.Sprintf("case %d: %v", i, tt.err)
		require.Equal(t, tt.status, sortkey.StatusOf(tt.err), name)
		if tt.is != nil {
			require.ErrorIs(t, tt.err, tt.is, name)
		}
		if tt.is == sortkey.ErrCursor {
			require.ErrorIs(t, tt.err, sortkey.ErrUsage, name)
		}
		require.Equal(t, tt.answer, errors.As(tt.err, new(*sortkey.Error)), name)
	}
}

// A readOnlyStore is a store that is open for reading only.
type readOnlyStore struct{ store.Store }

func (readOnlyStore) Update(context.Context, func(store.Writer) error) error {
	return store.ErrReadOnly
}

// TestStatusReadOnly tests that every operation that would write to a read-only store gets the status 403, and that
// SDK clients do not retry that answer.
func TestStatusReadOnly(t *testing.T) {
	st, ctx := memory.Open(), t.Context()
	db := open(t, sortkey.Options{Store: st})
	require.NoError(t, db.CreateTable(ctx, "Items", "p"))
	require.NoError(t, sortkey.Table[map[string]any](db, "Items").Put(ctx, map[string]any{"p": "P"}))

	db = open(t, sortkey.Options{Store: readOnlyStore{st}})
	items := sortkey.Table[map[string]any](db, "Items")
	_, err := items.Get(ctx, "P")
	require.NoError(t, err)
	_, updated := items.Update(ctx, sortkey.Key{"P"}, "SET a = 1")
	for _, err := range []error{
		items.Put(ctx, map[string]any{"p": "P"}), updated, items.Delete(ctx, "P"),
		db.Update(ctx, func(ctx context.Context) error { return items.Put(ctx, map[string]any{"p": "P"}) }),
		db.CreateTable(ctx, "New", "p"), db.EnsureTable(ctx, "New", "p"), db.DeleteTable(ctx, "Items"),
		db.AddIndex(ctx, "Items", sortkey.Global("ByA", "a")),
	} {
		require.ErrorIs(t, err, store.ErrReadOnly)
		require.Equal(t, 403, sortkey.StatusOf(err), "%v", err)
		require.False(t, errors.As(err, new(*sortkey.Error)), "%v", err)
	}
	_, err = request(server.New(db, server.Options{}).Client(), "PutItem", `{"TableName":"Items","Item":{"p":{"S":"P"}}}`)
	require.ErrorContains(t, err, "400")
	require.ErrorContains(t, err, "AccessDeniedException")
}

// TestTransactionMisuse tests that the errors for misuse of a transaction are no *Error.
func TestTransactionMisuse(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p", sortkey.Global("ByA", "a")))
	items := sortkey.Table[map[string]any](db, "Items")
	item := map[string]any{"p": "P"}
	check := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, sortkey.ErrUsage)
		require.False(t, errors.As(err, new(*sortkey.Error)), "%v", err)
		require.True(t, strings.HasPrefix(err.Error(), "sortkey: "), "%v", err)
	}
	var after context.Context
	require.NoError(t, db.View(ctx, func(inner context.Context) error {
		after = inner
		check(items.Put(inner, item))
		check(db.EnsureTable(inner, "New", "p"))
		return nil
	}))
	_, err := items.Get(after, "P")
	check(err)
	require.ErrorContains(t, err, "the transaction has ended: use its context inside its function only")
	check(db.Update(after, func(context.Context) error { return nil }))
	err = db.Update(ctx, func(ctx context.Context) error {
		return fmt.Errorf("my program: %w", items.Put(ctx, item, sortkey.If("attribute_exists(p)")))
	})
	require.ErrorIs(t, err, sortkey.ErrConditionFailed)
	require.ErrorContains(t, err, "my program: ", "what the function adds is kept")
	change := func(ctx context.Context, check func(error)) {
		check(db.CreateTable(ctx, "New", "p"))
		check(db.EnsureTable(ctx, "New", "p"))
		check(db.EnsureTable(ctx, "Items", "p", sortkey.Global("ByB", "b")))
		check(db.AddIndex(ctx, "Items", sortkey.Global("ByB", "b")))
		check(db.DeleteIndex(ctx, "Items", "ByA"))
		check(db.DeleteTable(ctx, "Items"))
	}
	require.NoError(t, db.Update(ctx, func(inner context.Context) error {
		change(inner, check)
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		waited := func(err error) { require.ErrorIs(t, err, context.DeadlineExceeded) }
		change(short, waited) // waits for the Update that it is inside
		waited(items.Put(short, item))
		_, err := db.Describe(inner, "Items")
		return err
	}))
}

// TestKeyTypes tests that the error for a key value of the wrong type names the table and the attribute.
func TestKeyTypes(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Orders", "id / at:N", sortkey.Global("ByDay", "day / at")))
	orders := sortkey.Table[map[string]any](db, "Orders")
	now := time.Now()
	text := sortkey.Key{"x", "noon"}
	_, get := orders.Get(ctx, text)
	_, update := orders.Update(ctx, text, "REMOVE a")
	_, query := orders.QueryPage(ctx, "x", sortkey.Between("a", "b"))
	_, many := orders.GetMany(ctx, []sortkey.Key{text})
	_, clock := orders.Get(ctx, "x", &now)
	_, index := orders.Index("ByDay").QueryPage(ctx, 5)
	deleted := orders.Delete(ctx, text)
	noon := orders.Put(ctx, map[string]any{"id": "x", "at": "noon"})
	number := orders.Put(ctx, map[string]any{"id": "x", "at": 1, "day": 1})
	for want, err := range map[string]error{
		"sortkey: table Orders: key attribute at is a number (N), got string":                    get,
		"sortkey: table Orders: key attribute at is a number (N), got string ":                   deleted,
		"sortkey: table Orders: key attribute at is a number (N), got string  ":                  update,
		"sortkey: table Orders: key attribute at is a number (N), got string   ":                 query,
		"sortkey: table Orders: key attribute at is a number (N), got string (key 1 of GetMany)": many,
		"sortkey: table Orders: key attribute at is a number (N), got *time.Time, whose text " +
			"does not sort as times do;": clock,
		"sortkey: index ByDay of table Orders: key attribute day is a string (S), got int": index,
		"sortkey: table Orders: key attribute at is a number (N), got S":                   noon,
		"sortkey: table Orders: key attribute day is a string (S), got N":                  number,
	} {
		require.ErrorContains(t, err, strings.TrimSpace(want))
		require.ErrorIs(t, err, sortkey.ErrUsage)
	}
}

// TestKeys tests that every operation that takes key values also takes a Key.
func TestKeys(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p / s:N"))
	items := sortkey.Table[map[string]any](db, "Items")
	require.NoError(t, items.Put(ctx, map[string]any{"p": "P", "s": 1, "n": 1}))
	for _, args := range [][]any{
		{"P", 1}, {sortkey.Key{"P", 1}}, {sortkey.Key{"P"}, 1}, {"P", sortkey.Key{1}},
		{sortkey.Key{"P"}, sortkey.Key{1}}, {sortkey.Key{}, "P", 1},
	} {
		_, err := items.Get(ctx, args...)
		require.NoError(t, err)
		n, err := items.Count(ctx, args...)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	list, err := sortkey.Collect(items.Query(ctx, sortkey.Key{"P", 1}))
	require.NoError(t, err)
	require.Len(t, list, 1)
	key := sortkey.Key{"P", []byte("x")}
	loop := items.Query(ctx, key)
	key[0], key[1] = "Q", 2
	require.ErrorContains(t, last(loop), "got []uint8", "what a loop is given is taken")
	circle := sortkey.Key{nil}
	circle[0] = circle
	for _, key := range []sortkey.Key{
		circle, {"P", sortkey.Key{1}}, {"P", sortkey.Consistent}, {nil, 1}, {sortkey.Compare("<", 1)},
	} {
		_, err := items.Get(ctx, key)
		require.ErrorIs(t, err, sortkey.ErrUsage)
		require.ErrorIs(t, last(items.Query(ctx, key)), sortkey.ErrUsage)
	}

	var old, gone map[string]any
	item, err := items.Update(ctx, sortkey.Key{"P", 1}, "SET n = n + :one", 1, sortkey.Old(&old))
	require.NoError(t, err)
	require.Equal(t, []any{1.0, 2.0}, []any{old["n"], item["n"]})
	_, err = items.Update(ctx, sortkey.Key{"P", 2}, "SET n = :one", 1, sortkey.Old(&gone))
	require.NoError(t, err)
	require.Nil(t, gone)
	var misfit struct{ N []int }
	_, err = items.Update(ctx, sortkey.Key{"P", 1}, "SET n = :one", 1, sortkey.Old(&misfit))
	require.ErrorAs(t, err, new(*sortkey.DecodeError))
	require.NoError(t, items.Delete(ctx, sortkey.Key{"P", 1}, sortkey.If("n = :one", 1)), "the write has been made")
}

// A keptStore stays open when its database closes it.
type keptStore struct{ store.Store }

func (keptStore) Close() error { return nil }

// A listStore cannot be the key of a map, because its type is not comparable.
type listStore struct {
	store.Store
	_ []int
}

// TestStoreOpenTwice tests that only one database at a time can open a store, unless the store is shared.
func TestStoreOpenTwice(t *testing.T) {
	for name, st := range map[string]store.Store{
		"memory": memory.Open(), "btree": btree.Open(), "a wrapper": keptStore{memory.Open()},
		"a pointer to a wrapper": &keptStore{memory.Open()},
	} {
		opts := sortkey.Options{Store: st}
		wrong := opts
		wrong.Simulate.StaleReads.Window = time.Second
		if name == "btree" { // this store has no stale reads, so Open must fail and release its claim
			_, err := sortkey.Open(wrong)
			require.Error(t, err)
		}

		var wg sync.WaitGroup
		dbs := make([]*sortkey.DB, 8)
		for i := range dbs {
			wg.Go(func() {
				var err error
				if dbs[i], err = sortkey.Open(opts); err == nil {
					return
				}
				if !errors.Is(err, sortkey.ErrUsage) || !strings.Contains(err.Error(), "another DB has the store open") {
					t.Errorf("%s: Open returns %v", name, err)
				}
			})
		}
		wg.Wait()
		dbs = slices.DeleteFunc(dbs, func(db *sortkey.DB) bool { return db == nil })
		require.Len(t, dbs, 1, name)
		db := dbs[0]

		fork, err := db.Fork()
		if err == nil {
			require.NoError(t, fork.Close())
		} else {
			require.ErrorIs(t, err, errors.ErrUnsupported)
		}
		_, err = sortkey.Open(opts)
		require.ErrorIs(t, err, sortkey.ErrUsage, "%s, after the fork was closed", name)
		require.NoError(t, db.Close())
		again, err := sortkey.Open(opts)
		if !strings.Contains(name, "wrapper") {
			require.ErrorIs(t, err, store.ErrClosed, name)
			continue
		}
		require.NoError(t, err, name)
		require.NoError(t, db.Close())
		_, err = sortkey.Open(opts)
		require.ErrorIs(t, err, sortkey.ErrUsage, "%s, after the first was closed again", name)
		require.NoError(t, again.Close())
	}

	// A database that is garbage-collected without Close releases its store.
	dropped := sortkey.Options{Store: memory.Open()}
	_, err := sortkey.Open(dropped)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		runtime.GC()
		db, err := sortkey.Open(dropped)
		return err == nil && db.Close() == nil
	}, time.Minute, time.Millisecond)

	for name, st := range map[string]store.Store{
		"shared": &pausedSharer{Store: memory.Open()}, "no key of a map": listStore{Store: memory.Open()},
	} {
		for range 2 {
			db, err := sortkey.Open(sortkey.Options{Store: st})
			require.NoError(t, err, name)
			defer db.Close()
		}
	}
}

// TestTimes tests that a time.Time is refused as a key attribute, because its text does not sort, and only there.
func TestTimes(t *testing.T) {
	type inner struct {
		At time.Time `dynamodbav:"at"`
	}
	type outer struct {
		ID string `dynamodbav:"id"`
		inner
	}
	type pointer struct {
		ID  string     `dynamodbav:"id"`
		At  string     `dynamodbav:"at"`
		Due *time.Time `dynamodbav:"due"`
	}
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Texts", "id / at", sortkey.Global("ByDue", "due")))
	require.NoError(t, db.CreateTable(ctx, "Numbers", "id / at:N"))
	now := time.Now()
	for _, err := range []error{
		sortkey.Table[outer](db, "Texts").Put(ctx, outer{"x", inner{now}}),
		sortkey.Table[*outer](db, "Texts").Put(ctx, &outer{"x", inner{now}}),
		sortkey.Table[pointer](db, "Texts").Put(ctx, pointer{"x", "y", &now}),
	} {
		require.ErrorContains(t, err,
			" comes from a time.Time, whose text does not sort as times do; use keys.TimestampOf")
		require.ErrorIs(t, err, sortkey.ErrUsage)
	}
	type stamped struct {
		ID   string         `dynamodbav:"id"`
		At   keys.Timestamp `dynamodbav:"at"`
		Due  *time.Time     `dynamodbav:"due,omitempty"`
		Seen time.Time      `dynamodbav:"seen"`
	}
	require.NoError(t, sortkey.Table[stamped](db, "Texts").Put(ctx, stamped{"x", keys.TimestampOf(now), nil, now}))
	type numbered struct {
		ID string    `dynamodbav:"id"`
		At time.Time `dynamodbav:"at"`
	}
	require.ErrorContains(t, sortkey.Table[numbered](db, "Numbers").Put(ctx, numbered{"x", now}), "unixtime")
	type seconds struct {
		ID string    `dynamodbav:"id"`
		At time.Time `dynamodbav:"at,unixtime"`
	}
	require.NoError(t, sortkey.Table[seconds](db, "Numbers").Put(ctx, seconds{"x", now}))
	_, err := sortkey.Table[attr.Item](db, "Texts").QueryPage(ctx, "x", sortkey.Compare(">", now))
	require.ErrorContains(t, err, "got time.Time, whose text does not sort as times do")
	_, err = sortkey.Table[attr.Item](db, "Texts").QueryPage(ctx, "x", sortkey.Compare(">", keys.TimestampOf(now)))
	require.NoError(t, err)
}
