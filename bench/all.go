package bench

import (
	"context"
	"time"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/work"
)

// RunAll measures everything for one report: the targets, growth up to most
// items, every workload on the layers of both engines, and on the endpoints,
// if there are any, the workloads that targets name.
func RunAll(ctx context.Context, c Config, o TargetOptions, most int) (*Report, error) {
	start := time.Now()
	own := c
	own.Rounds, own.Duration, own.Size = 0, 0, work.Size{} // targets have their own
	report, err := RunTargets(ctx, own, o)
	if err != nil {
		return nil, err
	}
	grown, err := Grow(ctx, c, most)
	if err != nil {
		return nil, err
	}
	report.Growth = grown.Growth
	c.Engines = []layer.Engine{layer.Memory, layer.Disk}
	layers, err := Run(ctx, c)
	if err != nil {
		return nil, err
	}
	report.Results = layers.Results
	if len(c.Endpoints) > 0 {
		c.Engines, c.Workers = []layer.Engine{layer.Memory}, peerWorkers
		c.Workloads = peerWorkloads()
		if !o.Quick {
			c.Size = work.Size{}
		}
		peers, err := RunEndpoints(ctx, c)
		if err != nil {
			return nil, err
		}
		report.Results = append(report.Results, peers.Results...)
	}
	return report.end(start), nil
}
