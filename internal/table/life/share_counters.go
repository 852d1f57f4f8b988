package life

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// sharedCounts are the counters in a shared store. servers has what each server has added, up to the time when that
// server last stored its counters. base has the rest. A server that closes adds its counters to base. If a server
// dies, the leader adds the server's stored counters to base. Its changes after that are lost, so the leader marks
// the counters as inexact until it has counted the items.
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
	all := store.Range{Lo: statisticsRow, Hi: store.AppendUpper(nil, statisticsRow)}
	for row, err := range r.Query(table.CatalogueSpace, table.CountersPartition, all, false) {
		if err != nil {
			return nil, err
		}
		name := string(row.Sort)
		stats := c.base
		switch {
		case name == string(inexactRow):
			c.inexact = true
			continue
		case name == string(table.ExactRow):
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

// others returns the sum of the counters of all other servers.
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
	return w.Put(table.CatalogueSpace, table.CountersPartition, name, value)
}

// own returns what this server has added to the counters of all tables.
func own(all *table.Set) statistics {
	sum := statistics{}
	for _, t := range all.ByName {
		for _, c := range t.Counters(false) {
			if n := [2]int64{c.Stats.Items.Load(), c.Stats.Bytes.Load()}; n != [2]int64{} {
				sum[c.Space] = n
			}
		}
	}
	return sum
}

// Enlist implements [table.Sharing]. It creates a row for the counters of the server, before the server first changes
// anything.
func (db *DB) Enlist(ctx context.Context) error {
	s := db.sharing
	if s.registered.Load() {
		return nil
	}
	unlock, err := s.storing.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if s.registered.Load() {
		return nil
	}

	var row string
	err = db.Store.Update(ctx, func(w store.Writer) error {
		value, _, err := w.Get(table.CatalogueSpace, table.CountersPartition, serverCounter)
		if err != nil {
			return err
		}
		var n uint64
		if len(value) == 8 {
			n = binary.BigEndian.Uint64(value) + 1
		}
		row = fmt.Sprintf("%s%d", serverPrefix, n)
		counter := binary.BigEndian.AppendUint64(nil, n)
		if err := w.Put(table.CatalogueSpace, table.CountersPartition, serverCounter, counter); err != nil {
			return err
		}
		if s.revived { // the leader may already have counted the items that this server added
			if err := w.Put(table.CatalogueSpace, table.CountersPartition, inexactRow, nil); err != nil {
				return err
			}
		}
		return statistics{}.put(w, []byte(row))
	})
	if err != nil {
		return err
	}

	s.row.Store(&row)
	s.stored, s.revived = statistics{}, false
	s.registered.Store(true)
	return s.counting.take(ctx, s.Sharer, row)
}

// storeCounts stores the counters of this server if they differ from those in c, which the caller has just read. It
// also renews the lease that proves that the server is alive.
func (db *DB) storeCounts(ctx context.Context, c *sharedCounts) error {
	s := db.sharing
	if !s.registered.Load() {
		return nil
	}
	own := own(db.Current())
	lost, err := db.storeOwn(ctx, own, c)
	if err != nil || lost == nil {
		return err
	}
	if err := db.Enlist(ctx); err != nil {
		return err
	}

	// The leader took this server for dead and added its stored counters to base, so subtract them here.
	for _, t := range db.Current().ByName {
		for _, c := range t.Counters(false) {
			c.Stats.Add(-int(lost[c.Space][0]), -int(lost[c.Space][1]))
		}
	}
	return nil
}

// storeOwn stores the counters of this server. If another server took this one for dead, storeOwn also returns, as
// lost, the counters that this server had stored before.
func (db *DB) storeOwn(ctx context.Context, own statistics, c *sharedCounts) (lost statistics, err error) {
	s := db.sharing
	unlock, err := s.storing.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	row := s.rowName()
	if err := s.counting.take(ctx, s.Sharer, row); err != nil {
		return nil, err
	}
	if stored, ok := c.servers[row]; ok && maps.Equal(own, stored) {
		return nil, nil
	}
	dead := false
	err = db.Store.Update(ctx, func(w store.Writer) error {
		_, alive, err := w.Get(table.CatalogueSpace, table.CountersPartition, []byte(row))
		if dead = !alive; err != nil || dead {
			return err
		}
		return own.put(w, []byte(row))
	})

	switch {
	case err != nil:
		return nil, err
	case dead:
		lost, s.stored, s.revived = s.stored, nil, true
		s.counting.end()
		s.registered.Store(false) // so that Enlist adds a new row
	default:
		s.stored = own
	}

	return lost, nil
}

// closeShared adds the counters of this server to base. The caller makes sure that no update runs.
func (db *DB) closeShared(ctx context.Context) error {
	s := db.sharing
	defer s.leading.end()
	defer s.sweeping.end()
	defer s.counting.end()
	own := own(db.Current())
	if !s.registered.Load() && len(own) == 0 {
		return nil
	}
	return db.Store.Update(ctx, func(w store.Writer) error {
		c, err := readSharedCounts(w)
		if err != nil {
			return err
		}
		c.base.add(own, 1)
		if _, alive := c.servers[s.rowName()]; alive {
			if err := w.Delete(table.CatalogueSpace, table.CountersPartition, []byte(s.rowName())); err != nil {
				return err
			}
		} else {
			c.base.add(s.stored, -1)
		}
		return c.base.put(w, statisticsRow)
	})
}

// foldDead adds the counters of servers that have died to base, and reports whether there were any.
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
			continue // the server is alive
		}
		err = db.Store.Update(held, func(w store.Writer) error {
			c, err := readSharedCounts(w)
			if err != nil {
				return err
			}
			stats, ok := c.servers[name]
			if !ok {
				return nil // the server has closed meanwhile
			}
			c.base.add(stats, 1)
			if err := w.Put(table.CatalogueSpace, table.CountersPartition, inexactRow, nil); err != nil {
				return err
			}
			if err := w.Delete(table.CatalogueSpace, table.CountersPartition, []byte(name)); err != nil {
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

// While other servers write, the leader counts again after recountFirst. The interval then doubles with each count,
// up to recountLast. The service updates its figures every six hours.
const (
	recountFirst = 10 * time.Second
	recountLast  = 6 * time.Hour
)

// recountShared counts the rows of one snapshot and corrects the counters, if they are inexact. While there are other
// servers, the result may be wrong, as they may have changes that they have not stored yet. So the counters stay
// marked as inexact, and later calls count again when the other servers have stored more, at growing intervals.
func (db *DB) recountShared(ctx context.Context) error {
	s := db.sharing
	var seen *sharedCounts
	counted, ours, others := statistics{}, statistics{}, statistics{}
	whole := true
	resume, err := db.Updates.Lock(ctx) // no update of this server may run between the snapshot and own
	if err != nil {
		return err
	}
	defer resume()
	skip, all := false, db.Current()
	err = all.Rows.View(ctx, func(r store.Reader) (err error) {
		if seen, err = readSharedCounts(r); err != nil {
			return err
		}
		ours = own(all)
		var counters []table.Counter
		for _, t := range all.ByName {
			counters = append(counters, t.Counters(true)...) // a build counts its own rows
			whole = whole && len(t.Counters(true)) == len(t.Indexes())+1
		}
		resume()
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
		for _, c := range counters {
			var n [2]int64
			for row, err := range r.Scan(c.Space, store.Everything()) {
				if err != nil {
					return err
				}
				n[0]++
				n[1] += int64(c.Size(attr.Item(row.Value)) + table.StorageOverhead)
			}
			counted[c.Space] = n
		}

		return nil
	})

	if skip || errors.Is(err, capability.ErrChanged) {
		return nil // definitions have changed, so the next Tend counts with the new ones
	}
	if err != nil {
		return err
	}
	correction := maps.Clone(counted)
	seen.base.add(others, 1)
	seen.base.add(ours, 1)
	for space := range counted {
		correction.add(statistics{space: seen.base[space]}, -1)
	}
	err = db.Store.Update(ctx, func(w store.Writer) error {
		c, err := readSharedCounts(w)
		if err != nil {
			return err
		}
		c.base.add(correction, 1)
		if whole {
			if err := w.Delete(table.CatalogueSpace, table.CountersPartition, inexactRow); err != nil {
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
