package memory_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// A family is a store, the rows that it should contain, and values that it has returned.
type family struct {
	rng  *rand.Rand
	s    store.Store
	rows map[[2]string]string // by partition and sort position
	kept *[]returned
}

// A returned has bytes that a store has returned, and their hash at that time.
type returned struct {
	b    []byte
	hash uint64
}

var hashSeed = maphash.MakeSeed()

func (f *family) keep(b []byte) { *f.kept = append(*f.kept, returned{b, maphash.Bytes(hashSeed, b)}) }

// row returns the address of one of a few hundred rows. Its partition and sort position may contain zeros and be
// long.
func (f *family) row() (at [2]string) {
	n := f.rng.IntN(300)
	at = [2]string{fmt.Sprint("p", n%7), fmt.Sprintf("%03d", n)}
	switch n % 7 {
	case 1:
		at[0] = "\x00" + at[0] + "\x00\x00"
	case 2: // a partition of its own
		at = [2]string{fmt.Sprintf("%d\x00", n), ""}
	case 3:
		at[0] += string(bytes.Repeat([]byte{'l'}, 90))
	case 4:
		at[1] += string(bytes.Repeat([]byte{0}, n))
	case 5:
		at[0] += string(bytes.Repeat([]byte{0}, n))
	}
	return at
}

func (f *family) value() []byte {
	size := f.rng.IntN(90)
	switch f.rng.IntN(200) {
	case 0:
		size = f.rng.IntN(100_000)
	case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10:
		size = f.rng.IntN(600)
	}
	value := make([]byte, size)
	for i := range value {
		value[i] = byte(f.rng.Uint32())
	}
	return value
}

var errUndone = errors.New("undone")

// update makes random writes, and sometimes fails after them.
func (f *family) update() error {
	fails := f.rng.IntN(6) == 0
	rows := f.rows
	err := f.s.Update(context.Background(), func(w store.Writer) error {
		rows = maps.Clone(f.rows)
		if f.rng.IntN(150) == 0 {
			clear(rows)
			if err := w.Clear(1); err != nil {
				return err
			}
		}
		for range 1 + f.rng.IntN(12) {
			at := f.row()
			if f.rng.IntN(4) == 0 {
				delete(rows, at)
				if err := w.Delete(1, []byte(at[0]), []byte(at[1])); err != nil {
					return err
				}
				continue
			}
			value := f.value()
			rows[at] = string(value)
			if err := w.Put(1, []byte(at[0]), []byte(at[1]), value); err != nil {
				return err
			}
			got, ok, err := w.Get(1, []byte(at[0]), []byte(at[1]))
			if err != nil || !ok || !bytes.Equal(got, value) {
				return fmt.Errorf("Get after Put of %d bytes: %d bytes, %t, %v", len(value), len(got), ok, err)
			}
			f.keep(got) // also of an Update that fails
		}
		if fails {
			return errUndone
		}
		return nil
	})
	if fails && errors.Is(err, errUndone) {
		return nil
	}
	f.rows = rows
	return err
}

// check compares all rows with the expected ones, and keeps some of the returned values.
func (f *family) check(r store.Reader) error {
	n := 0
	for row, err := range r.Scan(1, store.Everything()) {
		if err != nil {
			return err
		}
		want, ok := f.rows[[2]string{string(row.Partition), string(row.Sort)}]
		if !ok || want != string(row.Value) {
			return fmt.Errorf("%q/%q: %d bytes, want %d of a row that exists: %t",
				row.Partition, row.Sort, len(row.Value), len(want), ok)
		}
		if n++; f.rng.IntN(20) == 0 {
			f.keep(row.Partition)
			f.keep(row.Sort)
			f.keep(row.Value)
		}
	}
	if n != len(f.rows) {
		return fmt.Errorf("%d rows, want %d", n, len(f.rows))
	}
	for range 20 {
		at := f.row()
		var sorts []string
		for row, err := range r.Query(1, []byte(at[0]), store.Range{}, f.rng.IntN(2) == 0) {
			if err != nil {
				return err
			}
			if f.rows[[2]string{at[0], string(row.Sort)}] != string(row.Value) {
				return fmt.Errorf("%q/%q: wrong value", at[0], row.Sort)
			}
			sorts = append(sorts, string(row.Sort))
		}
		want := 0
		for k := range f.rows {
			if k[0] == at[0] {
				want++
			}
		}
		slices.Sort(sorts)
		if len(slices.Compact(sorts)) != want {
			return fmt.Errorf("%q: %d rows, want %d", at[0], len(sorts), want)
		}
	}
	return nil
}

// live updates, forks and checks a store for some rounds.
func (f *family) live(rounds int) error {
	for round := range rounds {
		if err := f.update(); err != nil {
			return err
		}
		switch f.rng.IntN(12) {
		case 0: // continue with a fork of the fork, and update its origin too, which the fork must not see
			s, err := f.s.(store.Forker).Fork()
			if err != nil {
				return err
			}
			origin := *f
			f.s = s
			for range 5 {
				if err := origin.update(); err != nil {
					return err
				}
			}
		case 1: // hold a View
			old := *f
			old.rows = maps.Clone(f.rows)
			err := f.s.View(context.Background(), func(r store.Reader) error {
				for range 1 + f.rng.IntN(20) {
					if err := f.update(); err != nil {
						return err
					}
				}
				return old.check(r)
			})
			if err != nil {
				return fmt.Errorf("round %d, in a View: %w", round, err)
			}
		case 2:
			if err := f.s.View(context.Background(), f.check); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
	}
	return f.s.View(context.Background(), f.check)
}

// TestLengths puts rows of one partition. Their sort positions and values have all lengths around the limits of a
// page. Then it gives each row a value of another length.
func TestLengths(t *testing.T) {
	for _, partition := range []string{"p", "p\x00", string(bytes.Repeat([]byte{'p'}, 150)), string(make([]byte, 40))} {
		s := memory.Open()
		rng := rand.New(rand.NewPCG(1, 1))
		for range 2 {
			want := map[string]string{}
			require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
				for n := range 300 {
					sort := fmt.Sprintf("%02d", n%41) + string(bytes.Repeat([]byte{'s'}, n))
					value := bytes.Repeat([]byte{byte(n)}, rng.IntN(300))
					want[sort] = string(value)
					if err := w.Put(1, []byte(partition), []byte(sort), value); err != nil {
						return err
					}
				}
				return nil
			}))
			memory.Check(t, s)

			for sort, value := range want {
				got, ok, err := s.(capability.Getter).Get(t.Context(), 1, []byte(partition), []byte(sort))
				require.NoError(t, err)
				require.True(t, ok)
				require.Equal(t, value, string(got))
			}
			require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
				for _, rows := range []iter.Seq2[store.Row, error]{
					r.Scan(1, store.Everything()),
					r.Query(1, []byte(partition), store.Range{}, false), r.Query(1, []byte(partition), store.Range{}, true),
				} {
					got := map[string]string{}
					for row, err := range rows {
						require.NoError(t, err)
						require.Equal(t, partition, string(row.Partition))
						got[string(row.Sort)] = string(row.Value)
					}
					require.Equal(t, want, got)
				}
				return nil
			}))
		}
	}
}

// TestForksShareLeaves updates forks of forks at the same time, so that they add rows to the same pages, while Views
// of earlier states run. At the end it compares all bytes that were ever returned.
func TestForksShareLeaves(t *testing.T) {
	const forks = 4
	var origin store.Store = memory.Open()
	var kept [forks + 1][]returned
	first := &family{rand.New(rand.NewPCG(1, 9)), origin, map[[2]string]string{}, &kept[forks]}
	for range 100 {
		require.NoError(t, first.update())
	}

	stores := []store.Store{origin}
	for range forks - 1 {
		stores = append(stores, fork(t, origin.(store.Forker)))
	}
	var wg sync.WaitGroup
	for i, s := range stores {
		wg.Go(func() {
			f := &family{rand.New(rand.NewPCG(uint64(i), 10)), s, maps.Clone(first.rows), &kept[i]}
			if err := f.live(proptest.Cases(150)); err != nil {
				t.Errorf("fork %d: %v", i, err)
			}
			runtime.GC()
			memory.Check(t, f.s)
		})
	}
	wg.Wait()
	for _, list := range kept {
		for _, r := range list {
			require.Equal(t, r.hash, maphash.Bytes(hashSeed, r.b), "bytes that were returned have changed")
		}
	}
}

// TestNothingInCommon walks a leaf whose page is empty, because all of its keys overflow and differ in their first
// byte.
func TestNothingInCommon(t *testing.T) {
	s := memory.Open()
	defer s.Close()
	spaces := []store.Space{0, 1 << 56, 1<<64 - 1}
	long := bytes.Repeat([]byte("s"), 300)
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		for i, space := range spaces {
			if err := w.Put(space, []byte("p"), long, []byte{byte(i)}); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		for i, space := range spaces {
			n := 0
			for row, err := range r.Scan(space, store.Everything()) {
				require.NoError(t, err)
				require.Equal(t, []byte{byte(i)}, row.Value)
				n++
			}
			for row, err := range r.Query(space, []byte("p"), store.Range{}, false) {
				require.NoError(t, err)
				require.Equal(t, long, row.Sort)
				n++
			}
			require.Equal(t, 2, n)
		}
		return nil
	}))
}
