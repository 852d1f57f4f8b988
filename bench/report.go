package bench

import (
	"time"

	"github.com/sortkey/sortkey/bench/contest"
	"github.com/sortkey/sortkey/bench/measure"
)

// A Report holds the results of a run.
type Report struct {
	// Stores are the embedded stores of [RunEmbedded].
	Stores  []contest.Store
	Results []Result
}

// A Result is one workload on the layers of an engine, or on several embedded stores.
type Result struct {
	Workload string
	Engine   string
	// Embedded says that the layers are embedded stores, and that times are processor time.
	Embedded bool
	Workers  int
	Layers   []Figures
}

// On returns the figures of a layer, or nil.
func (r *Result) On(layer string) *Figures {
	for i := range r.Layers {
		if r.Layers[i].Layer == layer {
			return &r.Layers[i]
		}
	}
	return nil
}

// Figures hold the results of one layer: medians over the rounds, and latencies of all rounds.
type Figures struct {
	// Layer is the name of a layer or, if the Result is Embedded, of a store.
	Layer string
	// Ratio is the time of an operation divided by its time on the base, in the same rounds. The base is the bare
	// engine or, among embedded stores, Sortkey. The Ratio of the base itself is 0.
	Ratio float64

	NsPerOp float64
	// Elapsed is the time of an operation by the clock, in nanoseconds, if NsPerOp is processor time.
	Elapsed     float64
	OpsPerSec   float64
	RowsPerSec  float64
	BytesPerSec float64
	Allocs      float64
	AllocBytes  float64
	// Latency has the 50th, 90th, 99th and 99.9th percentile and the maximum, in nanoseconds.
	Latency [5]int64
}

// figures sums up a series.
func figures(s *measure.Series) Figures {
	rate := func(n func(measure.Round) int64) float64 {
		return s.Median(func(r measure.Round) float64 {
			return float64(n(r)) / time.Duration(max(r.Nanos, 1)).Seconds()
		})
	}
	h := s.Latency
	return Figures{
		Layer: s.Name, NsPerOp: s.Time(), Allocs: s.Allocs(),
		OpsPerSec:   rate(func(r measure.Round) int64 { return r.Ops }),
		RowsPerSec:  rate(func(r measure.Round) int64 { return r.Rows }),
		BytesPerSec: rate(func(r measure.Round) int64 { return r.Bytes }),
		AllocBytes:  s.Median(func(r measure.Round) float64 { return r.PerOp(float64(r.AllocBytes)) }),
		Latency: [...]int64{
			h.ValueAtPercentile(50), h.ValueAtPercentile(90), h.ValueAtPercentile(99), h.ValueAtPercentile(99.9),
			h.Max(),
		},
	}
}
