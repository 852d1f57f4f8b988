package check

import (
	"fmt"

	"github.com/sortkey/sortkey/internal/text"
)

// An Outcome says how many patterns ran, of how many the model says what to expect, and how many of these meet it.
type Outcome struct{ Ran, Expecting, Met int }

// Outcome returns the outcome of all patterns.
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

// String returns the outcome as part of a sentence.
func (o Outcome) String() string {
	if o.Expecting == 0 {
		return text.Count(o.Ran, "pattern") + " ran, none has expectations"
	}
	return fmt.Sprintf(
		"%s ran, %s %s expectations, %d met", text.Count(o.Ran, "pattern"), text.Thousands(o.Expecting),
		text.Agree(o.Expecting, "has", "have"), o.Met,
	)
}

// Expecting reports whether the pattern was run, and the model says what to expect of it.
func (p *PatternResult) Expecting() bool {
	x := &p.Pattern.Expect
	says := x.Rows != nil || x.MaxRows != nil || x.Entities != nil || x.Units != nil || x.Pages != nil ||
		x.Waste != nil || x.Keys != nil || x.Item != nil || x.NoItem || x.Error != ""
	return p.Skipped == "" && says
}

// Mark returns the mark of the pattern: only what is expected and met has a tick.
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
