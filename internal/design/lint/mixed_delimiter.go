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
	marks, uses := delimitersBy(p, joining)
	if len(marks) < 2 {
		marks, uses = delimitersBy(p, labelling)
	}
	if len(marks) < 2 {
		return
	}
	usual, odd := marks[0], marks[1]
	s := uses[odd][0]
	f := s.Finding("%s of %s uses the delimiter %s, and %s of the design %s %s", s, s.Entity.Name,
		rule.Quoted(string(odd)), text.Count(len(uses[usual]), "other key"),
		text.Agree(len(uses[usual]), "uses", "use"), rule.Quoted(string(usual)))
	f.Keys = append(s.Example(), uses[usual][0].Example()...)

	var edits []rule.Edit
	for _, s := range p.Slots {
		for _, mark := range marks[1:] {
			if slices.Contains(uses[mark], s) {
				edits = append(edits, s.Write(delimitedBy(s, string(mark), string(usual))))
			}
		}
	}
	f.Advise("use %s everywhere", rule.Quoted(string(usual)))
	better := delimitedBy(s, string(odd), string(usual))
	f.Propose(f.Advice+": "+rule.Writing(s.Name, better), edits...)
	p.Report(f)
}

// delimitersBy returns the delimiters in key attributes, the most used first, with
// the slots that use them.
func delimitersBy(p *rule.Pass, of func(*rule.Slot) string) (marks []rune, uses map[rune][]*rule.Slot) {
	uses = map[rune][]*rule.Slot{}
	for _, s := range p.Slots {
		for _, mark := range of(s) {
			if slices.Contains(uses[mark], s) {
				continue
			}
			if uses[mark] == nil {
				marks = append(marks, mark)
			}
			uses[mark] = append(uses[mark], s)
		}
	}
	slices.SortStableFunc(marks, func(a, b rune) int { return len(uses[b]) - len(uses[a]) })
	return marks, uses
}

// joining returns the marks in a slot that join whole keys.
func joining(s *rule.Slot) (marks string) {
	for _, part := range s.Parts {
		for _, mark := range part.Literal {
			if part.Name == "" && strings.ContainsRune(joiningMarks, mark) {
				marks += string(mark)
			}
		}
	}
	return marks
}

// labelling returns the mark after the word with which the keys of a slot begin:
// USER:{user} uses a colon for that, whatever joins the rest.
func labelling(s *rule.Slot) string {
	word := strings.TrimRight(s.Literal(), rule.Delimiters)
	mark := s.Literal()[len(word):]
	if len(s.Parts) < 2 || len(mark) != 1 || strings.ContainsAny(word, rule.Delimiters) || word == "" {
		return ""
	}
	return mark
}
