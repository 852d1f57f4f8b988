// Package throughput limits the capacity units that requests consume per second. A [Meter] has a token bucket for
// each resource. The bucket fills with time, and requests take units from it. Package api decides how much a request
// takes from which buckets.
package throughput

import (
	"sync"
	"time"
)

// A Bucket is the name of a limited resource: the reads or the writes of a table or an index, or of one partition key
// value.
type Bucket struct {
	Resource  string
	Partition string // "" for all of them
	Write     bool
}

// A Limit says how fast a bucket fills and how many units it holds.
type Limit struct {
	Rate  float64 // units per second
	Burst float64 // units in a full bucket
}

// A Meter holds the levels of the buckets of a database. The zero Meter is ready to use. A Meter is safe for
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

// maxBuckets bounds the memory of a meter. If there are so many buckets when Take adds another one, it forgets the
// full ones, which changes no level. If at least half of maxBuckets remain, Take forgets these too. They then start
// again like new buckets.
const maxBuckets = 10_000

// Level returns how many units a bucket holds. Callers admit a request if Level is positive. Level may be negative,
// as a caller takes the units only after the request has run. A bucket that the Meter does not know begins with the
// units of one second at the time since, and fills from then on. If since is the zero time, it begins full.
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

// fill returns the units that the bucket has now.
func (l *level) fill(limit Limit, now time.Time) float64 {
	return min(limit.Burst, l.units+limit.Rate*max(0, now.Sub(l.at).Seconds()))
}

// Take removes units from a bucket. The bucket may become negative.
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
