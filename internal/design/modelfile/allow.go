package modelfile

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
)

// ruleCodec is the codec of the name of a rule.
var ruleCodec = checked(func(in value, rule string) {
	if rule != "" && !wordsPattern.MatchString(rule) {
		in.fail(
			"each finding begins with the name of its rule",
			"%s is not the name of a rule: names are lower-case words joined by hyphens", clip(rule),
		)
	}
})

// subjectCodec is the codec of the name of the table, index, entity or pattern that a finding is about.
var subjectCodec = checked(func(in value, name string) {
	if name != "" {
		in.known(name, in.subjects(), "unknown table, index, entity or pattern %s")
	}
})

// subjects returns the names of the parts of the model that a finding can be about.
func (p *parser) subjects() []string {
	all := namesOf(p.m.Tables)
	for _, t := range p.m.Tables {
		all = append(all, namesOf(t.Indexes)...)
	}
	return slices.Concat(
		all, namesOf(p.m.Entities), namesOf(p.m.Patterns),
	)
}

func afterAllowance(in value, a *model.Allowance) bool {
	if strings.TrimSpace(a.Why) == "" {
		in.fail("add why: with the reason", "the allowance of %s has no reason", clip(a.Rule))
	}
	return true
}
