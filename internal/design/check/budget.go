package check

import "math"

// Budget gives each pattern without a budget of units what its most expensive request costs now, rounded up, and
// returns the number of these patterns. A pattern that fails, such as one that finds nothing, gets no budget.
func (r *Result) Budget() (n int) {
	for i := range r.Patterns {
		p := &r.Patterns[i]
		if x := &p.Pattern.Expect; x.Units != nil || x.Error != "" || !p.OK() || p.Total == nil && p.Writes == nil {
			continue
		}
		p.Pattern.Expect.Units = new(roundUp(p.mostUnits()))
		n++
	}
	return n
}

// mostUnits returns the units of the most expensive request at the declared scale: in all partitions, or of all items
// that a write was tried with.
func (p *PatternResult) mostUnits() float64 {
	switch {
	case p.Writes != nil:
		return p.Writes.Worst
	case p.Total == nil:
		return 0
	}
	most := max(p.Units(), p.Own().DeclaredUnits())
	if p.Spread != nil {
		for i := range p.Spread.Readings {
			most = max(most, p.Spread.Readings[i].DeclaredUnits())
		}
	}
	return most
}

// roundUp returns the next of 1, 1.5, 2, 3, 5 and 7.5 and their multiples by powers of ten. Half a unit stays.
func roundUp(f float64) float64 {
	if f <= 0.5 {
		return 0.5
	}
	power := math.Pow(10, math.Floor(math.Log10(f)))
	for _, step := range []float64{1, 1.5, 2, 3, 5, 7.5} {
		if f <= step*power*(1+1e-9) {
			return step * power
		}
	}
	return 10 * power
}
