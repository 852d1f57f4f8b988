package life

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/lock"
	"github.com/sortkey/sortkey/store"
)

// In a shared store the catalogue has a version. Each change of a definition increments the version in the same
// update. An operation checks that the version is still that of the definitions in memory. If another server has
// changed a definition, the operation fails, and the database reloads the definitions and retries the operation.
var versionPartition = []byte("version")

// sharing is the additional state of a DB whose store other servers use too.
type sharing struct {
	capability.Sharer

	// The next fields are for the counters of this server; see [sharedCounts]. storing is held while the server creates
	// its row or stores its counters, and read-held while it reads the stored counters.
	storing  *lock.Lock
	row      atomic.Pointer[string] // name of the row; nil for none
	counting lease                  // has the name of the row, and proves that the server is alive
	unsure   bool                   // the last update of the stored counters may have failed or not

	leading  lease // of background work
	sweeping lease // used by MaySweep alone

	// The leader uses the next fields while the counters are inexact. seen has the stored counters after the last
	// count. The leader counts again once they have changed, but not before the time again. wait is the interval
	// between two counts.
	seen  statistics
	again time.Time
	wait  time.Duration
}

// A lease is a lease that this server holds until it gives the lease up, dies, or fails to renew the lease in time.
type lease struct {
	held    context.Context //nolint:containedctx // ends with the lease
	release func()
}

func (l *lease) holds() bool { return l.held != nil && l.held.Err() == nil }

// take takes the lease if this server does not hold it yet. It does nothing if another server holds it.
func (l *lease) take(ctx context.Context, st capability.Sharer, name string) error {
	if l.holds() {
		return nil
	}
	l.end()
	held, release, err := st.Lease(context.WithoutCancel(ctx), name)
	if err == nil && held != nil {
		l.held, l.release = held, release
	}
	return err
}

func (l *lease) end() {
	if l.held != nil {
		l.release()
	}
	*l = lease{}
}

func readVersion(r store.Reader) (value []byte, version uint64, err error) {
	value, ok, err := r.Get(table.CatalogueSpace, versionPartition, nil)
	switch {
	case err != nil || !ok:
		return nil, 0, err
	case len(value) != 8:
		return nil, 0, fmt.Errorf("damaged catalogue: version %x", value)
	}
	return value, binary.BigEndian.Uint64(value), nil
}

// advance increments the version of the catalogue and returns the new one.
func (db *DB) advance(w store.Writer) (next uint64, err error) {
	if db.sharing == nil {
		return 0, nil
	}
	_, version, err := readVersion(w)
	if err != nil {
		return 0, err
	}
	next = version + 1
	return next, w.Put(table.CatalogueSpace, versionPartition, nil, binary.BigEndian.AppendUint64(nil, next))
}

// Reload implements [table.Sharing]: it loads the definitions from the shared store and publishes them.
func (db *DB) Reload(ctx context.Context) error {
	var value []byte
	var version uint64
	var c *catalogue
	err := db.Store.View(ctx, func(r store.Reader) (err error) {
		if value, version, err = readVersion(r); err == nil {
			c, err = readCatalogue(r)
		}
		return err
	})
	if err != nil {
		return err
	}

	db.Publish(func(all *table.Set) {
		if all.Loaded && version <= all.Version {
			return // another goroutine has loaded them meanwhile
		}
		old := all.ByName
		all.ByName = make(map[string]*table.Table, len(c.definitions))
		for _, def := range c.definitions {
			all.ByName[def.Name] = table.Compile(def, old[def.Name])
		}
		all.Loaded, all.Version = true, version
		all.Rows = db.sharing.Expecting(table.CatalogueSpace, versionPartition, nil, value)
	})

	return nil
}

// exclusively calls change while it holds db.alter. It repeats the call if the definitions were outdated.
func (db *DB) exclusively(ctx context.Context, change func() error) error {
	unlock, err := db.alter.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return db.Retry(ctx, change)
}

// Refresh loads the definitions and the counters of tables from a store that other servers share. Methods without a
// context return what the last Refresh has loaded. After Close, Refresh returns [store.ErrClosed].
func (db *DB) Refresh(ctx context.Context) error {
	switch in, err := db.InTransaction(ctx); {
	case err != nil || in: // a transaction keeps the tables that it began with
		return err
	case db.Alive() != nil:
		return db.Alive()
	case db.sharing == nil:
		return nil
	}
	_, err := db.refresh(ctx)
	return err
}

func (db *DB) refresh(ctx context.Context) (c *sharedCounts, err error) {
	err = db.Retry(ctx, func() error {
		if err := db.sharing.storing.RLock(ctx); err != nil {
			return err
		}
		defer db.sharing.storing.RUnlock()
		all := db.Current()
		err := all.Rows.View(ctx, func(r store.Reader) (err error) {
			c, err = readSharedCounts(r)
			return err
		})
		if err != nil {
			return err
		}
		for _, t := range all.ByName {
			for _, n := range t.Counters(false) {
				n.Stats.Stored.Store(c.base[n.Space])
			}
		}
		return nil
	})
	return c, err
}

// alone calls work while it holds the lease of a space, so that only one server at a time works on the space. If
// another server or goroutine holds the lease, alone returns false for done. If the store is not shared, alone only
// calls work.
func (db *DB) alone(ctx context.Context, space store.Space, work func(context.Context) error) (done bool, err error) {
	return db.aloneAt(ctx, fmt.Sprintf("space %d", space), work)
}

// aloneAt is alone with a lease that has the given name.
func (db *DB) aloneAt(ctx context.Context, name string, work func(context.Context) error) (done bool, err error) {
	if db.sharing == nil {
		return true, work(ctx)
	}
	held, release, err := db.sharing.Lease(ctx, name)
	if err != nil || held == nil {
		return false, err
	}
	defer release()
	return true, work(held)
}

// Tend does the regular work of a server that shares its store. Each server stores its counters. At most one server
// is the leader. Its Tend also completes the work of servers that have died, and counts the items again if the
// counters are inexact. Tend must not run twice at the same time.
func (db *DB) Tend(ctx context.Context) error {
	s := db.sharing
	c, err := db.refresh(ctx)
	if err != nil {
		return err
	}
	if _, err := db.storeCounts(ctx, false); err != nil {
		return err
	}
	if err := s.leading.take(ctx, s.Sharer, "background work"); err != nil || !s.leading.holds() {
		return err
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	held := s.leading.held
	defer context.AfterFunc(held, func() { cancel(context.Cause(held)) })()
	removed, err := db.removeDead(ctx, c)
	if err == nil {
		err = db.Recover(ctx)
	}
	if err != nil {
		return err
	}
	if removed {
		s.seen, s.again, s.wait = nil, time.Time{}, 0
	}
	if removed || c.inexact {
		return db.recountShared(ctx)
	}
	return nil
}

// Shared reports whether other servers may use the store too. If so, call [DB.Tend] every few seconds.
func (db *DB) Shared() bool { return db.sharing != nil }

// MaySweep reports whether this server should do the regular sweeps. If several servers share the store, the first
// that calls MaySweep does the sweeps until it closes or dies. MaySweep must not run twice at the same time.
func (db *DB) MaySweep(ctx context.Context) (bool, error) {
	s := db.sharing
	if s == nil {
		return true, nil
	}
	err := s.sweeping.take(ctx, s.Sharer, "sweeps")
	return s.sweeping.holds(), err
}

// rowName returns the name of the row with the server's counters, or "" if there is no row.
func (s *sharing) rowName() string {
	if row := s.row.Load(); row != nil {
		return *row
	}
	return ""
}
