package memory

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTurn lets many take turns of several lengths, some of which give up, and counts without
// other protection: the race detector sees two that have the turn at once, and a lost wake-up
// ends in the test's time-out.
func TestTurn(t *testing.T) {
	turn, count, taken := new(turn), 0, 0
	var gave sync.Mutex
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			mine := 0
			for k := range 500 {
				ctx, cancel := context.WithCancel(t.Context())
				if (i+k)%7 == 0 {
					ctx, cancel = context.WithTimeout(t.Context(), time.Duration(k)*time.Microsecond)
				}
				if err := turn.take(ctx); err == nil {
					count++
					mine++
					for range (i * k) % 5 {
						runtime.Gosched()
					}
					turn.leave()
				}
				cancel()
			}
			gave.Lock()
			taken += mine
			gave.Unlock()
		})
	}
	wg.Wait()
	require.Equal(t, taken, count)
	require.GreaterOrEqual(t, taken, 16*500*6/7-16)
	require.Zero(t, turn.sleeping.Load())
	require.Empty(t, turn.queue)
	require.False(t, turn.taken.Load())
}

// TestTurnIsFair takes the turn again and again without a pause until another has had it.
func TestTurnIsFair(t *testing.T) {
	turn := new(turn)
	require.NoError(t, turn.take(t.Context()))
	had := make(chan error, 1)
	go func() {
		err := turn.take(t.Context())
		if err == nil {
			turn.leave()
		}
		had <- err
	}()
	require.Eventually(t, func() bool { return turn.sleeping.Load() == 1 }, time.Minute, time.Microsecond)
	for len(had) == 0 {
		turn.leave()
		require.NoError(t, turn.take(t.Context()))
	}
	turn.leave()
	require.NoError(t, <-had)
}

// TestTurnAmongMany waits beside others that take the turn again and again, each longer than patience, on one
// processor: who has just left is the first to look, and must not take the turn from those that sleep.
func TestTurnAmongMany(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	turn := new(turn)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil && turn.take(ctx) == nil {
				for end := time.Now().Add(2 * patience); time.Now().Before(end); {
				}
				turn.leave()
			}
		})
	}

	for range 10 {
		require.Eventually(t, func() bool { return turn.sleeping.Load() >= 3 }, time.Minute, time.Millisecond)
		had := make(chan struct{})
		go func() {
			if turn.take(ctx) == nil {
				turn.leave()
				close(had)
			}
		}()
		select {
		case <-had:
		case <-time.After(time.Minute):
			require.Fail(t, "others always come first")
		}
	}
	cancel()
	wg.Wait()
}
