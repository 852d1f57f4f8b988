package bench

import (
	"context"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/text"
)

// peerTargets are the lowest ratios of rates, by the kinds below.
var peerTargets = []struct {
	peer   string
	ratios [4]float64
}{
	{"dynalite", [4]float64{3, 8, 15, 20}},
	{"dynoxide", [4]float64{1.5, 2, 3, 5}},
}

var peerKinds = [4]struct {
	name      string
	workloads []string
}{
	{"point operations", []string{"get", "put", "update"}},
	{"10-row query", []string{"query-10"}},
	{"100-row query", []string{"query-100"}},
	{"1 MB page and filtered scan", []string{"page", "scan-filter"}},
}

// peerWorkers is the number of clients.
const peerWorkers = 8

func peerWorkloads() (ws []*work.Workload) {
	for _, kind := range peerKinds {
		for _, name := range kind.workloads {
			ws = append(ws, work.Find(name))
		}
	}
	return ws
}

// peers compares a server of ours with others over HTTP.
func (t *targets) peers(ctx context.Context) (rows []Target, err error) {
	c := t.Config
	c.Workers, c.Engines, c.Workloads = peerWorkers, []layer.Engine{layer.Memory}, peerWorkloads()
	c.Size.Items = t.items(endpointItems, 1000)
	if !t.quick {
		c.Duration *= 2
	}

	report := &Report{}
	if len(c.Endpoints) > 0 {
		if report, err = RunEndpoints(ctx, c); err != nil {
			return nil, err
		}
	}

	for _, p := range peerTargets {
		given := slices.ContainsFunc(c.Endpoints, func(e Endpoint) bool { return e.Name == p.peer })
		for i, kind := range peerKinds {
			lowest, detail, failed := lowestRatio(report.Results, p.peer, kind.workloads)
			row := atLeast(
				fmt.Sprintf("HTTP, 8 clients: rate against %s, %s", p.peer, kind.name), p.ratios[i], lowest,
				measure.Times, "%s", detail,
			)
			switch {
			case !given:
				row = row.skip("needs an endpoint called " + p.peer)
			case failed != "":
				row = row.skip(failed)
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// lowestRatio returns the lowest ratio of our rate to a peer's over workloads.
func lowestRatio(results []Result, peer string, workloads []string) (lowest float64, detail, failed string) {
	for _, r := range results {
		f := r.On(peer)
		switch {
		case f == nil || !slices.Contains(workloads, r.Workload):
			continue
		case f.Failed != "":
			return 0, "", r.Workload + ": " + f.Failed
		}
		ratio := f.Ratios[Ours].Median
		if lowest == 0 || ratio < lowest {
			lowest = ratio
		}
		if detail != "" {
			detail += ", "
		}
		detail += fmt.Sprintf("%s %s (theirs %s a second)", r.Workload, measure.Times(ratio), text.Figure(f.OpsPerSec))
	}
	return lowest, detail, ""
}
