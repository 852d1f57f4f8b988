package load

import (
	"cmp"
	"math"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
)

// A zipf gives weights to values in the order of their cost: the kth is asked for with a weight of 1/k^skew.
type zipf struct{ skew, at float64 }

// exactRanks is how many ranks are added up one by one; the sum of more is that of the integral.
const exactRanks = 100

// next returns the weight of each of the next values on average, of which there may be a fraction: at the declared
// scale a generated item stands for some.
func (z *zipf) next(times float64) float64 {
	from, to := z.at, z.at+times
	if z.at = to; math.Abs(times-1) < 1e-9 {
		return math.Pow(from+1, -z.skew)
	}
	sum := 0.0
	for n := 0; n < exactRanks && from+1 <= to; n++ {
		from++
		sum += math.Pow(from, -z.skew)
	}
	if from < to {
		sum += z.integral(to+0.5) - z.integral(from+0.5)
	}
	return sum / times
}

func (z *zipf) integral(x float64) float64 {
	if z.skew == 1 {
		return math.Log(x)
	}
	return math.Pow(x, 1-z.skew) / (1 - z.skew)
}

// harmonic returns the weight of the first n values together, which is infinite if nobody says how many there are.
func harmonic(skew, n float64) float64 {
	if math.IsInf(n, 1) {
		return n
	}
	return (&zipf{skew: skew}).next(n) * n
}

// weigh sets how often the candidates are asked for, in the order of their cost. Of those that cost the same, such as
// a page each, the one with most rows comes first.
func (s *spreader) weigh() {
	z := zipf{skew: s.p.Skew}
	if s.p.Asked != model.AskedZipf {
		for i := range s.all {
			c := &s.all[i]
			c.often = often(s.p.Asked, c.byRows(), c.times, &z)
		}
		return
	}

	order := make([]*candidate, len(s.all))
	for i := range s.all {
		order[i] = &s.all[i]
	}
	slices.SortStableFunc(order, func(a, b *candidate) int {
		return cmp.Or(s.compare(a, b), cmp.Compare(b.held, a.held))
	})
	for _, c := range order {
		c.often = often(s.p.Asked, c.byRows(), c.times, &z)
	}
}

// often returns how often a value is asked for, in proportion to the others, which come in the order of their cost. It
// stands for so many values.
func often(asked string, byRows, times float64, z *zipf) float64 {
	switch {
	case asked == model.AskedByRows:
		return byRows
	case asked == model.AskedZipf && times > 0:
		return z.next(times)
	}
	return 1
}

// byRows returns the weight of a candidate that is asked for as often as it has rows.
func (c *candidate) byRows() float64 {
	if c.empty {
		return 0
	}
	return max(c.held, 1)
}

// grown returns the weight of so many times as many values as there are candidates for, which have a weight together.
func (s *spreader) grown(weight, values, times float64) float64 {
	if s.p.Asked != model.AskedZipf || values == 0 {
		return weight * times
	}
	return weight * harmonic(s.p.Skew, values*times) / harmonic(s.p.Skew, values)
}
