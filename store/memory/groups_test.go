package memory_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

var account = []byte("account")

// balance returns the number in the one row of a space.
func balance(r store.Reader, space store.Space) (int64, error) {
	value, ok, err := r.Get(space, account, nil)
	if err != nil || !ok {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(value)), nil
}

func add(w store.Writer, space store.Space, amount int64) error {
	now, err := balance(w, space)
	if err != nil {
		return err
	}
	return w.Put(space, account, nil, binary.BigEndian.AppendUint64(nil, uint64(now+amount)))
}

// TestGroupsSideBySide: two Updates of different groups are inside their functions at the same time, and
// a third one of a group of theirs waits.
func TestGroupsSideBySide(t *testing.T) {
	s := memory.Open()
	var met, looked, wg sync.WaitGroup
	met.Add(2)
	looked.Add(2)
	for space := range store.Space(2) {
		wg.Go(func() {
			err := s.Update(t.Context(), func(w store.Writer) error {
				if err := add(w, space, 1); err != nil {
					return err
				}
				met.Done()
				met.Wait()

				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
				defer cancel()
				err := s.Update(ctx, func(w store.Writer) error { return add(w, 1-space+store.Groups, 1) })
				looked.Done()
				looked.Wait()
				if !errors.Is(err, context.DeadlineExceeded) {
					return fmt.Errorf("an Update of a group that another one has ended with %w", err)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 2, s.(interface{ Len() int }).Len())
}

// TestCircle: of Updates that wait for each other in a circle, one begins again, and all succeed.
func TestCircle(t *testing.T) {
	for _, n := range []int{2, 3, 7, store.Groups} {
		s := memory.Open()
		var met, wg sync.WaitGroup
		met.Add(n)
		var calls atomic.Int32
		for i := range n {
			wg.Go(func() {
				first := true
				err := s.Update(t.Context(), func(w store.Writer) error {
					calls.Add(1)
					if err := add(w, store.Space(i), 1); err != nil {
						return err
					}
					if first {
						first = false
						met.Done()
						met.Wait()
					}
					return add(w, store.Space((i+1)%n), 1)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()

		require.Greater(t, int(calls.Load()), n, "one began again")
		require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
			for i := range n {
				b, err := balance(r, store.Space(i))
				require.NoError(t, err)
				require.EqualValues(t, 2, b)
			}
			return nil
		}))
	}
}

// TestTransfers moves amounts between accounts of all groups, several at once in any order, while Views, forks,
// Updates that fail or give up, and loops over rows see that none is lost or seen twice.
func TestTransfers(t *testing.T) {
	const accounts, start, writers, transfers = 40, 1000, 6, 1500
	s := memory.Open()
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		for space := range store.Space(accounts) {
			if err := add(w, space, start); err != nil {
				return err
			}
		}
		return nil
	}))
	total := func(r store.Reader) (sum int64, err error) {
		for space := range store.Space(accounts) {
			for row, failed := range r.Scan(space, store.Everything()) {
				if failed != nil {
					return 0, failed
				}
				sum += int64(binary.BigEndian.Uint64(row.Value))
			}
		}
		return sum, nil
	}
	check := func(s store.Store) error {
		return s.View(context.Background(), func(r store.Reader) error {
			sum, err := total(r)
			if err == nil && sum != accounts*start {
				err = fmt.Errorf("all accounts have %d", sum)
			}
			return err
		})
	}

	var working, looking sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		looking.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				err := check(s)
				if err == nil && i%8 == 0 {
					var f store.Store
					if f, err = s.Fork(); err == nil {
						err = errors.Join(f.Update(context.Background(), func(w store.Writer) error {
							return errors.Join(add(w, 3, 5), add(w, 20, -5))
						}), check(f), f.Close())
					}
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}

	stop := errors.New("no more")
	for i := range writers {
		working.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 11))
			for range transfers {
				ctx, cancel := context.WithCancel(context.Background())
				kind, amount := rng.IntN(12), int64(rng.IntN(9)-4)
				parts := rng.Perm(accounts)[:2+rng.IntN(4)]
				err := s.Update(ctx, func(w store.Writer) error {
					if kind == 0 {
						if sum, err := total(w); err != nil || sum != accounts*start {
							return fmt.Errorf("an Update sees %d, %w", sum, err)
						}
					}
					for _, p := range parts[1:] {
						if err := add(w, store.Space(p), amount); err != nil {
							return err
						}
						if kind == 1 {
							cancel()
						}
					}
					if kind == 2 {
						return stop
					}
					return add(w, store.Space(parts[0]), -amount*int64(len(parts)-1))
				})
				cancel()
				if err != nil && !errors.Is(err, stop) && !errors.Is(err, context.Canceled) {
					t.Error(err)
					return
				}
			}
		})
	}
	working.Wait()
	close(done)
	looking.Wait()
	require.NoError(t, check(s))
	memory.Check(t, s)
}

// TestCloseBesideUpdates: an Update that waits for a group, and one that has changed another, end with ErrClosed.
func TestCloseBesideUpdates(t *testing.T) {
	s := memory.Open()
	holds, closed := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		err := s.Update(context.Background(), func(w store.Writer) error {
			if err := add(w, 1, 1); err != nil {
				return err
			}
			close(holds)
			<-closed
			return nil
		})
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("the first ended with %v", err)
		}
	})
	<-holds
	wg.Go(func() {
		err := s.Update(context.Background(), func(w store.Writer) error {
			if err := add(w, 2, 1); err != nil {
				return err
			}
			return add(w, 1, 1)
		})
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("the second ended with %v", err)
		}
	})
	time.Sleep(2 * time.Millisecond) // for the second to wait, usually
	require.NoError(t, s.Close())
	close(closed)
	wg.Wait()
}
