package model

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
)

// A Per is the distribution of the number of items that belong to one item of a parent. The zero value means that the
// model declares none: the items are divided evenly.
type Per struct {
	// Min and Max are the lowest and the highest number. P50 and P95, unless nil, are the numbers that 50 % and 95 %
	// of the parents do not exceed. All numbers between two neighboring quantiles are equally frequent.
	Min, Max int
	P50, P95 *int
	// Skew, unless 0, is the exponent of a zipf distribution of all items over the parents. Min and Max are 0 then,
	// and P50 and P95 are nil.
	Skew float64
}

// String returns Per as the model file writes it. With P50 or P95, which have no short form, it returns "".
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

// perScale is the denominator of the shares of quantiles: 50 % and 95 % are whole twentieths.
const perScale = 20

// quantiles returns the declared quantiles, from Min to Max.
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

// A quantile is the number n that share/perScale of the parents do not exceed.
type quantile struct {
	share int // in units of 1/perScale
	n     int
}

// Mean returns the mean number per parent. It reports false if the mean depends on the count: for a zipf
// distribution, and if Per is not declared.
func (p Per) Mean() (float64, bool) {
	if p.Max == 0 {
		return 0, false
	}
	sum := 0 // in units of 1/(2*perScale)
	all := p.quantiles()
	for i, q := range all[1:] {
		sum += (q.share - all[i].share) * (q.n + all[i].n)
	}
	return float64(sum) / (2 * perScale), true
}

// PerUnit is the number that [Per.At] returns for one item. At interpolates between two quantiles, so it also returns
// fractions of an item.
const PerUnit = 1 << 10

// At returns the number of items of the i-th of n parents, in units of 1/[PerUnit]. The parents are in ascending
// order of that number. Call At only if [Per.Mean] reports true.
func (p Per) At(i, n uint64) uint64 {
	all := p.quantiles()
	// The rank of the parent is at/of = i/(n-1). A single parent has the rank 1/2.
	at, of := 2*i, 2*(n-1)
	if n == 1 {
		at, of = 1, 2
	}
	for k, high := range all[1:] {
		low := all[k]
		if at*perScale > uint64(high.share)*of {
			continue
		}
		// Interpolate: past/whole is the distance from low as a share of the distance from low to high.
		past, whole := at*perScale-uint64(low.share)*of, uint64(high.share-low.share)*of
		hi, lo := bits.Mul64(uint64(high.n-low.n)*PerUnit, past)
		part, _ := bits.Div64(hi, lo, whole)
		return uint64(low.n)*PerUnit + part
	}
	return uint64(p.Max) * PerUnit
}

// Ascending reports whether the quantiles are in ascending order.
func (p Per) Ascending() bool {
	return slices.IsSortedFunc(p.quantiles(), func(a, b quantile) int { return a.n - b.n })
}
