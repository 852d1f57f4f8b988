package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var mixedDelimiter = rule.Rule{
	ID: "mixed-delimiter", Title: "Several delimiters in one design", Severity: model.Note,
	Help: "Programs that build and split keys need one rule for it. With # in one entity and | in another, a prefix " +
		"is soon built with the wrong one, and a query finds nothing without an error. Values may contain neither of " +
		"them.",
	Example: []string{`"ORDER#o1"`, `"ITEM|i1"`},
	Cure:    "Use one delimiter everywhere. A second one is worth it only inside a value, such as / in a path.",
	Source:  guide + "bp-sort-keys.html",

	Whole: checkMixedDelimiter,
}

// joiningMarks are delimiters that join whole keys. Others, such as - and :, also
// stand inside values.
const joiningMarks = "#|~^"

func checkMixedDelimiter(p *rule.Pass) {
	uses := map[rune][]*rule.Slot{}
	var marks []rune
	for _, s := range p.Slots {
		for _, part := range s.Parts {
			if part.Name != "" {
				continue
			}
			for _, mark := range part.Literal {
				if !strings.ContainsRune(joiningMarks, mark) || slices.Contains(uses[mark], s) {
					continue
				}
				if uses[mark] == nil {
					marks = append(marks, mark)
				}
				uses[mark] = append(uses[mark], s)
			}
		}
	}
	if len(marks) < 2 {
		return
	}
	slices.SortStableFunc(marks, func(a, b rune) int { return len(uses[b]) - len(uses[a]) })
	usual, odd := marks[0], marks[1]
	s := uses[odd][0]
	f := s.Finding("%s of %s uses the delimiter %s, and %s of the design %s %s", s, s.Entity.Name,
		rule.Quoted(string(odd)), text.Count(len(uses[usual]), "other key"),
		text.Agree(len(uses[usual]), "uses", "use"), rule.Quoted(string(usual)))
	f.Keys = append(s.Example(), uses[usual][0].Example()...)

	var edits []rule.Edit
	for _, s := range p.Slots {
		better := s.Template.String()
		for _, mark := range marks[1:] {
			if slices.Contains(uses[mark], s) {
				better = strings.ReplaceAll(better, string(mark), string(usual))
			}
		}
		if better != s.Template.String() {
			edits = append(edits, s.Write(better))
		}
	}
	f.Advise("use %s everywhere", rule.Quoted(string(usual)))
	better := strings.ReplaceAll(s.Template.String(), string(odd), string(usual))
	f.Propose(f.Advice+": "+rule.Writing(s.Name, better), edits...)
	p.Report(f)
}
