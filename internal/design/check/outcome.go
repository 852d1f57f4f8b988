package check

import (
	"fmt"

	"github.com/sortkey/sortkey/internal/text"
)

// An Outcome counts patterns. Ran is the number of patterns that ran. Expecting is the number of those that have
// expectations, and Met is the number of those that meet them.
type Outcome struct {
	Ran       int `json:"ran"`
	Expecting int `json:"expecting"`
	Met       int `json:"asExpected"`
}

// Outcome counts the patterns of a result.
func (r *Result) Outcome() (o Outcome) {
	for i := range r.Patterns {
		p := &r.Patterns[i]
		if p.Skipped == "" {
			o.Ran++
		}
		if p.Expecting() {
			o.Expecting++
			if p.OK() {
				o.Met++
			}
		}
	}
	return o
}

// String returns the outcome as a phrase, such as "5 patterns ran, 3 have expectations, 2 met".
func (o Outcome) String() string {
	if o.Expecting == 0 {
		return text.Count(o.Ran, "pattern") + " ran, none has expectations"
	}
	return fmt.Sprintf(
		"%s ran, %s %s expectations, %s met", text.Count(o.Ran, "pattern"), text.Thousands(o.Expecting),
		text.Agree(o.Expecting, "has", "have"), text.Thousands(o.Met),
	)
}

// Expecting reports whether the pattern was run and has expectations in the model.
func (p *PatternResult) Expecting() bool {
	x := &p.Pattern.Expect
	says := x.Rows != nil || x.MaxRows != nil || x.Entities != nil || x.Units != nil || x.Pages != nil ||
		x.Waste != nil || x.Keys != nil || x.Item != nil || x.NoItem || x.Error != ""
	return p.Skipped == "" && says
}

// Mark returns a mark for the result of the pattern. It is ✓ if the pattern meets its expectations, and a dot if it
// has none. Other marks stand for patterns that fail or were not run.
func (p *PatternResult) Mark() string {
	switch {
	case p.Skipped != "":
		return "–"
	case !p.OK():
		return "✗"
	case p.Expecting():
		return "✓"
	}
	return "·"
}
