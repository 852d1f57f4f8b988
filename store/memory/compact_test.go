package memory_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
	"github.com/sortkey/sortkey/store/storetest"
)

// A compacting is a store that calls Compact after each Update.
type compacting struct{ store.Forker }

func (s compacting) Update(ctx context.Context, fn func(store.Writer) error) error {
	if err := s.Forker.Update(ctx, fn); err != nil {
		return err
	}
	return compact(s.Forker)
}

func compact(s store.Store) error { return compactUntil(context.Background(), s) }

func compactUntil(ctx context.Context, s store.Store) error {
	return s.(capability.Compactor).Compact(ctx)
}

// TestCompactingStore runs the suite on a store that is compacted all the time.
func TestCompactingStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return compacting{memory.Open()} })
}

// TestCompact compacts stores and their forks between random updates, and compares all rows with a map.
func TestCompact(t *testing.T) {
	for seed := range uint64(proptest.Cases(12)) { //nolint:gosec // few
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 1))
			type one struct {
				store store.Forker
				rows  map[string]string
			}
			stores := []one{{memory.Open(), map[string]string{}}}
			for range 25 {
				s := stores[rng.IntN(len(stores))]
				switch n := rng.IntN(20); {
				case n < 10:
					update(t, rng, s.store, s.rows)
				case n < 18:
					require.NoError(t, compact(s.store))
				case len(stores) < 4:
					stores = append(stores, one{fork(t, s.store), maps.Clone(s.rows)})
				}
				memory.Check(t, s.store)
			}
			for _, s := range stores {
				require.Equal(t, s.rows, rowsOf(t, s.store))
			}
		})
	}
}

// update puts and deletes rows at random, in the store and in rows.
func update(t *testing.T, rng *rand.Rand, s store.Store, rows map[string]string) {
	grows, wide := rng.IntN(11), []int{10, 1000, 100_000}[rng.IntN(3)]
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		for range []int{3, 300, 3000}[rng.IntN(3)] {
			partition := fmt.Appendf(nil, "p%d", rng.IntN(3))
			if rng.IntN(4) == 0 {
				partition = fmt.Appendf(partition, "\x00%d", rng.IntN(wide))
			}
			sort := fmt.Appendf(nil, "/%05d", rng.IntN(wide))
			if rng.IntN(60) == 0 {
				sort = append(sort, bytes.Repeat([]byte("long"), 70)...)
			}
			if rng.IntN(10) >= grows {
				delete(rows, string(partition)+string(sort))
				if err := w.Delete(1, partition, sort); err != nil {
					return err
				}
				continue
			}
			value := bytes.Repeat([]byte{byte(rng.IntN(200))}, []int{0, 7, 70, 128, 129, 700}[rng.IntN(6)])
			rows[string(partition)+string(sort)] = string(value)
			if err := w.Put(1, partition, sort, value); err != nil {
				return err
			}
		}
		return nil
	}))
}

// rowsOf returns all rows of a store by their partitions and sort positions.
func rowsOf(t *testing.T, s store.Store) map[string]string {
	rows := map[string]string{}
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		for row, err := range r.Scan(1, store.Everything()) {
			if err != nil {
				return err
			}
			rows[string(row.Partition)+string(row.Sort)] = string(row.Value)
		}
		return nil
	}))
	return rows
}

// TestLargePartitions checks that splits, and Compact even more so, give partitions of most of a leaf leaves of their
// own, so that a page does not repeat the sort positions that are in its values.
func TestLargePartitions(t *testing.T) {
	const partitions, rows = 400, 50
	before := heap()
	s := memory.Open()
	for i := range rows {
		require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
			for p := range partitions {
				sort := fmt.Appendf(nil, "2026-01-02T03:04:05.%07d", i*7%rows)
				err := w.Put(1, fmt.Appendf(nil, "customer-%05d", p), sort, fmt.Appendf(nil, "%s%075d", sort, p))
				if err != nil {
					return err
				}
			}
			return nil
		}))
	}
	require.Less(t, (heap()-before)/(partitions*rows), uint64(168))
	require.NoError(t, compact(s))
	require.Less(t, (heap()-before)/(partitions*rows), uint64(160))
	memory.Check(t, s)
}

// TestCompactBesideOthers compacts a store again and again, twice at a time, while other goroutines read, update and
// fork it.
func TestCompactBesideOthers(t *testing.T) {
	s := memory.Open()
	const block, rows = 250, 20 * 250
	rounds := proptest.Cases(40)
	key := func(i int) []byte { return fmt.Appendf(nil, "%06d", i) }
	put := func(from, to, step int, value string) {
		require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
			for i := from; i < to; i += step {
				if err := w.Put(1, []byte("p"), key(i), []byte(value)); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	put(0, rows, 2, "even") // each later update puts all odd rows of a block

	var wg, busy sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		busy.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					assert.NoError(t, compact(s))
				}
			}
		})
	}
	for worker := range 2 {
		wg.Go(func() {
			for i := range 5 * rounds {
				put((i*2+worker)%20*block+1, (i*2+worker)%20*block+block, 2, fmt.Sprint(i))
			}
		})
		wg.Go(func() {
			for range rounds {
				f := fork(t, s)
				memory.Check(t, f)
				assert.NoError(t, compact(f))
				_ = rowsOf(t, f)
				assert.NoError(t, f.Close())
			}
		})
	}
	wg.Go(func() {
		for range 2 * rounds {
			all := rowsOf(t, s)
			for i := 0; i < rows; i += 2 {
				assert.Equal(t, "even", all["p"+string(key(i))])
			}
			for of := range 20 {
				first := all["p"+string(key(of*block+1))]
				for i := 1; i < block; i += 2 {
					assert.Equal(t, first, all["p"+string(key(of*block+i))], "half an update")
				}
			}
		}
	})
	wg.Wait()
	close(done)
	busy.Wait()
	memory.Check(t, s)
	require.Len(t, rowsOf(t, s), rows)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, compactUntil(ctx, s), context.Canceled)
	require.NoError(t, s.Close())
	require.ErrorIs(t, compact(s), store.ErrClosed)
}

// TestWalkBesidePuts walks a leaf while other goroutines put rows into its page whose values contain their sort
// positions. The race detector checks it.
func TestWalkBesidePuts(t *testing.T) {
	s := memory.Open()
	put := func(i int) {
		key := fmt.Appendf(nil, "%06d", i)
		require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
			return w.Put(1, []byte("p"), key, fmt.Appendf(nil, "{%s}", key))
		}))
	}
	put(0)
	var puts sync.WaitGroup
	puts.Go(func() {
		for i := range 1000 {
			put(i)
		}
	})
	for range 300 {
		for key, value := range rowsOf(t, s) {
			require.Equal(t, "{"+key[1:]+"}", value)
		}
	}
	puts.Wait()
}
