package placement

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// The rules of CockroachDB for replicas and leases.
const (
	// replicas is num_replicas. Source: CockroachDB, Configure Replication Zones.
	replicas = 3
	// A node is overfull if its requests exceed the mean by this share of the mean, and
	// by this number. Sources: CockroachDB, Cluster Settings
	// (kv.allocator.qps_rebalance_threshold); for the number
	// pkg/kv/kvserver/allocator/base.go.
	overfullShare    = 0.1
	overfullRequests = 100
	// A move needs a larger difference than this between two nodes. Source:
	// pkg/kv/kvserver/allocator/base.go (kv.allocator.min_qps_difference_for_transfers).
	minDifference = 200
)

// A node is a node of the simulated cluster.
type node struct {
	leases, replicas int
	bytes            float64
	requests         float64 // to the ranges whose lease it holds
}

// A place is where a range lives.
type place struct {
	replicas []int // nodes
	lease    int   // the node that serves all its requests
}

// A cluster holds the nodes and the places of the ranges.
type cluster struct {
	spans         []span
	places        []place
	nodes         []node
	leases, moves int // transferred, moved for load
}

// newCluster places ranges so that nodes have similar numbers of replicas and leases.
// Source: CockroachDB, Replication Layer, Leaseholder rebalancing and Load-based replica
// rebalancing ("replica count").
func newCluster(spans []span, nodes int, seed uint64) *cluster {
	c := &cluster{spans: spans, places: make([]place, len(spans)), nodes: make([]node, nodes)}
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a seed determines it on purpose
	order := make([]int, nodes)
	for i := range order {
		order[i] = i
	}
	for r := range spans {
		random.Shuffle(nodes, func(i, j int) { order[i], order[j] = order[j], order[i] })
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(c.nodes[a].replicas, c.nodes[b].replicas)
		})
		p := &c.places[r]
		p.replicas = slices.Clone(order[:min(replicas, nodes)])
		p.lease = slices.MinFunc(p.replicas, func(a, b int) int {
			return cmp.Compare(c.nodes[a].leases, c.nodes[b].leases)
		})
		for _, n := range p.replicas {
			c.nodes[n].replicas++
			c.nodes[n].bytes += spans[r].bytes
		}
		c.nodes[p.lease].leases++
		c.nodes[p.lease].requests += spans[r].requests
	}
	return c
}

// rebalance moves leases, then replicas, from overfull nodes until none can give load
// to another. It ends because each move brings the loads of two nodes closer together.
// Source: CockroachDB, Replication Layer, Load-based replica rebalancing.
func (c *cluster) rebalance() {
	mean := 0.0
	for _, n := range c.nodes {
		mean += n.requests / float64(len(c.nodes))
	}
	overfull := mean + max(overfullShare*mean, overfullRequests)
	for moved := true; moved; {
		moved = false
		for from := range c.nodes {
			if c.nodes[from].requests <= overfull {
				continue
			}
			for _, r := range c.hottest(from) {
				moved = c.give(r, from, true, overfull) || moved
			}
			for _, r := range c.hottest(from) {
				moved = c.give(r, from, false, overfull) || moved
			}
		}
	}
}

// hottest returns the ranges whose lease a node holds, the hottest first.
func (c *cluster) hottest(n int) (ranges []int) {
	for r := range c.places {
		if c.places[r].lease == n && c.spans[r].requests > 0 {
			ranges = append(ranges, r)
		}
	}
	slices.SortStableFunc(ranges, func(a, b int) int { return cmp.Compare(c.spans[b].requests, c.spans[a].requests) })
	return ranges
}

// give gives the lease of a range to the node with the least load, either among those
// with a replica or among those without, which then gets the replica too. It does not if
// the other node would become hotter than the first was. It reports whether it did.
func (c *cluster) give(r, from int, withReplica bool, overfull float64) bool {
	p, load := &c.places[r], c.spans[r].requests
	if c.nodes[from].requests <= overfull {
		return false
	}

	to := -1
	for n := range c.nodes {
		if n != from && slices.Contains(p.replicas, n) == withReplica &&
			(to < 0 || c.nodes[n].requests < c.nodes[to].requests) {
			to = n
		}
	}
	if to < 0 {
		return false
	}
	if difference := c.nodes[from].requests - c.nodes[to].requests; difference <= minDifference || load >= difference {
		return false
	}

	if withReplica {
		c.leases++
	} else {
		c.moves++
		p.replicas[slices.Index(p.replicas, from)] = to
		c.nodes[from].replicas--
		c.nodes[to].replicas++
		c.nodes[from].bytes -= c.spans[r].bytes
		c.nodes[to].bytes += c.spans[r].bytes
	}

	p.lease = to
	c.nodes[from].leases--
	c.nodes[to].leases++
	c.nodes[from].requests -= load
	c.nodes[to].requests += load
	return true
}
