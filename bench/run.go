package bench

import (
	"context"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/text"
)

// Run runs workloads on the layers of each engine.
func Run(ctx context.Context, c Config) (*Report, error) {
	c = c.withDefaults()
	report := &Report{}
	for _, engine := range c.Engines {
		results, err := c.engine(ctx, engine)
		if err != nil {
			return nil, err
		}
		report.Results = append(report.Results, results...)
	}
	return report, nil
}

// A group is workloads that use the same table.
type group struct {
	engine    layer.Engine
	shape     work.Shape
	workloads []*work.Workload
}

// engine runs the workloads on an engine, in groups with the same shape of table. Workloads that write run last in a
// group, so that the others find the items as they were loaded.
func (c *Config) engine(ctx context.Context, engine layer.Engine) (results []Result, err error) {
	var groups []*group
	for _, writes := range []bool{false, true} {
		for _, w := range c.Workloads {
			if w.Writes != writes {
				continue
			}
			shape := w.Shape(c.Size)
			i := slices.IndexFunc(groups, func(g *group) bool { return g.shape == shape })
			if i < 0 {
				i = len(groups)
				groups = append(groups, &group{engine: engine, shape: shape})
			}
			groups[i].workloads = append(groups[i].workloads, w)
		}
	}
	for _, g := range groups {
		of, err := c.group(ctx, g)
		if err != nil {
			return nil, err
		}
		results = append(results, of...)
	}

	at := map[string]int{}
	for i, w := range c.Workloads {
		at[w.Name] = i
	}
	slices.SortStableFunc(results, func(a, b Result) int { return at[a.Workload] - at[b.Workload] })
	return results, nil
}

// group measures a group on the layers of its engine.
func (c *Config) group(ctx context.Context, g *group) (results []Result, err error) {
	d, done, err := c.open(ctx, g.engine, g.shape)
	if err != nil {
		return nil, err
	}
	defer done()
	for _, w := range g.workloads {
		c.say("%s: %s", g.engine, w.Name)
		var series []*measure.Series
		for _, name := range c.Layers {
			l, err := layer.New(name, d, w.Writes && c.workers(w) > 1)
			if err != nil {
				return nil, err
			}
			defer l.Close()
			ops, err := prepare(ctx, l, c.calls(w, g.shape))
			if err != nil {
				return nil, fmt.Errorf("%s on %s, %s: %w", w.Name, g.engine, name, err)
			}
			series = append(series, measure.NewSeries(string(name), ops, c.workers(w)))
		}
		if err := measure.Alternate(ctx, series, c.Rounds, c.Duration); err != nil {
			return nil, fmt.Errorf("%s on %s: %w", w.Name, g.engine, err)
		}
		results = append(results, Result{
			Workload: w.Name, Engine: string(g.engine), Workers: c.workers(w), Layers: compare(series),
		})
	}
	return results, nil
}

// compare returns the figures of all layers, with their ratios to the first one, the bare engine.
func compare(series []*measure.Series) (all []Figures) {
	for i, s := range series {
		f := figures(s)
		if i > 0 {
			f.Ratio = s.RatioTo(series[0])
		}
		all = append(all, f)
	}
	return all
}

// open creates and fills a table. The caller closes it by calling done.
func (c *Config) open(ctx context.Context, e layer.Engine, s work.Shape) (d *layer.Data, done func(), err error) {
	if need, free := memoryFor(s.Items, s.Size); e == layer.Memory && need > free {
		return nil, nil, fmt.Errorf("a table of %s of %s needs about %s of memory, and %s may be used",
			text.Count(s.Items, "item"), text.Count(s.Size, "byte"), text.Size(need), text.Size(free))
	}
	dir, remove := "", func() {}
	if e == layer.Disk {
		if dir, remove, err = c.tempDir(); err != nil {
			return nil, nil, err
		}
	}
	c.say("%s: loading %d items of %d bytes", e, s.Items, s.Size)
	d, err = layer.Open(ctx, e, s, dir)
	if err != nil {
		remove()
		return nil, nil, err
	}
	return d, func() {
		_ = d.Close()
		remove()
	}, nil
}

// prepare returns the operations that run calls on a layer.
func prepare(ctx context.Context, l layer.Layer, calls []work.Call) (ops []measure.Op, err error) {
	for i := range calls {
		op, err := l.Prepare(ctx, &calls[i])
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		ops = append(ops, op)
	}
	return ops, nil
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
