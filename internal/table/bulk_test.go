package table_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// A loader is a store in memory that implements Load as package disk does, but slower.
type loader struct {
	store.Store
	loads int
}

type loading struct {
	store.Reader
	mu   sync.Mutex
	runs [][]change
}

type change struct{ addr, value []byte }

func (s *loader) Load(ctx context.Context, fn func(store.Loading) error) error {
	s.loads++
	return s.Update(ctx, func(w store.Writer) error {
		l := &loading{Reader: w}
		if err := fn(l); err != nil {
			return err
		}
		slices.SortFunc(l.runs, func(a, b []change) int { return bytes.Compare(a[0].addr, b[0].addr) })
		all := slices.Concat(l.runs...)
		for i, c := range all {
			if i > 0 && bytes.Compare(all[i-1].addr, c.addr) >= 0 {
				return fmt.Errorf("address %q follows %q", c.addr, all[i-1].addr)
			}
			space, partition, sort, _ := address.Parse(c.addr, nil)
			err := w.Put(space, partition, sort, c.value)
			if c.value == nil {
				err = w.Delete(space, partition, sort)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *loading) Get(space store.Space, partition, sort []byte) ([]byte, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Reader.Get(space, partition, sort)
}

func (l *loading) Add(changes iter.Seq2[[]byte, []byte]) error {
	var run []change
	for addr, value := range changes {
		run = append(run, change{slices.Clone(addr), slices.Clone(value)})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs = append(l.runs, run)
	return nil
}

// rowsOf returns all rows of a store, including its catalogue.
func rowsOf(t testing.TB, st store.Store) (rows []string) {
	t.Helper()
	require.NoError(t, st.View(context.Background(), func(r store.Reader) error {
		for space := range store.Space(20) {
			for row, err := range r.Scan(space, store.Everything()) {
				if err != nil {
					return err
				}
				rows = append(rows, fmt.Sprintf("%d %q %q %q", space, row.Partition, row.Sort, row.Value))
			}
		}
		return nil
	}))
	return rows
}

// counts returns the counters of a table and its indexes.
func counts(t testing.TB, db *life.DB) string {
	t.Helper()
	tab, err := db.Describe(t.Context(), "T")
	require.NoError(t, err)
	var b strings.Builder
	fmt.Fprintln(&b, list(tab.Items()))
	for _, ix := range tab.Indexes() {
		fmt.Fprintln(&b, ix.Name(), list(ix.Items()))
	}
	return b.String()
}

func list(a, b int64) []int64 { return []int64{a, b} }

// drawItem draws an item that may lack key attributes of indexes, or have invalid ones.
func drawItem(t *proptest.T) attr.Item {
	var b attr.Builder
	pk, sk := t.IntN(6), t.IntN(4)
	b.Add("PK", attr.NewString(fmt.Sprint("p\x00", pk)))
	b.Add("SK", attr.NewString(fmt.Sprint("s", sk)))
	number := func() attr.Value {
		v, _ := attr.NewNumber(fmt.Sprint(t.IntN(3)))
		return v
	}
	for _, name := range []string{"a", "b", "c"} {
		switch t.IntN(12) {
		case 0:
			b.Add(name, attr.NewString(""))
		case 1, 2, 3, 4, 5:
			b.Add(name, attr.NewString(fmt.Sprint("v", t.IntN(3))))
		case 6:
			b.Add(name, number())
		}
	}
	if t.IntN(2) == 0 {
		b.Add("n", number())
	}
	if t.IntN(40) == 0 {
		b.Add("big", attr.NewString(strings.Repeat("x", 200<<10)))
	}
	if t.IntN(40) == 0 {
		b.Add("PK", attr.NewString(""))
	}
	return slices.Clone(b.Item())
}

// TestBulk compares a Bulk, which loads its parts or writes them by updates, with the same puts and deletions one by
// one. All rows, counters and errors must be the same.
func TestBulk(t *testing.T) {
	t.Parallel()
	proptest.Check(t, 150, func(t *proptest.T) {
		indexes := []string{
			"GA a:S n:N ALL", "GB b:S - KEYS_ONLY", "GC a:S,b:S c:S INCLUDE n,x", "LN PK:S n:N ALL",
			"LC PK:S c:S INCLUDE big",
		}
		indexes = proptest.Shuffle(t, indexes)[:t.IntN(len(indexes)+1)]
		ctx := context.Background()
		loads := &loader{Store: memory.Open()}
		plain := memory.Open()
		var dbs [2]*life.DB
		for i, st := range []store.Store{loads, plain} {
			db, err := life.Open(ctx, st)
			require.NoError(t.TB(), err)
			_, err = db.Create(ctx, tabletest.Define(t.TB(), "T", "PK:S SK:S", indexes...))
			require.NoError(t.TB(), err)
			dbs[i] = db
		}
		bulk, err := dbs[0].Bulk("T")
		require.NoError(t.TB(), err)
		parts := []*table.Part{bulk.Part(), bulk.Part(), bulk.Part()}
		for range t.Between(1, 6) {
			bulk.LoadFrom = []int{1, 1, 1, 30}[t.IntN(4)]
			for _, p := range parts {
				p.Reset()
				for range []int{0, 2, 60}[t.IntN(3)] {
					it := drawItem(t)
					remove := t.IntN(6) == 0
					if remove {
						var b attr.Builder
						b.Add("PK", it.Get("PK"))
						b.Add("SK", it.Get("SK"))
						it = slices.Clone(b.Item())
					}
					var refused error
					err := dbs[1].Update(ctx, func(tx *table.Tx) error {
						tab, err := tx.Table("T")
						if err != nil {
							return err
						}
						if remove {
							_, err = tx.Delete(tab, it, nil)
						} else {
							_, err = tx.Put(tab, it, nil)
						}
						return err
					})
					if remove {
						refused = p.Delete(it)
					} else {
						refused = p.Put(it)
					}
					require.Equal(t.TB(), err, refused)
				}
			}
			require.NoError(t.TB(), bulk.Write(ctx, parts))
			if t.IntN(3) == 0 { // somebody else writes
				it := drawItem(t)
				for _, db := range dbs {
					_ = db.Update(ctx, func(tx *table.Tx) error {
						tab, err := tx.Table("T")
						if err == nil {
							_, err = tx.Put(tab, it, nil)
						}
						return err
					})
				}
			}
			require.Equal(t.TB(), rowsOf(t.TB(), plain), rowsOf(t.TB(), loads.Store))
			require.Equal(t.TB(), counts(t.TB(), dbs[1]), counts(t.TB(), dbs[0]))
		}
		for _, db := range dbs {
			require.NoError(t.TB(), db.Close(ctx))
		}
		require.Equal(t.TB(), rowsOf(t.TB(), plain), rowsOf(t.TB(), loads.Store))
	})
}

// TestBulkOfRecordedTable checks that a Bulk uses updates for a table with a stream or with an index that is being
// built; that parts stay valid if the table's indexes change; and that Write fails if the table is deleted.
func TestBulkOfRecordedTable(t *testing.T) {
	ctx := t.Context()
	st := &loader{Store: memory.Open()}
	db, err := life.Open(ctx, st)
	require.NoError(t, err)
	_, err = db.Create(ctx, tabletest.Define(t, "T", "PK:S"))
	require.NoError(t, err)
	bulk, err := db.Bulk("T")
	require.NoError(t, err)
	bulk.LoadFrom = 1
	part := func(n int) []*table.Part {
		p := bulk.Part()
		for i := range n {
			it, err := attr.ParseItem(fmt.Appendf(nil, `{"PK":{"S":"%d"},"a":{"S":"%d"}}`, i, i%3))
			require.NoError(t, err)
			require.NoError(t, p.Put(it))
		}
		return []*table.Part{p}
	}
	old := part(10)
	_, err = db.Alter(ctx, "T", func(d *table.Definition) error {
		with := tabletest.Define(t, "T", "PK:S", "GA a:S - ALL")
		d.Attributes, d.Global = with.Attributes, with.Global
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, bulk.Write(ctx, old))
	require.Equal(t, 1, st.loads)
	tab, err := db.Describe(t.Context(), "T")
	require.NoError(t, err)
	n, _ := tab.Indexes()[0].Items()
	require.EqualValues(t, 10, n)

	_, err = db.Alter(ctx, "T", func(d *table.Definition) error {
		d.Stream = &table.Stream{View: "KEYS_ONLY", Created: db.Clock(), Shards: 1}
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, bulk.Write(ctx, part(20)))
	require.Equal(t, 1, st.loads)
	n, _ = tab.Items()
	require.EqualValues(t, 20, n)

	late := part(1)
	_, err = db.Delete(ctx, "T")
	require.NoError(t, err)
	require.ErrorContains(t, bulk.Write(ctx, late), "resource not found")
	_, err = db.Create(ctx, tabletest.Define(t, "T", "PK:S"))
	require.NoError(t, err)
	require.ErrorContains(t, bulk.Write(ctx, late), "resource not found")
	bulk.LoadFrom = 1000
	require.ErrorContains(t, bulk.Write(ctx, late), "resource not found")
}
