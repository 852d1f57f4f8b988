package load

import (
	"math"

	"github.com/sortkey/sortkey/internal/design/model"
)

// A zipf gives out weights in order of rank: the kth value has a weight of 1/k^skew. at is the number of weights
// given out so far.
type zipf struct{ skew, at float64 }

// exactRanks is the number of ranks whose weights next adds up one by one. For further ranks, it uses an integral.
const exactRanks = 100

// next returns the average weight of the next values. The parameter times is the number of these values. It may be a
// fraction, because a generated item can represent a fraction of a declared one.
func (z *zipf) next(times float64) float64 {
	from, to := z.at, z.at+times
	z.at = to
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

// harmonic returns the sum of the weights of the first n values, or infinity if n is infinite.
func harmonic(skew, n float64) float64 {
	if math.IsInf(n, 1) {
		return n
	}
	return (&zipf{skew: skew}).next(n) * n
}

// weigh sets how often requests ask for each candidate. The candidates must be ranked by cost.
func (s *spreader) weigh() {
	z := zipf{skew: s.p.Skew}
	for i := range s.all {
		c := &s.all[i]
		switch c.often, c.first = 1, 1; {
		case s.p.Asked == model.AskedByRows:
			c.often = c.byRows()
			c.first = c.often
		case s.p.Asked == model.AskedZipf && c.times > 0:
			first := z
			c.often, c.first = z.next(c.times), first.next(1)
		}
	}
}

// byRows returns a weight for a candidate that is proportional to its rows.
func (c *candidate) byRows() float64 {
	if c.empty {
		return 0
	}
	return max(c.held, 1)
}
