package facetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
)

// Upkeep tests what a program does with a database as a whole. Open returns an empty store.
func Upkeep(t *testing.T, open func() store.Store) {
	t.Run("Stats", func(t *testing.T) { testStats(t, open) })
	t.Run("Versions", func(t *testing.T) { testVersions(t, open) })
}

type object = map[string]any

// testStats compares the figures of random databases with a count of all rows.
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

// change makes random changes of tables, indexes and items.
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
		switch c.IntN(12) {
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

// counted returns the figures of the rows, by reading all of them.
func counted(ctx context.Context, c *proptest.T, db *sortkey.DB) (s sortkey.Stats) {
	const overhead = 100
	names, err := db.Tables(ctx)
	require.NoError(c, err)
	for _, name := range names {
		info, err := db.Describe(ctx, name)
		require.NoError(c, err)
		items := sortkey.Table[attr.Item](db, name)
		all := []*sortkey.TableOf[attr.Item]{items}
		for _, ix := range info.Indexes {
			all = append(all, items.Index(ix.Name))
		}
		for _, rows := range all {
			for it, err := range rows.Scan(ctx) {
				require.NoError(c, err)
				s.Rows++
				s.Bytes += int64(it.Size() + overhead)
			}
		}
	}
	return s
}

// testVersions holds that the states that Views keep are counted, by stores that count them, and none
// afterwards.
func testVersions(t *testing.T, open func() store.Store) {
	st, ctx := open(), t.Context()
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	require.NoError(t, db.CreateTable(ctx, "Items", "p"))
	items := sortkey.Table[object](db, "Items")
	_, counts := st.(store.Measurer)
	versions := func(want int) {
		t.Helper()
		stats, err := db.Stats(ctx)
		require.NoError(t, err)
		if !counts {
			want = 0
		}
		require.Equal(t, want, stats.Versions)
	}

	versions(0)
	require.NoError(t, db.View(ctx, func(context.Context) error {
		versions(0) // it reads the latest
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
