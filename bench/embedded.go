package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sortkey/sortkey/bench/contest"
	"github.com/sortkey/sortkey/bench/measure"
)

// ours is the name of Sortkey among the stores.
const ours = "sortkey"

// Rounds of embedded stores are long enough that each includes its share of the store's garbage collection.
const (
	embeddedRounds   = 15
	embeddedDuration = 100 * time.Millisecond
	embeddedItems    = 100_000
)

// RunEmbedded measures Sortkey and other embedded stores, in memory and on disk. Program is the path of the command
// in bench/embedded.
func RunEmbedded(ctx context.Context, c Config, program string) (*Report, error) {
	defaultTo(&c.Rounds, embeddedRounds)
	defaultTo(&c.Duration, embeddedDuration)
	defaultTo(&c.Size.Items, embeddedItems)
	c = c.withDefaults()
	report := &Report{}
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
	return report, nil
}

// embedded measures embedded stores in one mode.
type embedded struct {
	Config
	program   string
	mode      contest.Mode
	catalogue contest.Catalogue
	processes []*contest.Process
}

// run adds the results of the mode to a report.
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

// measure runs rounds of one work on all stores in turn. Each round begins with a different store. The first round of
// each store only warms it up.
func (e *embedded) measure(ctx context.Context, w contest.Work) (Result, error) {
	result := Result{Workload: w.Name, Engine: string(e.mode), Embedded: true, Workers: 1}
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

	for _, s := range sides {
		f := embeddedFigures(s.layer, s.rounds)
		if s != sides[0] {
			f.Ratio = measure.Ratio(perOp(s.rounds, processorOf), perOp(sides[0].rounds, processorOf))
		}
		result.Layers = append(result.Layers, f)
	}
	return result, nil
}

// belowLayer is the name under which internal/table appears among the stores.
const belowLayer = "table"

func processorOf(r contest.Round) float64 { return float64(r.Processor) }

// perOp returns a figure per operation in each round.
func perOp(rounds []contest.Round, figure func(contest.Round) float64) (all []float64) {
	for _, r := range rounds {
		all = append(all, figure(r)/float64(r.Ops))
	}
	return all
}

// embeddedFigures returns the medians of a store's rounds.
func embeddedFigures(name string, rounds []contest.Round) Figures {
	median := func(figure func(contest.Round) float64) float64 { return measure.Median(perOp(rounds, figure)) }
	return Figures{
		Layer: name, NsPerOp: median(processorOf),
		Elapsed:    median(func(r contest.Round) float64 { return float64(r.Elapsed) }),
		Allocs:     median(func(r contest.Round) float64 { return float64(r.Allocs) }),
		AllocBytes: median(func(r contest.Round) float64 { return float64(r.AllocBytes) }),
	}
}
