package tikv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/tikv"
)

var errLost = errors.New("the connection is lost")

// impatient opens a store that gives up after a second.
func (c *cluster) impatient(t *testing.T) *tikv.Store {
	t.Helper()
	s, err := c.tryOpen(t.Context(), tikv.Options{Timeout: time.Second})
	require.NoError(t, err)
	t.Cleanup(func() {
		c.hook.Store(nil)
		require.NoError(t, s.Close())
	})
	return s
}

// TestCommitWithoutAnswer loses all answers to the commit of one Update. TiKV has committed the Update in one case,
// and not in the other.
func TestCommitWithoutAnswer(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	for _, applied := range []bool{true, false} {
		t.Run(fmt.Sprintf("applied %t", applied), func(t *testing.T) {
			c := newCluster(t)
			s := c.impatient(t)
			put(t, s, "p", "n", "1")
			var first atomic.Uint64 // the transaction that loses its answers
			c.onRequest(func(request *tikvrpc.Request, send func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
				if request.Type != tikvrpc.CmdCommit {
					return send()
				}
				start := request.Commit().StartVersion
				if first.CompareAndSwap(0, start); first.Load() != start {
					return send()
				}
				if applied {
					_, _ = send()
				}
				return nil, errLost
			})
			calls := 0
			require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
				calls++
				n, err := strconv.Atoi(get(t, w, "p", "n"))
				if err != nil {
					return err
				}
				return w.Put(1, []byte("p"), []byte("n"), fmt.Append(nil, n+1))
			}))
			stats := s.Stats()
			require.EqualValues(t, 1, stats.Resolved)
			if applied {
				require.Equal(t, 1, calls)
			} else {
				require.Equal(t, 2, calls)
				require.EqualValues(t, 1, stats.Refused)
			}
			require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
				require.Equal(t, "2", get(t, r, "p", "n"))
				return nil
			}))
		})
	}
}

// TestLateCommit delivers a commit after the Update has been told that it did not
// happen and has run again.
func TestLateCommit(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	c := newCluster(t)
	s := c.impatient(t)
	var first atomic.Uint64
	var late func() (*tikvrpc.Response, error)
	c.onRequest(func(request *tikvrpc.Request, send func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		if request.Type != tikvrpc.CmdCommit {
			return send()
		}
		start := request.Commit().StartVersion
		if first.CompareAndSwap(0, start); first.Load() != start {
			return send()
		}
		late = func() (*tikvrpc.Response, error) {
			return c.rpc.SendRequest(context.Background(), "store1", request, time.Second)
		}
		return nil, errLost
	})
	calls := 0
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		calls++
		return w.Put(1, []byte("p"), []byte("k"), fmt.Append(nil, calls))
	}))
	require.Equal(t, 2, calls)
	put(t, s, "p", "k", "newer")
	answer, err := late()
	require.NoError(t, err)
	require.NotNil(t, answer.Resp.(*kvrpcpb.CommitResponse).Error)
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		require.Equal(t, "newer", get(t, r, "p", "k"))
		return nil
	}))
}

// TestUnknown loses the answers to the questions about a commit as well.
func TestUnknown(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	c := newCluster(t)
	s := c.impatient(t)
	c.onRequest(func(request *tikvrpc.Request, send func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		switch request.Type {
		case tikvrpc.CmdCommit, tikvrpc.CmdCheckTxnStatus, tikvrpc.CmdResolveLock:
			_, _ = send()
			return nil, errLost
		}
		return send()
	})
	err := s.Update(t.Context(), func(w store.Writer) error { return w.Put(1, []byte("p"), []byte("k"), nil) })
	require.ErrorIs(t, err, tikv.ErrUnknown)
}

// TestEveryFault refuses each request of some Updates before the mock gets it, and loses each answer: once for each
// number of the attempt. A counter shows whether each acknowledged Update was applied.
func TestEveryFault(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	acknowledged := 0
	c := newCluster(t)
	s, err := c.tryOpen(t.Context(), tikv.Options{Timeout: 10 * time.Second})
	require.NoError(t, err)
	defer func() {
		c.hook.Store(nil)
		require.NoError(t, s.Close())
	}()
	count := func(w store.Writer) error {
		found, err := rows(w, "range", store.Range{}, true)
		if err != nil {
			return err
		}
		value, _, err := w.Get(1, []byte("p"), []byte("n"))
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(string(value))
		if n != len(found) {
			t.Errorf("counter = %d beside %d rows", n, len(found))
		}
		if err := w.Put(1, []byte("range"), fmt.Appendf(nil, "%04d", n), nil); err != nil {
			return err
		}
		return w.Put(1, []byte("p"), []byte("n"), fmt.Append(nil, n+1))
	}
	for _, lost := range []bool{false, true} {
		for at := 1; ; at++ {
			var mu sync.Mutex
			n := 0
			c.onRequest(func(_ *tikvrpc.Request, send func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
				mu.Lock()
				n++
				fault := n == at
				mu.Unlock()
				if !fault {
					return send()
				}
				if lost {
					_, _ = send()
				}
				return nil, errLost
			})
			require.NoError(t, s.Update(t.Context(), count), "request %d, lost answer %t", at, lost)
			acknowledged++
			mu.Lock()
			over := n < at
			mu.Unlock()
			if over {
				break
			}
		}
	}
	c.hook.Store(nil)
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		require.Equal(t, strconv.Itoa(acknowledged), get(t, r, "p", "n"))
		found, err := rows(r, "range", store.Range{}, false)
		require.Len(t, found, acknowledged)
		return err
	}))
	require.Greater(t, acknowledged, 10)
}

// TestDeadlock makes two Updates lock two rows in opposite orders. Then it makes them write two rows, which they have
// not read, in an order that is opposite to their locks.
func TestDeadlock(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	for _, blind := range []bool{false, true} {
		s := newCluster(t).open(t)
		var ready, done sync.WaitGroup
		ready.Add(2)
		for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
			done.Go(func() {
				var once sync.Once
				err := s.Update(t.Context(), func(w store.Writer) error {
					if _, _, err := w.Get(1, []byte(order[0]), nil); err != nil {
						return err
					}
					once.Do(func() {
						ready.Done()
						ready.Wait()
					})
					if !blind {
						if _, _, err := w.Get(1, []byte(order[1]), nil); err != nil {
							return err
						}
					}
					return w.Put(1, []byte(order[1]), nil, []byte(order[0]))
				})
				if err != nil {
					t.Errorf("Update, blind %t: %v", blind, err)
				}
			})
		}
		done.Wait()
	}
}

// TestEndOfContext ends the context of an Update that waits for a lock.
func TestEndOfContext(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	s := c.open(t)
	why := errors.New("enough")
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		require.Equal(t, "-", get(t, w, "p", "k"))
		ctx, cancel := context.WithCancelCause(t.Context())
		var locks atomic.Int32
		c.onRequest(func(request *tikvrpc.Request, send func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
			if request.Type == tikvrpc.CmdPessimisticLock && locks.Add(1) == 3 {
				cancel(why)
			}
			return send()
		})
		defer c.hook.Store(nil)
		failed := make(chan error)
		go func() {
			failed <- s.Update(ctx, func(w store.Writer) error {
				_, _, err := w.Get(1, []byte("p"), []byte("k"))
				return err
			})
		}()
		require.ErrorIs(t, <-failed, why)
		return w.Put(1, []byte("p"), []byte("k"), []byte("v"))
	}))
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		require.Equal(t, "v", get(t, r, "p", "k"))
		return nil
	}))
}

// TestSwallowedError checks that an Update cannot be committed after a read has failed, even if its function ignores
// the error.
func TestSwallowedError(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	c := newCluster(t)
	s := c.impatient(t)
	c.onRequest(func(request *tikvrpc.Request, send func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		if request.Type == tikvrpc.CmdScan {
			return nil, errLost
		}
		return send()
	})
	require.Error(t, s.Update(t.Context(), func(w store.Writer) error {
		_, err := rows(w, "p", store.Range{}, false)
		require.Error(t, err)
		return w.Put(1, []byte("p"), []byte("k"), nil)
	}))
	c.hook.Store(nil)
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		require.Equal(t, "-", get(t, r, "p", "k"))
		return nil
	}))
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	s := newCluster(t).open(t)
	value := bytes.Repeat([]byte("v"), 5<<20)
	require.ErrorIs(t, s.Update(t.Context(), func(w store.Writer) error {
		return w.Put(1, []byte("p"), nil, append(value, value...))
	}), tikv.ErrTooLarge)
	n := 0
	require.ErrorIs(t, s.Update(t.Context(), func(w store.Writer) error {
		for n = 0; n < 100; n++ {
			if err := w.Put(1, []byte("p"), fmt.Append(nil, n), value); err != nil {
				return err
			}
		}
		return nil
	}), tikv.ErrTooLarge)
	require.Equal(t, 19, n, "5 MB each")
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		found, err := rows(r, "p", store.Range{}, false)
		require.Empty(t, found)
		return err
	}))
}
