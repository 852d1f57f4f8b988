package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// Run runs workloads on the layers of each engine.
func Run(ctx context.Context, c Config) (*Report, error) {
	c = c.withDefaults()
	start, report := time.Now(), newReport()
	for _, engine := range c.Engines {
		for _, g := range groups(c.Workloads, c.Size) {
			results, err := c.group(ctx, engine, g)
			if err != nil {
				return nil, err
			}
			report.Results = append(report.Results, results...)
		}
	}
	report.sort(c.Workloads)
	return report.end(start), nil
}

// A group is workloads that share a table.
type group struct {
	shape     work.Shape
	workloads []*work.Workload
}

// groups puts workloads together by shape. Those that write come last, so that
// the others find the items as they were loaded.
func groups(ws []*work.Workload, size work.Size) (gs []*group) {
	for _, w := range ws {
		s := w.Shape(size)
		i := slices.IndexFunc(gs, func(g *group) bool { return g.shape == s })
		if i < 0 {
			i = len(gs)
			gs = append(gs, &group{shape: s})
		}
		gs[i].workloads = append(gs[i].workloads, w)
	}
	for _, g := range gs {
		slices.SortStableFunc(g.workloads, func(a, b *work.Workload) int {
			switch {
			case a.Writes == b.Writes:
				return 0
			case b.Writes:
				return -1
			}
			return 1
		})
	}
	return gs
}

// sort puts results in the order of the workloads.
func (r *Report) sort(ws []*work.Workload) {
	at := map[string]int{}
	for i, w := range ws {
		at[w.Name] = i
	}
	var engines []string
	for _, x := range r.Results {
		if !slices.Contains(engines, x.Engine) {
			engines = append(engines, x.Engine)
		}
	}
	slices.SortStableFunc(r.Results, func(a, b Result) int {
		if d := slices.Index(engines, a.Engine) - slices.Index(engines, b.Engine); d != 0 {
			return d
		}
		return at[a.Workload] - at[b.Workload]
	})
}

// tempDir makes a folder and returns what removes it.
func (c *Config) tempDir() (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp(c.Dir, "sortkey-bench-")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}

func (c *Config) open(ctx context.Context, e layer.Engine, s work.Shape, noBare bool) (*layer.Data, func(), error) {
	if need, free := memoryFor(s.Items, s.Size); e == layer.Memory && need > free {
		return nil, nil, fmt.Errorf("a table of %d items of %d bytes needs about %d MB, and %d MB of memory may be used", s.Items, s.Size, need>>20, free>>20)
	}
	dir, remove, err := "", func() {}, error(nil)
	if e == layer.Disk {
		if dir, remove, err = c.tempDir(); err != nil {
			return nil, nil, err
		}
	}
	c.say("%s: loading %d items of %d bytes", e, s.Items, s.Size)
	d, err := layer.Open(ctx, e, s, layer.Options{Dir: dir, NoBare: noBare})
	if err != nil {
		remove()
		return nil, nil, err
	}
	return d, func() {
		_ = d.Close()
		remove()
	}, nil
}

func (c *Config) group(ctx context.Context, e layer.Engine, g *group) ([]Result, error) {
	d, done, err := c.open(ctx, e, g.shape, false)
	if err != nil {
		return nil, err
	}
	defer done()
	var all []Result
	for _, w := range g.workloads {
		c.say("%s: %s", e, w.Name)
		results, err := c.workload(ctx, d, w)
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w", w.Name, e, err)
		}
		all = append(all, results...)
	}
	return all, nil
}

// workload measures one workload on every layer of d.
func (c *Config) workload(ctx context.Context, d *layer.Data, w *work.Workload) (results []Result, err error) {
	calls, workers := c.calls(w, d.Shape), c.workers(w)
	var series []*measure.Series
	for _, name := range c.Layers {
		l, err := layer.New(ctx, name, d, layer.Config{Workers: workers, Writes: w.Writes})
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ops, err := prepare(ctx, l, calls)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		series = append(series, measure.NewSeries(string(name), ops, workers))
	}
	if err := measure.Alternate(ctx, series, c.Rounds, c.warm(), c.Duration, nil); err != nil {
		return nil, err
	}
	for _, s := range series {
		r := result(w, d.Shape, workers, s)
		r.Engine = string(d.Engine)
		r.Ratios = ratios(s, series, func(base string) bool {
			return base == string(layer.Bare) || base == s.Name+"-canned"
		})
		results = append(results, r)
	}
	return results, nil
}

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

func result(w *work.Workload, s work.Shape, workers int, m *measure.Series) Result {
	return Result{
		Workload: w.Name, About: w.About, Layer: m.Name, Shape: s, Workers: workers,
		Figures: figures(m), Rounds: m.Rounds, Hist: m.Hist,
	}
}

// ratios compares s with those of the series that are a base for it.
func ratios(s *measure.Series, all []*measure.Series, base func(string) bool) map[string]measure.Ratio {
	rs := map[string]measure.Ratio{}
	for _, b := range all {
		if b != s && base(b.Name) {
			if r, ok := measure.RatioOf(s.PerOp(), b.PerOp()); ok {
				rs[b.Name] = r
			}
		}
	}
	return rs
}

// reason says why a peer cannot be measured, in one line.
func reason(err error) string {
	if status, ok := errors.AsType[*layer.StatusError](err); ok {
		return strings.Join(strings.Fields(fmt.Sprintf("%s: status %d %s", status.Op, status.Status, status.Body)), " ")
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
