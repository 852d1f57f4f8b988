package lint

import (
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
)

// accept turns findings that the model accepts into notes.
func (l *linter) accept() {
	for i := range l.found {
		f := &l.found[i]
		for _, a := range l.m.Allow {
			if a.Accepts(f) {
				l.used[a] = true
				if f.Accepted == "" {
					f.Severity, f.Accepted = model.Note, a.Why
				}
			}
		}
	}
}

var unusedAllowance = lint{Rule{
	ID: "unused-allowance", Title: "An allowance that accepts nothing", Severity: model.Warning,
	Help: "The model accepts a finding that does not exist: the rule is misspelled, or the design has been fixed. A leftover allowance hides the next finding of its rule.",
	Cure: "Remove the allowance, or correct its rule or what it is on.",
}, func(l *linter) {
	for _, a := range l.m.Allow {
		if l.used[a] {
			continue
		}
		f := model.Finding{
			Pos: a.Pos, Message: fmt.Sprintf("no finding of %s to accept", a.Rule), Advice: "remove the allowance",
		}
		if a.On != "" {
			f.Message = fmt.Sprintf("no finding of %s on %s to accept", a.Rule, a.On)
		}
		if !slices.Contains(l.rules, a.Rule) {
			f.Message = fmt.Sprintf("unknown rule %s", a.Rule)
			f.Advice = "correct the name: each finding begins with the name of its rule"
		}
		l.add(f)
	}
}}
