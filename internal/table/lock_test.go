package table_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table/lock"
	"github.com/sortkey/sortkey/store"
)

// TestExclusive checks that nobody shares a lock that a goroutine holds exclusively, that only one does so at a time,
// and that no update is lost although many waits are cancelled.
func TestExclusive(t *testing.T) {
	life := lock.NewLifetime()
	updates := life.NewLock()
	var sharing, alone, shared, exclusive atomic.Int32
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				if err := updates.RLock(t.Context()); err != nil {
					t.Error(err)
					return
				}
				sharing.Add(1)
				shared.Add(1)
				if alone.Load() != 0 {
					t.Error("somebody has the lock exclusively")
				}
				sharing.Add(-1)
				updates.RUnlock()
			}
		})
		wg.Go(func() {
			for n := range 100 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n%3)*100*time.Microsecond)
				if unlock, err := updates.Lock(ctx); err == nil {
					if alone.Add(1) != 1 || sharing.Load() != 0 {
						t.Error("somebody else has the lock")
					}
					exclusive.Add(1)
					alone.Add(-1)
					unlock()
					unlock()
				}
				cancel()
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 2000, shared.Load())
	t.Logf("%d times exclusively", exclusive.Load())

	life.End()
	require.NoError(t, updates.Drain(t.Context()))
	require.ErrorIs(t, updates.RLock(t.Context()), store.ErrClosed)
	_, err := updates.Lock(t.Context())
	require.ErrorIs(t, err, store.ErrClosed)
	require.ErrorIs(t, life.Alive(), store.ErrClosed)
}

// TestLockWaits checks that a wait ends with its context, whose cause it returns, and with the lifetime, and that
// Drain waits for the holders of the lock.
func TestLockWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life := lock.NewLifetime()
		updates := life.NewLock()
		require.NoError(t, updates.RLock(t.Context()))
		results := make(chan error)
		exclude := func(ctx context.Context) {
			_, err := updates.Lock(ctx)
			results <- err
		}
		cause := errors.New("cause")
		ctx, cancel := context.WithCancelCause(t.Context())
		go exclude(ctx)
		synctest.Wait()
		cancel(cause)
		require.ErrorIs(t, <-results, cause)

		go exclude(t.Context())
		synctest.Wait()
		go func() { results <- updates.RLock(t.Context()) }() // behind the one that waits
		synctest.Wait()
		life.End()
		require.ErrorIs(t, <-results, store.ErrClosed)
		require.ErrorIs(t, <-results, store.ErrClosed)

		ctx, cancel = context.WithCancelCause(t.Context())
		go func() { results <- updates.Drain(ctx) }()
		synctest.Wait()
		cancel(cause)
		require.ErrorIs(t, <-results, cause)
		go func() { results <- updates.Drain(t.Context()) }()
		synctest.Wait()
		updates.RUnlock()
		require.NoError(t, <-results)
	})
}

// TestContext checks that the end of the lifetime ends the context of an update, with its cause, until the function
// of the update begins. After that only the parent does.
func TestContext(t *testing.T) {
	cause := errors.New("cause")
	for name, tt := range map[string]struct {
		begun, parent bool
		want          error
	}{
		"waiting, the lifetime ends": {false, false, store.ErrClosed},
		"begun, the lifetime ends":   {true, false, nil},
		"waiting, the parent ends":   {false, true, cause},
		"begun, the parent ends":     {true, true, cause},
	} {
		synctest.Test(t, func(t *testing.T) {
			life := lock.NewLifetime()
			parent, cancel := context.WithCancelCause(t.Context())
			ctx := life.NewContext(parent)
			done := ctx.Done()
			if tt.begun {
				ctx.Begin()
			}
			if tt.parent {
				cancel(cause)
			} else {
				life.End()
			}
			synctest.Wait()
			require.ErrorIs(t, context.Cause(ctx), tt.want, name)
			require.Equal(t, tt.want != nil, ctx.Err() != nil, name)
			select {
			case <-done:
				require.Error(t, tt.want, name)
			default:
				require.NoError(t, tt.want, name)
			}
			ctx.End()
			cancel(nil)
		})
	}
}

// TestBubbles uses one lock in several synctest bubbles, one after the other.
func TestBubbles(t *testing.T) {
	var life *lock.Lifetime
	var updates *lock.Lock
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			if life == nil {
				life = lock.NewLifetime()
				updates = life.NewLock()
			}
			require.NoError(t, updates.RLock(t.Context()))
			updates.RUnlock()
			unlock, err := updates.Lock(t.Context())
			require.NoError(t, err)
			unlock()
			require.NoError(t, life.Alive())
		})
	}
	life.End()
	require.NoError(t, updates.Drain(t.Context()))
}
