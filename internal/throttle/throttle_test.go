package throttle_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/throttle"
)

func init() { throttle.Serving() }

// TestServing checks that in a process without a server, work takes no slot.
func TestServing(t *testing.T) {
	processors(t, 2)
	throttle.Stop()
	defer throttle.Serving()
	a, b := hold(t), hold(t) // there is one slot
	a.Done()
	b.Done()
	require.Zero(t, throttle.Waiting())
}

// processors sets GOMAXPROCS for a test.
func processors(t *testing.T, n int) {
	was := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(was) })
}

// hold takes a slot.
func hold(t *testing.T) *throttle.Work {
	t.Helper()
	w := new(throttle.Work)
	require.NoError(t, w.Add(t.Context(), throttle.Stretch))
	return w
}

// waiting starts work that must wait for a slot, and returns when it waits.
func waiting(ctx context.Context, w *throttle.Work) (ended chan error) {
	before := throttle.Waiting()
	ended = make(chan error, 1)
	go func() { ended <- w.Add(ctx, throttle.Stretch) }()
	for throttle.Waiting() == before {
		runtime.Gosched()
	}
	return ended
}

// TestLimit checks, for several values of GOMAXPROCS, how much work holds slots at once, and that no slot is lost,
// even when waits are cancelled.
func TestLimit(t *testing.T) {
	for _, tt := range []struct{ procs, slots int }{{1, 1}, {2, 1}, {4, 3}} {
		processors(t, tt.procs)
		var holding, most, called atomic.Int64
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(i), uint64(tt.procs)))
				for range 200 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(200))*time.Microsecond)
					var w throttle.Work
					for range 1 + rng.IntN(4) {
						if w.Add(ctx, throttle.Stretch) != nil {
							called.Add(1)
							break
						}
						most.Store(max(most.Load(), holding.Add(1)))
						runtime.Gosched()
						holding.Add(-1)
					}
					w.Done()
					cancel()
				}
			})
		}
		wg.Wait()
		require.LessOrEqual(t, int(most.Load()), tt.slots, "GOMAXPROCS %d", tt.procs)
		var held []*throttle.Work
		for range tt.slots {
			held = append(held, hold(t))
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := waiting(ctx, new(throttle.Work))
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
		for _, w := range held {
			w.Done()
		}
		require.NotZero(t, called.Load())
	}
}

func TestCancel(t *testing.T) {
	processors(t, 2)
	held := hold(t)
	cause := errors.New("cause")
	ctx, cancel := context.WithCancelCause(t.Context())
	first, second := new(throttle.Work), new(throttle.Work)
	one := waiting(ctx, first)
	two := waiting(t.Context(), second)
	cancel(cause)
	require.ErrorIs(t, <-one, cause)
	first.Done()
	held.Done()
	require.NoError(t, <-two)
	second.Done()
	require.NoError(t, first.Add(t.Context(), throttle.Stretch), "after a wait that was called off")
	first.Done()
}

// TestOrder checks that work gets slots in order of arrival, and gives its slot to waiting work after a stretch.
func TestOrder(t *testing.T) {
	processors(t, 2)
	held := hold(t)
	var order []string
	var wg sync.WaitGroup
	for _, kind := range []string{"first", "second", "third"} {
		before := throttle.Waiting()
		wg.Go(func() {
			var w throttle.Work
			defer w.Done()
			for range 2 {
				if err := w.Add(t.Context(), throttle.Stretch); err != nil {
					t.Error(err)
				}
				order = append(order, kind) // guarded by the slot
			}
		})
		for throttle.Waiting() == before {
			runtime.Gosched()
		}
	}
	held.Done()
	wg.Wait()
	// Work that has given up its slot waits again a moment later, so another one may already have run to its end.
	require.Equal(t, []string{"first", "second"}, order[:2])
	require.ElementsMatch(t, []string{"third", "first", "second", "third"}, order[2:])
}

// TestFree checks that small work, free work and work with an exempt context wait for no slot.
func TestFree(t *testing.T) {
	processors(t, 2)
	defer hold(t).Done()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("it waits"))
	for name, tt := range map[string]struct {
		w     throttle.Work
		ctx   context.Context
		bytes int
	}{
		"small":  {throttle.Work{}, ctx, throttle.Stretch / 11},
		"free":   {throttle.Work{Free: true}, ctx, throttle.Stretch},
		"exempt": {throttle.Work{}, throttle.Exempt(ctx), throttle.Stretch},
	} {
		for range 10 {
			require.NoError(t, tt.w.Add(tt.ctx, tt.bytes), name)
		}
		tt.w.Done()
	}
	require.Error(t, new(throttle.Work).Add(ctx, throttle.Stretch))
}

// TestBubbles checks that goroutines in several synctest bubbles, and outside of them, can share slots.
func TestBubbles(t *testing.T) {
	processors(t, 2)
	var turns atomic.Int64
	work := func() {
		var w throttle.Work
		defer w.Done()
		for range 300 {
			if err := w.Add(context.Background(), throttle.Stretch); err != nil {
				t.Error(err)
			}
			turns.Add(1)
		}
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			if i%2 == 0 {
				work()
				return
			}
			synctest.Test(t, func(*testing.T) {
				began := time.Now()
				for range 2 {
					go work()
				}
				synctest.Wait()
				if time.Since(began) != 0 {
					t.Error("time has passed")
				}
			})
		})
	}
	wg.Wait()
	require.EqualValues(t, 6*300, turns.Load())
	require.Zero(t, throttle.Waiting())
}

func TestAllocations(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		var w throttle.Work
		for range 4 {
			_ = w.Add(t.Context(), throttle.Stretch)
		}
		w.Done()
	}); n != 0 {
		t.Errorf("work without contention allocates %v times, want 0", n)
	}
}
