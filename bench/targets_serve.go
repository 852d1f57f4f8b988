package bench

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// serve: the command from its start to its first answer, its memory when it
// does nothing, and its size.
func (t *targets) serve(ctx context.Context) ([]Target, error) {
	const (
		start  = "serve: from start to the first answer"
		memory = "serve: resident memory, idle"
		binary = "serve: size of the binary"
	)
	musts := []Target{{Measure: start, Must: "below 30 ms"}, {Measure: memory, Must: "below 25 MB"}, {Measure: binary, Must: "below 40 MB"}}
	if len(t.Serve) == 0 {
		for i := range musts {
			musts[i].Skipped = "no command is given"
		}
		return musts, nil
	}
	var firsts []float64
	var resident uint64
	for range t.items(7, 1) {
		first, rss, err := t.start(ctx)
		if err != nil {
			return nil, err
		}
		firsts, resident = append(firsts, first), max(resident, rss)
	}
	info, err := os.Stat(t.Serve[0])
	if err != nil {
		return nil, err
	}
	ns, mb := measure.Median(firsts), func(n float64) string { return fmt.Sprintf("%.1f MB", n/1e6) }
	rows := []Target{
		atMost(start, musts[0].Must, 30e6, ns, duration(ns), "median of %d starts, a ListTables each", len(firsts)),
		atMost(memory, musts[1].Must, 25e6, float64(resident), mb(float64(resident)), "after one request"),
		atMost(binary, musts[2].Must, 40e6, float64(info.Size()), mb(float64(info.Size())), "as built: %s", stripped()),
	}
	if resident == 0 {
		rows[1] = Target{Measure: memory, Must: musts[1].Must, Skipped: "this system does not say"}
	}
	return rows, nil
}

// start runs the command once.
func (t *targets) start(ctx context.Context) (first float64, resident uint64, err error) {
	begin := time.Now()
	s, err := serve(ctx, t.Config.Serve)
	if err != nil {
		return 0, 0, err
	}
	defer s.stop()
	w, err := layer.NewWire(s.url)
	if err != nil {
		return 0, 0, err
	}
	defer w.Close()
	out, status, err := w.Do(ctx, w.Request("DynamoDB_20120810.ListTables", []byte("{}")), nil)
	if err != nil {
		return 0, 0, err
	}
	if status != 200 {
		return 0, 0, fmt.Errorf("ListTables: %s", out)
	}
	first = float64(time.Since(begin))
	time.Sleep(time.Duration(t.items(300, 1)) * time.Millisecond)
	return first, measure.Resident(s.cmd.Process.Pid), nil
}

// peerTargets are the least ratios of rates against others.
var peerTargets = []struct {
	peer   string
	ratios [4]float64 // of the kinds below
}{
	{"dynalite", [4]float64{3, 8, 15, 20}},
	{"dynoxide", [4]float64{1.5, 2, 3, 5}},
}

var peerKinds = []struct {
	name      string
	workloads []string
}{
	{"point operations", []string{"get", "put", "update"}},
	{"10-row query", []string{"query-10"}},
	{"100-row query", []string{"query-100"}},
	{"1 MB page and filtered scan", []string{"page", "scan-filter"}},
}

// peers: HTTP with 8 clients on a server of ours and on others, one after the
// other in each round.
func (t *targets) peers(ctx context.Context) (rows []Target, err error) {
	c := t.Config
	c.Workers, c.Layers, c.Engines = 8, nil, []layer.Engine{layer.Memory}
	c.Size.Items = t.items(endpointItems, 1000)
	if !t.quick {
		c.Duration *= 2
	}
	c.Workloads = nil
	for _, kind := range peerKinds {
		for _, name := range kind.workloads {
			c.Workloads = append(c.Workloads, work.Find(name))
		}
	}
	var results []Result
	if len(c.Endpoints) > 0 {
		report, err := RunEndpoints(ctx, c)
		if err != nil {
			return nil, err
		}
		results = report.Results
	}
	for _, p := range peerTargets {
		there := slices.ContainsFunc(c.Endpoints, func(e Endpoint) bool { return e.Name == p.peer })
		for i, kind := range peerKinds {
			row := Target{
				Measure: fmt.Sprintf("HTTP, 8 clients, against %s: %s", p.peer, kind.name),
				Must:    fmt.Sprintf("at least %g × its rate", p.ratios[i]), Bound: p.ratios[i],
			}
			if there {
				row.against(p.peer, kind.workloads, results)
			} else {
				row.Skipped = fmt.Sprintf("needs --endpoint %s=URL", p.peer)
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// against judges the least ratio of workloads.
func (row *Target) against(peer string, workloads []string, results []Result) {
	for _, name := range workloads {
		for _, r := range results {
			if r.Workload != name || r.Layer != peer {
				continue
			}
			if r.Failed != "" {
				row.Skipped = fmt.Sprintf("%s: %s", name, r.Failed)
				return
			}
			x := r.Ratios[Ours].Median
			if row.Value == 0 || x < row.Value {
				row.Value = x
			}
			if row.Detail != "" {
				row.Detail += ", "
			}
			row.Detail += fmt.Sprintf("%s %.1f × (theirs %.0f a second)", name, x, r.OpsPerSec)
		}
	}
	row.Reached, row.OK = times(row.Value), row.Value >= row.Bound
}
