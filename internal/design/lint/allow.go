package lint

import (
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/internal/design"
)

// accept makes what the model accepts a note.
func (l *linter) accept() {
	for i := range l.found {
		f := &l.found[i]
		for _, a := range l.m.Allow {
			if a.Accepts(f) {
				l.used[a] = true
				if f.Accepted == "" {
					f.Severity, f.Accepted = design.Note, a.Why
				}
			}
		}
	}
}

var unusedAllowance = lint{Rule{
	ID: "unused-allowance", Title: "An allowance of nothing", Severity: design.Warning,
	Help: "The model accepts findings that there are none of, or no more: the rule is misspelt, or the design was mended. An allowance that is left behind hides the next finding of its rule.",
	Cure: "Remove it, or correct its rule or what it is on.",
}, func(l *linter) {
	for _, a := range l.m.Allow {
		if l.used[a] {
			continue
		}
		f := design.Finding{Pos: a.Pos, Message: fmt.Sprintf("there is no finding of %s to accept", a.Rule), Advice: "remove the allowance"}
		if a.On != "" {
			f.Message = fmt.Sprintf("there is no finding of %s on %s to accept", a.Rule, a.On)
		}
		if !slices.Contains(l.rules, a.Rule) {
			f.Message = fmt.Sprintf("there is no rule %s", a.Rule)
			f.Advice = "correct its name: findings begin with it"
		}
		l.add(f)
	}
}}
