package disk_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/memory"
)

func definitions() []*table.Definition {
	hash := func(name string) table.KeyElement { return table.KeyElement{Name: name, Hash: true} }
	return []*table.Definition{
		{
			Name:       "Counters",
			Attributes: []keycond.Attribute{{Name: "PK", Kind: attr.String}},
			Key:        []table.KeyElement{hash("PK")},
		},
		{
			Name: "Items",
			Attributes: []keycond.Attribute{
				{Name: "PK", Kind: attr.String},
				{Name: "SK", Kind: attr.Number},
				{Name: "g", Kind: attr.String},
				{Name: "n", Kind: attr.Number},
			},
			Key: []table.KeyElement{hash("PK"), {Name: "SK"}},
			Global: []table.IndexDefinition{
				{Name: "ByG", Key: []table.KeyElement{hash("g"), {Name: "n"}}, Projection: table.Projection{Type: "ALL"}},
				{Name: "ByN", Key: []table.KeyElement{hash("n")}, Projection: table.Projection{Type: "KEYS_ONLY"}},
			},
			Local: []table.IndexDefinition{
				{Name: "LocalN", Key: []table.KeyElement{hash("PK"), {Name: "n"}}, Projection: table.Projection{Type: "INCLUDE", Include: []string{"g"}}},
			},
		},
	}
}

func number(n int) attr.Value {
	v, err := attr.NewNumber(strconv.Itoa(n))
	if err != nil {
		panic(err)
	}
	return v
}

func itemWith(pairs ...any) attr.Item {
	var b attr.Builder
	for i := 0; i < len(pairs); i += 2 {
		v, ok := pairs[i+1].(attr.Value)
		if !ok {
			v = attr.NewString(pairs[i+1].(string))
		}
		b.Add(pairs[i].(string), v)
	}
	return b.Item()
}

// transact makes update n of a writer: it sets the writer's counter and puts some items.
func transact(db *life.DB, writer, n int, rng *rand.Rand) error {
	who := fmt.Sprint("writer", writer)
	changes := 1 + rng.IntN(4)
	seed := rng.Uint64()
	return db.Update(context.Background(), func(tx *table.Tx) error {
		rng := rand.New(rand.NewPCG(seed, 1))
		counters, err := tx.Table("Counters")
		if err != nil {
			return err
		}
		items, err := tx.Table("Items")
		if err != nil {
			return err
		}
		if _, err := tx.Put(counters, itemWith("PK", who, "n", number(n)), nil); err != nil {
			return err
		}
		if _, err := tx.Put(items, itemWith("PK", who, "SK", number(-1), "n", number(n)), nil); err != nil {
			return err
		}
		for range changes {
			pk, sk := fmt.Sprint("p", rng.IntN(4)), number(rng.IntN(20))
			switch rng.IntN(4) {
			case 0:
				_, err = tx.Delete(items, itemWith("PK", pk, "SK", sk), nil)
			case 1: // in no index
				_, err = tx.Put(items, itemWith("PK", pk, "SK", sk), nil)
			default:
				_, err = tx.Put(items, itemWith("PK", pk, "SK", sk, "g", fmt.Sprint("g", rng.IntN(3)), "n", number(rng.IntN(9))), nil)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// contents returns the items of a table or of one of its indexes, as JSON.
func contents(t *testing.T, db *life.DB, name, index string) (items []attr.Item, text []string) {
	t.Helper()
	require.NoError(t, db.View(t.Context(), func(s *table.View) error {
		tb, err := s.Table(name)
		if err != nil {
			return err
		}
		read := table.Read{Table: tb}
		if index != "" {
			if read.Index, err = tb.Index(index); err != nil {
				return err
			}
		}
		_, err = s.Scan(&table.Scan{Read: read}, func(it attr.Item) error {
			items = append(items, slices.Clone(it))
			text = append(text, string(it.AppendJSON(nil)))
			return nil
		})
		return err
	}))
	slices.Sort(text)
	return items, text
}

// TestCrashTables crashes a database. Every acknowledged transaction must be complete in all the tables that it wrote
// to, and the indexes must equal indexes that are built from the items.
func TestCrashTables(t *testing.T) {
	const writers = 3
	var checked int64
	seeds(t, 20, func(t *testing.T, seed uint64, rng *rand.Rand) {
		what := fmt.Sprintf("seed %d", seed)
		fs := newCrashFS()
		s := open(t, "db", small(fs))
		db, err := life.Open(t.Context(), s)
		require.NoError(t, err)
		for _, def := range definitions() {
			_, err := db.Create(t.Context(), def)
			require.NoError(t, err)
		}
		var acked [writers]atomic.Int64
		var atCut [writers]int64
		var tried atomic.Int64
		var after *crashFS
		var once sync.Once
		target := int64(rng.IntN(200))
		var wg sync.WaitGroup
		for i := range writers {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			wg.Go(func() {
				for n := 1; tried.Add(1) <= target; n++ {
					if err := transact(db, i, n, rng); err != nil {
						t.Errorf("%s: %v", what, err)
						return
					}
					acked[i].Store(int64(n))
				}
				once.Do(func() {
					for i := range acked {
						atCut[i] = acked[i].Load()
					}
					after = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
				})
			})
		}
		wg.Wait()
		require.NoError(t, s.Close())

		s = open(t, "db", small(after))
		db, err = life.Open(t.Context(), s)
		require.NoError(t, err, what)
		require.NoError(t, db.Recover(t.Context()), what)
		names, err := db.Names(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"Counters", "Items"}, names)
		counters, _ := contents(t, db, "Counters", "")
		items, text := contents(t, db, "Items", "")
		for i := range writers {
			who := "writer" + strconv.Itoa(i)
			find := func(items []attr.Item) (n int64) {
				for _, it := range items {
					if string(it.Get("PK").Raw()) == who {
						n, err = strconv.ParseInt(string(it.Get("n").AppendNumber(nil)), 10, 64)
						require.NoError(t, err)
					}
				}
				return n
			}
			n := find(counters)
			require.GreaterOrEqual(t, n, atCut[i], "%s: acknowledged transactions of %s are lost", what, who)
			require.Equal(t, n, find(items), "%s: half a transaction of %s", what, who)
			checked += atCut[i]
		}
		again, err := life.Open(t.Context(), memory.Open())
		require.NoError(t, err)
		for _, def := range definitions() {
			_, err := again.Create(t.Context(), def)
			require.NoError(t, err)
		}
		require.NoError(t, again.Update(t.Context(), func(tx *table.Tx) error {
			tb, err := tx.Table("Items")
			for _, it := range items {
				if _, err := tx.Put(tb, it, nil); err != nil {
					return err
				}
			}
			return err
		}))
		for _, index := range []string{"", "ByG", "ByN", "LocalN"} {
			_, got := contents(t, db, "Items", index)
			_, want := contents(t, again, "Items", index)
			require.Equal(t, want, got, "%s: index %q and its rebuild", what, index)
		}
		tb, err := db.Describe(t.Context(), "Items")
		require.NoError(t, err)
		count, _ := tb.Items()
		require.Len(t, text, int(count), what)
		require.NoError(t, s.Close())
	})
	t.Logf("%d acknowledged transactions were there", checked)
}

// TestCrashIndex crashes a database while it adds or removes an index, and again while it recovers from that. In the
// end either the index equals one that existed from the start, or all of its rows are gone.
func TestCrashIndex(t *testing.T) {
	const n = 2200 // more than two parts of a build
	base := newCrashFS()
	s := open(t, "db", disk.Options{}.On(base))
	db, err := life.Open(t.Context(), s)
	require.NoError(t, err)
	def := definitions()[1]
	global, attributes := def.Global, def.Attributes
	def.Global, def.Attributes = nil, []keycond.Attribute{attributes[0], attributes[1], attributes[3]}
	_, err = db.Create(t.Context(), def)
	require.NoError(t, err)
	add := func(d *table.Definition) error {
		d.Global, d.Attributes = slices.Clone(global[:1]), attributes
		return nil
	}
	remove := func(d *table.Definition) error {
		d.Global, d.Attributes = nil, def.Attributes
		return nil
	}
	put := func(db *life.DB, from, to int) error {
		return db.Update(context.Background(), func(tx *table.Tx) error {
			tb, err := tx.Table("Items")
			for i := from; i < to && err == nil; i++ {
				_, err = tx.Put(tb, itemWith("PK", fmt.Sprint("p", i%50), "SK", number(i), "g", fmt.Sprint("g", i%9), "n", number(i%30)), nil)
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
		items, text := contents(t, db, "Items", "")
		count, _ := tb.Items()
		require.Len(t, text, int(count), what)
		for _, ix := range tb.Indexes() {
			owned[ix.Definition().Space] = true
			entries, _ := contents(t, db, "Items", ix.Name())
			require.Len(t, entries, len(items), "%s: %s", what, ix.Name()) // every item is in each index
			count, _ := ix.Items()
			require.Len(t, entries, int(count), "%s: %s", what, ix.Name())
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
