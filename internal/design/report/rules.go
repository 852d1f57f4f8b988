package report

import (
	"strings"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/lint"
)

// A rule is what findings are about.
type rule struct {
	id, title, help, cure, source string
	level                         string // of SARIF
}

// rules are all there are, that of expectations first.
func rules() []rule {
	all := []rule{{
		id: check.Rule, title: "An access pattern does not do what is expected", level: "error",
		help: "The model says under expect what an access pattern should return and cost. The check asks the pattern " +
			"in a database in memory, with the samples and generated items of the model, and compares.",
		cure: "Change the keys or the pattern until it does, or what is expected of it.",
	}}
	for _, r := range lint.Rules() {
		all = append(all, rule{id: r.ID, title: r.Title, help: r.Help, cure: r.Cure, source: link(r.Source), level: r.Severity.String()})
	}
	return all
}

// ruleOf is the rule called id.
func ruleOf(id string) rule {
	for _, r := range rules() {
		if r.id == id {
			return r
		}
	}
	return rule{id: id}
}

// link is the first address in a text, "" if there is none.
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
