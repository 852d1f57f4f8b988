package table

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey/store"
)

// In a shared store the catalogue has a version, which grows with every change of a
// definition, in the same update. What depends on the definitions in memory expects
// their version: if another server has changed one, it loads them and begins again.
var versionPartition = []byte("version")

// sharing is what a DB has besides when other servers use its store.
type sharing struct {
	store.Sharer

	// Of the definitions in memory; guarded by DB.mu.
	loaded  bool
	version uint64

	// The counters of this server; see [sharedCounts].
	mu         sync.Mutex
	registered atomic.Bool // row is in the store, or was
	row        []byte
	stored     statistics // what row has
	counting   lease      // named as row: the server is alive

	leading  lease // of background work
	sweeping lease // used by MaySweep alone

	// For the leader, when the counters are inexact: the others' when it last counted,
	// and when it counts again if they have changed.
	seen  statistics
	again time.Time
	wait  time.Duration
}

// While other servers write, a count follows another after these times, each after the
// double of the one before. The service updates its figures every six hours.
const (
	recountFirst = 10 * time.Second
	recountLast  = 6 * time.Hour
)

// A lease is held for as long as its server lives and can renew it.
type lease struct {
	held    context.Context //nolint:containedctx // ends with the lease
	release func()
}

func (l *lease) holds() bool { return l.held != nil && l.held.Err() == nil }

// take takes the lease, unless it is held already.
func (l *lease) take(ctx context.Context, st store.Sharer, name string) error {
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
	value, ok, err := r.Get(catalogueSpace, versionPartition, nil)
	switch {
	case err != nil || !ok:
		return nil, 0, err
	case len(value) != 8:
		return nil, 0, fmt.Errorf("damaged catalogue: version %x", value)
	}
	return value, binary.BigEndian.Uint64(value), nil
}

// advance gives the catalogue its next version.
func (db *DB) advance(w store.Writer) error {
	if db.sharing == nil {
		return nil
	}
	_, version, err := readVersion(w)
	if err != nil {
		return err
	}
	return w.Put(catalogueSpace, versionPartition, nil, binary.BigEndian.AppendUint64(nil, version+1))
}

// load loads the definitions of a shared store.
func (db *DB) load(ctx context.Context) error {
	var value []byte
	var version uint64
	var c *catalogue
	err := db.store.View(ctx, func(r store.Reader) (err error) {
		if value, version, err = readVersion(r); err == nil {
			c, err = readCatalogue(r)
		}
		return err
	})
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.sharing.loaded && version <= db.sharing.version {
		return nil // somebody else has loaded them meanwhile
	}
	old := db.tables
	db.tables = make(map[string]*Table, len(c.definitions))
	db.deleting.Store(false)
	for _, def := range c.definitions {
		db.put(compile(def, old[def.Name]))
	}
	db.sharing.loaded, db.sharing.version = true, version
	db.rows = db.sharing.Expecting(catalogueSpace, versionPartition, nil, value)
	return nil
}

// outdated reports whether an operation that ended with err has to begin again, with
// definitions that it has loaded.
func (db *DB) outdated(ctx context.Context, err error) (bool, error) {
	if err == nil || db.sharing == nil || !errors.Is(err, store.ErrChanged) {
		return false, err
	}
	err = db.load(ctx)
	return err == nil, err
}

// current calls change until it has seen the current definitions.
func (db *DB) current(ctx context.Context, change func() error) error {
	for {
		again, err := db.outdated(ctx, change())
		if !again {
			return err
		}
	}
}

// Refresh brings the definitions and the counters of tables up to date if other servers
// share the store. The functions that take no context rely on it.
func (db *DB) Refresh(ctx context.Context) error {
	if db.sharing == nil {
		return nil
	}
	_, err := db.refresh(ctx)
	return err
}

func (db *DB) refresh(ctx context.Context) (c *sharedCounts, err error) {
	err = db.current(ctx, func() error {
		db.mu.RLock()
		defer db.mu.RUnlock()
		err := db.rows.View(ctx, func(r store.Reader) (err error) {
			c, err = readSharedCounts(r)
			return err
		})
		if err != nil {
			return err
		}
		others := c.others(db.sharing)
		for _, t := range db.tables {
			for _, n := range t.counters(false) {
				n.stats.others.items.Store(others[n.space][0])
				n.stats.others.bytes.Store(others[n.space][1])
			}
		}
		return nil
	})
	return c, err
}

// alone calls work while no other server, and nobody else in this one, works on a
// space. Done is false, and work was not called, if somebody does.
func (db *DB) alone(ctx context.Context, space store.Space, work func(context.Context) error) (done bool, err error) {
	if db.sharing == nil {
		return true, work(ctx)
	}
	held, release, err := db.sharing.Lease(ctx, fmt.Sprintf("space %d", space))
	if err != nil || held == nil {
		return false, err
	}
	defer release()
	return true, work(held)
}

// Tend does what a server has to do now and then if others share its store: it stores
// its counters, and if it leads the others, which at most one of them does, it completes
// what servers have left that died, and counts the items again if it was wrong about
// them. It must not be called twice at the same time.
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

// MaySweep reports whether regular sweeps are this server's. If others share the store,
// they are those of the first that asks, until it closes or dies. It must not be called
// twice at the same time.
func (db *DB) MaySweep(ctx context.Context) (bool, error) {
	s := db.sharing
	if s == nil {
		return true, nil
	}
	err := s.sweeping.take(ctx, s.Sharer, "sweeps")
	return s.sweeping.holds(), err
}

// sharedCounts are the counters in a shared store: those that belong to no server, and
// what each server has added to them, as it last stored it. A server adds its own to
// the former when it closes. The leader does so for a server that has died; what that
// had not stored is missing then, which a mark says until the items are counted again.
type sharedCounts struct {
	base    statistics
	servers map[string]statistics
	inexact bool
}

var (
	serverCounter = []byte("servers")
	inexactRow    = []byte("statistics are inexact")
	serverPrefix  = string(statisticsRow) + " of server "
)

func readSharedCounts(r store.Reader) (*sharedCounts, error) {
	c := &sharedCounts{base: statistics{}, servers: map[string]statistics{}}
	for row, err := range r.Query(catalogueSpace, countersPartition, store.Range{Lo: statisticsRow, Hi: store.AppendUpper(nil, statisticsRow)}, false) {
		if err != nil {
			return nil, err
		}
		name := string(row.Sort)
		stats := c.base
		switch {
		case name == string(inexactRow):
			c.inexact = true
			continue
		case name == string(exactRow):
			continue
		case name != string(statisticsRow):
			stats = statistics{}
			c.servers[name] = stats
		}
		if err := json.Unmarshal(row.Value, &stats); err != nil {
			return nil, fmt.Errorf("damaged catalogue: %s: %w", name, err)
		}
	}
	return c, nil
}

func (s *sharing) rowName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.row)
}

// others returns the sum of all counters but those of this server.
func (c *sharedCounts) others(s *sharing) statistics {
	own := s.rowName()
	sum := maps.Clone(c.base)
	for name, stats := range c.servers {
		if name != own {
			sum.add(stats, 1)
		}
	}
	return sum
}

func (s statistics) add(o statistics, times int64) {
	for space, n := range o {
		was := s[space]
		s[space] = [2]int64{was[0] + times*n[0], was[1] + times*n[1]}
	}
}

func (s statistics) put(w store.Writer, name []byte) error {
	value, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return w.Put(catalogueSpace, countersPartition, name, value)
}

// own returns what this server has added to the counters. The caller holds db.mu.
func (db *DB) own() statistics {
	own := statistics{}
	for _, t := range db.tables {
		for _, c := range t.counters(false) {
			if n := [2]int64{c.stats.items.Load(), c.stats.bytes.Load()}; n != [2]int64{} {
				own[c.space] = n
			}
		}
	}
	return own
}

// register gives the server a row for its counters, before it first changes anything.
func (db *DB) register(ctx context.Context) error {
	s := db.sharing
	if s.registered.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.registered.Load() {
		return nil
	}
	err := db.store.Update(ctx, func(w store.Writer) error {
		value, _, err := w.Get(catalogueSpace, countersPartition, serverCounter)
		if err != nil {
			return err
		}
		var n uint64
		if len(value) == 8 {
			n = binary.BigEndian.Uint64(value) + 1
		}
		s.row = fmt.Appendf(nil, "%s%d", serverPrefix, n)
		if err := w.Put(catalogueSpace, countersPartition, serverCounter, binary.BigEndian.AppendUint64(nil, n)); err != nil {
			return err
		}
		return statistics{}.put(w, s.row)
	})
	if err != nil {
		return err
	}
	s.stored = statistics{}
	s.registered.Store(true)
	return s.counting.take(ctx, s.Sharer, string(s.row))
}

// storeCounts stores the counters of this server if they are not those in c, which it
// has read, and keeps the lease that says that it is alive.
func (db *DB) storeCounts(ctx context.Context, c *sharedCounts) error {
	s := db.sharing
	if !s.registered.Load() {
		return nil
	}
	db.mu.RLock()
	own := db.own()
	db.mu.RUnlock()
	lost, err := db.storeOwn(ctx, own, c)
	if err != nil || lost == nil {
		return err
	}
	if err := db.register(ctx); err != nil {
		return err
	}
	// The leader has added to the counters what it took for those of a dead server.
	db.mu.RLock()
	defer db.mu.RUnlock()
	for _, t := range db.tables {
		for _, c := range t.counters(false) {
			c.stats.add(-int(lost[c.space][0]), -int(lost[c.space][1]))
		}
	}
	return nil
}

// storeOwn stores counters as those of this server. Lost is what it had stored before, if
// another server took it for dead.
func (db *DB) storeOwn(ctx context.Context, own statistics, c *sharedCounts) (lost statistics, err error) {
	s := db.sharing
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.counting.take(ctx, s.Sharer, string(s.row)); err != nil {
		return nil, err
	}
	if stored, ok := c.servers[string(s.row)]; ok && maps.Equal(own, stored) {
		return nil, nil
	}
	dead := false
	err = db.store.Update(ctx, func(w store.Writer) error {
		_, alive, err := w.Get(catalogueSpace, countersPartition, s.row)
		if dead = !alive; err != nil || dead {
			return err
		}
		return own.put(w, s.row)
	})
	switch {
	case err != nil:
		return nil, err
	case dead:
		lost, s.stored = s.stored, nil
		s.counting.end()
		s.registered.Store(false) // and gets another row
	default:
		s.stored = own
	}
	return lost, nil
}

// closeShared adds the counters of this server to those that belong to none. The caller
// holds db.mu, and nothing else is running.
func (db *DB) closeShared(ctx context.Context) error {
	s := db.sharing
	defer s.leading.end()
	defer s.sweeping.end()
	defer s.counting.end()
	own := db.own()
	if !s.registered.Load() && len(own) == 0 {
		return nil
	}
	return db.store.Update(ctx, func(w store.Writer) error {
		c, err := readSharedCounts(w)
		if err != nil {
			return err
		}
		c.base.add(own, 1)
		if _, alive := c.servers[string(s.row)]; alive {
			if err := w.Delete(catalogueSpace, countersPartition, s.row); err != nil {
				return err
			}
		} else {
			c.base.add(s.stored, -1)
		}
		return c.base.put(w, statisticsRow)
	})
}

// foldDead adds the counters of servers that have died to those that belong to none,
// and reports whether there was one.
func (db *DB) foldDead(ctx context.Context, c *sharedCounts) (folded bool, err error) {
	s := db.sharing
	for name := range c.servers {
		if name == s.rowName() {
			continue
		}
		held, release, err := s.Lease(ctx, name)
		if err != nil {
			return folded, err
		}
		if held == nil {
			continue // it is alive
		}
		err = db.store.Update(held, func(w store.Writer) error {
			c, err := readSharedCounts(w)
			if err != nil {
				return err
			}
			stats, ok := c.servers[name]
			if !ok {
				return nil // it has closed meanwhile
			}
			c.base.add(stats, 1)
			if err := w.Put(catalogueSpace, countersPartition, inexactRow, nil); err != nil {
				return err
			}
			if err := w.Delete(catalogueSpace, countersPartition, []byte(name)); err != nil {
				return err
			}
			folded = true
			return c.base.put(w, statisticsRow)
		})
		release()
		if err != nil {
			return folded, err
		}
	}
	return folded, nil
}

// recountShared corrects the counters by the rows of one view, if they are inexact.
// While other servers have counters of their own, what they have not stored yet stays
// wrong, and the mark remains. So it counts again once they have stored more, less and
// less often, until it finds no other server.
func (db *DB) recountShared(ctx context.Context) error {
	s := db.sharing
	var seen *sharedCounts
	counted, own, others := statistics{}, statistics{}, statistics{}
	whole := true
	unlock := sync.OnceFunc(db.mu.Unlock)
	db.mu.Lock() // the view has to begin between two updates of this server
	defer unlock()
	skip := false
	err := db.rows.View(ctx, func(r store.Reader) (err error) {
		if seen, err = readSharedCounts(r); err != nil {
			return err
		}
		own = db.own()
		var spaces []store.Space
		for _, t := range db.tables {
			for _, c := range t.counters(true) { // a build counts its own rows
				spaces = append(spaces, c.space)
			}
			whole = whole && len(t.counters(true)) == len(t.all)+1
		}
		unlock()
		delete(seen.servers, s.rowName())
		others = statistics{}
		for _, stats := range seen.servers {
			others.add(stats, 1)
		}
		whole = whole && len(seen.servers) == 0
		if !seen.inexact || !whole && s.seen != nil && (db.Clock().Before(s.again) || maps.Equal(others, s.seen)) {
			skip = true
			return nil
		}
		for _, space := range spaces {
			var n [2]int64
			for row, err := range r.Scan(space, store.Everything()) {
				if err != nil {
					return err
				}
				n[0]++
				n[1] += int64(itemOf(row.Value).Size() + storageOverhead)
			}
			counted[space] = n
		}
		return nil
	})
	if skip || errors.Is(err, store.ErrChanged) {
		return nil // the next time, with the new definitions
	}
	if err != nil {
		return err
	}
	correction := maps.Clone(counted)
	seen.base.add(others, 1)
	seen.base.add(own, 1)
	for space := range counted {
		correction.add(statistics{space: seen.base[space]}, -1)
	}
	err = db.store.Update(ctx, func(w store.Writer) error {
		c, err := readSharedCounts(w)
		if err != nil {
			return err
		}
		c.base.add(correction, 1)
		if whole {
			if err := w.Delete(catalogueSpace, countersPartition, inexactRow); err != nil {
				return err
			}
		}
		return c.base.put(w, statisticsRow)
	})
	if err == nil {
		s.wait = min(max(2*s.wait, recountFirst), recountLast)
		s.seen, s.again = others, db.Clock().Add(s.wait)
	}
	return err
}
