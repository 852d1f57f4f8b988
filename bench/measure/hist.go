package measure

import (
	"encoding/json"
	"fmt"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// A Hist is a histogram of latencies in nanoseconds, exact to 3 digits, from 1
// ns to 100 s. In JSON it is the base64 of HdrHistogram's compressed form. It
// is not safe for concurrent use.
type Hist struct{ h *hdr.Histogram }

const (
	longest = 100 * int64(time.Second)
	digits  = 3
)

// NewHist returns an empty histogram.
func NewHist() *Hist { return &Hist{hdr.New(1, longest, digits)} }

// Record adds one latency.
func (h *Hist) Record(d time.Duration) {
	_ = h.h.RecordValue(min(max(int64(d), 1), longest)) // in range, so there is no error
}

// Merge adds what other holds.
func (h *Hist) Merge(other *Hist) { h.h.Merge(other.h) }

// Count returns the number of latencies.
func (h *Hist) Count() int64 { return h.h.TotalCount() }

// Percentile returns the latency that p percent do not exceed.
func (h *Hist) Percentile(p float64) time.Duration { return time.Duration(h.h.ValueAtPercentile(p)) }

// Mean returns the mean latency.
func (h *Hist) Mean() time.Duration { return time.Duration(h.h.Mean()) }

// Max returns the longest latency.
func (h *Hist) Max() time.Duration { return time.Duration(h.h.Max()) }

// MarshalJSON implements [json.Marshaler].
func (h *Hist) MarshalJSON() ([]byte, error) {
	data, err := h.h.EncodeV2()
	if err != nil {
		return nil, fmt.Errorf("histogram: %w", err)
	}
	return json.Marshal(string(data))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (h *Hist) UnmarshalJSON(text []byte) error {
	var data string
	if err := json.Unmarshal(text, &data); err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	got, err := hdr.Decode([]byte(data))
	if err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	h.h = got
	return nil
}
