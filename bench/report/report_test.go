package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/report"
	"github.com/sortkey/sortkey/bench/work"
)

// sample is a report with a bit of everything.
func sample() *bench.Report {
	r := &bench.Report{
		Started: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC), Args: []string{"sortkey bench", "<&>"},
		Machine: bench.Machine{CPU: "A & B <fast>", Cores: 4, OS: "linux", Arch: "amd64", Go: "go1.26"},
		Build:   bench.Build{Version: "v1", Commit: "0123456789abcdef", Dirty: true},
		Targets: []bench.Target{
			{Measure: "a page", Must: "at most 2 ×", Reached: "1.50 ×", OK: true, Detail: "rounds 1.40–1.60"},
			{Measure: "another", Must: "at most 3 µs", Reached: "4.00 µs"},
			{Measure: "HTTP", Must: "at least 3 ×", Skipped: "needs --endpoint"},
		},
		Growth: &bench.Growth{Layers: []string{"bare", "api"}, Stopped: "stopped at 2000 items: too much"},
	}
	figures := func(layer string, ns float64, ratios map[string]float64) bench.Figures {
		f := bench.Figures{Layer: layer, NsPerOp: ns, OpsPerSec: 1e9 / ns, Allocs: 2.5, Ratios: map[string]measure.Ratio{}}
		for base, v := range ratios {
			f.Ratios[base] = measure.Ratio{Median: v, Low: v * 0.9, High: v * 1.1}
		}
		f.Latency = &bench.Latency{P50: int64(ns), P99: int64(ns * 1.5), Max: int64(ns * 2)}
		for i := range bench.Percentiles()[:7] { // of 100 operations
			f.Latency.Curve = append(f.Latency.Curve, int64(ns)*int64(i+5)/10)
		}
		return f
	}
	r.Results = []bench.Result{
		{Workload: "get", Engine: "memory", Shape: work.Shape{Items: 10}, Layers: []bench.Figures{
			figures("bare", 200, nil),
			figures("api", 2000, map[string]float64{"bare": 10}),
			figures("client", 24_000, map[string]float64{"bare": 120, "client-canned": 1.2}),
			figures("client-canned", 20_000, map[string]float64{"bare": 100}),
		}},
		{Workload: "get", Engine: "memory", Endpoint: true, Layers: []bench.Figures{
			figures(bench.Ours, 30_000, nil),
			figures("other", 90_000, map[string]float64{bench.Ours: 3}),
		}},
		{Workload: "page", Engine: "memory", Endpoint: true, Layers: []bench.Figures{{Layer: "other", Failed: "status 400 <no>"}}},
	}
	for _, n := range []int{1000, 2000} {
		r.Growth.Steps = append(r.Growth.Steps, bench.GrowthStep{Items: n, Points: []bench.GrowthPoint{
			{NsPerOp: 500, Ratio: measure.Ratio{Median: 1}}, {NsPerOp: 5000, Ratio: measure.Ratio{Median: 1.1}},
		}})
	}
	return r
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	report.Table(&b, sample(), report.Options{Details: true})
	text := b.String()
	for _, want := range []string{
		"commit   0123456789ab with changes",
		"workload    bare   api  client  client/canned\n",
		"get       200 ns  10 ×   120 ×          1.2 ×\n",
		"get         30 µs     3 ×\n",
		"other, page failed: status 400 <no>\n",
		"2,000  500 ns  1  0 ns  5 µs  1.1",
		"another  at most 3 µs  4.00 µs       NO\n",
		"1 of 2 reached, 1 not measured\n",
		"stopped at 2000 items: too much\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	report.Markdown(&b, sample())
	for _, want := range []string{
		"A & B <fast>, 4 cores, linux/amd64, go1.26, commit 0123456789ab with changes, 2026-01-02.\n",
		"| a page | at most 2 × | 1.50 × | yes |\n",
		"| another | at most 3 µs | 4.00 µs | **no** |\n",
		"| HTTP | at least 3 × | not measured | – |\n",
		"| workload | bare | api | client | client/canned |\n|---|--:|--:|--:|--:|\n| get | 200 ns | 10 × | 120 × | 1.2 × |\n",
		"| 2,000 | 1 × | 1.1 × |\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the tables lack %q:\n%s", want, b.String())
		}
	}
}

// TestHTML: the page is well-formed, refers to nothing outside it, runs no
// script, and shows what was measured.
func TestHTML(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, report.HTML(&b, sample()))
	text := b.String()
	d := xml.NewDecoder(strings.NewReader(text))
	paths, circles := 0, 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "path":
			paths++
		case "circle":
			circles++
		case "script", "link", "img", "iframe", "object", "base":
			t.Errorf("the page has a <%s>", start.Name.Local)
		}
		for _, a := range start.Attr {
			if a.Name.Local == "href" || a.Name.Local == "src" || strings.HasPrefix(a.Name.Local, "on") {
				t.Errorf("the page has %s=%q", a.Name.Local, a.Value)
			}
			if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") || strings.Contains(a.Value, "ZgotmplZ") {
				t.Errorf("the page has %s=%q", a.Name.Local, a.Value)
			}
		}
	}
	if found := regexp.MustCompile(`(?i)https?:|url\(|@import|//cdn`).FindString(text); found != "" {
		t.Errorf("the page refers to something outside it: %s", found)
	}
	for _, want := range []string{"A &amp; B &lt;fast&gt;", "prefers-color-scheme: dark", "status 400 &lt;no&gt;", "1 of 2 reached, 1 not measured", "stopped at 2000 items"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	// Latencies of 4 layers and 2 endpoints, growth of 2 layers twice; keys of
	// the three legends.
	require.Equal(t, 4+2+2*2+4+2+2, paths)
	require.Equal(t, 3+2+2*4, circles)
	require.NoError(t, report.HTML(io.Discard, &bench.Report{}), "an empty report")
}

// TestHistory holds the lines to the format that benchstat reads.
func TestHistory(t *testing.T) {
	var out strings.Builder
	require.NoError(t, report.History(&out, &bench.Report{
		Build: bench.Build{Commit: "0123456789abcdef"}, Started: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
		Targets: []bench.Target{
			{Measure: "HTTP, 8 clients: get", Reached: "1.46 ×", Value: 1.46},
			{Measure: "put", Reached: "412,000 a second, 1.4 ×", Value: 412e3},
			{Measure: "start", Reached: "11 ms", Value: 11e6},
			{Measure: "idle", Reached: "30 MB", Value: 30 << 20},
			{Measure: "page, allocations", Reached: "13", Value: 13},
			{Measure: "peer", Skipped: "none"},
		},
	}))
	require.Regexp(t, `^commit: 0123456789ab
machine: .*
date: 2026-01-02
BenchmarkTarget/HTTP-8-clients-get 1 1.46 times
BenchmarkTarget/put 1 412000 ops/s
BenchmarkTarget/start 1 1.1e\+07 ns/op
BenchmarkTarget/idle 1 3.14573e\+07 bytes
BenchmarkTarget/page-allocations 1 13 count

$`, out.String())
}
