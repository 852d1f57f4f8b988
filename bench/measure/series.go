package measure

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A Scratch is what one worker reuses from operation to operation.
type Scratch struct {
	Buf []byte
	// Sum takes a checksum of what was read, so that no reading is optimised
	// away.
	Sum uint64
}

// An Op does one operation and says how many rows and bytes it was answered
// with. It is called by several workers at once, each with its own Scratch.
type Op func(ctx context.Context, s *Scratch) (rows, bytes int, err error)

// A Series is one layer's operations, run in rounds.
type Series struct {
	Name string
	Ops  []Op
	// Hist has the latencies of all rounds. Of operations shorter than a few
	// microseconds only some are timed on their own, as looking at the clock
	// would cost more than they do.
	Hist   *Hist
	Rounds []Round

	workers []*worker
	untimed int
}

type worker struct {
	Scratch
	at         int
	hist       *Hist
	ops        int64
	rows, size int64
	_          [64]byte // workers do not share a cache line
}

// clockShare is how long operations run between two looks at the clock.
const clockShare = 5 * time.Microsecond

// ErrNoOps is returned for a Series without operations.
var ErrNoOps = errors.New("there is nothing to measure")

// NewSeries returns a Series for so many workers, which begin at different
// places of ops.
func NewSeries(name string, ops []Op, workers int) *Series {
	s := &Series{Name: name, Ops: ops, Hist: NewHist()}
	workers = max(workers, 1)
	for i := range workers {
		s.workers = append(s.workers, &worker{at: len(ops) * i / workers, hist: NewHist()})
	}
	return s
}

// Warm runs operations for d without keeping what they took, and learns how
// long they are. Every operation runs once at least, unless that takes longer
// than most.
func (s *Series) Warm(ctx context.Context, d, most time.Duration) error {
	if len(s.Ops) == 0 {
		return ErrNoOps
	}
	w := s.workers[0]
	start := time.Now()
	for i := 0; ; i++ {
		if _, _, err := s.Ops[i%len(s.Ops)](ctx, &w.Scratch); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if spent := time.Since(start); spent > most || spent > d && i >= len(s.Ops)-1 {
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	start = time.Now()
	const some = 32
	n := 0
	for n < some || time.Since(start) < d/4 {
		if _, _, err := s.Ops[w.at](ctx, &w.Scratch); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		w.at = (w.at + 1) % len(s.Ops)
		if n++; time.Since(start) > d {
			break
		}
	}
	each := max(time.Since(start)/time.Duration(n), 1)
	s.untimed = int(min(clockShare/each, 1000))
	return nil
}

// Round runs one round of length d at least, and keeps it.
func (s *Series) Round(ctx context.Context, d time.Duration) error {
	if len(s.Ops) == 0 {
		return ErrNoOps
	}
	var before, after runtime.MemStats
	peak := watch()
	var failed atomic.Bool
	errs := make([]error, len(s.workers))
	runtime.ReadMemStats(&before)
	start := time.Now()
	if len(s.workers) == 1 {
		errs[0] = s.work(ctx, s.workers[0], start, d, &failed)
	} else {
		var wg sync.WaitGroup
		for i, w := range s.workers {
			wg.Go(func() { errs[i] = s.work(ctx, w, start, d, &failed) })
		}
		wg.Wait()
	}
	r := Round{Nanos: int64(time.Since(start))}
	runtime.ReadMemStats(&after)
	r.Peak = peak()
	r.Allocs, r.AllocBytes = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	for _, w := range s.workers {
		r.Ops, r.Rows, r.Bytes = r.Ops+w.ops, r.Rows+w.rows, r.Bytes+w.size
		w.ops, w.rows, w.size = 0, 0, 0
		s.Hist.Merge(w.hist)
		w.hist.h.Reset()
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s: %w", s.Name, errors.Join(errs...))
	}
	s.Rounds = append(s.Rounds, r)
	return nil
}

func (s *Series) work(ctx context.Context, w *worker, start time.Time, d time.Duration, failed *atomic.Bool) error {
	do := func() error {
		rows, size, err := s.Ops[w.at](ctx, &w.Scratch)
		if err != nil {
			failed.Store(true)
			return err
		}
		if w.at++; w.at == len(s.Ops) {
			w.at = 0
		}
		w.ops, w.rows, w.size = w.ops+1, w.rows+int64(rows), w.size+int64(size)
		return nil
	}
	for !failed.Load() {
		from := time.Now()
		if from.Sub(start) >= d && w.ops > 0 {
			return nil
		}
		if err := do(); err != nil {
			return err
		}
		w.hist.Record(time.Since(from))
		for range s.untimed {
			if err := do(); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// PerOp returns the nanoseconds per operation of each round.
func (s *Series) PerOp() []float64 { return Each(s.Rounds, Round.PerOp) }

// Alternate warms every series up and runs rounds of all of them in turn, so
// that noise of the machine meets all alike. Each round begins with another
// one. Done is called after each round of each, if it is not nil.
func Alternate(ctx context.Context, series []*Series, rounds int, warm, d time.Duration, done func()) error {
	for _, s := range series {
		if err := s.Warm(ctx, warm, 10*warm); err != nil {
			return err
		}
	}
	for r := range rounds {
		for i := range series {
			if err := series[(r+i)%len(series)].Round(ctx, d); err != nil {
				return err
			}
			if done != nil {
				done()
			}
		}
	}
	return nil
}
