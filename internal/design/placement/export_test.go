package placement

// A Key is a stretch of a test.
type Key struct {
	Keys, Bytes, Requests float64
	Rows                  float64
}

// Spans are ranges as positions and what they hold.
type Spans struct {
	Lo, Hi, Rows, Bytes, Requests []float64
}

// Split splits a key space.
func Split(keys []Key, o Options) (s Spans) {
	for _, r := range splitOf(keys, o) {
		s.Lo, s.Hi = append(s.Lo, r.lo), append(s.Hi, r.hi)
		s.Rows, s.Bytes, s.Requests = append(s.Rows, r.rows), append(s.Bytes, r.bytes), append(s.Requests, r.requests)
	}
	return s
}

// Balance places the ranges of a key space and returns the requests of nodes before
// and after moves, and whether each range has its own nodes.
func Balance(keys []Key, o Options) (before, after []float64, distinct bool) {
	o = o.withDefaults()
	c := newCluster(splitOf(keys, o), o.Nodes, o.Seed)
	before = c.requests()
	c.rebalance()
	distinct = true
	for _, p := range c.places {
		seen, leads := map[int]bool{}, false
		for _, n := range p.replicas {
			distinct = distinct && !seen[n]
			seen[n] = true
			leads = leads || n == p.lease
		}
		distinct = distinct && leads && len(seen) == min(replicas, o.Nodes)
	}
	return before, c.requests(), distinct
}

func splitOf(keys []Key, o Options) []span {
	list := make([]stretch, len(keys))
	for i, k := range keys {
		list[i] = stretch{keys: k.Keys, rows: k.Rows, bytes: k.Bytes, requests: k.Requests}
	}
	spans, _ := newLayout(list).split(o.withDefaults())
	return spans
}

func (c *cluster) requests() (all []float64) {
	for _, n := range c.nodes {
		all = append(all, n.requests)
	}
	return all
}
