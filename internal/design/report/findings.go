package report

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
)

// A group holds the findings of one severity. Kind is its CSS class.
type group struct {
	Severity    model.Severity
	Kind, Title string
	Findings    []finding
}

// A finding is the data of a finding on a page.
type finding struct {
	model.Finding
	// Kind is the CSS class of the severity. Title is the title of the rule.
	Kind, Title string
	ID          int // from 1
	// N is the number of the pattern on the page that the finding is about, or 0.
	N int
	// EntityN is the number of the finding's entity on the page, and SpaceN that of its table or index. They are 0 if
	// the finding has none.
	EntityN, SpaceN int
}

// groups returns the findings of a result in one group for each severity, the most severe first.
func groups(r *check.Result, all []*space) (found []group) {
	ids := 0
	for _, g := range []group{
		{model.Error, "bad", "Errors", nil},
		{model.Warning, "warn", "Warnings", nil},
		{model.Note, "note", "Notes", nil},
	} {
		for _, f := range r.Findings {
			if f.Severity != g.Severity {
				continue
			}

			shown := finding{Finding: f, Kind: g.Kind, Title: titleOf(f.Rule)}
			shown.N = 1 + slices.IndexFunc(r.Patterns, func(p check.PatternResult) bool {
				return p.Pattern.Name == f.Pattern
			})

			ids++
			shown.ID = ids
			shown.EntityN = 1 + slices.IndexFunc(r.Model.Entities, func(e *model.Entity) bool {
				return e.Name == f.Entity
			})
			shown.SpaceN = 1 + slices.IndexFunc(all, func(s *space) bool {
				return s.Table.Name == f.Table && s.Stats.IndexName() == f.Index
			})
			g.Findings = append(g.Findings, shown)
		}
		if g.Findings != nil {
			found = append(found, g)
		}
	}
	return found
}

// titleOf returns the title of the rule with an ID, or the ID if the rule is unknown.
func titleOf(id string) string {
	if id == check.Rule {
		return "An access pattern does not meet its expectations"
	}
	for _, r := range lint.Rules() {
		if r.ID == id {
			return r.Title
		}
	}
	return id
}

// About lists the table, index, entity and pattern that the finding is about.
func (f finding) About() string {
	var words []string
	for _, s := range []struct{ kind, name string }{
		{"table", f.Table}, {"index", f.Index}, {"entity", f.Entity}, {"pattern", f.Pattern},
	} {
		if s.name != "" {
			words = append(words, s.kind+" "+s.name)
		}
	}
	return strings.Join(words, ", ")
}
