// Package measure runs operations in rounds and records time, latency,
// allocations and memory.
package measure

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Scratch holds what one worker reuses from operation to operation.
type Scratch struct {
	Buf []byte
	// Sum is a checksum of all bytes read. It keeps the compiler from removing the reads.
	Sum uint64
}

// An Op runs one operation and returns the rows and bytes of its answer.
// Several workers call it at the same time, each with its own Scratch.
type Op func(ctx context.Context, s *Scratch) (rows, bytes int, err error)

// A Series is the operations of one layer, run in rounds.
type Series struct {
	Name   string
	Rounds []Round
	// Latency has latencies of all rounds, in nanoseconds, exact to 3 digits from 1 ns to 100 s. For operations
	// shorter than 5 µs it has only a sample, because reading the clock would take longer than the operation.
	Latency *hdrhistogram.Histogram

	ops     []Op
	workers []*worker
}

type worker struct {
	Scratch
	at         int
	latency    *hdrhistogram.Histogram
	fastest    time.Duration
	ops        int64
	rows, size int64
	_          [64]byte // keeps workers from sharing a cache line
}

// After each timed operation, a worker runs operations without timing them, for about clockInterval and at most
// maxUntimed of them.
const (
	clockInterval = 5 * time.Microsecond
	maxUntimed    = 1000
)

const longest = 100 * int64(time.Second)

func newLatency() *hdrhistogram.Histogram { return hdrhistogram.New(1, longest, 3) }

// ErrNoOps is the error of a Series without operations.
var ErrNoOps = errors.New("no operations to measure")

// NewSeries returns a Series for a number of workers. Each worker begins at another place in ops.
func NewSeries(name string, ops []Op, workers int) *Series {
	s := &Series{Name: name, ops: ops, Latency: newLatency()}
	workers = max(workers, 1)
	for i := range workers {
		s.workers = append(s.workers, &worker{at: len(ops) * i / workers, latency: newLatency(), fastest: time.Hour})
	}
	return s
}

// warm runs operations for at least the time d, and until each operation has run once. But it always stops after ten
// times d.
func (s *Series) warm(ctx context.Context, d time.Duration) error {
	if len(s.ops) == 0 {
		return ErrNoOps
	}
	start := time.Now()
	for i := 0; ; i++ {
		if _, _, err := s.ops[i%len(s.ops)](ctx, &s.workers[0].Scratch); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if spent := time.Since(start); spent > 10*d || spent > d && i >= len(s.ops)-1 {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// Round runs one round, for at least the time d, and keeps its figures.
func (s *Series) Round(ctx context.Context, d time.Duration) error {
	if len(s.ops) == 0 {
		return ErrNoOps
	}

	var before, after runtime.MemStats
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
	r.Allocs, r.AllocBytes = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	for _, w := range s.workers {
		r.Ops, r.Rows, r.Bytes = r.Ops+w.ops, r.Rows+w.rows, r.Bytes+w.size
		w.ops, w.rows, w.size = 0, 0, 0
		s.Latency.Merge(w.latency)
		w.latency.Reset()
	}

	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	s.Rounds = append(s.Rounds, r)
	return nil
}

func (s *Series) work(ctx context.Context, w *worker, start time.Time, d time.Duration, failed *atomic.Bool) error {
	do := func() error {
		rows, size, err := s.ops[w.at](ctx, &w.Scratch)
		if err != nil {
			failed.Store(true)
			return err
		}
		if w.at++; w.at == len(s.ops) {
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

		took := max(time.Since(from), 1)
		_ = w.latency.RecordValue(min(int64(took), longest)) // no error, because the value is in range
		w.fastest = min(w.fastest, took)
		for range min(clockInterval/w.fastest, maxUntimed) {
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

// Alternate warms up every series for half a round. Then it runs rounds of length d of all series in turn, so that
// all see the same noise of the machine. Each round begins with a different series.
func Alternate(ctx context.Context, series []*Series, rounds int, d time.Duration) error {
	for _, s := range series {
		if err := s.warm(ctx, d/2); err != nil {
			return err
		}
	}
	for r := range rounds {
		for i := range series {
			if err := series[(r+i)%len(series)].Round(ctx, d); err != nil {
				return err
			}
		}
	}
	return nil
}
