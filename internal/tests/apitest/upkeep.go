package apitest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// Upkeep tests PutMany and the calls that concern a whole database, such as Stats and Backup. Open returns an empty
// store.
func Upkeep(t *testing.T, open func() store.Store) {
	t.Run("Stats", func(t *testing.T) { testStats(t, open) })
	t.Run("Versions", func(t *testing.T) { testVersions(t, open) })
	t.Run("PutMany", func(t *testing.T) { testPutMany(t, open) })
	t.Run("PutManyRefused", func(t *testing.T) { testPutManyRefused(t, open) })
	t.Run("Backup", func(t *testing.T) { testBackup(t, open) })
	t.Run("BackupRefused", func(t *testing.T) { testBackupRefused(t, open) })
	t.Run("BackupBeside", func(t *testing.T) { testBackupBeside(t, open) })
}

type object = map[string]any

// testStats compares the Stats of random databases with a count of all rows.
func testStats(t *testing.T, open func() store.Store) {
	proptest.Check(t, 100, func(c *proptest.T) {
		ctx := t.Context()
		db, err := sortkey.Open(sortkey.Options{Store: open()})
		require.NoError(c, err)
		c.Cleanup(func() { _ = db.Close() })
		change(ctx, c, db, 40)
		got, err := db.Stats(ctx)
		require.NoError(c, err)
		want := counted(ctx, c, db)
		want.Versions, want.DiskBytes = got.Versions, got.DiskBytes
		require.Equal(c, want, got)

		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err = db.Stats(ended)
		require.ErrorIs(c, err, context.Canceled)
		require.NoError(c, db.Close())
		_, err = db.Stats(ctx)
		require.ErrorIs(c, err, store.ErrClosed)
	})
}

// change makes random changes to tables, indexes and items.
func change(ctx context.Context, c *proptest.T, db *sortkey.DB, steps int) {
	errRefused := errors.New("rolled back")
	table := func() string { return proptest.Pick(c, "One", "Two", "Three") }
	item := func() object {
		it := object{"p": c.IntN(4), "s": c.Text("ab", 1, 3), "text": c.AnyText(0, 30)}
		if c.Bool() {
			it["a"] = c.Text("xy", 1, 2)
		}
		if c.Bool() {
			it["b"] = c.IntN(9)
		}
		return it
	}
	write := func(ctx context.Context) error {
		items := sortkey.Table[object](db, table())
		it := item()
		switch c.IntN(4) {
		case 0:
			return items.Delete(ctx, it["p"], it["s"])
		case 1:
			_, err := items.Update(ctx, sortkey.Key{it["p"], it["s"]}, "SET b = :b REMOVE a", c.IntN(99))
			return err
		}
		return items.Put(ctx, it)
	}
	for range steps {
		var err error
		switch c.IntN(13) {
		case 12:
			err = sortkey.Table[object](db, table()).PutMany(ctx, func(yield func(object) bool) {
				for range c.IntN(20) {
					if !yield(item()) {
						return
					}
				}
			})
		case 0:
			err = db.CreateTable(ctx, table(), "p:N / s", sortkey.Local("ByB", "b:N").Only())
		case 1:
			if c.Often(20) {
				err = db.DeleteTable(ctx, table())
			}
		case 2:
			index := sortkey.Global(proptest.Pick(c, "ByA", "Few"), "a / s")
			if c.Bool() {
				index = index.Only("text")
			}
			err = db.AddIndex(ctx, table(), index)
		case 3:
			err = db.DeleteIndex(ctx, table(), proptest.Pick(c, "ByA", "Few"))
		case 4:
			err = db.Update(ctx, func(ctx context.Context) error {
				for range 5 {
					if err := write(ctx); err != nil {
						return err
					}
				}
				if c.Often(30) {
					return errRefused
				}
				return nil
			})
		default:
			err = write(ctx)
		}
		if err != nil && !errors.Is(err, errRefused) && sortkey.StatusOf(err) >= 500 {
			require.NoError(c, err)
		}
	}
}

// counted returns the Stats that a count of all rows gives.
func counted(ctx context.Context, c require.TestingT, db *sortkey.DB) (s sortkey.Stats) {
	const overhead = 100
	names, err := db.Tables(ctx)
	require.NoError(c, err)
	for _, name := range names {
		info, err := db.Describe(ctx, name)
		require.NoError(c, err)
		for it := range rowsOf(ctx, c, db, info) {
			s.Rows++
			s.Bytes += int64(it.Size() + overhead)
		}
	}
	return s
}

// rowsOf yields the items of a table and the entries of its indexes.
func rowsOf(
	ctx context.Context, c require.TestingT, db *sortkey.DB, info *sortkey.TableInfo,
) iter.Seq[attr.Item] {
	return func(yield func(attr.Item) bool) {
		items := sortkey.Table[attr.Item](db, info.Name)
		all := []*sortkey.TableOf[attr.Item]{items}
		for _, ix := range info.Indexes {
			all = append(all, items.Index(ix.Name))
		}
		for _, rows := range all {
			for it, err := range rows.Scan(ctx) {
				require.NoError(c, err)
				if !yield(it) {
					return
				}
			}
		}
	}
}

// testVersions checks that Stats counts the versions that Views keep, and counts none when the Views have ended. If
// the store cannot count versions, Stats must report 0.
func testVersions(t *testing.T, open func() store.Store) {
	st, ctx := open(), t.Context()
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	require.NoError(t, db.CreateTable(ctx, "Items", "p"))
	items := sortkey.Table[object](db, "Items")
	_, counts := st.(capability.Measurer)
	versions := func(want int) {
		t.Helper()
		if !counts {
			want = 0
		}
		require.Eventually(t, func() bool { // the count of rows after Open may still keep a version
			stats, err := db.Stats(ctx)
			return err == nil && stats.Versions == want
		}, time.Minute, time.Millisecond, "want %d versions", want)
	}

	versions(0)
	require.NoError(t, db.View(ctx, func(context.Context) error {
		versions(0) // the View reads the latest version
		for i := range 3 {
			require.NoError(t, items.Put(ctx, object{"p": fmt.Sprint(i)}))
			versions(1)
		}
		return db.View(ctx, func(context.Context) error {
			require.NoError(t, items.Put(ctx, object{"p": "last"}))
			versions(2)
			return nil
		})
	}))
	versions(0)
}

// newDB opens a database in a store.
func newDB(t *testing.T, st store.Store) *sortkey.DB {
	t.Helper()
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// A track is an item in the tests of PutMany.
type track struct {
	Album string `dynamodbav:"album"`
	Place int    `dynamodbav:"place"`
	Label string `dynamodbav:"label,omitempty"`
	Take  int    `dynamodbav:"take"`
}

// tracks yields n tracks of 100 albums. About a quarter of them have the key of an earlier one.
func tracks(n, take int) iter.Seq[track] {
	return func(yield func(track) bool) {
		for i := range n {
			at := i * 7919 % (n * 3 / 4)
			tr := track{Album: fmt.Sprint("album ", at%100), Place: at / 100, Take: take + i}
			if (at+take)%3 > 0 {
				tr.Label = fmt.Sprint("label ", (at+take)%5)
			}
			if !yield(tr) {
				return
			}
		}
	}
}

// testPutMany checks that after PutMany a table has the last item of each key, with indexes and with a stream, and
// that Stats is right.
func testPutMany(t *testing.T, open func() store.Store) {
	st, ctx := open(), t.Context()
	db, many := newDB(t, st), 2000
	if _, loads := st.(capability.Loader); loads {
		many = table.DefaultLoadFrom * 6 / 5 // enough for PutMany to load sorted files
	}
	indexes := []sortkey.TableOption{
		sortkey.Global("ByLabel", "label / take:N"), sortkey.Local("ByTake", "take:N").Only(),
	}
	require.NoError(t, db.CreateTable(ctx, "Tracks", "album / place:N", indexes...))
	require.NoError(t, db.CreateTable(ctx, "Watched", "album / place:N", append(indexes, sortkey.Stream())...))
	model := map[string]track{}
	key := func(tr track) string { return fmt.Sprint(tr.Album, "/", tr.Place) }
	for _, n := range []int{0, many, 300, many / 2} {
		for tr := range tracks(max(n, 4), n) {
			if n > 0 {
				model[key(tr)] = tr
			}
		}
		for _, name := range []string{"Tracks", "Watched"} {
			table := sortkey.Table[track](db, name)
			put := tracks(max(n, 4), n)
			if n == 0 {
				put = func(func(track) bool) {}
			}
			require.NoError(t, table.PutMany(ctx, put))
			found := map[string]track{}
			for tr, err := range table.Scan(ctx) {
				require.NoError(t, err)
				found[key(tr)] = tr
			}
			require.True(t, maps.Equal(model, found), "%d items, want %d", len(found), len(model))
			labelled := 0
			for _, tr := range model {
				if tr.Label != "" {
					labelled++
				}
			}
			count, err := table.Index("ByLabel").Count(ctx)
			require.NoError(t, err)
			require.Equal(t, labelled, count)
		}
	}
	stats, err := db.Stats(ctx)
	require.NoError(t, err)
	counted := counted(ctx, t, db)
	require.Equal(t, counted.Rows, stats.Rows)
	require.Equal(t, counted.Bytes, stats.Bytes)
	changes, err := sortkey.Collect(sortkey.Table[track](db, "Watched").Changes(ctx, "", sortkey.UntilNow))
	require.NoError(t, err)
	require.Greater(t, len(changes), many)
}

// testPutManyRefused checks that PutMany puts no item if an item is invalid, the caller's loop panics or the
// transaction fails, and that it returns an error in a closed database.
func testPutManyRefused(t *testing.T, open func() store.Store) {
	db, ctx := newDB(t, open()), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p", sortkey.Global("ByA", "a:N")))
	items := sortkey.Table[object](db, "Items")
	count := func() int {
		t.Helper()
		n, err := items.Count(ctx)
		require.NoError(t, err)
		return n
	}
	large := make([]byte, 400<<10-len("p2v"))
	good := []object{{"p": "1"}, {"p": "2", "v": large}}

	for _, bad := range []object{
		{"q": "none"}, {"p": 7}, {"p": "x", "a": "text"}, {"p": ""}, {"p": "\xff"}, {"p": "33", "v": large},
	} {
		err := items.PutMany(ctx, slices.Values(append(slices.Clone(good), bad)))
		require.ErrorIs(t, err, sortkey.ErrUsage)
		require.Equal(t, 400, sortkey.StatusOf(err), "%v", err)
		require.ErrorContains(t, err, "(item 3 of PutMany)")
		require.Zero(t, count())
	}
	require.ErrorIs(t, items.PutMany(ctx, nil), sortkey.ErrUsage)
	require.ErrorIs(t, items.Index("ByA").PutMany(ctx, slices.Values(good)), sortkey.ErrUsage)
	require.ErrorIs(t, sortkey.Table[object](db, "None").PutMany(ctx, slices.Values(good)), sortkey.ErrNoTable)
	require.ErrorIs(t, db.View(ctx, func(ctx context.Context) error {
		return items.PutMany(ctx, slices.Values(good))
	}), sortkey.ErrUsage)

	stop := errors.New("stop")
	require.ErrorIs(t, db.Update(ctx, func(ctx context.Context) error {
		require.NoError(t, items.PutMany(ctx, slices.Values(good)))
		_, err := items.Get(ctx, "2")
		require.NoError(t, err)
		return stop
	}), stop)
	require.Zero(t, count())
	require.PanicsWithValue(t, stop, func() {
		_ = items.PutMany(ctx, func(yield func(object) bool) {
			yield(good[0])
			panic(stop)
		})
	})
	require.Zero(t, count())

	require.NoError(t, db.Update(ctx, func(ctx context.Context) error {
		return items.PutMany(ctx, slices.Values(good))
	}))
	require.Equal(t, 2, count())
	require.NoError(t, db.Close())
	require.ErrorIs(t, items.PutMany(ctx, slices.Values(good)), store.ErrClosed)
}

// testBackup checks that a random database equals the one restored from its backup, into this engine or into memory.
func testBackup(t *testing.T, open func() store.Store) {
	proptest.Check(t, 60, func(c *proptest.T) {
		ctx := t.Context()
		db, err := sortkey.Open(sortkey.Options{Store: open()})
		require.NoError(c, err)
		c.Cleanup(func() { _ = db.Close() })
		if c.Bool() {
			require.NoError(c, db.CreateTable(ctx, "One", "p:N / s", sortkey.Stream(), sortkey.TimeToLive("b")))
		}
		change(ctx, c, db, 40)
		var backup bytes.Buffer
		require.NoError(c, db.Backup(ctx, &backup))
		want := described(ctx, c, db)
		change(ctx, c, db, 5)

		for _, st := range []store.Store{open(), memory.Open()} {
			require.NoError(c, sortkey.Restore(ctx, st, bytes.NewReader(backup.Bytes())))
			restored, err := sortkey.Open(sortkey.Options{Store: st})
			require.NoError(c, err)
			c.Cleanup(func() { _ = restored.Close() })
			require.Equal(c, want, described(ctx, c, restored))
			var again bytes.Buffer
			require.NoError(c, restored.Backup(ctx, &again))
			if _, shared := st.(capability.Sharer); !shared { // a database on a shared store writes its id into it
				require.Equal(c, backup.Bytes(), again.Bytes())
			}
			change(ctx, c, restored, 10)
			require.Eventually(c, func() bool { // Open counts rows in the background
				got, err := restored.Stats(ctx)
				return err == nil && got.Rows == counted(ctx, c, restored).Rows
			}, time.Minute, time.Millisecond)
			if names, err := restored.Tables(ctx); len(names) > 0 {
				require.NoError(c, err)
				require.Error(c, sortkey.Restore(ctx, st, bytes.NewReader(backup.Bytes())), "it is not empty")
			}
		}
	})
}

// described returns lines of text: for each table its description, its rows and the records of its stream.
func described(ctx context.Context, c require.TestingT, db *sortkey.DB) (lines []string) {
	names, err := db.Tables(ctx)
	require.NoError(c, err)
	for _, name := range names {
		info, err := db.Describe(ctx, name)
		require.NoError(c, err)
		info.Items, info.Bytes = 0, 0 // Open still counts them in the background
		for i := range info.Indexes {
			info.Indexes[i].Items, info.Indexes[i].Bytes = 0, 0
		}
		lines = append(lines, fmt.Sprintf("%+v", info))
		for it := range rowsOf(ctx, c, db, info) {
			lines = append(lines, string(it.AppendJSON(nil)))
		}
		if !info.Stream {
			continue
		}
		for change, err := range sortkey.Table[attr.Item](db, name).Changes(ctx, "", sortkey.UntilNow) {
			require.NoError(c, err)
			lines = append(lines, fmt.Sprintf("change %s %v %v", change.Key.AppendJSON(nil), change.Old, change.New))
		}
	}
	return lines
}

// testBackupRefused makes Backup and Restore fail: a writer or reader fails, a context ends, a store is closed, or a
// backup is cut off. It checks the errors, and that a failed Restore leaves its store empty.
func testBackupRefused(t *testing.T, open func() store.Store) {
	db, ctx := newDB(t, open()), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p"))
	items := sortkey.Table[object](db, "Items")
	require.NoError(t, items.PutMany(ctx, func(yield func(object) bool) {
		for i := range 3000 {
			if !yield(object{"p": fmt.Sprint(i), "text": strings.Repeat("text", 100)}) {
				return
			}
		}
	}))
	var backup bytes.Buffer
	require.NoError(t, db.Backup(ctx, &backup))
	require.Greater(t, backup.Len(), 1_000_000)

	stop := errors.New("stop")
	for _, n := range []int{0, 10, 300_000, backup.Len() - 1} {
		left := n
		require.ErrorIs(t, db.Backup(ctx, writerFunc(func(p []byte) (int, error) {
			if left -= len(p); left < 0 {
				return 0, stop
			}
			return len(p), nil
		})), stop)
		st := open()
		cut := io.MultiReader(bytes.NewReader(backup.Bytes()[:n]), iotest.ErrReader(stop))
		require.ErrorIs(t, sortkey.Restore(ctx, st, cut), stop)
		require.Error(t, sortkey.Restore(ctx, st, bytes.NewReader(backup.Bytes()[:n])))
		require.NoError(t, sortkey.Restore(ctx, st, bytes.NewReader(backup.Bytes())), "it is still empty")
		require.NoError(t, st.Close())
	}

	ended, end := context.WithCancelCause(ctx)
	end(stop)
	empty := open()
	for _, err := range []error{
		db.Backup(ended, io.Discard), sortkey.Restore(ended, empty, bytes.NewReader(backup.Bytes())),
	} {
		require.ErrorIs(t, err, stop)
		require.Equal(t, 499, sortkey.StatusOf(err))
	}
	require.NoError(t, empty.Close())
	// A backup in a transaction has the rows that the transaction sees.
	var within bytes.Buffer
	require.NoError(t, db.View(ctx, func(view context.Context) error {
		require.NoError(t, items.Put(ctx, object{"p": "later"}))
		return db.Backup(view, &within)
	}))
	require.Equal(t, backup.Bytes(), within.Bytes())
	require.ErrorIs(t, db.Update(ctx, func(ctx context.Context) error {
		require.NoError(t, items.Put(ctx, object{"p": "never"}))
		within.Reset()
		require.NoError(t, db.Backup(ctx, &within))
		return stop
	}), stop)
	st := open()
	require.NoError(t, sortkey.Restore(ctx, st, &within))
	_, err := sortkey.Table[object](newDB(t, st), "Items").Get(ctx, "never")
	require.NoError(t, err)

	require.NoError(t, db.Close())
	require.ErrorIs(t, db.Backup(ctx, io.Discard), store.ErrClosed)
	closed := open()
	require.NoError(t, closed.Close())
	require.ErrorIs(t, sortkey.Restore(ctx, closed, bytes.NewReader(backup.Bytes())), store.ErrClosed)
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// testBackupBeside runs transactions during a backup. It checks that the backup has all or nothing of each, and that
// an Update can run while Backup waits for its io.Writer.
func testBackupBeside(t *testing.T, open func() store.Store) {
	const accounts, each = 20, 100
	db, ctx := newDB(t, open()), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Accounts", "id:N"))
	type account struct {
		ID      int `dynamodbav:"id"`
		Balance int `dynamodbav:"balance"`
	}
	table := sortkey.Table[account](db, "Accounts")
	for id := range accounts {
		require.NoError(t, table.Put(ctx, account{id, each}))
	}
	move := func(from, to, n int) error {
		return db.Update(ctx, func(ctx context.Context) error {
			_, err := table.Update(ctx, sortkey.Key{from}, "SET balance = balance - :n", n)
			if err != nil {
				return err
			}
			_, err = table.Update(ctx, sortkey.Key{to}, "SET balance = balance + :n", n)
			return err
		})
	}
	var wg sync.WaitGroup
	for writer := range 3 {
		wg.Go(func() {
			for i := range 50 {
				if err := move((i*7+writer)%accounts, (i*11+1)%accounts, i); err != nil {
					t.Error(err)
				}
			}
		})
	}

	for range 8 {
		var backup bytes.Buffer
		require.NoError(t, db.Backup(ctx, &backup))
		st := open()
		require.NoError(t, sortkey.Restore(ctx, st, &backup))
		sum := 0
		for a, err := range sortkey.Table[account](newDB(t, st), "Accounts").Scan(ctx) {
			require.NoError(t, err)
			sum += a.Balance
		}
		require.Equal(t, accounts*each, sum)
	}
	wg.Wait()

	require.NoError(t, db.Backup(ctx, writerFunc(func(p []byte) (int, error) { return len(p), move(1, 2, 1) })))
}
