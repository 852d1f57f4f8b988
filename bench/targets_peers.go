package bench

import (
	"context"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/work"
)

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

// peerWorkers is how many clients there are.
const peerWorkers = 8

func peerWorkloads() (ws []*work.Workload) {
	for _, kind := range peerKinds {
		for _, name := range kind.workloads {
			ws = append(ws, work.Find(name))
		}
	}
	return ws
}

// peers: HTTP with 8 clients on a server of ours and on others, one after the
// other in each round.
func (t *targets) peers(ctx context.Context) (rows []Target, err error) {
	c := t.Config
	c.Workers, c.Layers, c.Engines = peerWorkers, nil, []layer.Engine{layer.Memory}
	c.Size.Items = t.items(endpointItems, 1000)
	if !t.quick {
		c.Duration *= 2
	}
	c.Workloads = peerWorkloads()
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
