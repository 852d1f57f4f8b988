package main

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/sortkey/sortkey/bench/contest"
	"github.com/sortkey/sortkey/bench/measure"
)

// calls is the number of different calls that are prepared for a work.
const calls = 4096

// A meter measures a store.
type meter struct {
	store store
	data  dataset

	series map[string]*measure.Series // by the names of works
	used   time.Duration              // processor time of the process at the end of the last round
}

// round runs one round of a work. Before the first round of a work, it prepares the calls.
func (m *meter) round(ctx context.Context, name string, d time.Duration) (r contest.Round, err error) {
	series := m.series[name]
	if series == nil {
		if series, err = m.prepare(name); err != nil {
			return r, err
		}
		m.series[name] = series
	}
	if err := series.Round(ctx, d); err != nil {
		return r, err
	}
	used, err := processorTime()
	x := series.Rounds[len(series.Rounds)-1]
	r = contest.Round{
		Ops: x.Ops, Elapsed: time.Duration(x.Nanos), Processor: used - m.used,
		Allocs: x.Allocs, AllocBytes: x.AllocBytes,
	}
	m.used = used
	return r, err
}

// prepare makes the calls of a work.
func (m *meter) prepare(name string) (*measure.Series, error) {
	all := append(works(m.data), tableGet)
	i := slices.IndexFunc(all, func(w work) bool { return w.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("unknown work %q", name)
	}
	ops := make([]measure.Op, calls)
	for k := range ops {
		ops[k] = m.op(all[i], all[i].call(m.data, m.data.item(k)))
	}
	return measure.NewSeries(name, ops, 1), nil
}

// op returns an operation that runs a call and counts the rows that it sees.
func (m *meter) op(w work, call call) measure.Op {
	rows := 0
	see := func(Reading) { rows++ }
	want := w.Rows
	return func(ctx context.Context, _ *measure.Scratch) (int, int, error) {
		rows = 0
		if err := call(ctx, m.store, see); err != nil {
			return 0, 0, err
		}
		if rows != want {
			return 0, 0, fmt.Errorf("%d rows, want %d", rows, want)
		}
		return rows, 0, nil
	}
}

// processorTime returns the processor time that this process has used, in user mode and in the kernel.
func processorTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
