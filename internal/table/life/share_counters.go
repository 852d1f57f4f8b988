package life

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// sharedCounts are the counters in a shared store. Each server keeps its latest changes in memory and adds them to base
// every few seconds. Before it first changes anything, it creates a row of its own in the catalogue and takes a lease
// of the same name. It removes the row when it closes. If a server dies, the changes that it has not stored are lost,
// so the leader marks the counters as inexact until it has counted the items.
type sharedCounts struct {
	base    statistics
	servers map[string]bool // the names of the rows of servers
	inexact bool
}

var (
	inexactRow   = []byte("statistics are inexact")
	serverPrefix = string(statisticsRow) + " of server "
)

func readSharedCounts(r store.Reader) (*sharedCounts, error) {
	c := &sharedCounts{base: statistics{}, servers: map[string]bool{}}
	all := store.Range{Lo: statisticsRow, Hi: store.AppendUpper(nil, statisticsRow)}
	for row, err := range r.Query(table.CatalogueSpace, table.CountersPartition, all, false) {
		if err != nil {
			return nil, err
		}
		switch name := string(row.Sort); name {
		case string(inexactRow):
			c.inexact = true
		case string(table.ExactRow):
		case string(statisticsRow):
			base := c.base
			if err := json.Unmarshal(row.Value, &base); err != nil {
				return nil, fmt.Errorf("damaged catalogue: %s: %w", name, err)
			}
		default:
			c.servers[name] = true
		}
	}

	return c, nil
}

func (s statistics) add(o statistics) {
	for space, n := range o {
		was := s[space]
		s[space] = [2]int64{was[0] + n[0], was[1] + n[1]}
	}
}

func (s statistics) put(w store.Writer, name []byte) error {
	return table.PutJSON(w, table.CountersPartition, name, s)
}

// own returns the counters of all tables that are not zero. In a shared store, these are the changes that this server
// has not stored.
func own(all *table.Set) statistics {
	sum := statistics{}
	for _, t := range all.ByName {
		for _, c := range t.Counters(false) {
			if n := c.Stats.Load(); n != [2]int64{} {
				sum[c.Space] = n
			}
		}
	}
	return sum
}

// Enlist implements [table.Sharing]. It creates the row of this server before the server first changes anything.
func (db *DB) Enlist(ctx context.Context) error {
	s := db.sharing
	if s.rowName() != "" {
		return nil
	}
	unlock, err := s.storing.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if s.rowName() != "" {
		return nil
	}
	row := serverPrefix + rand.Text()
	if err := s.counting.take(ctx, s.Sharer, row); err != nil {
		return err
	}
	err = db.Store.Update(ctx, func(w store.Writer) error { return statistics{}.put(w, []byte(row)) })
	if err == nil {
		s.row.Store(&row)
	}
	return err
}

// storeCounts adds the changes of this server to the stored counters, and returns the result. It also renews the lease
// that proves that the server is alive. If another server took this one for dead, storeCounts creates the row of this
// server again. exact reports that the counters are exact then.
func (db *DB) storeCounts(ctx context.Context, exact bool) (base statistics, err error) {
	s := db.sharing
	row := s.rowName()
	if row == "" {
		return nil, nil
	}
	unlock, err := s.storing.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.counting.take(ctx, s.Sharer, row); err != nil {
		return nil, err
	}
	all := db.Current()
	own := own(all)
	err = db.Store.Update(ctx, func(w store.Writer) error {
		c, err := readSharedCounts(w)
		if err != nil {
			return err
		}
		alive := c.servers[row]
		if !alive {
			err = statistics{}.put(w, []byte(row))
		}
		switch {
		case err != nil:
			return err
		case exact:
			err = w.Delete(table.CatalogueSpace, table.CountersPartition, inexactRow)
		case !alive || s.unsure: // the leader may have counted the changes already
			err = w.Put(table.CatalogueSpace, table.CountersPartition, inexactRow, nil)
		}
		base = c.base
		if err != nil || len(own) == 0 {
			return err
		}
		base.add(own)
		return base.put(w, statisticsRow)
	})
	if s.unsure = err != nil; err != nil {
		return nil, err
	}
	for _, t := range all.ByName {
		for _, c := range t.Counters(false) {
			n := own[c.Space]
			c.Stats.Add(-int(n[0]), -int(n[1]))
			c.Stats.Stored.Add(int(n[0]), int(n[1]))
		}
	}
	return base, nil
}

// closeShared stores the counters of this server and removes its row. The caller makes sure that no update runs.
func (db *DB) closeShared(ctx context.Context) error {
	s := db.sharing
	defer s.leading.end()
	defer s.sweeping.end()
	defer s.counting.end()
	row := s.rowName()
	if row == "" {
		return nil
	}
	return db.Store.Update(ctx, func(w store.Writer) error {
		c, err := readSharedCounts(w)
		if err != nil {
			return err
		}
		if err := w.Delete(table.CatalogueSpace, table.CountersPartition, []byte(row)); err != nil {
			return err
		}
		c.base.add(own(db.Current()))
		return c.base.put(w, statisticsRow)
	})
}

// removeDead removes the rows of servers that have died, and reports whether there were any.
func (db *DB) removeDead(ctx context.Context, c *sharedCounts) (removed bool, err error) {
	s := db.sharing
	for name := range c.servers {
		if name == s.rowName() {
			continue
		}
		remove := func(w store.Writer) error {
			c, err := readSharedCounts(w)
			if err != nil || !c.servers[name] { // the server has closed meanwhile
				return err
			}
			if err := w.Put(table.CatalogueSpace, table.CountersPartition, inexactRow, nil); err != nil {
				return err
			}
			removed = true
			return w.Delete(table.CatalogueSpace, table.CountersPartition, []byte(name))
		}
		// A server that is alive holds the lease, so its row stays.
		_, err := db.aloneAt(ctx, name, func(held context.Context) error { return db.Store.Update(held, remove) })
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// While other servers write, the leader counts again after recountFirst. The interval then doubles with each count,
// up to recountLast. The service updates its figures every six hours.
const (
	recountFirst = 10 * time.Second
	recountLast  = 6 * time.Hour
)

// recountShared counts the rows of one snapshot and corrects the counters, if they are inexact. While there are other
// servers, the result may be wrong, as they may have changes that they have not stored yet. So the counters stay
// marked as inexact, and later calls count again when the servers have stored more, at growing intervals.
func (db *DB) recountShared(ctx context.Context) error {
	s := db.sharing
	whole, skip := true, false
	err := db.countRows(ctx, func(all *table.Set, stored *sharedCounts) (counters []table.Counter) {
		for _, t := range all.ByName {
			counters = append(counters, t.Counters(true)...) // a build counts its own rows
			whole = whole && len(t.Counters(true)) == len(t.Indexes())+1
		}
		delete(stored.servers, s.rowName())
		whole = whole && len(stored.servers) == 0
		again := s.seen == nil || !db.Clock().Before(s.again) && !maps.Equal(stored.base, s.seen)
		if skip = !stored.inexact || !whole && !again; skip {
			return nil
		}
		return counters
	}, func() {})
	if skip || errors.Is(err, capability.ErrChanged) {
		return nil // definitions have changed, so the next Tend counts with the new ones
	}
	if err == nil {
		err = db.Enlist(ctx)
	}
	var base statistics
	if err == nil {
		base, err = db.storeCounts(ctx, whole)
	}
	if err == nil {
		s.wait = min(max(2*s.wait, recountFirst), recountLast)
		s.seen, s.again = base, db.Clock().Add(s.wait)
	}
	return err
}
