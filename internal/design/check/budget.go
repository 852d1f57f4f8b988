package check

import "math"

// Budget sets expect.units of each pattern that does not have it. The budget is the units of the pattern's most
// expensive request, rounded up. Budget skips patterns that fail. It returns the number of patterns that it changed.
func (r *Result) Budget() (n int) {
	for i := range r.Patterns {
		p := &r.Patterns[i]
		if x := &p.Pattern.Expect; x.Units != nil || x.Error != "" || !p.OK() || p.Total == nil && p.Writes == nil {
			continue
		}
		p.Pattern.Expect.Units = new(RoundUp(p.mostUnits()))
		n++
	}
	return n
}

// mostUnits returns the units of the most expensive request at the declared scale. For a read, that is the request
// for the worst partition; for a write, the write of the worst item.
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

// RoundUp rounds f up to 1, 1.5, 2, 3, 5 or 7.5 times a power of ten, and at least to 0.5.
func RoundUp(f float64) float64 {
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
