package placement

import "math"

// The documented defaults of CockroachDB.
const (
	// DefaultRangeBytes is range_max_bytes, above which a range splits. Source:
	// CockroachDB, Configure Replication Zones.
	DefaultRangeBytes = 512 << 20
	// DefaultRangeRequests is kv.range_split.load_qps_threshold, at which a range may
	// split. Source: CockroachDB, Load-Based Splitting.
	DefaultRangeRequests = 2500
	// imbalance is the largest difference between the halves of a split by load, as
	// a share of both: a range is not split at a key that does not balance them.
	// Source: CockroachDB, Load-Based Splitting ("balance factor"); the figure is
	// that of pkg/kv/kvserver/split/unweighted_finder.go.
	imbalance = 0.25
)

// A span is a range of the key space: the positions [lo, hi).
type span struct {
	lo, hi float64
	amount
}

// splits counts splits by their cause.
type splits struct{ first, size, load int }

// split splits the key space into ranges, in order.
func (l *layout) split(o Options) (spans []span, n splits) {
	if l.rows == 0 {
		return nil, n
	}

	lo, end := 0.0, float64(l.rows)
	total := l.upTo(end)
	for i := 1; i < o.Ranges; i++ { // the first ranges have equal sizes
		at, ok := l.nearest(lo, end, total.bytes*float64(i)/float64(o.Ranges), bytesOf)
		if ok {
			spans = append(spans, l.span(lo, at))
			lo = at
			n.first++
		}
	}

	spans = append(spans, l.span(lo, end))
	if l.rows < len(l.stretches) {
		spans = append(spans, l.span(end, float64(len(l.stretches))))
	}
	var done []span
	for _, s := range spans {
		todo := []span{s}
		for len(todo) > 0 {
			s := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			at, ok, count := 0.0, false, &n.size
			if s.bytes > o.RangeBytes {
				at, ok = l.nearest(s.lo, s.hi, l.upTo(s.lo).bytes+s.bytes/2, bytesOf)
			}
			if !ok && s.requests >= o.RangeRequests {
				count = &n.load
				at, ok = l.nearest(s.lo, s.hi, l.upTo(s.lo).requests+s.requests/2, requestsOf)
				ok = ok && math.Abs(2*l.between(s.lo, at).requests-s.requests) < imbalance*s.requests
			}
			if !ok {
				done = append(done, s)
				continue
			}
			*count++
			todo = append(todo, l.span(at, s.hi), l.span(s.lo, at))
		}
	}
	return done, n
}

func (l *layout) span(lo, hi float64) span { return span{lo, hi, l.between(lo, hi)} }

func bytesOf(a amount) float64    { return a.bytes }
func requestsOf(a amount) float64 { return a.requests }
