package lint

import (
	"github.com/sortkey/sortkey/internal/design/model"
)

var unusedAllowance = Rule{
	ID: "unused-allowance", Title: "An allowance that accepts nothing", Severity: model.Warning,
	Help: "The model accepts a finding that does not exist: the rule is misspelled, or the design has been " +
		"fixed. A leftover allowance hides the next finding of its rule. Remove it.",

	Whole: func(p *Pass) {
		for _, a := range p.Model.Allow {
			if p.Used[a] {
				continue
			}
			f := &Finding{}
			f.Pos, f.Advice = a.Pos, "remove the allowance"
			switch {
			case !p.Known[a.Rule]:
				f.Say("unknown rule %s", a.Rule)
				f.Advice = "correct the name: each finding begins with the name of its rule"
			case a.On != "":
				f.Say("no finding of %s on %s to accept", a.Rule, a.On)
			default:
				f.Say("no finding of %s to accept", a.Rule)
			}
			p.Report(f)
		}
	},
}
