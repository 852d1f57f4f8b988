package bench

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/tests/processor"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// processorRound is the length of a round that measures processor time, which the system adds up at each tick.
func (t *targets) processorRound() time.Duration {
	return max(4*t.Duration, 100*time.Millisecond)
}

// face measures what a Go program pays for an operation: values in, structs out.
func (t *targets) face(ctx context.Context) (rows []Target, err error) {
	const name = "store in Go, processor time of "
	for _, w := range []struct {
		workload, name string
		bound          float64
	}{{"get", "Get", 2500}, {"query-10", "a Query of 10", 10_000}, {"put", "a put", 4000}} {
		d, err := layer.Open(ctx, layer.Memory, work.Find(w.workload).Shape(t.Size), layer.Options{})
		if err != nil {
			return nil, err
		}
		all, done, err := series(ctx, d, t.calls(work.Find(w.workload), d.Shape), 1, layer.Face, layer.Table)
		if err == nil {
			for _, s := range all {
				s.Process = os.Getpid()
			}
			err = measure.Alternate(ctx, all, t.Rounds, t.processorRound())
		}
		done()
		if err = errors.Join(err, d.Close()); err != nil {
			return nil, err
		}

		r, _ := measure.RatioOf(all[0].ProcessorPerOp(), all[1].ProcessorPerOp())
		rows = append(rows, atMost(name+w.name, w.bound, measure.Median(all[0].ProcessorPerOp()), measure.Duration,
			"%s of table's own; %s; %.1f allocations", measure.Times(r.Median), spread(r), all[0].Allocs()))
	}
	return rows, nil
}

// A coreRow is one of a thousand rows of its partition.
type coreRow struct{ partition, sort []byte }

func newCoreRow(i int) coreRow {
	return coreRow{
		partition: fmt.Appendf(nil, "customer#%07d", i/1000),
		sort:      binary.BigEndian.AppendUint32([]byte("order#"), uint32(i%1000)), //nolint:gosec // below 1000
	}
}

// coreRows returns a store in memory of n rows of 71 bytes, and the bytes of heap that each takes.
func coreRows(ctx context.Context, n int) (s store.Forker, each float64, err error) {
	before := heapInUse()
	s = memory.Open()
	for i := 0; i < n && err == nil; i += 1000 {
		err = s.Update(ctx, func(w store.Writer) error {
			for k := i; k < min(i+1000, n); k++ {
				r := newCoreRow(k)
				if err := w.Put(1, r.partition, r.sort, bytes.Repeat([]byte{byte(k)}, smallItem)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return s, float64(heapInUse()-before) / float64(n), err
}

// heapInUse is the bytes of objects after a collection of garbage.
func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// core measures the tree of rows in memory alone: what a row takes, what it costs the collector of garbage, and a
// read of a row that is in no cache beside google/btree with the same addresses.
func (t *targets) core(ctx context.Context) (rows []Target, err error) {
	const million = 1_000_000
	n := t.items(million, 20_000)
	s, each, err := coreRows(ctx, n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	rows = append(rows, atMost("store/memory: heap that a row of 71 bytes takes, put in order", 140, each,
		func(x float64) string { return text.Figure(x) + " bytes" }, "%d rows in partitions of 1,000", n))

	bare := layer.NewBareTree()
	for i := range n {
		r := newCoreRow(i)
		bare.Put(store.AppendAddress(nil, 1, r.partition, r.sort), bytes.Repeat([]byte{byte(i)}, smallItem))
	}
	rng := rand.New(rand.NewPCG(uint64(t.Seed), 5)) //nolint:gosec // reproducible by design
	var ours, theirs []measure.Op
	for range t.items(200_000, 2000) {
		r := newCoreRow(rng.IntN(n))
		ours = append(ours, func(ctx context.Context, scratch *measure.Scratch) (int, int, error) {
			value, ok, err := s.(store.Getter).Get(ctx, 1, r.partition, r.sort)
			return coreRead(value, ok, err, scratch)
		})
		theirs = append(theirs, func(_ context.Context, scratch *measure.Scratch) (int, int, error) {
			scratch.Buf = store.AppendAddress(scratch.Buf[:0], 1, r.partition, r.sort)
			value, ok := bare.Get(scratch.Buf)
			return coreRead(value, ok, nil, scratch)
		})
	}
	all := []*measure.Series{measure.NewSeries("memory", ours, 1), measure.NewSeries("google/btree", theirs, 1)}
	for _, a := range all {
		a.Process = os.Getpid()
	}
	if err := measure.Alternate(ctx, all, t.Rounds, t.processorRound()); err != nil {
		return nil, err
	}
	mine, btree := all[0].ProcessorPerOp(), all[1].ProcessorPerOp()
	r, _ := measure.RatioOf(mine, btree)
	rows = append(rows, atMost("store/memory: a Get of a million rows against google/btree without snapshots", 0.7,
		r.Median, measure.Times, "%s; %s, theirs %s", spread(r), measure.Duration(measure.Median(mine)),
		measure.Duration(measure.Median(btree))))

	collection, err := t.collection(ctx, t.items(10*million, 20_000))
	return append(rows, collection...), err
}

func coreRead(value []byte, ok bool, err error, s *measure.Scratch) (rows, size int, _ error) {
	if err != nil || !ok {
		return 0, 0, errors.Join(err, errCoreMissing)
	}
	s.Sum ^= uint64(value[0])
	return 1, len(value), nil
}

var errCoreMissing = errors.New("a row is missing")

// collection measures a collection of garbage beside n rows.
func (t *targets) collection(ctx context.Context, n int) (rows []Target, err error) {
	const name = "store/memory: processor time of a collection of garbage beside 10 million rows"
	pid := os.Getpid()
	if processor.Time(pid) == 0 {
		return []Target{atMost(name, 50e6, 0, measure.Duration, "").skip(
			"this system does not report the processor time of a process")}, nil
	}
	idle := collect(pid)
	s, each, err := coreRows(ctx, n)
	if err != nil {
		return nil, err
	}
	took := collect(pid)
	return []Target{atMost(name, 50e6, took, measure.Duration,
		"%d rows of 71 bytes, %s bytes each; of this, what else the process has takes %s",
		n, text.Figure(each), measure.Duration(idle))}, s.Close()
}

// collect returns the processor time of a collection of garbage, the least of five.
func collect(pid int) float64 {
	least := 0.0
	for i := range 5 {
		before := processor.Time(pid)
		runtime.GC()
		if took := float64(processor.Time(pid) - before); i == 0 || took < least {
			least = took
		}
	}
	return least
}
