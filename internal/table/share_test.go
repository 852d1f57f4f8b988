package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// A sharer is a store in memory that several servers share.
type sharer struct {
	store.Store
	mu     sync.Mutex
	leases map[string]context.CancelFunc
	before func(lease string) // called before a server takes a lease
}

func newSharer() *sharer {
	return &sharer{Store: memory.Open(), leases: map[string]context.CancelFunc{}}
}

func (s *sharer) Lease(ctx context.Context, name string) (held context.Context, release func(), err error) {
	if s.before != nil {
		s.before(name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leases[name] != nil {
		return nil, nil, nil
	}
	held, cancel := context.WithCancel(ctx)
	s.leases[name] = cancel
	return held, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if held.Err() == nil {
			cancel()
			delete(s.leases, name)
		}
	}, nil
}

// expire ends all leases.
func (s *sharer) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.leases {
		cancel()
	}
	clear(s.leases)
}

func (s *sharer) Expecting(space store.Space, partition, sort, value []byte) store.Store {
	return &expecting{s.Store, func(r store.Reader) error {
		got, ok, err := r.Get(space, partition, sort)
		if err == nil && (ok != (value != nil) || !bytes.Equal(got, value)) {
			err = capability.ErrChanged
		}
		return err
	}}
}

type expecting struct {
	store.Store
	check func(store.Reader) error
}

func (e *expecting) View(ctx context.Context, fn func(store.Reader) error) error {
	return e.Store.View(ctx, func(r store.Reader) error {
		if err := e.check(r); err != nil {
			return err
		}
		return fn(r)
	})
}

func (e *expecting) Update(ctx context.Context, fn func(store.Writer) error) error {
	return e.Store.Update(ctx, func(w store.Writer) error {
		if err := e.check(w); err != nil {
			return err
		}
		return fn(w)
	})
}

func items(t testing.TB, db *life.DB, name string) int64 {
	t.Helper()
	require.NoError(t, db.Refresh(t.Context()))
	tb, err := db.Describe(t.Context(), name)
	require.NoError(t, err)
	n, _ := tb.Items()
	return n
}

// TestSharedDefinitions changes tables on one server and uses them on another.
func TestSharedDefinitions(t *testing.T) {
	st := newSharer()
	one, two := begin(t, st), begin(t, st)
	_, err := one.DB.Create(t.Context(), tabletest.Define(t, "t", "PK:S"))
	require.NoError(t, err)
	two.Put("t", `{'PK':{'S':'a'},'g':{'S':'x'}}`)
	_, err = two.DB.Create(t.Context(), tabletest.Define(t, "t", "PK:S"))
	require.ErrorContains(t, err, "Table already exists: t")
	require.NoError(t, addIndex(t, two.DB))
	one.Put("t", `{'PK':{'S':'b'},'g':{'S':'x'}}`)
	for _, f := range []*tabletest.Fixture{one, two} {
		require.NoError(t, f.DB.View(t.Context(), func(v *table.View) error {
			tb, err := v.Table("t")
			require.NoError(t, err)
			ix, err := v.Index(tb, tb.Indexes()[0].Name())
			require.NoError(t, err)
			page, err := v.Scan(&table.Scan{Read: table.Read{Table: tb, Index: ix}}, func(attr.Item) error {
				return nil
			})
			require.Equal(t, 2, page.Examined)
			return err
		}))
	}
	_, err = one.DB.Delete(t.Context(), "t")
	require.NoError(t, err)
	err = two.DB.View(t.Context(), func(v *table.View) error {
		_, err := v.Table("t")
		return err
	})
	require.Error(t, err)
	require.Empty(t, tabletest.Names(t, two.DB))
}

// indexLease is the name of the lease on the first index of the first table.
var indexLease = fmt.Sprint("space ", 2)

// TestSharedAlterDeleted deletes a table while another server builds an index of it. In half of the cases it creates
// another table of the same name.
func TestSharedAlterDeleted(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("again=%t", again), func(t *testing.T) {
			st := newSharer()
			one, two := begin(t, st), begin(t, st)
			one.Create("t", "PK:S")
			one.Put("t", `{'PK':{'S':'a'},'g':{'S':'x'}}`)
			st.before = func(lease string) {
				if lease != indexLease {
					return
				}
				_, err := two.DB.Delete(t.Context(), "t")
				require.NoError(t, err)
				if again {
					two.Create("t", "PK:S")
				}
			}
			err := addIndex(t, one.DB)
			failure, ok := errors.AsType[*table.Error](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, table.NotFound, failure.Kind)
			require.Equal(t, "Requested resource not found: Table: t not found", failure.Msg)
		})
	}
}

// TestSharedAlterWaits checks an Alter that waits for another server to build its index: others can change tables
// meanwhile, and the wait ends with its context.
func TestSharedAlterWaits(t *testing.T) {
	st := newSharer()
	f := begin(t, st)
	f.Create("t", "PK:S")
	held, _, err := st.Lease(t.Context(), indexLease) // by another server
	require.NoError(t, err)
	require.NotNil(t, held)
	waiting := make(chan struct{})
	st.before = func(lease string) {
		if lease == indexLease {
			st.before = nil
			close(waiting)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	with := tabletest.Define(t, "t", "PK:S", "G g:S - ALL")
	go func() {
		_, err := f.DB.Alter(ctx, "t", func(d *table.Definition) error {
			d.Attributes, d.Global = with.Attributes, with.Global
			return nil
		})
		done <- err
	}()
	<-waiting
	f.Create("u", "PK:S")
	_, err = f.DB.Delete(t.Context(), "u")
	require.NoError(t, err)
	gone := errors.New("the client is gone")
	cancel(gone)
	require.ErrorIs(t, <-done, gone)

	st.expire()
	require.NoError(t, f.DB.Tend(t.Context()))
	require.Empty(t, tabletest.ScanIndex(f, "t", "G"), "the index can be read")
}

// TestSharedCounts checks the counters when servers die or are wrongly taken for dead.
func TestSharedCounts(t *testing.T) {
	st := newSharer()
	one, two := begin(t, st), begin(t, st)
	now := time.Now()
	one.DB.Clock = func() time.Time { return now }
	put := func(f *tabletest.Fixture, n int) {
		for i := range n {
			f.Put("t", fmt.Sprintf(`{'PK':{'S':'%p %d %d'}}`, f, now.UnixNano(), i))
		}
	}
	tend := func(all ...*tabletest.Fixture) {
		t.Helper()
		for _, f := range all {
			require.NoError(t, f.DB.Tend(t.Context()))
		}
	}
	_, err := one.DB.Create(t.Context(), tabletest.Define(t, "t", "PK:S"))
	require.NoError(t, err)
	put(one, 3)
	put(two, 4)
	tend(one, two)
	require.EqualValues(t, 7, items(t, one.DB, "t"))
	require.EqualValues(t, 7, items(t, two.DB, "t"))

	now = now.Add(time.Second)
	put(two, 5) // not stored yet when the server is taken for dead
	st.expire()
	tend(one)
	require.EqualValues(t, 12, items(t, one.DB, "t"))
	tend(two) // but it is alive
	now = now.Add(time.Minute)
	tend(two, one)
	for range 2 {
		now = now.Add(time.Hour)
		put(two, 1)
		tend(two, one)
	}
	require.EqualValues(t, 14, items(t, one.DB, "t"))
	require.EqualValues(t, 14, items(t, two.DB, "t"))

	require.NoError(t, two.DB.Close(t.Context()))
	require.NoError(t, one.DB.Close(t.Context()))
	require.EqualValues(t, 14, items(t, begin(t, st).DB, "t"))
}
