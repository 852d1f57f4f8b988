package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// ReportVersion is the version of a report's form. A change that an older
// reader would misread raises it.
const ReportVersion = 1

// A Report is everything a run measured, and where.
type Report struct {
	Version int     `json:"version"`
	Machine Machine `json:"machine"`
	Build   Build   `json:"build"`
	// Args are the arguments of the command.
	Args    []string  `json:"args,omitempty"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	// PeakResident is the most memory the process had resident, in bytes, or
	// 0 where the system does not say.
	PeakResident uint64   `json:"peak_resident,omitempty"`
	Results      []Result `json:"results,omitempty"`
	Growth       *Growth  `json:"growth,omitempty"`
	Targets      []Target `json:"targets,omitempty"`
}

// A Result is one workload on one layer, or one endpoint.
type Result struct {
	Workload string `json:"workload"`
	About    string `json:"about"`
	Engine   string `json:"engine,omitempty"`
	// Layer is a layer, or the name of an endpoint.
	Layer    string     `json:"layer"`
	Endpoint bool       `json:"endpoint,omitempty"`
	Shape    work.Shape `json:"shape"`
	Workers  int        `json:"workers"`
	// Ratios are the time of an operation against that of other layers in the
	// same rounds, by their names.
	Ratios map[string]measure.Ratio `json:"ratios,omitempty"`
	// Failed says why there are no figures.
	Failed string `json:"failed,omitempty"`

	Figures
	Rounds []measure.Round `json:"rounds,omitempty"`
	Hist   *measure.Hist   `json:"histogram,omitempty"`
}

// Figures are medians over rounds; latencies are over all of them.
type Figures struct {
	NsPerOp     float64 `json:"ns_per_op"`
	OpsPerSec   float64 `json:"ops_per_second"`
	RowsPerSec  float64 `json:"rows_per_second"`
	BytesPerSec float64 `json:"bytes_per_second"`
	Allocs      float64 `json:"allocs_per_op"`
	AllocBytes  float64 `json:"alloc_bytes_per_op"`
	Peak        uint64  `json:"peak_bytes"`
	Latency     Latency `json:"latency_ns"`
}

// Latency are percentiles of the latency, in nanoseconds.
type Latency struct {
	Mean int64 `json:"mean"`
	P50  int64 `json:"p50"`
	P90  int64 `json:"p90"`
	P99  int64 `json:"p99"`
	P999 int64 `json:"p99.9"`
	Max  int64 `json:"max"`
}

// figures sums a series up.
func figures(s *measure.Series) (f Figures) {
	rate := func(n func(measure.Round) int64) float64 {
		return measure.Median(measure.Each(s.Rounds, func(r measure.Round) float64 {
			return float64(n(r)) / time.Duration(max(r.Nanos, 1)).Seconds()
		}))
	}
	f.NsPerOp = measure.Median(s.PerOp())
	f.OpsPerSec = rate(func(r measure.Round) int64 { return r.Ops })
	f.RowsPerSec = rate(func(r measure.Round) int64 { return r.Rows })
	f.BytesPerSec = rate(func(r measure.Round) int64 { return r.Bytes })
	f.Allocs = measure.Median(measure.Each(s.Rounds, measure.Round.AllocsPerOp))
	f.AllocBytes = measure.Median(measure.Each(s.Rounds, measure.Round.AllocBytesPerOp))
	for _, r := range s.Rounds {
		f.Peak = max(f.Peak, r.Peak)
	}
	f.Latency = Latency{
		Mean: int64(s.Hist.Mean()), P50: int64(s.Hist.Percentile(50)), P90: int64(s.Hist.Percentile(90)),
		P99: int64(s.Hist.Percentile(99)), P999: int64(s.Hist.Percentile(99.9)), Max: int64(s.Hist.Max()),
	}
	return f
}

// FileName returns the report's name for files: its day and its machine.
func (r *Report) FileName() string { return r.Started.Format("2006-01-02") + "-" + r.Machine.Slug() }

// WriteJSON writes the report as one JSON document.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// ReadReport reads what [Report.WriteJSON] wrote.
func ReadReport(r io.Reader) (*Report, error) {
	var report Report
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, fmt.Errorf("this is not a report of sortkey bench: %w", err)
	}
	if report.Version != ReportVersion {
		return nil, fmt.Errorf("the report has version %d; this program reads version %d", report.Version, ReportVersion)
	}
	return &report, nil
}
