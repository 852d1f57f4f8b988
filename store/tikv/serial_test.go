package tikv_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
)

// TestPhantom inserts a row into a range that a running Update has found empty.
func TestPhantom(t *testing.T) {
	t.Parallel()
	for _, reverse := range []bool{false, true} {
		s := newCluster(t).open(t)
		calls := 0
		require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
			calls++
			found, err := rows(w, "p", store.Range{Lo: []byte("b"), Hi: []byte("d")}, reverse)
			if err != nil {
				return err
			}
			if calls == 1 {
				done := make(chan struct{})
				go func() {
					defer close(done)
					put(t, s, "p", "a", "outside")
					put(t, s, "p", "d", "outside")
					put(t, s, "p", "c", "inside")
				}()
				<-done
			}
			return w.Put(1, []byte("q"), []byte("found"), fmt.Append(nil, found))
		}))
		// The function may be called once more than that, when the lock of the put is still being resolved.
		require.GreaterOrEqual(t, calls, 2)
		require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
			require.Equal(t, "[c=inside]", get(t, r, "q", "found"))
			return nil
		}))
	}
}

// TestRangeOfOthers checks which Updates do not disturb an Update that has read a range: those of rows outside of the
// range, and of rows after the last one that it has read.
func TestRangeOfOthers(t *testing.T) {
	t.Parallel()
	s := newCluster(t).open(t)
	for i := range 100 {
		put(t, s, "p", fmt.Sprintf("%03d", i), "v")
	}
	calls := 0
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		calls++
		for range w.Query(1, []byte("p"), store.Range{}, false) {
			break // after the first chunk
		}
		if _, err := rows(w, "q", store.Range{}, true); err != nil {
			return err
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			put(t, s, "p", "050", "new")
			put(t, s, "p", "0505", "new")
			put(t, s, "r", "x", "new")
		}()
		<-done
		return w.Put(1, []byte("p"), []byte("001"), []byte("own")) // in the range itself
	}))
	require.Equal(t, 1, calls)
}

// An act is an operation of a random Update with its result.
type act struct {
	kind            int // 0 get, 1 query, 2 reverse query, 3 scan, 4 put, 5 delete, 6 prefetch
	partition, sort string
	rng             store.Range
	got             string
}

// run performs the act on a writer.
func (a *act) run(w store.Writer, id string) (err error) {
	var found []string
	switch a.kind {
	case 0:
		var value []byte
		var ok bool
		value, ok, err = w.Get(1, []byte(a.partition), []byte(a.sort))
		found = append(found, fmt.Sprint(string(value), ok))
	case 1, 2:
		found, err = rows(w, a.partition, a.rng, a.kind == 2)
	case 3:
		for row, failed := range w.Scan(1, store.Everything()) {
			if err = failed; err != nil {
				break
			}
			found = append(found, fmt.Sprintf("%s/%s=%s", row.Partition, row.Sort, row.Value))
		}
		slices.Sort(found)
	case 4:
		err = w.Put(1, []byte(a.partition), []byte(a.sort), []byte(id))
	case 5:
		err = w.Delete(1, []byte(a.partition), []byte(a.sort))
	case 6:
		var addrs [][]byte
		for _, partition := range []string{"p", "q"} {
			addrs = append(addrs, address.Append(nil, 1, []byte(partition), []byte(a.sort)))
		}
		err = w.(capability.Prefetcher).Prefetch(addrs)
		for _, partition := range []string{"p", "q"} {
			value, ok, failed := w.Get(1, []byte(partition), []byte(a.sort))
			err = errors.Join(err, failed)
			found = append(found, fmt.Sprint(string(value), ok))
		}
	}
	a.got = strings.Join(found, " ")
	return err
}

// replay performs the act on a model, which maps a partition, a slash and a sort position to a value.
func (a *act) replay(model map[string]string, id string) string {
	at := a.partition + "/" + a.sort
	var found []string
	switch a.kind {
	case 0:
		value, ok := model[at]
		found = append(found, fmt.Sprint(value, ok))
	case 1, 2:
		for _, at := range slices.Sorted(maps.Keys(model)) {
			if sort, ok := strings.CutPrefix(at, a.partition+"/"); ok && a.rng.Contains([]byte(sort)) {
				found = append(found, sort+"="+model[at])
			}
		}
		if a.kind == 2 {
			slices.Reverse(found)
		}
	case 3:
		for at, value := range model {
			found = append(found, at+"="+value)
		}
		slices.Sort(found)
	case 4:
		model[at] = id
	case 5:
		delete(model, at)
	case 6:
		for _, partition := range []string{"p", "q"} {
			value, ok := model[partition+"/"+a.sort]
			found = append(found, fmt.Sprint(value, ok))
		}
	}
	return strings.Join(found, " ")
}

// readOnly lets an act, which takes a Writer, run on a Reader.
type readOnly struct{ store.Reader }

func (readOnly) Put(store.Space, []byte, []byte, []byte) error { return errors.ErrUnsupported }
func (readOnly) Delete(store.Space, []byte, []byte) error      { return errors.ErrUnsupported }
func (readOnly) Clear(store.Space) error                       { return errors.ErrUnsupported }

// TestOrderOfCommits runs random Updates at the same time, while regions move and answers are lost. It records at
// which timestamp TiKV commits each of them. When it replays the Updates in that order, each must read again what it
// has read, and each View must have seen a state between two of them.
func TestOrderOfCommits(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	for round := range proptest.Cases(2) {
		seed := proptest.Seed() + int64(round)
		t.Run("", func(t *testing.T) {
			t.Parallel()
			orderOfCommits(t, uint64(seed))
			if t.Failed() {
				t.Logf("to repeat these Updates, set SORTKEY_SEED=%d; goroutines may interleave in another way", seed)
			}
		})
	}
}

func orderOfCommits(t *testing.T, seed uint64) {
	const workers = 6
	updates := 4 // of each goroutine; when regions move, one Update may wait seconds for the client
	if proptest.Long() {
		updates = 15
	}
	c := newCluster(t)
	s := c.open(t)
	defer c.hook.Store(nil)
	var mu sync.Mutex
	faults := rand.New(rand.NewPCG(seed, workers))
	chance := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return faults.IntN(n)
	}
	commits := map[uint64]uint64{} // by start
	starts := map[string]uint64{}  // start timestamps, by the id that the Update writes
	c.onRequest(func(request *tikvrpc.Request, send func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		if key := keyOf(request); key != nil && chance(50) == 0 {
			c.move(key)
		}
		for range chance(4) {
			runtime.Gosched()
		}
		if r, ok := request.Req.(*kvrpcpb.PrewriteRequest); ok {
			mu.Lock()
			for _, m := range r.Mutations {
				if _, id, ok := strings.Cut(string(m.Key), "id:"); ok {
					starts[id] = r.StartVersion
				}
			}
			mu.Unlock()
		}
		answer, err := send()
		if r, ok := request.Req.(*kvrpcpb.CommitRequest); ok && err == nil {
			if done := answer.Resp.(*kvrpcpb.CommitResponse); done.Error == nil && done.RegionError == nil {
				mu.Lock()
				commits[r.StartVersion] = r.CommitVersion
				mu.Unlock()
			}
		}
		if chance(100) == 0 {
			return nil, errLost
		}
		return answer, err
	})
	type done struct {
		id   string
		acts []act
	}
	var all []done
	var seen []string // by Views
	var running sync.WaitGroup
	for worker := range workers {
		running.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(worker)))
			for i := range updates {
				id := fmt.Sprintf("%d.%d", worker, i)
				acts := make([]act, 1+rng.IntN(6))
				for i := range acts {
					letter := func() string { return string(rune('a' + rng.IntN(4))) }
					acts[i] = act{kind: []int{0, 0, 0, 1, 1, 2, 3, 4, 4, 4, 5, 5, 6, 6}[rng.IntN(14)], partition: string(rune('p' + rng.IntN(2))), sort: letter()}
					if rng.IntN(2) == 0 {
						acts[i].rng = store.Range{Lo: []byte(letter()), Hi: []byte(letter())}
					}
				}
				err := s.Update(context.Background(), func(w store.Writer) error {
					for i := range acts {
						if err := acts[i].run(w, id); err != nil {
							return err
						}
						runtime.Gosched()
					}
					return w.Put(2, []byte("ids"), []byte("id:"+id), nil)
				})
				if err != nil {
					t.Errorf("Update: %v", err)
					return
				}
				mu.Lock()
				all = append(all, done{id, acts})
				mu.Unlock()
				err = s.View(context.Background(), func(r store.Reader) error {
					whole := act{kind: 3}
					if err := whole.run(readOnly{Reader: r}, ""); err != nil {
						return err
					}
					mu.Lock()
					seen = append(seen, whole.got)
					mu.Unlock()
					return nil
				})
				if err != nil {
					t.Errorf("View: %v", err)
				}
			}
		})
	}
	running.Wait()
	mu.Lock()
	defer mu.Unlock()
	slices.SortFunc(all, func(x, y done) int {
		return int(int64(commits[starts[x.id]] - commits[starts[y.id]]))
	})
	model := map[string]string{}
	whole := act{kind: 3}
	states := map[string]bool{"": true}
	for _, u := range all {
		require.NotZero(t, commits[starts[u.id]])
		for _, a := range u.acts {
			if want := a.replay(model, u.id); a.got != want {
				t.Errorf("Update %s: %+v, want %q", u.id, a, want)
			}
		}
		states[whole.replay(model, "")] = true
	}
	for _, got := range seen {
		if !states[got] {
			t.Errorf("a View has seen %q, which is no state between two Updates", got)
		}
	}
}
