package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// Ours is the name of Sortkey among endpoints.
const Ours = "sortkey"

// endpointItems is the size of tables on endpoints: others take long to fill.
const endpointItems = 20_000

// RunEndpoints runs workloads over HTTP on a server of ours, in a process of
// its own, and on other endpoints, with one client. A workload that an
// endpoint refuses, or answers wrongly, is reported as failed there.
func RunEndpoints(ctx context.Context, c Config) (*Report, error) {
	if c.Size.Items <= 0 {
		c.Size.Items = endpointItems
	}
	if c.Workloads == nil {
		for _, w := range work.All() {
			if w.Shape(c.Size).Items <= c.Size.Items {
				c.Workloads = append(c.Workloads, w)
			}
		}
	}
	c = c.withDefaults()
	start, report := time.Now(), newReport()
	for _, engine := range c.Engines {
		if err := c.endpointsOn(ctx, engine, report); err != nil {
			return nil, err
		}
	}
	report.sort(c.Workloads)
	return report.end(start), nil
}

func (c *Config) endpointsOn(ctx context.Context, engine layer.Engine, report *Report) error {
	command := c.Serve
	if engine == layer.Disk {
		dir, remove, err := c.tempDir()
		if err != nil {
			return err
		}
		defer remove()
		command = append(append([]string{}, command...), "--data", filepath.Join(dir, "data"))
	}
	ours, err := serve(ctx, command)
	if err != nil {
		return err
	}
	defer ours.stop()
	all := append([]Endpoint{{Ours, ours.url}}, c.Endpoints...)
	for _, g := range groups(c.Workloads, c.Size) {
		results, err := c.endpointGroup(ctx, all, g)
		if err != nil {
			return err
		}
		for i := range results {
			results[i].Engine, results[i].Endpoint = string(engine), true
		}
		report.Results = append(report.Results, results...)
	}
	return nil
}

// slowRounds is how many times as long as meant the rounds of an endpoint may
// take together; then it has no more of them.
const slowRounds = 5

// A peer is an endpoint while a group runs.
type peer struct {
	Endpoint
	remote *layer.Remote
	failed error // why the table could not be made
}

func (c *Config) endpointGroup(ctx context.Context, all []Endpoint, g *group) (results []Result, err error) {
	var peers []*peer
	for i, e := range all {
		wire, err := layer.NewWire(e.URL)
		if err != nil {
			return nil, err
		}
		p := &peer{Endpoint: e, remote: &layer.Remote{Wire: wire, Shape: g.shape, Exact: i == 0}}
		defer wire.Close()
		c.say("%s: loading %d items of %d bytes", e.Name, g.shape.Items, g.shape.Size)
		p.failed = p.remote.Create(ctx, nil)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if p.failed != nil && i == 0 {
			return nil, fmt.Errorf("%s: %w", e.Name, p.failed)
		}
		if status, ok := errors.AsType[*layer.StatusError](p.failed); !ok || status.Op != "CreateTable" { // one that is there already stays
			defer func() {
				clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
				defer cancel()
				if dropErr := p.remote.Drop(clean); dropErr != nil && p.failed == nil && err == nil {
					err = fmt.Errorf("%s: %w", e.Name, dropErr)
				}
			}()
		}
		peers = append(peers, p)
	}
	for _, w := range g.workloads {
		rs, err := c.endpointWorkload(ctx, peers, w, g.shape)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.Name, err)
		}
		results = append(results, rs...)
	}
	return results, nil
}

func (c *Config) endpointWorkload(ctx context.Context, peers []*peer, w *work.Workload, shape work.Shape) (results []Result, err error) {
	c.say("%s", w.Name)
	calls, workers := c.calls(w, shape), c.workers(w)
	var series []*measure.Series
	failed := map[string]error{}
	for i, p := range peers {
		if p.failed != nil {
			failed[p.Name] = p.failed
			continue
		}
		p.remote.Begin()
		ops, err := prepare(ctx, p.remote, calls)
		s := measure.NewSeries(p.Name, ops, workers)
		if err == nil {
			err = s.Warm(ctx, c.warm(), 4*c.Duration)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil && i == 0 {
			return nil, err
		}
		if err != nil {
			failed[p.Name] = err
			continue
		}
		series = append(series, s)
	}
	spent := map[string]time.Duration{}
	for r := range c.Rounds {
		for i := range series {
			s := series[(r+i)%len(series)]
			if failed[s.Name] != nil || spent[s.Name] > slowRounds*c.Duration*time.Duration(c.Rounds) {
				continue
			}
			start := time.Now()
			if err := s.Round(ctx, c.Duration); err != nil {
				if s.Name == Ours || ctx.Err() != nil {
					return nil, err
				}
				failed[s.Name] = err
			}
			spent[s.Name] += time.Since(start)
		}
	}
	for _, p := range peers {
		if err := failed[p.Name]; err != nil {
			results = append(results, Result{Workload: w.Name, About: w.About, Layer: p.Name, Shape: shape, Workers: workers, Failed: reason(err)})
			continue
		}
		for _, s := range series {
			if s.Name == p.Name {
				r := result(w, shape, workers, s)
				r.Ratios = ratios(s, series, func(base string) bool { return base == Ours })
				r.Allocs, r.AllocBytes, r.Peak = 0, 0, 0 // those of the client
				results = append(results, r)
			}
		}
	}
	return results, nil
}
