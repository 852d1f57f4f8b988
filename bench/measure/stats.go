package measure

import (
	"math"
	"slices"

	"github.com/sortkey/sortkey/internal/text"
)

// Median returns the middle of xs, or the mean of the two in the middle; NaN
// for no values.
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

// Ratio compares two series that were measured in the same rounds. It returns the median of the ratios x[i]/base[i].
// It ignores a round if one series lacks it or has a zero in it. It returns NaN when no round remains.
func Ratio(x, base []float64) float64 {
	var rs []float64
	for i := range min(len(x), len(base)) {
		if base[i] > 0 && x[i] > 0 {
			rs = append(rs, x[i]/base[i])
		}
	}
	return Median(rs)
}

// A Round is the figures of one round of one series.
type Round struct {
	Ops, Rows, Bytes int64
	Nanos            int64

	Allocs, AllocBytes uint64
}

// PerOp returns x divided by the operations of the round.
func (r Round) PerOp(x float64) float64 {
	if r.Ops == 0 {
		return 0
	}
	return x / float64(r.Ops)
}

// PerOp returns the wall time in nanoseconds of each round, divided by the operations of all workers.
func (s *Series) PerOp() []float64 {
	return s.each(func(r Round) float64 { return r.PerOp(float64(r.Nanos)) })
}

// Time returns the median of [Series.PerOp].
func (s *Series) Time() float64 { return Median(s.PerOp()) }

// Allocs returns the median of the process's allocations per operation.
func (s *Series) Allocs() float64 {
	return s.Median(func(r Round) float64 { return r.PerOp(float64(r.Allocs)) })
}

// RatioTo returns the ratio of the times of operations to the times of base.
func (s *Series) RatioTo(base *Series) float64 { return Ratio(s.PerOp(), base.PerOp()) }

// Median returns the median of a figure over all rounds.
func (s *Series) Median(figure func(Round) float64) float64 { return Median(s.each(figure)) }

func (s *Series) each(figure func(Round) float64) []float64 {
	xs := make([]float64, len(s.Rounds))
	for i, r := range s.Rounds {
		xs[i] = figure(r)
	}
	return xs
}

// Times returns a ratio as text, such as 1.21 ×.
func Times(x float64) string { return text.Figure(x) + " ×" }

// Duration returns nanoseconds as text, with three digits and in the unit that fits.
func Duration(ns float64) string {
	for _, unit := range []string{"ns", "µs", "ms"} {
		if ns < 999.5 {
			return text.Figure(ns) + " " + unit
		}
		ns /= 1000
	}
	return text.Figure(ns) + " s"
}
