package postgres

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLimit checks that operations, most of which share a timer, have at least their time and at most an eighth more,
// and that they also end with their own context.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const least = 8 * time.Second
		l := &limit{time: least}
		defer l.close()
		for i := range 40 {
			began := time.Now()
			ctx, end := l.on(t.Context())
			go func() {
				defer end()
				<-ctx.Done()
				require.ErrorIs(t, context.Cause(ctx), context.DeadlineExceeded, i)
				require.GreaterOrEqual(t, time.Since(began), least, i)
				require.LessOrEqual(t, time.Since(began), least+least/8, i)
			}()
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(2 * least)

		parent, cancel := context.WithCancel(t.Context())
		ctx, end := l.on(parent)
		cancel()
		<-ctx.Done()
		require.ErrorIs(t, context.Cause(ctx), context.Canceled)
		end()

		ctx, end = l.on(t.Context())
		end()
		require.ErrorIs(t, ctx.Err(), context.Canceled)
		l.close()
		ctx, end = l.on(t.Context())
		defer end()
		<-ctx.Done() // an operation after Close
	})
}
