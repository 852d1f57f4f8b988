package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// A Target is a bound on a figure of Sortkey.
type Target struct {
	Measure string `json:"measure"`
	Must    string `json:"must"`
	Reached string `json:"reached,omitempty"`
	OK      bool   `json:"ok"`
	// Value and Bound are the figures of Reached and Must.
	Value float64 `json:"value,omitempty"`
	Bound float64 `json:"bound,omitempty"`
	// Detail has the figures behind the value.
	Detail string `json:"detail,omitempty"`
	// Skipped says why the figure was not measured.
	Skipped string `json:"skipped,omitempty"`
}

// atMost is a target whose value must not exceed a bound. Unit writes both.
func atMost(name string, bound, value float64, unit func(float64) string, detail string, args ...any) Target {
	return Target{
		Measure: name, Must: "at most " + unit(bound), Reached: unit(value), OK: value <= bound,
		Value: value, Bound: bound, Detail: fmt.Sprintf(detail, args...),
	}
}

// atLeast is a target whose value must reach a bound.
func atLeast(name string, bound, value float64, unit func(float64) string, detail string, args ...any) Target {
	t := atMost(name, bound, value, unit, detail, args...)
	t.Must, t.OK = "at least "+unit(bound), value >= bound
	return t
}

func (t Target) skip(why string) Target {
	return Target{Measure: t.Measure, Must: t.Must, Bound: t.Bound, Skipped: why}
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

// TargetOptions configure [RunTargets].
type TargetOptions struct {
	// Quick measures briefly on small tables: it shows that measuring works, and
	// its figures mean nothing.
	Quick bool
	// Only selects the groups whose words contain one of these. Default: all.
	Only []string
	// Sources is the folder of Sortkey's sources, to build its command from. Without it, what
	// needs that is not measured.
	Sources string
}

// targets measures targets.
type targets struct {
	Config
	quick   bool
	sources string
	shared  *layer.Data // the table of most of them
}

// items returns n, or fewer when quick.
func (t *targets) items(n, quick int) int {
	if t.quick {
		return quick
	}
	return n
}

// Rounds of targets are many and short, so that disturbances of some do not
// reach the median.
const (
	targetRounds   = 25
	targetDuration = 50 * time.Millisecond
)

// RunTargets measures the targets of the project. Those against other
// implementations need endpoints called dynalite and dynoxide.
func RunTargets(ctx context.Context, c Config, o TargetOptions) (*Report, error) {
	t := &targets{Config: c, quick: o.Quick, sources: o.Sources}
	defaultTo(&t.Rounds, t.items(targetRounds, 2))
	defaultTo(&t.Duration, time.Duration(t.items(int(targetDuration), int(5*time.Millisecond))))
	t.Calls = t.items(4096, 64)
	t.Size = work.Size{Items: t.items(100_000, 14_000)} // even quick, one page is full
	t.Config = t.withDefaults()
	report := newReport()
	defer func() {
		if t.shared != nil {
			_ = t.shared.Close()
		}
	}()

	for _, group := range []struct {
		words string // for TargetOptions.Only
		run   func(context.Context) ([]Target, error)
	}{
		{"table page bare walk", t.tablePage},
		{"api page response body", t.apiPage},
		{"filter drops every row", t.filter},
		{"api GetItem", t.apiGet},
		{"store in Go Get Query put", t.face},
		{"http GetItem net/http", t.http},
		{"processor time http dynoxide", t.processor},
		{"sdk.Client GetItem Query", t.sdkClient},
		{"sdk.Direct GetItem", t.sdkDirect},
		{"disk page pebble iterator", t.diskPage},
		{"durable put disk writers", t.durablePut},
		{"10-row query growth", t.growth},
		{"peers dynalite dynoxide", t.peers},
		{"Fork", t.fork},
		{"serve", t.serve},
		{"million import export memory opening", t.million},
		{"durable put over HTTP", t.durableHTTP},
		{"two writers tables", t.twoWriters},
		{"DeleteTable", t.deleteTable},
		{"put into memory", t.put},
		{"core row btree garbage", t.core},
		{"first command build", t.firstCommand},
	} {
		if o.Only != nil &&
			!slices.ContainsFunc(o.Only, func(s string) bool { return strings.Contains(group.words, s) }) {
			continue
		}

		t.say("%s", group.words)
		rows, err := group.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", group.words, err)
		}
		report.Targets = append(report.Targets, rows...)
	}
	return report.end(), nil
}

// spread writes the range of a ratio.
func spread(r measure.Ratio) string { return fmt.Sprintf("rounds %.2f–%.2f", r.Low, r.High) }

// table returns the table in memory that targets share: 100,000 items of 100
// bytes in collections of more than a page.
func (t *targets) table(ctx context.Context) (d *layer.Data, err error) {
	if t.shared == nil {
		t.shared, err = layer.Open(ctx, layer.Memory, work.Find("page").Shape(t.Size), layer.Options{})
	}
	return t.shared, err
}

// series prepares calls on layers. The caller calls done in the end.
func series(
	ctx context.Context, d *layer.Data, calls []work.Call, workers int, names ...layer.Name,
) (all []*measure.Series, done func(), err error) {
	var layers []layer.Layer
	done = func() {
		for _, l := range layers {
			_ = l.Close()
		}
	}
	for _, name := range names {
		l, err := layer.New(name, d, false)
		if err != nil {
			return nil, done, err
		}
		layers = append(layers, l)
		ops, err := prepare(ctx, l, calls)
		if err != nil {
			return nil, done, err
		}
		all = append(all, measure.NewSeries(string(name), ops, workers))
	}
	return all, done, nil
}

// run measures a workload on layers of a table.
func (t *targets) run(
	ctx context.Context, d *layer.Data, workload string, workers int, round time.Duration, names ...layer.Name,
) ([]*measure.Series, error) {
	all, done, err := series(ctx, d, t.calls(work.Find(workload), d.Shape), workers, names...)
	defer done()
	if err != nil {
		return nil, err
	}
	return all, measure.Alternate(ctx, all, t.Rounds, round)
}

// onTable measures a workload on layers of the shared table.
func (t *targets) onTable(
	ctx context.Context, workload string, workers int, names ...layer.Name,
) ([]*measure.Series, error) {
	d, err := t.table(ctx)
	if err != nil {
		return nil, err
	}
	return t.run(ctx, d, workload, workers, t.Duration, names...)
}
