package model

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
)

// A Per is how many items of an entity belong to one item of a parent. The zero value says
// nothing: the items are divided evenly.
type Per struct {
	// Min is the fewest and Max the most. P50 and P95, unless they are nil, are what half and
	// 95 % of the parents do not exceed. The numbers between two of them are equally frequent.
	Min, Max int
	P50, P95 *int
	// Skew, unless it is 0, is the exponent of a zipf distribution of all items over the
	// parents. The others are 0 then.
	Skew float64
}

// String returns the number as the model file has it, or "" for one with P50 or P95.
func (p Per) String() string {
	switch {
	case p.Skew > 0:
		return fmt.Sprintf("zipf(%v)", p.Skew)
	case p.P50 != nil || p.P95 != nil || p.Max == 0:
		return ""
	case p.Min == p.Max:
		return strconv.Itoa(p.Max)
	}
	return fmt.Sprintf("%d..%d", p.Min, p.Max)
}

// perScale is the number of parts into which quantiles divide the parents: 50 and 95 % are whole
// numbers of them.
const perScale = 20

// quantiles returns the known quantiles, from the lowest to the highest.
func (p Per) quantiles() []quantile {
	all := []quantile{{0, p.Min}}
	if p.P50 != nil {
		all = append(all, quantile{perScale / 2, *p.P50})
	}
	if p.P95 != nil {
		all = append(all, quantile{perScale * 95 / 100, *p.P95})
	}
	return append(all, quantile{perScale, p.Max})
}

// A quantile is the number that a share of the parents does not exceed.
type quantile struct {
	share int // of perScale
	n     int
}

// Mean returns the average. It reports false if the number is not known without a count: for a
// zipf distribution, and if nothing is said.
func (p Per) Mean() (float64, bool) {
	if p.Max == 0 {
		return 0, false
	}
	sum := 0 // in 2 * perScale
	all := p.quantiles()
	for i, q := range all[1:] {
		sum += (q.share - all[i].share) * (q.n + all[i].n)
	}
	return float64(sum) / (2 * perScale), true
}

// PerUnit is the unit of [Per.At]: numbers between two quantiles are fractions.
const PerUnit = 1 << 10

// At returns the number of the i-th of n parents, in ascending order, in 1/1024. It is for a
// Per that has a [Per.Mean].
func (p Per) At(i, n uint64) uint64 {
	all := p.quantiles()
	// The place is i/(n-1), and that of a single parent is the middle.
	at, of := 2*i, 2*(n-1)
	if n == 1 {
		at, of = 1, 2
	}
	for k, high := range all[1:] {
		low := all[k]
		if at*perScale > uint64(high.share)*of {
			continue
		}
		// The part of the way from low to high is past / whole.
		past, whole := at*perScale-uint64(low.share)*of, uint64(high.share-low.share)*of
		hi, lo := bits.Mul64(uint64(high.n-low.n)*PerUnit, past)
		part, _ := bits.Div64(hi, lo, whole)
		return uint64(low.n)*PerUnit + part
	}
	return uint64(p.Max) * PerUnit
}

// Ascending reports whether the numbers are in order.
func (p Per) Ascending() bool {
	return slices.IsSortedFunc(p.quantiles(), func(a, b quantile) int { return a.n - b.n })
}
