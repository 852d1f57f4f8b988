package bench

import (
	"context"
	"fmt"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/text"
)

// Growth is the time of a query of 10 rows on tables of growing size.
type Growth struct {
	Layers []string
	Steps  []GrowthStep
	// Stopped says why the last step is smaller than the size asked for.
	Stopped string
}

// A GrowthStep is one size.
type GrowthStep struct {
	Items  int
	Points []GrowthPoint // by layer
	// Memory is how many bytes the Go runtime held after loading.
	Memory uint64
}

// A GrowthPoint has the figures of one layer at one size.
type GrowthPoint struct {
	// Ratio is the time of a query in this table divided by its time in the smallest table. Each step measures the
	// smallest table again: rounds on it alternate with rounds on this table.
	Ratio   float64
	NsPerOp float64
	P99     int64
}

// Sizes of growth.
const (
	GrowthFrom = 1_000
	GrowthTo   = 10_000_000
)

const (
	growthCollection = 100
	growthCalls      = 1 << 14 // different requests, for partitions all over the table: more than the caches hold
)

// Grow doubles a table in memory from 1,000 items up to a maximum and measures
// a query of 10 rows at each size. It stops before the memory is exhausted.
func Grow(ctx context.Context, c Config, most int) (*Report, error) {
	var sizes []int
	for n := GrowthFrom; n < most; n *= 2 {
		sizes = append(sizes, n)
	}
	sizes = append(sizes, max(most, GrowthFrom))
	defaultTo(&c.Calls, growthCalls)
	c = c.withDefaults()
	g := &Growth{}
	shape := work.Shape{Items: GrowthFrom, Collection: growthCollection, Size: c.Size.Bytes}
	defaultTo(&shape.Size, work.DefaultBytes)
	small, done, err := c.open(ctx, layer.Memory, shape)
	if err != nil {
		return nil, err
	}
	defer done()
	large, done, err := c.open(ctx, layer.Memory, shape)
	if err != nil {
		return nil, err
	}
	defer done()
	base, err := c.growthSeries(ctx, small)
	if err != nil {
		return nil, err
	}

	for _, s := range base {
		g.Layers = append(g.Layers, s.Name)
	}
	for _, n := range sizes {
		if g.Stopped = tooMuch(n, large.Shape); g.Stopped != "" {
			c.say("%s", g.Stopped)
			break
		}
		c.say("%d items", n)
		if err := large.Grow(ctx, n); err != nil {
			return nil, err
		}
		step, err := c.growthStep(ctx, base, large)
		if err != nil {
			return nil, err
		}
		g.Steps = append(g.Steps, step)
	}

	return &Report{Growth: g}, nil
}

// growthSeries returns a series of queries for each layer.
func (c *Config) growthSeries(ctx context.Context, d *layer.Data) (all []*measure.Series, err error) {
	calls := work.Find("query-10").Calls(d.Shape, c.Calls, c.Seed)
	for _, name := range []layer.Name{layer.Bare, layer.Table, layer.API} {
		l, err := layer.New(name, d, false)
		if err != nil {
			return nil, err
		}
		ops, err := prepare(ctx, l, calls)
		if err != nil {
			return nil, err
		}
		all = append(all, measure.NewSeries(string(name), ops, 1))
	}
	return all, nil
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
	if err := measure.Alternate(ctx, pairs, c.Rounds, c.Duration); err != nil {
		return step, err
	}
	step.Items, step.Memory = d.Shape.Items, measure.Held()
	for i, s := range all {
		step.Points = append(step.Points, GrowthPoint{
			Ratio: s.RatioTo(base[i]), NsPerOp: s.Time(), P99: s.Latency.ValueAtPercentile(99),
		})
	}
	return step, nil
}

// tooMuch returns the reason why a table cannot grow to n items, or "" if it can.
func tooMuch(n int, s work.Shape) string {
	need, free := memoryFor(n-s.Items, s.Size)
	if need <= free {
		return ""
	}
	return fmt.Sprintf("stopped at %s: %s need about %s more memory, and %s may be used",
		text.Count(s.Items, "item"), text.Thousands(n), text.Size(need), text.Size(free))
}

// rowBytes is the memory in bytes that an item needs in addition to its own bytes, including space for the garbage
// collector.
const rowBytes = 500

// memoryFor returns, in bytes, about how much memory a number of items takes and how much of the machine's free
// memory a table may use. It returns zeros if the system does not report its memory.
func memoryFor(items, size int) (need, free int64) {
	available := int64(measure.Available()) //nolint:gosec // less than 2^63
	if available == 0 {                     // the system does not report it
		return 0, 0
	}
	return int64(max(items, 0))*int64(rowBytes+3*max(size, 0)) + 64<<20, available / 5 * 4
}
