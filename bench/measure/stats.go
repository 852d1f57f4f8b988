package measure

import (
	"math"
	"slices"
)

// Median returns the middle of xs, or the mean of the two in the middle; NaN
// of nothing.
func Median(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(xs))
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	return (s[mid-1] + s[mid]) / 2
}

// A Ratio compares two things measured in the same rounds: the median of the
// rounds' own ratios, and the least and the greatest of them.
type Ratio struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// RatioOf returns the ratios x[i]/base[i]. Rounds that either lacks, or where
// base is zero, are left out; ok is false when none is left.
func RatioOf(x, base []float64) (r Ratio, ok bool) {
	var rs []float64
	for i := range min(len(x), len(base)) {
		if base[i] > 0 && x[i] > 0 {
			rs = append(rs, x[i]/base[i])
		}
	}
	if rs == nil {
		return Ratio{}, false
	}
	return Ratio{Median: Median(rs), Low: slices.Min(rs), High: slices.Max(rs)}, true
}

// A Round is what one round of one layer did.
type Round struct {
	Ops        int64  `json:"ops"`
	Rows       int64  `json:"rows"`
	Bytes      int64  `json:"bytes"`
	Nanos      int64  `json:"nanos"`
	Allocs     uint64 `json:"allocs"`
	AllocBytes uint64 `json:"alloc_bytes"`
	// Peak is the most memory the process held during the round, in bytes.
	Peak uint64 `json:"peak"`
}

// PerOp returns the nanoseconds of wall time per operation, all workers
// together.
func (r Round) PerOp() float64 { return per(float64(r.Nanos), r.Ops) }

// AllocsPerOp returns the allocations of the process per operation.
func (r Round) AllocsPerOp() float64 { return per(float64(r.Allocs), r.Ops) }

// AllocBytesPerOp returns the bytes allocated per operation.
func (r Round) AllocBytesPerOp() float64 { return per(float64(r.AllocBytes), r.Ops) }

func per(x float64, n int64) float64 {
	if n == 0 {
		return 0
	}
	return x / float64(n)
}

// Each returns f of every round.
func Each(rounds []Round, f func(Round) float64) []float64 {
	xs := make([]float64, len(rounds))
	for i, r := range rounds {
		xs[i] = f(r)
	}
	return xs
}
