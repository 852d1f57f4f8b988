package placement

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/spread"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/store"
)

// Options configure [Run]. The zero value is ready to use.
type Options struct {
	// Nodes is the number of nodes. Default: 3.
	Nodes int
	// Ranges is the number of ranges, of equal size, at the start. Default: 1.
	Ranges int
	// RangeBytes and RangeRequests are the size and the requests per second at which
	// a range splits. Defaults: [DefaultRangeBytes], [DefaultRangeRequests].
	RangeBytes, RangeRequests float64
	// Seed determines where ranges are at the start. Default: 1.
	Seed uint64
}

// mostRanges bounds the memory of a simulation.
const mostRanges = 1_000_000

func (o Options) withDefaults() Options {
	o.Nodes = cmp.Or(o.Nodes, 3)
	o.Ranges = cmp.Or(o.Ranges, 1)
	o.RangeBytes = cmp.Or(o.RangeBytes, DefaultRangeBytes)
	o.RangeRequests = cmp.Or(o.RangeRequests, DefaultRangeRequests)
	o.Seed = cmp.Or(o.Seed, 1)
	return o
}

// A Result is the state that the simulation reached. Figures are for the declared
// scale; loads are in requests per second. sortkey bench scale --json writes it.
type Result struct {
	Model string  `json:"model"`
	Scale float64 `json:"scale"` // share of the declared items that were generated
	// Reads and Writes are the declared requests of clients. Unplaced is the part of them
	// for entities without items, which is left out.
	Reads         float64 `json:"reads"`
	Writes        float64 `json:"writes"`
	Unplaced      float64 `json:"unplaced,omitempty"`
	RangeBytes    float64 `json:"rangeBytes"`
	RangeRequests float64 `json:"rangeRequests"`
	Replicas      int     `json:"replicas"` // of each range
	Spaces        []Space `json:"spaces"`
	Ranges        Ranges  `json:"ranges"`
	// Partition is the partition with the most requests, or nil without any.
	Partition *Partition `json:"partition,omitempty"`
	Nodes     []Node     `json:"nodes"`
	// LeasesMoved and ReplicasMoved count moves for load.
	LeasesMoved   int `json:"leasesMoved"`
	ReplicasMoved int `json:"replicasMoved"`
}

// A Space is a table or an index, or the SQL table sortkey_commits.
type Space struct {
	Table    string  `json:"table"`
	Index    string  `json:"index,omitempty"`
	Rows     float64 `json:"rows"`
	Bytes    float64 `json:"bytes"`
	Requests float64 `json:"requests"`
	Ranges   int     `json:"ranges"` // that hold rows of it
}

// Name returns the space in words.
func (s *Space) Name() string {
	if s.Index == "" {
		return s.Table
	}
	return s.Table + " by " + s.Index
}

// Ranges summarise the ranges.
type Ranges struct {
	Count int `json:"count"`
	// SplitFirst, SplitBySize and SplitByLoad count splits by their cause.
	SplitFirst  int     `json:"splitFirst"`
	SplitBySize int     `json:"splitBySize"`
	SplitByLoad int     `json:"splitByLoad"`
	Mean        float64 `json:"mean"` // requests
	Hottest     *Range  `json:"hottest,omitempty"`
	// Hot are the ranges that reach the limit of requests and cannot be split, the
	// hottest first. Large counts those above the limit of size.
	Hot   []Range `json:"hot"`
	Large int     `json:"large,omitempty"`
}

// A Range is a range and the hottest place in it.
type Range struct {
	Table    string  `json:"table"`
	Index    string  `json:"index,omitempty"`
	Rows     float64 `json:"rows"`
	Bytes    float64 `json:"bytes"`
	Requests float64 `json:"requests"`
	Place    string  `json:"place"` // "row", "end" or "beginning" of a partition
	// Partition is the partition key of that place, and Share its share of the range's
	// requests.
	Partition string  `json:"partition,omitempty"`
	Share     float64 `json:"share"`
	Node      int     `json:"node"` // that serves the range, from 1
}

// A Partition is a partition and where it lies.
type Partition struct {
	Table    string  `json:"table"`
	Index    string  `json:"index,omitempty"`
	Key      string  `json:"key"`
	Rows     float64 `json:"rows"`
	Requests float64 `json:"requests"`
	// Ranges is the number of ranges that hold a part of it.
	Ranges int `json:"ranges"`
}

// A Node is a node of the cluster.
type Node struct {
	Requests float64 `json:"requests"` // to the ranges that it leads
	Leases   int     `json:"leases"`
	Replicas int     `json:"replicas"`
	Bytes    float64 `json:"bytes"`
}

// Mean returns the mean of the requests of nodes.
func (r *Result) Mean() float64 {
	sum := 0.0
	for i := range r.Nodes {
		sum += r.Nodes[i].Requests
	}
	return sum / float64(len(r.Nodes))
}

// Run simulates how the rows and the declared load of a world would be placed. Equal
// worlds and options give equal results. Run fails if ctx is done, and if there would be
// more than a million ranges.
func Run(ctx context.Context, w *world.World, o Options) (*Result, error) {
	o = o.withDefaults()
	l, spaces, err := lay(ctx, w)
	if err != nil {
		return nil, err
	}

	all := l.upTo(float64(len(l.stretches)))
	if all.bytes/o.RangeBytes+all.requests/o.RangeRequests+float64(o.Ranges) > mostRanges {
		return nil, advice.New("choose larger or fewer ranges", "more than %s ranges", text.Thousands(mostRanges))
	}
	spans, n := l.split(o)
	c := newCluster(spans, o.Nodes, o.Seed)
	c.rebalance()
	r := &Result{
		Model: w.Model.Name, Scale: w.Scale, RangeBytes: o.RangeBytes, RangeRequests: o.RangeRequests,
		Replicas: min(replicas, o.Nodes),
		Ranges: Ranges{
			Count: len(spans), SplitFirst: n.first, SplitBySize: n.size, SplitByLoad: n.load, Hot: []Range{},
		},
		LeasesMoved: c.leases, ReplicasMoved: c.moves,
	}
	for _, e := range w.Model.Entities {
		writes := w.Model.ItemWrites(e)
		r.Reads += e.Reads
		r.Writes += writes
		if !placed(w, e) {
			r.Unplaced += e.Reads + writes
		}
	}

	for _, s := range spaces {
		r.Spaces = append(r.Spaces, l.describeSpace(s, spans))
	}
	r.describeRanges(l, spaces, c)
	r.Partition = l.hottestPartition(spaces, spans)
	for _, n := range c.nodes {
		r.Nodes = append(r.Nodes, Node{n.requests, n.leases, n.replicas, n.bytes})
	}
	return r, nil
}

func (s space) names() (table, index string) {
	if s.Space == nil {
		return commits, ""
	}
	if s.Index != nil {
		index = s.Index.Name
	}
	return s.Table.Name, index
}

func (l *layout) describeSpace(s space, spans []span) Space {
	all := l.between(float64(s.from), float64(s.to))
	out := Space{Rows: all.rows, Bytes: all.bytes, Requests: all.requests}
	out.Table, out.Index = s.names()
	if s.from < s.to {
		out.Ranges = overlapping(spans, float64(s.from), float64(s.to))
	}
	return out
}

// overlapping returns the number of ranges that overlap [lo, hi).
func overlapping(spans []span, lo, hi float64) int {
	first, _ := slices.BinarySearchFunc(spans, lo, func(s span, at float64) int {
		if s.hi <= at {
			return -1
		}
		return 1
	})
	n := 0
	for _, s := range spans[first:] {
		if s.lo >= hi {
			break
		}
		n++
	}
	return n
}

func (r *Result) describeRanges(l *layout, spaces []space, c *cluster) {
	order := make([]int, len(c.spans))
	for i, s := range c.spans {
		order[i] = i
		r.Ranges.Mean += s.requests / float64(len(c.spans))
		if s.bytes > r.RangeBytes*(1+rounding) {
			r.Ranges.Large++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.spans[b].requests, c.spans[a].requests) })
	for i, at := range order {
		hot := c.spans[at].requests >= r.RangeRequests
		if i > 0 && !hot || c.spans[at].requests <= rounding {
			break
		}
		d := l.describeRange(spaces, c.spans[at])
		d.Node = c.places[at].lease + 1
		if i == 0 {
			r.Ranges.Hottest = &d
		}
		if hot {
			r.Ranges.Hot = append(r.Ranges.Hot, d)
		}
	}
}

// rounding is the largest error of sums that is taken for rounding.
const rounding = 1e-6

func (l *layout) describeRange(spaces []space, s span) Range {
	var best *stretch
	most := -1.0
	for i := int(s.lo); float64(i) < s.hi; i++ {
		if t := &l.stretches[i]; t.requests/math.Floor(t.keys) > most {
			best, most = t, t.requests/math.Floor(t.keys)
		}
	}
	out := Range{Rows: s.rows, Bytes: s.bytes, Requests: s.requests, Place: "row", Share: most / s.requests}
	switch {
	case best.end:
		out.Place = "end"
	case best.beginning:
		out.Place = "beginning"
	}
	in := spaces[best.space]
	out.Table, out.Index = in.names()
	if best.row != nil {
		out.Partition = spread.PartitionKeyOf(in.Space, best.row).Text()
	}
	return out
}

// hottestPartition returns the partition with the most requests. Where stretches
// represent several partitions, it is one of them.
func (l *layout) hottestPartition(spaces []space, spans []span) (best *Partition) {
	for _, s := range spaces {
		if s.Space == nil {
			continue
		}
		for from, to := s.from, s.from; from < s.to; from = to {
			first := &l.stretches[from]
			head := first.addr[:store.SortOffset(first.addr)]
			for to++; to < s.to && bytes.HasPrefix(l.stretches[to].addr, head); to++ {
			}
			all, n := l.between(float64(from), float64(to)), first.partitions
			requests := all.requests / n
			if requests > rounding && (best == nil || requests > best.Requests*(1+rounding)) {
				ranges := overlapping(spans, float64(from), float64(to))
				best = &Partition{
					Key: spread.PartitionKeyOf(s.Space, first.row).Text(), Rows: all.rows / n, Requests: requests,
					Ranges: int(math.Ceil(float64(ranges) / n)),
				}
				best.Table, best.Index = s.names()
			}
		}
	}
	return best
}
