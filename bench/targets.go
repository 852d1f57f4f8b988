package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// A Target is a figure that Sortkey holds itself to.
type Target struct {
	Measure string `json:"measure"`
	Must    string `json:"must"`
	Reached string `json:"reached,omitempty"`
	OK      bool   `json:"ok"`
	// Value and Bound are the figures behind Reached and Must.
	Value float64 `json:"value,omitempty"`
	Bound float64 `json:"bound,omitempty"`
	// Detail has what stands behind the figure.
	Detail string `json:"detail,omitempty"`
	// Skipped says why it was not measured.
	Skipped string `json:"skipped,omitempty"`
}

// TargetOptions configure [RunTargets].
type TargetOptions struct {
	// Quick measures once, shortly and on small tables: to see that the
	// measuring works, not what it gives.
	Quick bool
	// Only measures those whose text contains one of these. Default: all.
	Only []string
}

// Missed returns the number of targets that were measured and not reached.
func Missed(ts []Target) (n int) {
	for _, t := range ts {
		if !t.OK && t.Skipped == "" {
			n++
		}
	}
	return n
}

// targets runs the measurements of targets.
type targets struct {
	Config
	quick bool
	mem   *layer.Data // the table of most of them
}

// items returns n, or fewer when quick.
func (t *targets) items(n, quick int) int {
	if t.quick {
		return quick
	}
	return n
}

// Rounds and their length for targets.
const (
	targetRounds   = 25 // many short ones, so that what disturbs some does not reach the median
	targetDuration = 50 * time.Millisecond
)

// RunTargets measures the figures that Sortkey holds itself to. Those against
// other implementations need endpoints called dynalite and dynoxide.
func RunTargets(ctx context.Context, c Config, o TargetOptions) (*Report, error) {
	t := &targets{Config: c, quick: o.Quick}
	if t.Rounds <= 0 {
		t.Rounds = t.items(targetRounds, 2)
	}
	if t.Duration <= 0 {
		t.Duration = time.Duration(t.items(int(targetDuration), int(5*time.Millisecond)))
	}
	t.Calls = t.items(4096, 64)
	t.Size = work.Size{Items: t.items(100_000, 14_000)} // quick, too, there is one full page
	t.Config = t.withDefaults()
	start, report := time.Now(), newReport()
	defer func() {
		if t.mem != nil {
			_ = t.mem.Close()
		}
	}()
	for _, m := range []struct {
		about string // of all its rows, for Only
		run   func(context.Context) ([]Target, error)
	}{
		{"table page bare walk", t.tablePage},
		{"api page response body", t.apiPage},
		{"filter drops every row", t.filter},
		{"api GetItem", t.apiGet},
		{"sdk.Client GetItem Query", t.sdkClient},
		{"sdk.Direct GetItem", t.sdkDirect},
		{"disk page pebble iterator", t.diskPage},
		{"durable put disk writers", t.durablePut},
		{"10-row query growth", t.growth},
		{"peers http dynalite dynoxide", t.peers},
		{"Fork", t.fork},
		{"serve", t.serve},
		{"put into memory", t.put},
	} {
		if o.Only != nil && !slices.ContainsFunc(o.Only, func(s string) bool { return strings.Contains(m.about, s) }) {
			continue
		}
		t.say("%s", m.about)
		rows, err := m.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.about, err)
		}
		report.Targets = append(report.Targets, rows...)
	}
	return report.end(start), nil
}

// atMost is a target whose value must not exceed a bound.
func atMost(name, must string, bound, value float64, reached, detail string, args ...any) Target {
	return Target{Measure: name, Must: must, Bound: bound, Value: value, Reached: reached, OK: value <= bound, Detail: fmt.Sprintf(detail, args...)}
}

// atLeast is a target whose value must reach a bound.
func atLeast(name, must string, bound, value float64, reached, detail string, args ...any) Target {
	t := atMost(name, must, bound, value, reached, detail, args...)
	t.OK = value >= bound
	return t
}

func times(x float64) string { return fmt.Sprintf("%.2f ×", x) }

func duration(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.2f µs", ns/1e3)
	default:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	}
}

// spread prints a ratio's range.
func spread(r measure.Ratio) string { return fmt.Sprintf("rounds %.2f–%.2f", r.Low, r.High) }

// memory returns the table in memory that targets share: 100,000 items of 100
// bytes in collections of more than a page.
func (t *targets) memory(ctx context.Context) (d *layer.Data, err error) {
	if t.mem == nil {
		t.mem, err = layer.Open(ctx, layer.Memory, work.Find("page").Shape(t.Size), layer.Options{})
	}
	return t.mem, err
}

// series prepares calls on layers.
func (t *targets) series(ctx context.Context, d *layer.Data, calls []work.Call, workers int, names ...layer.Name) (all []*measure.Series, err error) {
	for _, name := range names {
		l, err := layer.New(ctx, name, d, layer.Config{Workers: workers})
		if err != nil {
			return nil, err
		}
		ops, err := prepare(ctx, l, calls)
		if err != nil {
			return nil, err
		}
		all = append(all, measure.NewSeries(string(name), ops, workers))
	}
	return all, nil
}

// compare measures a workload on layers of the shared table.
func (t *targets) compare(ctx context.Context, workload string, names ...layer.Name) ([]*measure.Series, error) {
	d, err := t.memory(ctx)
	if err != nil {
		return nil, err
	}
	all, err := t.series(ctx, d, t.calls(work.Find(workload), d.Shape), 1, names...)
	if err != nil {
		return nil, err
	}
	return all, t.alternate(ctx, all)
}

func (t *targets) alternate(ctx context.Context, all []*measure.Series) error {
	return measure.Alternate(ctx, all, t.Rounds, t.warm(), t.Duration, nil)
}

func ratio(s, base *measure.Series) measure.Ratio {
	r, _ := measure.RatioOf(s.PerOp(), base.PerOp())
	return r
}

// perOp returns the median nanoseconds and allocations of an operation.
func perOp(s *measure.Series) (ns, allocs float64) {
	return measure.Median(s.PerOp()), measure.Median(measure.Each(s.Rounds, measure.Round.AllocsPerOp))
}

func round(x float64) float64 { return math.Round(x*10) / 10 }
