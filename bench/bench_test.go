package bench_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// quick returns a configuration for a very short run.
func quick(names ...string) bench.Config {
	c := bench.Config{Size: work.Size{Items: 1500}, Rounds: 2, Duration: time.Microsecond, Calls: 10}
	for _, name := range names {
		c.Workloads = append(c.Workloads, work.Find(name))
	}
	return c
}

func TestRun(t *testing.T) {
	c := quick("put", "query-10", "mixed")
	c.Engines = []layer.Engine{layer.Memory, layer.Disk}
	c.Layers = []layer.Name{layer.Client, layer.API}
	c.Dir = t.TempDir()
	r, err := bench.Run(t.Context(), c)
	require.NoError(t, err)
	var got []string
	for _, x := range r.Results {
		if x.Workload == "mixed" {
			require.Equal(t, 4, x.Workers)
		}
		for _, f := range x.Layers {
			got = append(got, x.Engine+" "+x.Workload+" "+f.Layer)
			require.Positive(t, f.NsPerOp)
			require.Positive(t, f.OpsPerSec)
			require.Positive(t, f.Latency[4])
			require.Equal(t, f.Layer != "bare", f.Ratio > 0, f.Layer)
		}
	}
	var want []string
	for _, engine := range []string{"memory", "disk"} {
		for _, w := range []string{"put", "query-10", "mixed"} {
			for _, l := range []string{"bare", "api", "client"} {
				want = append(want, engine+" "+w+" "+l)
			}
		}
	}
	require.Equal(t, want, got)

	var text strings.Builder
	r.Print(&text, true)
	require.Regexp(t, `(?m)^workload +bare +api +client$`, text.String())
	require.Regexp(t, `(?m)^query-10 +[0-9.,]+ [nµm]s( +[0-9.,]+ ×){2}$`, text.String())
	require.Regexp(t, `(?m)^mixed +client +[0-9.,]+ × `, text.String())
	require.Contains(t, text.String(), "\nLayers on disk: ")
}

func TestRunIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := quick("get")
	c.Duration = time.Hour
	c.Progress = func(text string) {
		if strings.HasSuffix(text, "get") {
			cancel()
		}
	}
	_, err := bench.Run(ctx, c)
	require.ErrorIs(t, err, context.Canceled)
}

func TestRunRefusesWhatDoesNotFit(t *testing.T) {
	c := quick("get")
	c.Size.Items = 1 << 50
	_, err := bench.Run(t.Context(), c)
	require.ErrorContains(t, err, "of memory, and ")
}

// TestSmallTables checks that workloads whose tables are smaller than they need run with the items that exist.
func TestSmallTables(t *testing.T) {
	slow(t)
	for _, size := range []work.Size{{Items: 1}, {Items: 7, Bytes: 1}, {Items: 25, Collection: 1}, {Items: 20, Bytes: 300_000}} {
		c := quick()
		c.Calls = proptest.Cases(c.Calls)
		c.Size, c.Layers = size, []layer.Name{layer.Store, layer.Table, layer.API}
		for _, w := range work.All() {
			if w.Shape(size).Items <= size.Items {
				c.Workloads = append(c.Workloads, w)
			}
		}
		_, err := bench.Run(t.Context(), c)
		require.NoError(t, err, "%+v", size)
	}
}

// slow skips a test of a whole run under -short, because TestRun uses the same goroutines.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a whole run takes seconds")
	}
}
