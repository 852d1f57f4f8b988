package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestExpecting checks that a Store that expects a row notices when another Store changes the row: in every call,
// even if its function reads nothing.
func TestExpecting(t *testing.T) {
	url := database(t)
	one, other := open(t, url, postgres.Options{}), open(t, url, postgres.Options{})
	version := func(value []byte) store.Store { return one.Expecting(0, []byte("v"), nil, value) }
	set(t, other, "a", "1")
	put := func(w store.Writer) error { return w.Put(1, []byte("b"), nil, []byte("1")) }
	mine := errors.New("of the function")
	check := func(st store.Store, want error) {
		t.Helper()
		get := func(r store.Reader) error {
			_, ok, err := r.Get(1, []byte("a"), nil)
			require.Equal(t, err == nil, ok)
			return nil
		}
		query := func(r store.Reader) error {
			for _, err := range r.Query(1, []byte("a"), store.Range{}, true) {
				return err
			}
			return nil
		}
		for _, fn := range []func(store.Reader) error{get, query, func(store.Reader) error { return nil }} {
			require.ErrorIs(t, st.View(t.Context(), fn), want)
			require.ErrorIs(t, st.Update(t.Context(), func(w store.Writer) error { return fn(w) }), want)
			require.ErrorIs(t, st.Update(t.Context(), func(w store.Writer) error { return errors.Join(fn(w), put(w)) }), want)
		}
		if want == nil {
			require.ErrorIs(t, st.View(t.Context(), func(store.Reader) error { return mine }), mine)
			require.ErrorIs(t, st.Update(t.Context(), func(store.Writer) error { return mine }), mine)
		} else {
			require.ErrorIs(t, st.View(t.Context(), func(store.Reader) error { return mine }), want)
			require.ErrorIs(t, st.Update(t.Context(), func(store.Writer) error { return mine }), want)
		}
		_, _, err := st.(capability.Getter).Get(t.Context(), 1, []byte("a"), nil)
		require.ErrorIs(t, err, want)
	}
	none, first := version(nil), version([]byte("1"))
	check(none, nil)
	check(first, capability.ErrChanged)
	require.Equal(t, "1", value(t, one, "b"))
	require.NoError(t, one.Update(t.Context(), func(w store.Writer) error { return w.Delete(1, []byte("b"), nil) }))
	require.NoError(t, other.Update(t.Context(), func(w store.Writer) error { return w.Put(0, []byte("v"), nil, []byte("1")) }))
	check(none, capability.ErrChanged)
	require.Equal(t, "-", value(t, one, "b"))
	check(first, nil)
}

// TestExpectingCommit changes the row while an Update that expects it runs. The Update must come before the change,
// or not be applied: a View that sees the change must also see the Update if it was applied.
func TestExpectingCommit(t *testing.T) {
	url := database(t)
	one, other := open(t, url, postgres.Options{}), open(t, url, postgres.Options{})
	calls := 0
	err := one.Expecting(0, []byte("v"), nil, nil).Update(t.Context(), func(w store.Writer) error {
		if _, _, err := w.Get(1, []byte("a"), nil); err != nil {
			return err
		}
		if calls++; calls == 1 {
			require.NoError(t, other.Update(t.Context(), func(w store.Writer) error { return w.Put(0, []byte("v"), nil, []byte("1")) }))
		}
		return w.Put(1, []byte("a"), nil, []byte("1"))
	})
	require.ErrorIs(t, err, capability.ErrChanged)
	require.Equal(t, "-", value(t, other, "a"))
}

// TestRoundTrips counts the round trips of a GetItem and of a put with a condition, in
// a store that expects a row.
func TestRoundTrips(t *testing.T) {
	proxy, at := newStandin(t, database(t))
	s := open(t, at, postgres.Options{MaxConns: 4}).Expecting(0, []byte("v"), nil, nil)
	get := func() {
		_, _, err := s.(capability.Getter).Get(t.Context(), 1, []byte("a"), nil)
		require.NoError(t, err)
	}
	put := func() {
		require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
			if _, _, err := w.Get(1, []byte("a"), nil); err != nil {
				return err
			}
			return w.Put(1, []byte("a"), nil, []byte("1"))
		}))
	}
	put() // on a new connection
	for want, do := range []func(){1: get, 2: put} {
		if do != nil {
			proxy.on(nil)
			do()
			proxy.mu.Lock()
			require.Equal(t, want, proxy.trips)
			proxy.mu.Unlock()
		}
	}
}

// TestLease passes a lease from one Store to another.
func TestLease(t *testing.T) {
	t.Parallel() // it waits most of its time
	url := database(t)
	opts := postgres.WithLease(postgres.Options{Name: "the first"}, 2*time.Second)
	one, other := open(t, url, opts), open(t, url, opts)
	held, release, err := one.Lease(t.Context(), "work")
	require.NoError(t, err)
	for _, s := range []*postgres.Store{one, other} {
		none, _, err := s.Lease(t.Context(), "work")
		require.NoError(t, err)
		require.Nil(t, none)
	}
	another, releaseAnother, err := other.Lease(t.Context(), "other work")
	require.NoError(t, err)
	require.NotNil(t, another)
	releaseAnother()
	require.ErrorIs(t, another.Err(), context.Canceled)
	require.NoError(t, held.Err())
	release()
	held, release, err = other.Lease(t.Context(), "work")
	require.NoError(t, err)
	require.NotNil(t, held, "given back")
	defer release()

	// Make it look as if the other Store had been away for longer than its lease.
	exec(t, url, "update sortkey_leases set owner = 'dead', expires = now()")
	taken, releaseTaken, err := one.Lease(t.Context(), "work")
	require.NoError(t, err)
	require.NotNil(t, taken)
	<-held.Done()
	releaseTaken()
}

// TestLostLease checks that a Store that has lost a lease does not ask the database to end it, because the database
// may not answer.
func TestLostLease(t *testing.T) {
	t.Parallel() // it waits most of its time
	proxy, at := newStandin(t, database(t))
	s := open(t, at, postgres.WithLease(postgres.Options{MaxConns: 4}, time.Second))
	held, release, err := s.Lease(t.Context(), "work")
	require.NoError(t, err)
	proxy.on(func(string) action { return cutBefore })
	<-held.Done()
	proxy.on(nil)
	release()
	proxy.mu.Lock()
	defer proxy.mu.Unlock()
	require.Zero(t, proxy.trips)
}
