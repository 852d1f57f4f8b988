package bench_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// few is the most items of a table in tests.
const few = 3000

// TestEveryWorkloadOnEveryLayer runs each workload once on each layer of each engine. Every operation checks its own
// answer; the test compares the answers with what the workload says.
func TestEveryWorkloadOnEveryLayer(t *testing.T) {
	engines := []layer.Engine{layer.Memory, layer.Disk}
	if !proptest.Long() {
		engines = engines[:1]
	}
	for _, engine := range engines {
		for s, ws := range shapes() {
			t.Run(fmt.Sprintf("%s/%d of %d bytes %s", engine, s.Collection, s.Size, s.Indexes), func(t *testing.T) {
				t.Parallel()
				d, err := layer.Open(t.Context(), engine, s, t.TempDir())
				require.NoError(t, err)
				defer func() { require.NoError(t, d.Close()) }()
				for _, w := range ws {
					calls := w.Calls(s, proptest.Cases(12), 7)
					for _, name := range layer.Names() {
						rows := run(t, d, name, w, calls)
						for i, c := range calls {
							if c.Want >= 0 && rows[i] != c.Want {
								t.Errorf("%s on %s, call %d: %d rows, want %d", w.Name, name, i, rows[i], c.Want)
							}
						}
					}
				}
			})
		}
	}
}

// shapes returns the workloads by the table that they need. Those that write come last.
func shapes() map[work.Shape][]*work.Workload {
	m := map[work.Shape][]*work.Workload{}
	for _, writes := range []bool{false, true} {
		for _, w := range work.All() {
			if s := w.Shape(work.Size{Items: few}); s.Items <= few && w.Writes == writes {
				m[s] = append(m[s], w)
			}
		}
	}
	return m
}

func run(t *testing.T, d *layer.Data, name layer.Name, w *work.Workload, calls []work.Call) (rows []int) {
	t.Helper()
	l, err := layer.New(name, d, w.Writes)
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	var s measure.Scratch
	for i := range calls {
		op, err := l.Prepare(t.Context(), &calls[i])
		require.NoError(t, err, "%s: %s", name, calls[i].Body(d.Shape))
		n, size, err := op(t.Context(), &s)
		require.NoError(t, err, "%s: %s", name, calls[i].Body(d.Shape))
		if size <= 0 && calls[i].Want > 0 {
			t.Errorf("%s: an answer of %d bytes", name, size)
		}
		rows = append(rows, n)
	}
	return rows
}

// TestWrongAnswersAreFound checks that a call which wants other rows than exist fails on every layer that reads.
func TestWrongAnswersAreFound(t *testing.T) {
	w := work.Find("query-10")
	s := w.Shape(work.Size{Items: few})
	d, err := layer.Open(t.Context(), layer.Memory, s, "")
	require.NoError(t, err)
	defer d.Close()
	for _, name := range []layer.Name{
		layer.Bare, layer.KeyCond, layer.Table, layer.Go, layer.API, layer.HTTP, layer.Client, layer.Direct,
	} {
		l, err := layer.New(name, d, false)
		require.NoError(t, err)
		c := w.Calls(s, 1, 1)[0]
		c.Want++
		op, err := l.Prepare(t.Context(), &c)
		if err == nil {
			_, _, err = op(t.Context(), &measure.Scratch{})
		}
		if err == nil {
			t.Errorf("%s does not notice a wrong number of rows", name)
		}
		require.NoError(t, l.Close())
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, engine := range []layer.Engine{"floppy", layer.Disk} { // no such engine; no folder
		_, err := layer.Open(t.Context(), engine, work.Shape{Items: 1, Collection: 1, Size: 100}, "")
		require.Error(t, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := layer.Open(ctx, layer.Memory, work.Shape{Items: 10, Collection: 1, Size: 100}, "")
	require.ErrorIs(t, err, context.Canceled)
}
