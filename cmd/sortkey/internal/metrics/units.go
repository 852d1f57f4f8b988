package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sortkey/sortkey"
)

// units counts consumed capacity. Counters of deleted tables remain, so to bound
// their number only the first tables and indexes used have counters of their own.
type units struct {
	read, write *prometheus.CounterVec

	mu     sync.RWMutex
	places map[place]bool
	room   int
}

// A place is a table or an index.
type place struct{ table, index string }

func (u *units) add(op string, used *sortkey.Units) {
	at := u.place(place{used.Table, used.Index})
	c := u.read
	if used.Write {
		c = u.write
	}
	c.WithLabelValues(op, at.table, at.index).Add(used.Units)
}

// place returns the labels for a table or index.
func (u *units) place(p place) place {
	u.mu.RLock()
	known := u.places[p]
	u.mu.RUnlock()
	if known {
		return p
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.places[p] {
		if len(u.places) >= u.room {
			return place{other, other}
		}
		u.places[p] = true
	}
	return p
}
