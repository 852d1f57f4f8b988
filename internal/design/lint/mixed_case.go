package lint

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
)

var mixedCase = rule.Rule{
	ID: "mixed-case", Title: "Upper and lower case mixed", Severity: model.Warning,
	Help: "Keys are compared byte by byte, and all capital letters sort before all small letters: Zoe before adam. " +
		"Values that differ only in case are different keys, so Ann@example.com does not find the row of " +
		"ann@example.com.",
	Example: []string{`"NAME#Zoe"`, `"NAME#adam"`},
	Cure: "Use one case for values in keys, and keep what people typed in a separate attribute: email: " +
		"ann@example.com in the key, display: Ann@example.com beside it.",
	Source: guide + "Query.html (a is 0x61, A is 0x41)",

	Whole: func(p *rule.Pass) {
		caseVariants(p)
		literalVariants(p)
	},
	Component: caseOrder,
}

// caseVariants finds values of one component that differ only in case.
func caseVariants(p *rule.Pass) {
	for _, t := range twins(spellings(p), strings.ToLower) {
		f := t.b.Finding("%s and %s are two values of %s in keys%s: a request for one does not find rows of the other",
			t.a.value, t.b.value, t.b.Name, rule.AndMore(t.n-1))
		f.Advise("use one case for %s in keys, and keep the original text in another attribute", t.b.Name)
		f.Keys = t.keys()
		p.Report(f)
	}
}

// literalVariants finds key attributes that begin with the same word in different
// case in two entities.
func literalVariants(p *rule.Pass) {
	first := map[[3]string]*rule.Slot{}
	for _, s := range p.Slots {
		word := s.Literal()
		if !strings.ContainsFunc(word, unicode.IsLetter) {
			continue
		}
		place := [3]string{s.Entity.Table.Name, s.Name, strings.ToLower(word)}
		have := first[place]
		if have == nil {
			first[place] = s
			continue
		}
		if have.Literal() == word {
			continue
		}
		f := s.Finding("%s begins with %s here and with %s in %s: their rows do not lie together",
			s.Name, rule.Quoted(word), rule.Quoted(have.Literal()), have.Entity.Name)
		f.Advise("begin both with %s", rule.Quoted(have.Literal()))
		f.Keys = append(have.Example(), s.Example()...)
		p.Report(f)
	}
}

// caseOrder finds values in sort keys whose byte order is not alphabetical.
func caseOrder(p *rule.Pass, c rule.Component) {
	if !c.SortedText() {
		return
	}
	words := slices.DeleteFunc(slices.Clone(c.Written()), func(w rule.Written) bool {
		return strings.ContainsFunc(w.Text, unicode.IsDigit)
	})
	a, b, n := rule.Disorder(words, func(a, b string) int {
		return strings.Compare(strings.ToLower(a), strings.ToLower(b))
	})
	if n == 0 {
		return
	}
	f := c.Finding("%s in %s of %s mixes upper and lower case: "+
		"%s sorts before %s, because all capitals sort before all small letters",
		c, c.Slot, c.View(), a, b)
	f.Advise("write %s in lower case in %s, and keep the original text in a separate attribute", c, c.Slot)
	f.Keys = c.Pair(a, b)
	p.Report(f)
}
