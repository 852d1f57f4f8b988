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
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/memory"
	"github.com/sortkey/sortkey/table"
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

// transact is update n of a writer: its counter, and some items.
func transact(db *table.DB, writer, n int, rng *rand.Rand) error {
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

// contents returns the items of a table, or of an index of it, as JSON.
func contents(t *testing.T, db *table.DB, name, index string) (items []attr.Item, text []string) {
	t.Helper()
	require.NoError(t, db.View(t.Context(), func(s *table.Snapshot) error {
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

// TestCrashTables crashes a database: every acknowledged transaction is there
// in all the tables it wrote to, and the indexes are what they would be had
// they been built from the items.
func TestCrashTables(t *testing.T) {
	const writers = 3
	var checked int64
	seeds(t, 40, func(t *testing.T, seed uint64, rng *rand.Rand) {
		what := fmt.Sprintf("seed %d", seed)
		fs := vfs.NewCrashableMem()
		s := open(t, "db", small(fs))
		db, err := table.Open(t.Context(), s)
		require.NoError(t, err)
		for _, def := range definitions() {
			_, err := db.Create(t.Context(), def)
			require.NoError(t, err)
		}
		var acked [writers]atomic.Int64
		var atCut [writers]int64
		var tried atomic.Int64
		var after *vfs.MemFS
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
		db, err = table.Open(t.Context(), s)
		require.NoError(t, err, what)
		require.Equal(t, []string{"Counters", "Items"}, db.Names())
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
		again, err := table.Open(t.Context(), memory.Open(memory.Options{}))
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
		tb, err := db.Describe("Items")
		require.NoError(t, err)
		count, _ := tb.Items()
		require.Len(t, text, int(count), what)
		require.NoError(t, s.Close())
	})
	t.Logf("%d acknowledged transactions were there", checked)
}

// TestReopenTables: a restart loses nothing, in a folder.
func TestReopenTables(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, disk.Options{})
	db, err := table.Open(t.Context(), s)
	require.NoError(t, err)
	for _, def := range definitions() {
		_, err := db.Create(t.Context(), def)
		require.NoError(t, err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 50 {
		require.NoError(t, transact(db, 0, n, rng))
	}
	_, want := contents(t, db, "Items", "ByG")
	require.NoError(t, s.Close())

	s = open(t, dir, disk.Options{})
	db, err = table.Open(t.Context(), s)
	require.NoError(t, err)
	_, got := contents(t, db, "Items", "ByG")
	require.Equal(t, want, got)
	require.NoError(t, s.Close())
}
