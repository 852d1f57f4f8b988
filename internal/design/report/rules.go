package report

import (
	"strings"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/lint"
)

// A rule describes a kind of finding.
type rule struct {
	id, title, help, cure, source string
	level                         string // of SARIF
}

// rules returns all rules, that of expectations first.
func rules() []rule {
	all := []rule{{
		id: check.Rule, title: "An access pattern does not meet its expectations", level: "error",
		help: "Under expect, the model says what an access pattern should return and cost. The check runs the " +
			"pattern on a database in memory that has the samples and generated items of the model, and compares " +
			"the results.",
		cure: "Change the keys or the pattern until it does, or change the expectations.",
	}}
	for _, r := range lint.Rules() {
		all = append(all, rule{
			id: r.ID, title: r.Title, help: r.Help, cure: r.Cure, source: link(r.Source), level: r.Severity.String(),
		})
	}
	return all
}

// ruleOf returns the rule with an ID.
func ruleOf(id string) rule {
	for _, r := range rules() {
		if r.id == id {
			return r
		}
	}
	return rule{id: id}
}

// link returns the first address in a text, or "".
func link(text string) string {
	i := strings.Index(text, "https://")
	if i < 0 {
		return ""
	}
	text = text[i:]
	if end := strings.IndexAny(text, " ;,()"); end >= 0 {
		text = text[:end]
	}
	return text
}
