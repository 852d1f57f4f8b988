package disk_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// length returns the number of rows of the table or of one of its indexes.
func length(t *testing.T, db *life.DB, index string) (n int) {
	t.Helper()
	require.NoError(t, db.View(t.Context(), func(s *table.View) error {
		tb, err := s.Table("Items")
		if err != nil {
			return err
		}
		read := table.Read{Table: tb}
		if index != "" {
			if read.Index, err = tb.Index(index); err != nil {
				return err
			}
		}
		_, err = s.Scan(&table.Scan{Read: read}, func(attr.Item) error {
			n++
			return nil
		})
		return err
	}))
	return n
}

// TestCrashIndex crashes a database while it adds or removes an index, and again while it recovers from that. In the
// end either the index has a row for each item, or all of its rows are gone.
func TestCrashIndex(t *testing.T) {
	const n = 2200 // more than two parts of a build
	base := newCrashFS()
	s := open(t, "db", disk.Options{}.On(base))
	db, err := life.Open(t.Context(), s)
	require.NoError(t, err)
	attributes := []keycond.Attribute{{Name: "PK", Kind: attr.String}, {Name: "SK", Kind: attr.Number}}
	_, err = db.Create(t.Context(), &table.Definition{
		Name: "Items", Attributes: attributes, Key: []table.KeyElement{{Name: "PK", Hash: true}, {Name: "SK"}},
	})
	require.NoError(t, err)
	add := func(d *table.Definition) error {
		d.Attributes = append(slices.Clone(attributes),
			keycond.Attribute{Name: "g", Kind: attr.String}, keycond.Attribute{Name: "n", Kind: attr.Number})
		d.Global = []table.IndexDefinition{{
			Name: "ByG", Key: []table.KeyElement{{Name: "g", Hash: true}, {Name: "n"}}, Projection: table.Projection{Type: "ALL"},
		}}
		return nil
	}
	remove := func(d *table.Definition) error {
		d.Global, d.Attributes = nil, attributes
		return nil
	}
	put := func(db *life.DB, from, to int) error {
		return db.Update(context.Background(), func(tx *table.Tx) error {
			tb, err := tx.Table("Items")
			for i := from; i < to && err == nil; i++ {
				var it attr.Item
				if it, err = attr.ParseItem(fmt.Appendf(nil,
					`{"PK":{"S":"p%d"},"SK":{"N":"%d"},"g":{"S":"g%d"},"n":{"N":"%d"}}`, i%50, i, i%9, i%30)); err == nil {
					_, err = tx.Put(tb, it, nil)
				}
			}
			return err
		})
	}
	require.NoError(t, put(db, 0, n))
	require.NoError(t, db.Close(t.Context()))
	require.NoError(t, s.Close())

	unfinished := 0
	seeds(t, 20, func(t *testing.T, seed uint64, rng *rand.Rand) {
		what := fmt.Sprintf("seed %d", seed)
		whole := vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng}
		fs := base.CrashClone(whole)
		for range 1 + rng.IntN(4) {
			s := open(t, "db", small(fs))
			db, err := life.Open(t.Context(), s)
			require.NoError(t, err, what)
			if cutOff(t, db) {
				unfinished++
			}
			var after *crashFS
			var once sync.Once
			crash := func() {
				once.Do(func() {
					after = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
				})
			}
			var wg sync.WaitGroup
			left := rng.IntN(30)
			from := n + rng.IntN(1000)
			wg.Go(func() {
				for i := range left {
					if err := put(db, from+i, from+i+1); err != nil {
						t.Errorf("%s: %v", what, err)
					}
				}
				crash()
			})
			if err := db.Recover(t.Context()); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			tb, err := db.Describe(t.Context(), "Items")
			require.NoError(t, err)
			change := add
			if len(tb.Definition().Global) > 0 {
				change = remove
			}
			if _, err := db.Alter(t.Context(), "Items", change); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			wg.Wait()
			require.NoError(t, s.Close())
			fs = after
		}

		s := open(t, "db", small(fs))
		db, err := life.Open(t.Context(), s)
		require.NoError(t, err, what)
		if cutOff(t, db) {
			unfinished++
		}
		require.NoError(t, db.Recover(t.Context()), what)
		require.True(t, db.Recovered(), what)
		tb, err := db.Describe(t.Context(), "Items")
		require.NoError(t, err)
		owned := map[store.Space]bool{tb.Definition().Space: true}
		items := length(t, db, "")
		count, _ := tb.Items()
		require.Equal(t, items, int(count), what)
		for _, ix := range tb.Indexes() {
			owned[ix.Definition().Space] = true
			require.Equal(t, items, length(t, db, ix.Name()), "%s: %s", what, ix.Name()) // every item is in each index
			count, _ := ix.Items()
			require.Equal(t, items, int(count), "%s: %s", what, ix.Name())
		}
		require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
			for space := store.Space(1); space < 100; space++ {
				for _, err := range r.Scan(space, store.Everything()) {
					require.NoError(t, err)
					require.True(t, owned[space], "%s: a row in space %d, which has no owner", what, space)
					break
				}
			}
			return nil
		}))
		require.NoError(t, s.Close())
	})
	t.Logf("an index was incomplete %d times", unfinished)
}

// cutOff reports whether the table has an index that is still being built.
func cutOff(t *testing.T, db *life.DB) bool {
	t.Helper()
	tb, err := db.Describe(t.Context(), "Items")
	require.NoError(t, err)
	return slices.ContainsFunc(tb.Definition().Global, func(ix table.IndexDefinition) bool { return ix.Building })
}
