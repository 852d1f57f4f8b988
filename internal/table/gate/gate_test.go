package gate_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table/gate"
	"github.com/sortkey/sortkey/store"
)

// TestLock lets goroutines take a lock whose waits end at random, and counts who is inside.
func TestLock(t *testing.T) {
	g := gate.New()
	var l gate.Lock
	var inside, taken atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 300 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration((i+n)%5)*20*time.Microsecond)
				if l.Take(ctx, g) == nil {
					if inside.Add(1) != 1 {
						t.Error("two hold the lock")
					}
					taken.Add(1)
					inside.Add(-1)
					l.Leave()
				}
				cancel()
			}
		})
	}
	wg.Wait()
	require.NoError(t, l.Take(t.Context(), g), "nobody holds it after %d turns", taken.Load())
}

// TestPause: no update is under way during a pause, and none is lost.
func TestPause(t *testing.T) {
	g := gate.New()
	var under, updates, pauses atomic.Int32
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				if err := g.Enter(t.Context()); err != nil {
					t.Error(err)
					return
				}
				under.Add(1)
				updates.Add(1)
				under.Add(-1)
				g.Leave()
			}
		})
		wg.Go(func() {
			for n := range 100 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n%3+1)*time.Millisecond)
				resume, err := g.Pause(ctx)
				if err == nil {
					if under.Load() != 0 {
						t.Error("an update is under way")
					}
					pauses.Add(1)
					resume()
					resume()
				}
				cancel()
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 2000, updates.Load())
	require.NotZero(t, pauses.Load())
	require.NoError(t, g.End(t.Context()))
	require.ErrorIs(t, g.Enter(t.Context()), store.ErrClosed)
	_, err := g.Pause(t.Context())
	require.ErrorIs(t, err, store.ErrClosed)
}

// TestTurn: until the function begins, the end of the gate ends the context of a turn, with its
// cause; from then on only the parent does.
func TestTurn(t *testing.T) {
	cause := errors.New("cause")
	for name, tt := range map[string]struct {
		begun, parent bool
		want          error
	}{
		"waiting, the gate ends":   {false, false, store.ErrClosed},
		"begun, the gate ends":     {true, false, nil},
		"waiting, the parent ends": {false, true, cause},
		"begun, the parent ends":   {true, true, cause},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := gate.New()
			ctx, cancel := context.WithCancelCause(t.Context())
			var turn gate.Turn
			turn.Start(ctx, g)
			done := turn.Done()
			if tt.begun {
				turn.Begin()
			}
			if tt.parent {
				cancel(cause)
			} else {
				require.NoError(t, g.End(t.Context()))
			}
			synctest.Wait()
			require.ErrorIs(t, context.Cause(&turn), tt.want, name)
			require.Equal(t, tt.want != nil, turn.Err() != nil, name)
			select {
			case <-done:
				require.Error(t, tt.want, name)
			default:
				require.NoError(t, tt.want, name)
			}
			turn.End()
			cancel(nil)
		})
	}
}

// TestBubbles: several bubbles use one gate, one after the other.
func TestBubbles(t *testing.T) {
	var g *gate.Gate
	var l gate.Lock
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			if g == nil {
				g = gate.New()
			}
			require.NoError(t, g.Enter(t.Context()))
			g.Leave()
			require.NoError(t, l.Take(t.Context(), g))
			l.Leave()
			resume, err := g.Pause(t.Context())
			require.NoError(t, err)
			resume()
			require.NoError(t, g.Alive())
		})
	}
	require.NoError(t, g.End(t.Context()))
}
