package table_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
)

// TestRecountWhileClosing checks that a Close during a count either writes exact counters or does not mark them as
// exact.
func TestRecountWhileClosing(t *testing.T) {
	st := filled(t, 30)
	begun, counted := make(chan struct{}), make(chan struct{})
	scanning := unlimited(st)
	scanning.atScan = func() {
		close(begun)
		<-counted
	}
	f := begin(t, &closingStore{scanning, func() {
		close(counted)
		for range 1000 {
			runtime.Gosched() // let the count end here, if nothing makes it wait
		}
	}})
	done := make(chan error, 1)
	go func() { done <- f.DB.Recover(context.Background()) }()
	<-begun
	require.NoError(t, f.DB.Close(t.Context()))
	require.ErrorIs(t, <-done, store.ErrClosed)

	again := begin(t, st)
	if again.DB.Recovered() {
		wantCounts(t, again, "said to be exact")
	}
}

// A closingStore calls a function when an update has written its first row.
type closingStore struct {
	*brittleStore
	written func()
}

func (s *closingStore) Update(ctx context.Context, fn func(store.Writer) error) error {
	return s.brittleStore.Update(ctx, func(w store.Writer) error { return fn(&closingWriter{w, s}) })
}

type closingWriter struct {
	store.Writer
	s *closingStore
}

func (w *closingWriter) Put(space store.Space, partition, sort, value []byte) error {
	err := w.Writer.Put(space, partition, sort, value)
	if w.s.written != nil {
		w.s.written()
		w.s.written = nil
	}
	return err
}
