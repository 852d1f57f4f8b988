package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/sortkey/sortkey/bench/contest"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/text"
)

// BuildEmbedded builds the program with the embedded stores in a folder and returns its
// name. Source is the folder bench/embedded of a checkout.
func BuildEmbedded(ctx context.Context, source, dir string) (program string, err error) {
	program = filepath.Join(dir, "embedded")
	_, err = goBuild(ctx, source, program, ".")
	return program, err
}

// goBuild builds a package of the module in a folder and returns the processor time it took.
func goBuild(ctx context.Context, source, program, pkg string, env ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, pkg)
	cmd.Dir, cmd.Env = source, append(append(os.Environ(), "GOWORK=off"), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("cannot build %s in %s: %w\n%s", pkg, source, err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// The targets of the store in Go.
const (
	mostOverTable  = 1.6 // times internal/table's get
	mostGetAllocs  = 6   // beside those of the struct
	mostRowAllocs  = 2   // beside those of the struct
	structAllocs   = 4   // the strings of a reading
	manyRows       = 1000
	mostEmbedBytes = 6e6
	mostEmbedTime  = 12 * time.Second
)

// EmbedCost builds a program that embeds Sortkey, with an empty build cache, and measures
// its size and the processor time. Source is as in [BuildEmbedded].
func EmbedCost(ctx context.Context, source, dir string) ([]Target, error) {
	program := filepath.Join(dir, "hello")
	took, err := goBuild(ctx, source, program, "./hello", "CGO_ENABLED=0", "GOCACHE="+filepath.Join(dir, "cache"))
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(program)
	if err != nil {
		return nil, err
	}
	size := func(n float64) string { return text.Figure(n/1e6) + " MB" }
	return []Target{
		atMost(
			"size of a program that embeds Sortkey in memory, stripped", mostEmbedBytes, float64(info.Size()), size, "",
		),
		atMost(
			"processor time to compile it with an empty cache",
			float64(mostEmbedTime), float64(took), measure.Duration, "",
		),
	}, nil
}

// Rounds of embedded stores are longer than those of other targets, so that each has a part
// of the store's own garbage collection.
const (
	embeddedRounds   = 15
	embeddedDuration = 100 * time.Millisecond
	embeddedItems    = 100_000
)

// RunEmbedded measures Sortkey beside other embedded stores, in memory and on disk. Program
// is what [BuildEmbedded] builds.
func RunEmbedded(ctx context.Context, c Config, program string) (*Report, error) {
	defaultTo(&c.Rounds, embeddedRounds)
	defaultTo(&c.Duration, embeddedDuration)
	defaultTo(&c.Size.Items, embeddedItems)
	c = c.withDefaults()
	report := newReport()
	catalogue, err := contest.List(ctx, program)
	if err != nil {
		return nil, err
	}
	report.Stores = catalogue.Stores
	for _, mode := range []contest.Mode{contest.Memory, contest.Disk} {
		e := embedded{Config: c, program: program, mode: mode, catalogue: catalogue}
		if err := e.run(ctx, report); err != nil {
			return nil, fmt.Errorf("%s: %w", mode, err)
		}
	}
	return report.end(), nil
}

// embedded measures embedded stores in one mode.
type embedded struct {
	Config
	program   string
	mode      contest.Mode
	catalogue contest.Catalogue
	processes []*contest.Process
}

// run adds the results and the targets of the mode to a report.
func (e *embedded) run(ctx context.Context, report *Report) (err error) {
	dir, remove, err := e.tempDir()
	if err != nil {
		return err
	}
	defer remove()
	defer func() {
		for _, p := range e.processes {
			err = errors.Join(err, p.Close())
		}
	}()
	if err := e.start(ctx, dir); err != nil {
		return err
	}

	for _, w := range e.catalogue.Works {
		e.say("%s: %s", e.mode, w.Name)
		r, err := e.measure(ctx, w)
		if err != nil {
			return fmt.Errorf("%s: %w", w.Name, err)
		}
		report.Results = append(report.Results, r)
	}
	report.Targets = append(report.Targets, e.targets(report.Results[len(report.Results)-len(e.catalogue.Works):])...)
	return nil
}

// start starts the processes and compares their answers.
func (e *embedded) start(ctx context.Context, dir string) error {
	var want []string
	for _, s := range e.catalogue.Stores {
		if s.Skipped != "" {
			continue
		}

		e.say("%s: filling %s and comparing its answers", e.mode, s.Name)
		own := filepath.Join(dir, s.Name)
		if err := os.Mkdir(own, 0o700); err != nil {
			return err
		}

		p, err := contest.Start(ctx, e.program, s.Name, e.mode, own, e.Size.Items)
		if err != nil {
			return err
		}
		e.processes = append(e.processes, p)
		got, err := p.Answers()
		if err != nil {
			return err
		}
		if want == nil {
			want = got
		}
		if err := sameAnswers(e.processes[0].Name, want, s.Name, got); err != nil {
			return err
		}
	}
	return nil
}

// sameAnswers compares the answers of two stores.
func sameAnswers(a string, want []string, b string, got []string) error {
	if len(want) != len(got) {
		return fmt.Errorf("%s has %d answers, %s has %d", a, len(want), b, len(got))
	}
	for i := range want {
		if want[i] != got[i] {
			at := 0
			for at < min(len(want[i]), len(got[i])) && want[i][at] == got[i][at] {
				at++
			}
			from := max(at-200, 0)
			return fmt.Errorf(
				"%s and %s answer differently:\n%.400s\n%.400s", a, b, want[i][from:], got[i][from:],
			)
		}
	}
	return nil
}

// measure runs rounds of one work on all stores in turn. Each round begins with another
// store, and the first one of each store only warms it up.
func (e *embedded) measure(ctx context.Context, w contest.Work) (Result, error) {
	result := Result{
		Workload: w.Name, About: w.About, Engine: string(e.mode), Embedded: true,
		Shape: work.Shape{Items: e.Size.Items}, Workers: 1,
	}
	type side struct {
		process     *contest.Process
		layer, work string
		rounds      []contest.Round
	}
	var sides []*side
	for i, p := range e.processes {
		sides = append(sides, &side{process: p, layer: p.Name, work: w.Name})
		if i == 0 && w.Below != "" {
			sides = append(sides, &side{process: p, layer: belowLayer, work: w.Below})
		}
	}
	for n := range e.Rounds + 1 {
		for i := range sides {
			s := sides[(n+i)%len(sides)]
			r, err := s.process.Round(s.work, e.Duration)
			if err != nil {
				return result, errors.Join(context.Cause(ctx), err)
			}
			if n > 0 {
				s.rounds = append(s.rounds, r)
			}
		}
	}

	ours := sides[0]
	for _, s := range sides {
		f := embeddedFigures(s.layer, s.rounds)
		bases := map[string][]contest.Round{}
		switch {
		case s != ours:
			bases[ours.layer] = ours.rounds
		case w.Below != "":
			bases[belowLayer] = sides[1].rounds
		}
		for base, rounds := range bases {
			if ratio, ok := measure.RatioOf(perOp(s.rounds, processorOf), perOp(rounds, processorOf)); ok {
				f.Ratios = map[string]measure.Ratio{base: ratio}
			}
		}
		result.Layers = append(result.Layers, f)
	}
	return result, nil
}

// belowLayer is the name of internal/table among the stores.
const belowLayer = "table"

func processorOf(r contest.Round) float64 { return float64(r.Processor) }

// perOp returns a figure per operation in each round.
func perOp(rounds []contest.Round, figure func(contest.Round) float64) (all []float64) {
	for _, r := range rounds {
		all = append(all, figure(r)/float64(r.Ops))
	}
	return all
}

// embeddedFigures sums up the rounds of a store.
func embeddedFigures(name string, rounds []contest.Round) Figures {
	median := func(figure func(contest.Round) float64) float64 { return measure.Median(perOp(rounds, figure)) }
	return Figures{
		Layer: name, NsPerOp: median(processorOf),
		Elapsed:    median(func(r contest.Round) float64 { return float64(r.Elapsed) }),
		Allocs:     median(func(r contest.Round) float64 { return float64(r.Allocs) }),
		AllocBytes: median(func(r contest.Round) float64 { return float64(r.AllocBytes) }),
	}
}

// targets compares the results of a mode with the targets.
func (e *embedded) targets(results []Result) (rows []Target) {
	at := map[string]Figures{}
	for i, w := range e.catalogue.Works {
		rows = append(rows, e.ahead(w, &results[i]))
		at[w.Name] = *results[i].On(Ours)
	}
	get, many := at["get"], at["query-1000"]
	below := get.Ratios[belowLayer]
	rows = append(rows, atMost(
		e.measureOf("Get into a struct, beside internal/table's get"), mostOverTable, below.Median, measure.Times,
		"%s", spread(below),
	))
	if e.mode == contest.Disk {
		return rows
	}

	return append(rows,
		atMost(
			"allocations of Get beside those of the struct",
			mostGetAllocs, math.Round(get.Allocs)-structAllocs, text.Figure,
			"%s in all; the struct has %d strings", text.Figure(get.Allocs), structAllocs,
		),
		atMost(
			"allocations of a row of a query beside those of the struct", mostRowAllocs,
			many.Allocs/manyRows-structAllocs, text.Figure, "%s for 1,000 rows", text.Figure(many.Allocs),
		),
	)
}

func (e *embedded) measureOf(about string) string { return about + ", " + string(e.mode) }

// ahead is the target that Sortkey uses at most the time of each other store. For a filter
// that reads everything these are the stores that filter themselves.
func (e *embedded) ahead(w contest.Work, r *Result) Target {
	lowest := math.Inf(1)
	var detail []string
	for _, f := range r.Layers {
		ratio, ok := f.Ratios[Ours]
		if !ok || f.Layer == belowLayer || w.Name == "filter" && !strings.HasPrefix(f.Layer, "sqlite") {
			continue
		}
		lowest = min(lowest, ratio.Median)
		detail = append(detail, fmt.Sprintf("%s %s", f.Layer, measure.Times(ratio.Median)))
	}
	return atLeast(
		e.measureOf(w.About+": time of the fastest other store"), 1, lowest, measure.Times, "%s",
		strings.Join(detail, ", "),
	)
}
