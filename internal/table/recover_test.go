package table_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

var errCut = errors.New("cut off")

// brittleStore lets a number of updates through and fails the others, as if the process had ended. It also reports
// scans, and calls a function at the first row of each.
type brittleStore struct {
	store.Store
	mu      sync.Mutex // guards updates while updates run
	updates int        // updates to let through; negative means no limit
	refusal error
	scans   int
	atScan  func()
}

func (s *brittleStore) Update(ctx context.Context, fn func(store.Writer) error) error {
	s.mu.Lock()
	refused := s.updates == 0
	if !refused {
		s.updates--
	}
	s.mu.Unlock()
	if refused {
		return s.refusal
	}
	return s.Store.Update(ctx, fn)
}

func (s *brittleStore) View(ctx context.Context, fn func(store.Reader) error) error {
	return s.Store.View(ctx, func(r store.Reader) error { return fn(&brittleReader{r, s}) })
}

type brittleReader struct {
	store.Reader
	s *brittleStore
}

func (r *brittleReader) Scan(space store.Space, span store.Span) iter.Seq2[store.Row, error] {
	r.s.scans++
	if r.s.atScan != nil {
		r.s.atScan()
	}
	return r.Reader.Scan(space, span)
}

// begin opens the tables of a store.
func begin(t testing.TB, st store.Store) *tabletest.Fixture {
	t.Helper()
	db, err := life.Open(context.Background(), st)
	require.NoError(t, err)
	return &tabletest.Fixture{TB: t, DB: db}
}

func unlimited(st store.Forker) *brittleStore {
	return &brittleStore{Store: st, updates: -1, refusal: errCut}
}

// addIndex adds index G on attribute g to table t. removeIndex removes it.
func addIndex(t testing.TB, db *life.DB) error {
	with := tabletest.Define(t, "t", "PK:S", "G g:S - ALL")
	_, err := db.Alter(context.Background(), "t", func(d *table.Definition) error {
		d.Attributes, d.Global = with.Attributes, with.Global
		return nil
	})
	return err
}

func removeIndex(db *life.DB) error {
	_, err := db.Alter(context.Background(), "t", func(d *table.Definition) error {
		d.Attributes, d.Global = d.Attributes[:1], nil
		return nil
	})
	return err
}

// filled returns a store with n items in table t, some of which have attribute g.
func filled(t testing.TB, n int) store.Forker {
	t.Helper()
	st := memory.Open()
	f := begin(t, st)
	f.Create("t", "PK:S")
	for i := range n {
		g := fmt.Sprintf(`,'g':{'S':'g%d'}`, i%7)
		if i%3 == 0 {
			g = ""
		}
		f.Put("t", fmt.Sprintf(`{'PK':{'S':'%d'}%s}`, i, g))
	}
	return st
}

// wantCounts checks that the counters of t and its indexes match their rows.
func wantCounts(t testing.TB, f *tabletest.Fixture, what string) {
	t.Helper()
	tb, err := f.DB.Describe(t.Context(), "t")
	require.NoError(t, err)
	n, size := tb.Items()
	rows := f.Scan("t")
	require.Equal(t, int64(len(rows)), n, "%s: items", what)
	require.Greater(t, size, 100*n-1, what)
	for _, ix := range tb.Indexes() {
		n, _ := ix.Items()
		require.Equal(t, int64(len(tabletest.ScanIndex(f, "t", ix.Name()))), n, "%s: entries of %s", what, ix.Name())
	}
}

// TestRecoverIndex ends the process after each update of adding an index. After the tables are opened again and items
// written, recovery must complete the index.
func TestRecoverIndex(t *testing.T) {
	const n = 2500
	base := filled(t, n)
	cuts := 0
	for cut := 0; ; cut++ {
		what := fmt.Sprintf("cut after %d updates", cut)
		st := unlimited(fork(t, base))
		f := begin(t, st)
		st.updates = cut
		err := addIndex(t, f.DB)
		if err == nil {
			break // all of it was let through
		}
		require.ErrorIs(t, err, errCut, what)
		cuts++

		f = begin(t, st.Store)
		require.False(t, f.DB.Recovered(), what)
		tb, err := f.DB.Describe(t.Context(), "t")
		require.NoError(t, err)
		require.Len(t, tb.Indexes(), min(cut, 1), what)
		if cut == 0 {
			continue
		}
		_, err = tb.Index("G")
		require.ErrorContains(t, err, "Cannot read from backfilling global secondary index: G", what)
		f.Put("t", `{'PK':{'S':'1'}}`)                     // deletes the item's index entry, if it is there yet
		f.Put("t", `{'PK':{'S':'2'},'g':{'S':'moved'}}`)   // moves
		f.Put("t", `{'PK':{'S':'new'},'g':{'S':'moved'}}`) // comes
		require.NoError(t, f.DB.Recover(t.Context()), what)
		require.True(t, f.DB.Recovered(), what)
		wantCounts(t, f, what)

		whole := begin(t, fork(t, base))
		require.NoError(t, addIndex(t, whole.DB))
		whole.Put("t", `{'PK':{'S':'1'}}`)
		whole.Put("t", `{'PK':{'S':'2'},'g':{'S':'moved'}}`)
		whole.Put("t", `{'PK':{'S':'new'},'g':{'S':'moved'}}`)
		require.Equal(t, tabletest.ScanIndex(whole, "t", "G"), tabletest.ScanIndex(f, "t", "G"), what)
	}
	require.Equal(t, 5, cuts, "definition, three parts, definition")
}

// TestBuild compares an index that is built in several updates with one that existed before the items. Keys and
// values have many lengths, and a third of the items have no entry.
func TestBuild(t *testing.T) {
	fill := func(f *tabletest.Fixture) {
		for i := range 2500 {
			g := fmt.Sprintf(`,'g':{'S':'g%s'}`, strings.Repeat("g", i%300))
			if i%3 == 0 {
				g = ""
			}
			f.Put("t", fmt.Sprintf(`{'PK':{'S':'%d'},'v':{'S':'%s'}%s}`, i, strings.Repeat("v", i%500), g))
		}
	}
	for _, projection := range []string{"ALL", "KEYS_ONLY"} {
		index := "G g:S - " + projection
		before, after := begin(t, memory.Open()), begin(t, memory.Open())
		before.Create("t", "PK:S", index)
		fill(before)
		after.Create("t", "PK:S")
		fill(after)
		with := tabletest.Define(t, "t", "PK:S", index)
		_, err := after.DB.Alter(t.Context(), "t", func(d *table.Definition) error {
			d.Attributes, d.Global = with.Attributes, with.Global
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, tabletest.ScanIndex(before, "t", "G"), tabletest.ScanIndex(after, "t", "G"), projection)
		wantCounts(t, after, projection)
	}
}

// TestRecoverInTurn ends the process after each update of the recovery itself.
func TestRecoverInTurn(t *testing.T) {
	st := unlimited(filled(t, 2500))
	f := begin(t, st)
	st.updates = 2
	require.ErrorIs(t, addIndex(t, f.DB), errCut)
	rounds := 0
	for ; !f.DB.Recovered(); rounds++ {
		f = begin(t, st)
		st.updates = 1 + rounds
		if err := f.DB.Recover(t.Context()); err != nil {
			require.ErrorIs(t, err, errCut)
		}
		st.updates = -1
	}
	require.Equal(t, 4, rounds)
	wantCounts(t, f, "after all")
	require.Len(t, tabletest.ScanIndex(f, "t", "G"), 2500-834)
}

// TestRecoverGarbage ends the process after the definition without an index is written and before the index's rows
// are deleted.
func TestRecoverGarbage(t *testing.T) {
	st := unlimited(filled(t, 50))
	rows := length(st)
	f := begin(t, st)
	require.NoError(t, addIndex(t, f.DB))
	st.updates = 1
	require.ErrorIs(t, removeIndex(f.DB), errCut)
	require.False(t, f.DB.Recovered())
	st.updates = -1
	require.Greater(t, length(st), rows)

	f = begin(t, st)
	require.False(t, f.DB.Recovered())
	require.NoError(t, addIndex(t, f.DB)) // a new index of the same name has its own rows
	require.NoError(t, f.DB.Recover(t.Context()))
	require.True(t, f.DB.Recovered())
	require.Len(t, tabletest.ScanIndex(f, "t", "G"), 33)
	require.NoError(t, removeIndex(f.DB))
	require.Equal(t, rows, length(st))
	require.False(t, begin(t, st).DB.Recovered(), "no Close, no counters")
}

// TestDeleteIsWhole checks that a table is deleted with all its rows, or not at all.
func TestDeleteIsWhole(t *testing.T) {
	st := unlimited(filled(t, 50))
	f := begin(t, st)
	require.NoError(t, addIndex(t, f.DB))
	st.updates = 0
	_, err := f.DB.Delete(t.Context(), "t")
	require.ErrorIs(t, err, errCut)
	st.updates = 1
	require.Len(t, tabletest.ScanIndex(f, "t", "G"), 33)
	_, err = f.DB.Delete(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, 1, length(st), "the counter of spaces")
}

// limitedStore is a store that limits the rows an update can delete, so Clear must not be called.
type limitedStore struct {
	*brittleStore
}

func (limitedStore) ClearLimit() int { return 10 }

func (s limitedStore) Update(ctx context.Context, fn func(store.Writer) error) error {
	return s.brittleStore.Update(ctx, func(w store.Writer) error { return fn(unclear{w}) })
}

// unclear is a Writer whose Clear fails.
type unclear struct{ store.Writer }

func (unclear) Clear(store.Space) error { return errors.New("too many rows for an update") }

// TestDeleteInParts deletes a table, a backup and an index with more rows than an update can delete, and ends the
// process after each of these updates.
func TestDeleteInParts(t *testing.T) {
	full := filled(t, 50)
	for name, remove := range map[string]func(*life.DB) error{
		"table": func(db *life.DB) error {
			_, err := db.Delete(t.Context(), "t")
			return err
		},
		"index":  removeIndex,
		"backup": func(db *life.DB) error { return db.DeleteBackup(t.Context(), "backup") },
	} {
		t.Run(name, func(t *testing.T) {
			for cut := 1; ; cut++ {
				require.Less(t, cut, 50)
				st := limitedStore{unlimited(fork(t, full))}
				f := begin(t, st)
				require.NoError(t, f.DB.Recover(t.Context())) // has counted the items
				before := length(st.brittleStore)
				switch name {
				case "index":
					require.NoError(t, addIndex(t, f.DB))
				case "backup":
					require.NoError(t, f.DB.CreateBackup(t.Context(), "t", newBackup("backup")))
				}
				all := length(st.brittleStore)

				st.updates = cut
				if err := remove(f.DB); err != nil {
					require.ErrorIs(t, err, errCut)
				}
				if f.DB.Recovered() {
					require.Greater(t, cut, 4, "updates of 10 rows each")
					break
				}
				require.Less(t, length(st.brittleStore), all+4, "the rows and a list of spaces")

				st.updates = -1
				f = begin(t, st)
				require.False(t, f.DB.Recovered())
				require.NoError(t, f.DB.Recover(t.Context()))
				if name == "table" {
					require.Equal(t, 1, length(st.brittleStore), "the counter of spaces")
					require.Empty(t, tabletest.Names(t, f.DB))
				} else {
					require.Equal(t, before, length(st.brittleStore))
				}
			}
		})
	}
}

// TestCounters checks that Open reads no items; that the counters of a Close are exact until something is written;
// and that Recover then counts the items, including those that are written meanwhile.
func TestCounters(t *testing.T) {
	st := unlimited(filled(t, 50))
	f := begin(t, st)
	require.Zero(t, st.scans, "Open")
	require.NoError(t, addIndex(t, f.DB))
	require.NoError(t, f.DB.Recover(t.Context()))
	wantCounts(t, f, "recovered")
	require.NoError(t, f.DB.Close(t.Context()))
	require.NoError(t, f.DB.Close(t.Context()))
	require.ErrorIs(t, f.DB.Update(t.Context(), func(*table.Tx) error { return nil }), store.ErrClosed)
	require.ErrorIs(t, removeIndex(f.DB), store.ErrClosed)

	st.scans = 0
	f = begin(t, st)
	require.True(t, f.DB.Recovered())
	require.NoError(t, f.DB.Recover(t.Context()))
	require.Zero(t, st.scans, "nothing to do")
	wantCounts(t, f, "closed")
	st.updates = 0
	require.NoError(t, f.DB.Close(t.Context()), "nothing to write")
	st.updates = -1
	require.True(t, begin(t, st).DB.Recovered())

	f = begin(t, st)
	f.Put("t", `{'PK':{'S':'more'},'g':{'S':'g1'}}`)
	wantCounts(t, f, "counted on")
	f = begin(t, st) // and no Close
	require.False(t, f.DB.Recovered())
	tb, err := f.DB.Describe(t.Context(), "t")
	require.NoError(t, err)
	if n, _ := tb.Items(); n != 50 {
		t.Errorf("%d items after a crash, want those of the last Close until they are counted", n)
	}
	meanwhile := 0
	st.atScan = func() {
		meanwhile++
		f.Put("t", fmt.Sprintf(`{'PK':{'S':'meanwhile %d'},'g':{'S':'g1'}}`, meanwhile))
	}
	require.NoError(t, f.DB.Recover(t.Context()))
	st.atScan = nil
	require.Equal(t, 2, meanwhile)
	wantCounts(t, f, "counted again")
	require.NoError(t, f.DB.Close(t.Context()))
	require.True(t, begin(t, st).DB.Recovered())
}

// TestCountersOfVectors checks that the items of a store are counted again if it has vectors and was closed by a
// version that did not yet count them as they are billed.
func TestCountersOfVectors(t *testing.T) {
	for _, dimensions := range []int64{0, 3} {
		st := memory.Open()
		t.Cleanup(func() { st.Close() })
		f := begin(t, st)
		def := &table.Definition{
			Name: "v", BillingMode: "PAY_PER_REQUEST", Key: []table.KeyElement{{Name: "PK", Hash: true}},
			Attributes: []keycond.Attribute{{Name: "PK", Kind: attr.String}},
		}
		if dimensions > 0 {
			ix := table.IndexDefinition{Name: "near", Projection: table.Projection{Type: table.ProjectKeys}}
			ix.SetVector(&table.Vector{Attribute: "v", Dimensions: dimensions, Function: table.Cosine})
			def.Vectors = append(def.Vectors, ix)
		}
		_, err := f.DB.Create(t.Context(), def)
		require.NoError(t, err)
		f.Put("v", `{'PK':{'S':'1'},'v':{'L':[{'N':'1.25'},{'N':'1.25'},{'N':'1.25'}]}}`)
		require.NoError(t, f.DB.Close(t.Context()))
		require.True(t, begin(t, st).DB.Recovered())

		require.NoError(t, setExact(t.Context(), st, 1))
		f = begin(t, st)
		require.Equal(t, dimensions == 0, f.DB.Recovered())
		require.NoError(t, f.DB.Recover(t.Context()))
		tb, err := f.DB.Describe(t.Context(), "v")
		require.NoError(t, err)
		_, bytes := tb.Items()
		size := tb.BilledSize(tabletest.Item(t, `{'PK':{'S':'1'},'v':{'L':[{'N':'1.25'},{'N':'1.25'},{'N':'1.25'}]}}`))
		require.EqualValues(t, size+100, bytes)
	}
}

// TestRecoverReadOnly checks that the items of a read-only store are counted and that the store is not changed.
func TestRecoverReadOnly(t *testing.T) {
	st := unlimited(filled(t, 1500))
	f := begin(t, st)
	st.updates = 2
	require.ErrorIs(t, addIndex(t, f.DB), errCut)
	st.updates, st.refusal = 0, store.ErrReadOnly
	f = begin(t, st)
	rows := length(st)
	require.NoError(t, f.DB.Recover(t.Context()))
	tb, err := f.DB.Describe(t.Context(), "t")
	require.NoError(t, err)
	if n, _ := tb.Items(); n != 1500 {
		t.Errorf("%d items, want 1500", n)
	}
	require.NoError(t, f.DB.Close(t.Context()))
	require.Equal(t, rows, length(st))
}

// TestRecoverBeside changes tables while recovery builds an index.
func TestRecoverBeside(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(db *life.DB) error
		tables []string
	}{
		{"another table", func(db *life.DB) error {
			_, err := db.Create(context.Background(), tabletest.Define(t, "other", "PK:S"))
			return err
		}, []string{"other", "t"}},
		{"the index goes", removeIndex, []string{"t"}},
		{"the table goes", func(db *life.DB) error {
			_, err := db.Delete(context.Background(), "t")
			return err
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := &turnStore{brittleStore: unlimited(filled(t, 2500))}
			f := begin(t, st)
			st.updates = 1
			require.ErrorIs(t, addIndex(t, f.DB), errCut)
			st.updates = -1
			f = begin(t, st)
			hook := func() { assert.NoError(t, tt.change(f.DB)) }
			st.hook.Store(&hook)
			require.NoError(t, f.DB.Recover(t.Context()))
			st.wait.Wait()
			require.True(t, f.DB.Recovered())
			require.Equal(t, tt.tables, tabletest.Names(t, f.DB))
			if slices.Contains(tt.tables, "t") {
				wantCounts(t, f, tt.name)
			}
			require.NoError(t, f.DB.Close(t.Context()))
		})
	}
}

// turnStore starts hook at the end of the next update, which adds the first part of an index. The hook then waits for
// the tables, and the build goes on after it.
type turnStore struct {
	*brittleStore
	hook atomic.Pointer[func()]
	wait sync.WaitGroup
}

func (s *turnStore) Update(ctx context.Context, fn func(store.Writer) error) error {
	err := s.brittleStore.Update(ctx, fn)
	if hook := s.hook.Swap(nil); hook != nil {
		s.wait.Go(*hook)
	}
	return err
}

func fork(t testing.TB, s store.Forker) store.Forker {
	t.Helper()
	f, err := s.Fork()
	require.NoError(t, err)
	return f.(store.Forker)
}

// length returns the number of rows of a store, in all spaces.
func length(s store.Store) int {
	switch wrapped := s.(type) {
	case *brittleStore:
		s = wrapped.Store
	case *hurriedStore:
		s = wrapped.Store
	}
	return s.(interface{ Len() int }).Len()
}

// setExact sets the value of the mark, in a closed store, that the counters are exact.
func setExact(ctx context.Context, st store.Store, mark byte) error {
	return st.Update(ctx, func(w store.Writer) error {
		return w.Put(table.CatalogueSpace, table.CountersPartition, table.ExactRow, []byte{mark})
	})
}
