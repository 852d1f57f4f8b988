package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/sortkey/sortkey/bench/contest"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// reportVersion is the version of the form of a report. A change that an older
// reader would misread raises it.
const reportVersion = 2

// A Report holds the results of a run, and says where it ran.
type Report struct {
	Version int     `json:"version"`
	Machine Machine `json:"machine"`
	Build   Build   `json:"build"`
	// Args are the arguments of the command.
	Args    []string  `json:"args,omitempty"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	// PeakResident is the highest resident memory of the process in bytes, 0
	// where the system does not report it.
	PeakResident uint64 `json:"peak_resident,omitempty"`
	// Stores are the embedded stores of [RunEmbedded].
	Stores  []contest.Store `json:"stores,omitempty"`
	Results []Result        `json:"results,omitempty"`
	Growth  *Growth         `json:"growth,omitempty"`
	Targets []Target        `json:"targets,omitempty"`
}

// A Result is one workload on the layers of an engine, or on several endpoints or embedded
// stores.
type Result struct {
	Workload string `json:"workload"`
	About    string `json:"about,omitempty"`
	Engine   string `json:"engine"`
	Endpoint bool   `json:"endpoint,omitempty"`
	// Embedded is set when the layers are embedded stores and times are processor time.
	Embedded bool       `json:"embedded,omitempty"`
	Shape    work.Shape `json:"shape"`
	Workers  int        `json:"workers"`
	Layers   []Figures  `json:"layers"`
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

// Figures hold the results of one layer or endpoint: medians over the rounds, and
// latencies of all rounds. A compact report has times and ratios only.
type Figures struct {
	// Layer is a layer or the name of an endpoint or a store.
	Layer string `json:"layer"`
	// Ratios compare the time of an operation with the times of other layers in the
	// same rounds, by their names.
	Ratios map[string]measure.Ratio `json:"ratios,omitempty"`
	// Failed says why there are no figures.
	Failed string `json:"failed,omitempty"`

	NsPerOp float64 `json:"ns_per_op,omitempty"`
	// Elapsed is the time by the clock where NsPerOp is processor time.
	Elapsed     float64  `json:"elapsed_ns_per_op,omitempty"`
	OpsPerSec   float64  `json:"ops_per_second,omitempty"`
	RowsPerSec  float64  `json:"rows_per_second,omitempty"`
	BytesPerSec float64  `json:"bytes_per_second,omitempty"`
	Allocs      float64  `json:"allocs_per_op,omitempty"`
	AllocBytes  float64  `json:"alloc_bytes_per_op,omitempty"`
	Peak        uint64   `json:"peak_bytes,omitempty"`
	Latency     *Latency `json:"latency_ns,omitempty"`
}

// Latency has percentiles of the latency, in nanoseconds.
type Latency struct {
	Mean int64 `json:"mean"`
	P50  int64 `json:"p50"`
	P90  int64 `json:"p90"`
	P99  int64 `json:"p99"`
	P999 int64 `json:"p99.9"`
	Max  int64 `json:"max"`
	// Curve has the latencies at [Percentiles], without those that are rarer
	// than one operation.
	Curve []int64 `json:"curve"`
}

// Percentiles returns the percentiles of [Latency.Curve].
func Percentiles() []float64 { return []float64{0, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99} }

// figures sums up a series.
func figures(s *measure.Series) Figures {
	rate := func(n func(measure.Round) int64) float64 {
		return s.Median(func(r measure.Round) float64 {
			return float64(n(r)) / time.Duration(max(r.Nanos, 1)).Seconds()
		})
	}
	f := Figures{
		Layer: s.Name, NsPerOp: s.Time(), Allocs: s.Allocs(),
		OpsPerSec:   rate(func(r measure.Round) int64 { return r.Ops }),
		RowsPerSec:  rate(func(r measure.Round) int64 { return r.Rows }),
		BytesPerSec: rate(func(r measure.Round) int64 { return r.Bytes }),
		AllocBytes:  s.Median(func(r measure.Round) float64 { return r.PerOp(float64(r.AllocBytes)) }),
	}
	for _, r := range s.Rounds {
		f.Peak = max(f.Peak, r.Held)
	}

	h := s.Latency
	f.Latency = &Latency{
		Mean: int64(h.Mean()), P50: h.ValueAtPercentile(50), P90: h.ValueAtPercentile(90),
		P99: h.ValueAtPercentile(99), P999: h.ValueAtPercentile(99.9), Max: h.Max(),
	}

	for _, p := range Percentiles() {
		if float64(h.TotalCount())*(1-p/100) < 1 {
			break
		}
		f.Latency.Curve = append(f.Latency.Curve, h.ValueAtPercentile(p))
	}
	return f
}

// FileName returns the name of the report for files: its day and its machine.
func (r *Report) FileName() string { return r.Started.Format("2006-01-02") + "-" + r.Machine.slug() }

// Compact returns the report with times and ratios only, in three digits.
func (r *Report) Compact() *Report {
	c := *r
	c.Results = nil
	for _, x := range r.Results {
		layers := x.Layers
		x.Layers, x.About = nil, ""
		for _, f := range layers {
			small := Figures{Layer: f.Layer, Failed: f.Failed, NsPerOp: digits(f.NsPerOp)}
			for base, ratio := range f.Ratios {
				if small.Ratios == nil {
					small.Ratios = map[string]measure.Ratio{}
				}
				small.Ratios[base] = compact(ratio)
			}
			x.Layers = append(x.Layers, small)
		}
		c.Results = append(c.Results, x)
	}

	if r.Growth != nil {
		g := *r.Growth
		g.Steps = nil
		for _, s := range r.Growth.Steps {
			points := s.Points
			s.Points = nil
			for _, p := range points {
				p.Ratio, p.Hot, p.NsPerOp = compact(p.Ratio), compact(p.Hot), digits(p.NsPerOp)
				s.Points = append(s.Points, p)
			}
			g.Steps = append(g.Steps, s)
		}
		c.Growth = &g
	}
	return &c
}

func compact(r measure.Ratio) measure.Ratio {
	return measure.Ratio{Median: digits(r.Median), Low: digits(r.Low), High: digits(r.High)}
}

// digits rounds to three digits.
func digits(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	if err != nil || math.IsNaN(y) {
		return x
	}
	return y
}

// WriteJSON writes the report as one JSON document, indented unless it is to be
// small.
func (r *Report) WriteJSON(w io.Writer, indent bool) error {
	enc := json.NewEncoder(w)
	if indent {
		enc.SetIndent("", " ")
	}
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// ReadReport reads what [Report.WriteJSON] wrote.
func ReadReport(r io.Reader) (*Report, error) {
	var report Report
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, fmt.Errorf("cannot decode the report: %w", err)
	}
	if report.Version != reportVersion {
		return nil, fmt.Errorf(
			"the report has version %d, this program reads version %d", report.Version, reportVersion,
		)
	}
	return &report, nil
}
