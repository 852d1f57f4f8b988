package bench_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sortkey/sortkey/server"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// quick is a run that is over at once.
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
			require.Positive(t, f.Latency.Max)
			require.NotEmpty(t, f.Latency.Curve)
			bases := map[string]int{"bare": 0, "api": 1, "client": 2, "client-canned": 1}[f.Layer]
			require.Len(t, f.Ratios, bases, f.Layer)
		}
	}
	var want []string
	for _, engine := range []string{"memory", "disk"} {
		for _, w := range []string{"put", "query-10", "mixed"} {
			for _, l := range []string{"bare", "api", "client", "client-canned"} {
				want = append(want, engine+" "+w+" "+l)
			}
		}
	}
	require.Equal(t, want, got)
	require.NotEmpty(t, r.Machine.CPU)

	for _, r := range []*bench.Report{r, r.Compact()} {
		var text, again bytes.Buffer
		require.NoError(t, r.WriteJSON(&text, true))
		back, err := bench.ReadReport(bytes.NewReader(text.Bytes()))
		require.NoError(t, err)
		require.NoError(t, back.WriteJSON(&again, true))
		require.Equal(t, text.String(), again.String())
	}
	c1 := r.Compact().Results[1].Layers[3]
	require.Nil(t, c1.Latency)
	require.InEpsilon(t, r.Results[1].Layers[3].Ratios["bare"].Median, c1.Ratios["bare"].Median, 0.01)
	require.NotNil(t, r.Results[1].Layers[3].Latency, "the report itself stays as it is")
}

func TestReadReportRefuses(t *testing.T) {
	for _, text := range []string{"", "no", "{}", `{"version":99}`, `{"version":2,"results":7}`} {
		if _, err := bench.ReadReport(strings.NewReader(text)); err == nil {
			t.Errorf("ReadReport(%q) gives no error", text)
		}
	}
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

// TestSmallTables: workloads whose tables are too small for what they ask find
// what there is.
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

func TestGrow(t *testing.T) {
	slow(t)
	r, err := bench.Grow(t.Context(), quick(), 3000)
	require.NoError(t, err)
	var sizes []int
	for _, s := range r.Growth.Steps {
		sizes = append(sizes, s.Items)
		require.Len(t, s.Points, len(r.Growth.Layers))
		for _, p := range s.Points {
			require.Positive(t, p.Ratio.Median)
		}
	}
	require.Equal(t, []int{1000, 2000, 3000}, sizes)
	require.Empty(t, r.Growth.Stopped)
}

func TestGrowStopsBeforeTheMemoryIsExhausted(t *testing.T) {
	r, err := bench.Grow(t.Context(), quick(), 1000)
	require.NoError(t, err)
	require.Len(t, r.Growth.Steps, 1)
	if text := bench.TooMuch(1<<50, 1000); !strings.HasPrefix(text, "stopped at 1,000 items: ") {
		t.Errorf("a table of 2^50 items: %q", text)
	}
}

// TestTargets measures all of them, shortly: that each has its figure, not
// what it is.
func TestTargets(t *testing.T) {
	slow(t)
	c := bench.Config{Rounds: 1, Duration: time.Microsecond, Dir: t.TempDir()}
	r, err := bench.RunTargets(t.Context(), c, bench.TargetOptions{Quick: true})
	require.NoError(t, err)
	require.Len(t, r.Targets, 51)
	skipped := 0
	for _, x := range r.Targets {
		if x.Skipped != "" {
			skipped++
			continue
		}
		require.NotEmpty(t, x.Reached, x.Measure)
		require.NotEmpty(t, x.Must, x.Measure)
		if x.Measure[:6] != "filter" { // it may be 0, as it should
			require.Positive(t, x.Value, x.Measure)
		}
	}
	require.Equal(t, 8+11+3+1+1+1+2, skipped, "peers, and what needs the command or the sources, which are not given")
	some, err := bench.RunTargets(t.Context(), c, bench.TargetOptions{Quick: true, Only: []string{"Direct"}})
	require.NoError(t, err)
	require.Len(t, some.Targets, 2)
}

func TestMissed(t *testing.T) {
	require.Equal(t, 1, bench.Missed([]bench.Target{{OK: true}, {}, {Skipped: "no peer"}}))
}

// endpoint serves a database, with a way to spoil its answers.
func endpoint(t *testing.T, wrap func(http.Handler) http.Handler) string {
	t.Helper()
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	var h http.Handler = server.New(db, server.Options{})
	if wrap != nil {
		h = wrap(h)
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.Close()
		require.NoError(t, db.Close())
	})
	return s.URL
}

// TestEndpoints compares Sortkey with itself, with one that forgets rows and
// with one that has no transactions. The one that is measured as ours is a
// shell script that says where it listens.
func TestEndpoints(t *testing.T) {
	ours := endpoint(t, nil)
	c := quick("get", "query-10", "transact-write")
	c.Serve = []string{"sh", "-c", "echo listening on " + ours + "; exec sleep 60"}
	c.Endpoints = []bench.Endpoint{
		{Name: "same", URL: endpoint(t, nil)},
		{Name: "forgetful", URL: endpoint(t, spoil("Query", `{"Items":[],"Count":10,"ScannedCount":10}`, 200))},
		{Name: "old", URL: endpoint(t, spoil("TransactWriteItems", `{"__type":"UnknownOperationException"}`, 400))},
		{Name: "gone", URL: "http://127.0.0.1:1"},
	}
	r, err := bench.RunEndpoints(t.Context(), c)
	require.NoError(t, err)
	failed := map[string]string{}
	for _, x := range r.Results {
		require.True(t, x.Endpoint)
		require.Len(t, x.Layers, 5)
		for _, f := range x.Layers {
			if f.Failed != "" {
				failed[f.Layer+" "+x.Workload] = f.Failed
			} else if f.Layer != bench.Ours {
				require.Positive(t, f.Ratios[bench.Ours].Median)
			}
		}
	}
	require.Len(t, r.Results, 3)
	require.Len(t, failed, 2+3)
	require.Contains(t, failed["forgetful query-10"], "has 0 rows, but its Count is 10")
	require.Contains(t, failed["old transact-write"], "UnknownOperation")
	require.Contains(t, failed["gone get"], "connection refused")

	// Every table is gone again.
	wire, err := layer.NewWire(ours)
	require.NoError(t, err)
	defer wire.Close()
	out, status, err := wire.Do(t.Context(), wire.Request("DynamoDB_20120810.ListTables", []byte("{}")), nil)
	require.NoError(t, err)
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"TableNames":[]}`, string(out))
}

func spoil(op, body string, status int) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+op) {
				next.ServeHTTP(w, r)
				return
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		})
	}
}

func TestParseEndpoint(t *testing.T) {
	e, err := bench.ParseEndpoint("dynalite=http://127.0.0.1:4567")
	require.NoError(t, err)
	require.Equal(t, bench.Endpoint{Name: "dynalite", URL: "http://127.0.0.1:4567"}, e)
	for _, text := range []string{"", "x", "=http://h", "x=", "x=https://h", "x=h:1", "x=http://"} {
		if _, err := bench.ParseEndpoint(text); err == nil {
			t.Errorf("ParseEndpoint(%q) gives no error", text)
		}
	}
}

func TestFileName(t *testing.T) {
	r := bench.Report{Started: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC), Machine: bench.Machine{CPU: "Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", Cores: 8}}
	require.Equal(t, "2026-01-02-intel-r-core-tm-i7-8650u-cpu-1-90ghz-8c", r.FileName())
}

// slow skips a test of a whole run under -short: TestRun has the same goroutines.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a whole run takes seconds")
	}
}
