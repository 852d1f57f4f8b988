// Package throughput meters the units that requests consume a second. A [Meter] has
// a bucket for each resource: it fills with time, and requests empty it. Package api
// decides what a request takes from which buckets.
package throughput

import (
	"sync"
	"time"
)

// A Bucket names what is limited: the reads or writes of a table or an index, or of
// one value of its partition key.
type Bucket struct {
	Resource  string
	Partition string // "" for all of them
	Write     bool
}

// A Limit says how many units a bucket allows.
type Limit struct {
	Rate  float64 // a second
	Burst float64 // how much an unused bucket holds
}

// A Meter has the buckets of a database. The zero Meter is ready to use, and safe for
// concurrent use.
type Meter struct {
	mu      sync.Mutex
	buckets map[Bucket]*level
}

type level struct {
	units float64
	at    time.Time
	limit Limit
}

// maxBuckets bounds the memory of a meter. With more, full buckets are forgotten,
// which changes nothing, and if that is not enough, all of them, which are full again
// when they are next used.
const maxBuckets = 10_000

// Level returns how many units a bucket holds. Requests are admitted while it is
// positive. It can be negative, as what a request consumes is known only afterwards. A
// bucket that is not known yet holds what it has gathered since a time, and a second's
// worth; with the zero time it is full.
func (m *Meter) Level(b Bucket, limit Limit, since, now time.Time) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.level(b, limit, since, now)
}

func (m *Meter) level(b Bucket, limit Limit, since, now time.Time) float64 {
	l := m.buckets[b]
	switch {
	case l != nil:
		return l.fill(limit, now)
	case since.IsZero():
		return limit.Burst
	}
	first := level{units: limit.Rate, at: since}
	return first.fill(limit, now)
}

// fill returns the units that a level has grown to.
func (l *level) fill(limit Limit, now time.Time) float64 {
	return min(limit.Burst, l.units+limit.Rate*max(0, now.Sub(l.at).Seconds()))
}

// Take removes units from a bucket.
func (m *Meter) Take(b Bucket, limit Limit, since, now time.Time, units float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := m.level(b, limit, since, now) - units
	if m.buckets[b] == nil && len(m.buckets) >= maxBuckets {
		m.forget(now)
	}
	if m.buckets == nil {
		m.buckets = map[Bucket]*level{}
	}
	m.buckets[b] = &level{left, now, limit}
}

func (m *Meter) forget(now time.Time) {
	for b, l := range m.buckets {
		if l.fill(l.limit, now) >= l.limit.Burst {
			delete(m.buckets, b)
		}
	}
	if len(m.buckets) >= maxBuckets/2 {
		clear(m.buckets)
	}
}
