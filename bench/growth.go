package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// Growth is the cost of a query of 10 rows against the size of its table.
type Growth struct {
	Layers []string     `json:"layers"`
	Steps  []GrowthStep `json:"steps"`
	// Stopped says why the last step is not the size asked for, if it is not.
	Stopped string `json:"stopped,omitempty"`
}

// A GrowthStep is one size.
type GrowthStep struct {
	Items  int           `json:"items"`
	Points []GrowthPoint `json:"points"` // by layer
	// Memory is what the Go runtime held after loading, in bytes.
	Memory uint64 `json:"memory_bytes"`
}

// A GrowthPoint is one layer at one size.
type GrowthPoint struct {
	// Ratio is the time of a query against that in the smallest table, which
	// is measured again in rounds that alternate with these.
	Ratio measure.Ratio `json:"ratio"`
	// Hot is the same for queries that ask for few partitions again and
	// again, so that caches of the processor hold them.
	Hot     measure.Ratio `json:"hot_ratio"`
	NsPerOp float64       `json:"ns_per_op"`
	P50     int64         `json:"p50_ns"`
	P99     int64         `json:"p99_ns"`
}

// Sizes of growth.
const (
	GrowthFrom = 1_000
	GrowthTo   = 10_000_000
)

const (
	growthCollection = 100
	growthCalls      = 1 << 14 // partitions all over the table, so that no cache holds them
	growthHot        = 64      // of which these are asked for again and again
)

func growthLayers() []layer.Name { return []layer.Name{layer.Bare, layer.Table, layer.API} }

// Grow doubles a table in memory from 1,000 items to most, and measures a
// query of 10 rows at each size. It stops before the memory is exhausted.
func Grow(ctx context.Context, c Config, most int) (*Report, error) {
	var sizes []int
	for n := GrowthFrom; n < most; n *= 2 {
		sizes = append(sizes, n)
	}
	return grow(ctx, c, append(sizes, max(most, GrowthFrom)))
}

func grow(ctx context.Context, c Config, sizes []int) (*Report, error) {
	c.Calls = growthCalls
	c = c.withDefaults()
	start, report := time.Now(), newReport()
	shape := work.Shape{Items: GrowthFrom, Collection: growthCollection, Size: c.Size.Bytes}
	if shape.Size <= 0 {
		shape.Size = work.DefaultBytes
	}
	small, done, err := c.open(ctx, layer.Memory, shape, false)
	if err != nil {
		return nil, err
	}
	defer done()
	big, done, err := c.open(ctx, layer.Memory, shape, false)
	if err != nil {
		return nil, err
	}
	defer done()
	base, err := c.growthSeries(ctx, small)
	if err != nil {
		return nil, err
	}
	g := &Growth{}
	for _, name := range growthLayers() {
		g.Layers = append(g.Layers, string(name))
	}
	for _, n := range sizes {
		if g.Stopped = tooMuch(n, big.Shape); g.Stopped != "" {
			c.say("%s", g.Stopped)
			break
		}
		c.say("%d items", n)
		if err := big.Grow(ctx, n, nil); err != nil {
			return nil, err
		}
		step, err := c.growthStep(ctx, base, big)
		if err != nil {
			return nil, err
		}
		g.Steps = append(g.Steps, step)
	}
	report.Growth = g
	return report.end(start), nil
}

// growthSeries returns the series of each layer, then those of hot queries.
func (c *Config) growthSeries(ctx context.Context, d *layer.Data) (all []*measure.Series, err error) {
	var hot []*measure.Series
	calls := work.Find("query-10").Calls(d.Shape, c.Calls, c.Seed)
	for _, name := range growthLayers() {
		l, err := layer.New(ctx, name, d, layer.Config{})
		if err != nil {
			return nil, err
		}
		ops, err := prepare(ctx, l, calls)
		if err != nil {
			return nil, err
		}
		all = append(all, measure.NewSeries(string(name), ops, 1))
		hot = append(hot, measure.NewSeries(string(name), ops[:min(growthHot, len(ops))], 1))
	}
	return append(all, hot...), nil
}

func (c *Config) growthStep(ctx context.Context, base []*measure.Series, d *layer.Data) (step GrowthStep, err error) {
	all, err := c.growthSeries(ctx, d)
	if err != nil {
		return step, err
	}
	var pairs []*measure.Series
	for i := range all {
		base[i].Rounds = nil
		pairs = append(pairs, base[i], all[i])
	}
	if err := measure.Alternate(ctx, pairs, c.Rounds, c.warm(), c.Duration, nil); err != nil {
		return step, err
	}
	step.Items, step.Memory = d.Shape.Items, measure.Held()
	for i, s := range all[:len(all)/2] {
		p := GrowthPoint{NsPerOp: measure.Median(s.PerOp()), P50: int64(s.Hist.Percentile(50)), P99: int64(s.Hist.Percentile(99))}
		p.Ratio = ratio(s, base[i])
		p.Hot = ratio(all[i+len(all)/2], base[i+len(all)/2])
		step.Points = append(step.Points, p)
	}
	return step, nil
}

// rowBytes is the least memory that an item takes, twice over for what the
// garbage collector needs, besides its own bytes.
const rowBytes = 500

// tooMuch says why a table cannot grow to n items, or nothing.
func tooMuch(n int, s work.Shape) string {
	need, free := memoryFor(n-s.Items, s.Size)
	if need <= free {
		return ""
	}
	return fmt.Sprintf("stopped at %d items: %d need about %d MB more, and %d MB of memory may be used", s.Items, n, need>>20, free>>20)
}

// memoryFor returns about what so many more items take in memory, and what may
// be taken of the machine's.
func memoryFor(items, size int) (need, free uint64) {
	available := measure.Available()
	if available == 0 { // the system does not say
		return 0, 0
	}
	return uint64(max(items, 0))*uint64(rowBytes+3*max(size, 0)) + 64<<20, available / 5 * 4 //nolint:gosec // not negative
}
