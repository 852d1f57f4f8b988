package disk_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// A history records what several writers did to a store, in the order of their updates. Each update reads and
// increments a counter, which gives it its number, and changes random rows. So the state after any number of updates
// is known.
type history struct {
	mu  sync.Mutex
	ops map[uint64][]op // by the number of the update, starting with 1

	acked atomic.Uint64 // largest number that an Update returned nil for
	seen  atomic.Uint64 // largest number that a View saw
	tried atomic.Int64
}

// An op puts or deletes a row, or clears a space.
type op struct {
	kind            byte
	space           store.Space
	partition, sort string
	value           string
}

const spaces = 3 // that a history writes to

const countSpace store.Space = 7

var countPartition = []byte("count")

func drawOps(rng *rand.Rand) []op {
	ops := make([]op, 1+rng.IntN(6))
	for i := range ops {
		o := op{
			kind:      "pppppppddc"[rng.IntN(10)],
			space:     store.Space(rng.IntN(spaces)),
			partition: fmt.Sprint("p\x00", rng.IntN(5)),
			sort:      fmt.Sprint(rng.IntN(30)),
		}
		if o.kind == 'c' && rng.IntN(5) > 0 {
			o.kind = 'p'
		}
		size := rng.IntN(40)
		if rng.IntN(20) == 0 {
			size = rng.IntN(40 << 10)
		}
		b := make([]byte, size)
		for j := range b {
			b[j] = byte(rng.Uint32())
		}
		o.value = string(b)
		ops[i] = o
	}
	return ops
}

// update makes one random update. It makes its changes in an Update or in a Load.
func (h *history) update(s *disk.Store, rng *rand.Rand) error {
	ops := drawOps(rng)
	drop, load := rng.IntN(10) == 0, rng.IntN(5) == 0
	var number uint64
	h.tried.Add(1)
	begin := func(r store.Reader) (count []byte, err error) {
		v, _, err := r.Get(countSpace, countPartition, nil)
		if number = 0; v != nil {
			number = binary.BigEndian.Uint64(v)
		}
		if err != nil || drop {
			return nil, err // the state that it has read must be durable
		}
		number++
		h.mu.Lock()
		h.ops[number] = ops
		h.mu.Unlock()
		return binary.BigEndian.AppendUint64(nil, number), nil
	}
	var err error
	if load {
		err = s.Load(context.Background(), func(l store.Loading) error {
			count, err := begin(l)
			if err != nil || count == nil {
				return err
			}
			return addOps(l, append(ops, op{kind: 'p', space: countSpace, partition: string(countPartition), value: string(count)}))
		})
	} else {
		err = s.Update(context.Background(), func(w store.Writer) error {
			count, err := begin(w)
			if err != nil || count == nil {
				return err
			}
			if err := w.Put(countSpace, countPartition, nil, count); err != nil {
				return err
			}
			return doOps(w, ops)
		})
	}
	var failed *disk.FailedError
	switch {
	case err == nil:
		raise(&h.acked, number)
	case load && err != nil && !errors.As(err, &failed):
		return nil // nothing has changed, so the next update gets the same number
	}
	return err
}

func doOps(w store.Writer, ops []op) (err error) {
	for _, o := range ops {
		switch o.kind {
		case 'p':
			err = w.Put(o.space, []byte(o.partition), []byte(o.sort), []byte(o.value))
		case 'd':
			err = w.Delete(o.space, []byte(o.partition), []byte(o.sort))
		case 'c':
			err = w.Clear(o.space)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addOps makes the same changes as doOps, but in a Load, in several runs at the same time.
func addOps(l store.Loading, ops []op) error {
	changes := map[string][]byte{} // by address
	for _, o := range ops {
		at := string(address.Append(nil, o.space, []byte(o.partition), []byte(o.sort)))
		switch o.kind {
		case 'p':
			changes[at] = []byte(o.value)
		case 'd':
			changes[at] = nil
		case 'c':
			for row, err := range l.Scan(o.space, store.Everything()) {
				if err != nil {
					return err
				}
				changes[string(address.Append(nil, o.space, row.Partition, row.Sort))] = nil
			}
			for at := range changes {
				if store.Space(binary.BigEndian.Uint64([]byte(at))) == o.space {
					changes[at] = nil
				}
			}
		}
	}
	addrs := slices.Sorted(maps.Keys(changes))
	const run = 4 // changes
	var wg sync.WaitGroup
	errs := make([]error, len(addrs)/run+1)
	for i := range errs {
		wg.Go(func() {
			errs[i] = l.Add(func(yield func(addr, value []byte) bool) {
				for _, at := range addrs[i*run : min(len(addrs), (i+1)*run)] {
					if !yield([]byte(at), changes[at]) {
						return
					}
				}
			})
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (h *history) look(s *disk.Store) error {
	return s.View(context.Background(), func(r store.Reader) error {
		v, ok, err := r.Get(countSpace, countPartition, nil)
		if err == nil && ok {
			raise(&h.seen, binary.BigEndian.Uint64(v))
		}
		return err
	})
}

func raise(a *atomic.Uint64, to uint64) {
	for {
		have := a.Load()
		if have >= to || a.CompareAndSwap(have, to) {
			return
		}
	}
}

// run runs writers and a reader on s until stop returns true or one of them
// fails. It returns the errors.
func (h *history) run(s *disk.Store, seed uint64, writers int, stop func() bool) (errs []error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	work := func(do func() error) {
		for !stop() {
			if err := do(); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
				return
			}
		}
	}
	for i := range writers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			work(func() error { return h.update(s, rng) })
		})
	}
	wg.Go(func() { work(func() error { return h.look(s) }) })
	wg.Wait()
	return errs
}

// check compares the store with the state after as many updates as its counter says, which must be at least acked. It
// drops the later updates from the history, because they were lost, and returns the counter.
func (h *history) check(t testing.TB, s *disk.Store, acked uint64, what string) uint64 {
	t.Helper()
	var count uint64
	got := map[string]string{}
	require.NoError(t, s.View(context.Background(), func(r store.Reader) error {
		v, ok, err := r.Get(countSpace, countPartition, nil)
		if ok {
			count = binary.BigEndian.Uint64(v)
		}
		for space := range store.Space(spaces) {
			for row, err := range r.Scan(space, store.Everything()) {
				if err != nil {
					return err
				}
				got[fmt.Sprintf("%d/%s/%s", space, row.Partition, row.Sort)] = string(row.Value)
			}
		}
		return err
	}), what)
	require.GreaterOrEqual(t, count, acked, "%s: acknowledged updates are lost", what)
	want := map[string]string{}
	for n := uint64(1); n <= count; n++ {
		ops, ok := h.ops[n]
		require.True(t, ok, "%s: update %d never happened", what, n)
		for _, o := range ops {
			key := fmt.Sprintf("%d/%s/%s", o.space, o.partition, o.sort)
			switch o.kind {
			case 'p':
				want[key] = o.value
			case 'd':
				delete(want, key)
			case 'c':
				maps.DeleteFunc(want, func(k, _ string) bool { return k[0] == byte('0'+o.space) })
			}
		}
	}
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)), "%s: rows after %d updates", what, count)
	for k := range want {
		require.True(t, want[k] == got[k], "%s: value of %q after %d updates", what, k, count)
	}
	maps.DeleteFunc(h.ops, func(n uint64, _ []op) bool { return n > count })
	h.acked.Store(count)
	h.seen.Store(count)
	return count
}
