package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/text"
)

// RunAll measures everything for one report: the targets, growth up to a number
// of items, every workload on the layers of both engines, and the workloads of
// the targets on the endpoints, if there are any.
func RunAll(ctx context.Context, c Config, o TargetOptions, most int) (*Report, error) {
	own := c
	own.Rounds, own.Duration, own.Size = 0, 0, work.Size{} // targets have defaults of their own
	report, err := RunTargets(ctx, own, o)
	if err != nil {
		return nil, err
	}

	grown, err := Grow(ctx, c, most)
	if err != nil {
		return nil, err
	}
	report.Growth = grown.Growth
	c.Engines = []layer.Engine{layer.Memory, layer.Disk}
	layers, err := Run(ctx, c)
	if err != nil {
		return nil, err
	}

	report.Results = layers.Results
	if len(c.Endpoints) > 0 {
		c.Engines, c.Workers = []layer.Engine{layer.Memory}, peerWorkers
		c.Workloads = peerWorkloads()
		if !o.Quick {
			c.Size = work.Size{}
		}
		peers, err := RunEndpoints(ctx, c)
		if err != nil {
			return nil, err
		}
		report.Results = append(report.Results, peers.Results...)
	}
	return report.end(), nil
}

// Run runs workloads on the layers of each engine.
func Run(ctx context.Context, c Config) (*Report, error) {
	c = c.withDefaults()
	return c.groups(ctx, c.layerGroup)
}

// A group is workloads that share a table.
type group struct {
	engine    layer.Engine
	shape     work.Shape
	workloads []*work.Workload
}

// groups runs the workloads of each engine in groups of one shape. Workloads
// that write come last in a group: the others find the items as loaded.
func (c *Config) groups(ctx context.Context, run func(context.Context, *group) ([]Result, error)) (*Report, error) {
	report := newReport()
	for _, engine := range c.Engines {
		var groups []*group
		for _, w := range c.Workloads {
			shape := w.Shape(c.Size)
			i := slices.IndexFunc(groups, func(g *group) bool { return g.shape == shape })
			if i < 0 {
				i = len(groups)
				groups = append(groups, &group{engine: engine, shape: shape})
			}
			groups[i].workloads = append(groups[i].workloads, w)
		}

		from := len(report.Results)
		for _, g := range groups {
			writes := func(w *work.Workload) bool { return w.Writes }
			g.workloads = slices.Concat(slices.DeleteFunc(slices.Clone(g.workloads), writes),
				slices.DeleteFunc(g.workloads, func(w *work.Workload) bool { return !w.Writes }))
			results, err := run(ctx, g)
			if err != nil {
				return nil, err
			}
			report.Results = append(report.Results, results...)
		}

		at := map[string]int{}
		for i, w := range c.Workloads {
			at[w.Name] = i
		}
		slices.SortStableFunc(report.Results[from:], func(a, b Result) int { return at[a.Workload] - at[b.Workload] })
	}
	return report.end(), nil
}

// layerGroup measures a group on the layers of its engine.
func (c *Config) layerGroup(ctx context.Context, g *group) (results []Result, err error) {
	d, done, err := c.open(ctx, g.engine, g.shape, false)
	if err != nil {
		return nil, err
	}
	defer done()
	for _, w := range g.workloads {
		c.say("%s: %s", g.engine, w.Name)
		var sides []side
		for _, name := range c.Layers {
			l, err := layer.New(name, d, w.Writes && c.workers(w) > 1)
			if err != nil {
				return nil, err
			}
			defer l.Close()
			sides = append(sides, side{name: string(name), layer: l})
		}
		r, err := c.compare(ctx, g, w, sides, func(of, base string) bool {
			return base == string(layer.Bare) || base == of+cannedSuffix
		})
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w", w.Name, g.engine, err)
		}
		results = append(results, r)
	}
	return results, nil
}

// open creates and fills a table, which done closes.
func (c *Config) open(
	ctx context.Context, e layer.Engine, s work.Shape, noBare bool,
) (d *layer.Data, done func(), err error) {
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
	d, err = layer.Open(ctx, e, s, layer.Options{Dir: dir, NoBare: noBare})
	if err != nil {
		remove()
		return nil, nil, err
	}
	return d, func() {
		_ = d.Close()
		remove()
	}, nil
}

// A side is a layer or an endpoint that is compared with others.
type side struct {
	name     string
	layer    layer.Layer
	optional bool  // the others go on when it fails
	err      error // why it cannot be measured
}

// compare measures a workload on all sides, in rounds that alternate.
func (c *Config) compare(
	ctx context.Context, g *group, w *work.Workload, sides []side, isBase func(of, base string) bool,
) (Result, error) {
	result := Result{Workload: w.Name, About: w.About, Engine: string(g.engine), Shape: g.shape, Workers: c.workers(w)}
	calls := c.calls(w, g.shape)
	var all []*measure.Series
	for _, x := range sides {
		var ops []measure.Op
		err := x.err
		if err == nil {
			ops, err = prepare(ctx, x.layer, calls)
		}
		if ctx.Err() != nil {
			return result, context.Cause(ctx)
		}
		if err != nil && !x.optional {
			return result, fmt.Errorf("%s: %w", x.name, err)
		}
		s := measure.NewSeries(x.name, ops, result.Workers)
		s.Optional, s.Err = x.optional, err
		all = append(all, s)
	}

	if err := measure.Alternate(ctx, all, c.Rounds, c.Duration); err != nil {
		return result, err
	}
	for _, s := range all {
		if s.Err != nil {
			result.Layers = append(result.Layers, Figures{Layer: s.Name, Failed: reason(s.Err)})
			continue
		}
		f := figures(s)
		f.Ratios = map[string]measure.Ratio{}
		for _, base := range all {
			if base != s && isBase(s.Name, base.Name) {
				if r, ok := measure.RatioOf(s.PerOp(), base.PerOp()); ok {
					f.Ratios[base.Name] = r
				}
			}
		}
		result.Layers = append(result.Layers, f)
	}
	return result, nil
}

// prepare returns the operations of calls.
func prepare(ctx context.Context, l layer.Layer, calls []work.Call) (ops []measure.Op, err error) {
	for i := range calls {
		op, err := l.Prepare(ctx, &calls[i])
		if err != nil {
			return nil, err
		}
		ops = append(ops, op)
	}
	return ops, nil
}

// reason says in one line why an endpoint cannot be measured.
func reason(err error) string {
	status, ok := errors.AsType[*layer.StatusError](err)
	if ok && status.Code == "ResourceInUseException" {
		return "it already has a table " + work.TableName + "; delete it if it is left over from an earlier run"
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
