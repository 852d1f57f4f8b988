package load

import (
	"math"

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

// harmonic returns the weight of the first n values together, which is infinite if nobody says how many there are.
func harmonic(skew, n float64) float64 {
	if math.IsInf(n, 1) {
		return n
	}
	return (&zipf{skew: skew}).next(n) * n
}

// weigh sets how often the candidates are asked for, which come in the order of their cost.
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

// byRows returns the weight of a candidate that is asked for as often as it has rows.
func (c *candidate) byRows() float64 {
	if c.empty {
		return 0
	}
	return max(c.held, 1)
}
