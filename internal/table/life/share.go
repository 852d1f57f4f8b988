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

// In a shared store the catalogue has a version, which grows with every change of a
// definition, in the same update. What depends on the definitions in memory expects
// their version: if another server has changed one, it loads them and begins again.
var versionPartition = []byte("version")

// sharing is the additional state of a DB whose store other servers use too.
type sharing struct {
	capability.Sharer

	// The counters of this server; see [sharedCounts]. Whoever stores them, or gives them a
	// row, holds storing.
	storing    *lock.Lock
	registered atomic.Bool            // row is in the store, or was
	row        atomic.Pointer[string] // its name; nil for none
	stored     statistics             // what row has
	revived    bool                   // it was taken for dead, and has no new row yet
	counting   lease                  // named as row: the server is alive

	leading  lease // of background work
	sweeping lease // used by MaySweep alone

	// For the leader, when the counters are inexact: the others' when it last counted,
	// and when it counts again if they have changed.
	seen  statistics
	again time.Time
	wait  time.Duration
}

// A lease is held for as long as its server lives and can renew it.
type lease struct {
	held    context.Context //nolint:containedctx // ends with the lease
	release func()
}

func (l *lease) holds() bool { return l.held != nil && l.held.Err() == nil }

// take takes the lease, unless it is held already.
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

// advance gives the catalogue its next version and returns it.
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

// Reload implements [table.Sharing]: it loads the definitions of a shared store.
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
			return // somebody else has loaded them meanwhile
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

// exclusively is current while nothing else changes definitions.
func (db *DB) exclusively(ctx context.Context, change func() error) error {
	unlock, err := db.alter.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return db.current(ctx, change)
}

// current calls change until it has seen the current definitions.
func (db *DB) current(ctx context.Context, change func() error) error {
	for {
		again, err := db.Outdated(ctx, change())
		if !again {
			return err
		}
	}
}

// Refresh brings the definitions and the counters of tables up to date if other servers
// share the store. The functions that take no context rely on it. After Close it returns
// [store.ErrClosed].
func (db *DB) Refresh(ctx context.Context) error {
	switch in, err := db.InTransaction(ctx); {
	case err != nil || in: // the tables are those of the transaction
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
	err = db.current(ctx, func() error {
		all := db.Current()
		err := all.Rows.View(ctx, func(r store.Reader) (err error) {
			c, err = readSharedCounts(r)
			return err
		})
		if err != nil {
			return err
		}
		others := c.others(db.sharing)
		for _, t := range all.ByName {
			for _, n := range t.Counters(false) {
				n.Stats.Others.Items.Store(others[n.Space][0])
				n.Stats.Others.Bytes.Store(others[n.Space][1])
			}
		}
		return nil
	})
	return c, err
}

// alone calls work if no other goroutine, of this server or another, works on a space, and keeps others out meanwhile.
// Otherwise it returns false for done and does not call work.
func (db *DB) alone(ctx context.Context, space store.Space, work func(context.Context) error) (done bool, err error) {
	return db.aloneAt(ctx, fmt.Sprintf("space %d", space), work)
}

// aloneAt is alone for the work that a name stands for.
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

// Tend does the regular work of a server that shares its store: it stores its counters,
// and if it leads the others, which at most one of them does, it completes what servers
// have left that died, and counts the items again if it was wrong about them. It must
// not be called twice at the same time.
func (db *DB) Tend(ctx context.Context) error {
	s := db.sharing
	c, err := db.refresh(ctx)
	if err != nil {
		return err
	}
	if err := db.storeCounts(ctx, c); err != nil {
		return err
	}
	if err := s.leading.take(ctx, s.Sharer, "background work"); err != nil || !s.leading.holds() {
		return err
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	held := s.leading.held
	defer context.AfterFunc(held, func() { cancel(context.Cause(held)) })()
	folded, err := db.foldDead(ctx, c)
	if err == nil {
		err = db.Recover(ctx)
	}
	if err != nil {
		return err
	}
	if folded {
		s.seen, s.again, s.wait = nil, time.Time{}, 0
	}
	if folded || c.inexact {
		return db.recountShared(ctx)
	}
	return nil
}

// Shared reports whether other servers may use the store too. Then [DB.Tend] is to be
// called every few seconds.
func (db *DB) Shared() bool { return db.sharing != nil }

// MaySweep reports whether this server makes the regular sweeps. If others share the
// store, the first that asks makes them, until it closes or dies. It must not be called
// twice at the same time.
func (db *DB) MaySweep(ctx context.Context) (bool, error) {
	s := db.sharing
	if s == nil {
		return true, nil
	}
	err := s.sweeping.take(ctx, s.Sharer, "sweeps")
	return s.sweeping.holds(), err
}

// rowName returns the name of the server's row, "" for none.
func (s *sharing) rowName() string {
	if row := s.row.Load(); row != nil {
		return *row
	}
	return ""
}
