package lint

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var mixedCase = rule.Rule{
	ID: "mixed-case", Title: "Upper and lower case mixed", Severity: model.Warning,
	Help: "Keys are compared byte by byte, and all capital letters sort before all small letters: Zoe before adam. " +
		"Values that differ only in case are different keys, so Ann@example.com does not find the row of " +
		"ann@example.com. Samples of one field in two styles, OPEN beside Closed, lead there.",
	Example: []string{`"NAME#Zoe"`, `"NAME#adam"`},
	Cure: "Use one case for values in keys, and keep what people typed in a separate attribute: email: " +
		"ann@example.com in the key, display: Ann@example.com beside it.",
	Source: guide + "Query.html (a is 0x61, A is 0x41)",

	Whole: func(p *rule.Pass) {
		caseVariants(p)
		caseStyles(p)
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

// caseStyles finds fields whose values are written in two ways, so that one value will be written in both
// sooner or later: addresses with capitals beside others, and words of a list in capitals beside others.
func caseStyles(p *rule.Pass) {
	byField, fields := map[string][]spelling{}, []string{}
	for _, s := range spellings(p) {
		if byField[s.Name] == nil {
			fields = append(fields, s.Name)
		}
		byField[s.Name] = append(byField[s.Name], s)
	}

	for _, name := range fields {
		all := byField[name]
		reported := len(twins(all, strings.ToLower)) > 0 || slices.ContainsFunc(all, func(s spelling) bool {
			_, _, n := caseDisorder(s.Component)
			return n > 0 && s.SortedText()
		})
		a, b, ok := twoStyles(name, all)
		if !ok || reported {
			continue
		}
		f := b.Finding("%s is written in two ways in keys: %s and %s; a value that is written in both is two keys",
			b.Name, a.value, b.value)
		f.Advise("use one case for %s in keys, and keep the original text in another attribute", b.Name)
		f.Keys = append(a.KeyWith(a.value), b.KeyWith(b.value)...)
		p.Report(f)
	}
}

// listWords are the last words of the names of fields whose values are words of a list.
var listWords = []string{
	"status", "state", "type", "kind", "category", "role", "level", "priority", "phase", "stage", "severity", "plan",
	"channel", "color", "colour",
}

var (
	addressText = text.Pattern(`^\S+@\S+\.\S+$`)
	wordText    = text.Pattern(`^\p{L}{3,}$`)
)

// twoStyles returns the first values of a field that are written in different styles.
func twoStyles(field string, all []spelling) (a, b spelling, ok bool) {
	style := func(s spelling) string {
		word, lower := s.value.Text, strings.ToLower(s.value.Text)
		declared := s.Entity.Field(s.Name)
		switch {
		case addressText().MatchString(word) && word == lower:
			return "address"
		case addressText().MatchString(word):
			return "Address"
		case !slices.Contains(listWords, lastWord(field)) || !wordText().MatchString(word),
			declared != nil && len(declared.Values) > 0: // the model lists them as they are
			return ""
		case word == lower:
			return "word"
		case word == strings.ToUpper(word):
			return "WORD"
		default:
			return "Word"
		}
	}
	if slices.ContainsFunc(all, func(s spelling) bool { return style(s) == "" }) {
		return a, b, false
	}
	for _, s := range all[1:] {
		if style(s) != style(all[0]) {
			return all[0], s, true
		}
	}
	return a, b, false
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
	a, b, n := caseDisorder(c)
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

// caseDisorder returns the first values of a component that are not in alphabetical order because of their
// case, and the number of such pairs.
func caseDisorder(c rule.Component) (a, b rule.Written, n int) {
	words := slices.DeleteFunc(slices.Clone(c.Written()), func(w rule.Written) bool {
		return strings.ContainsFunc(w.Text, unicode.IsDigit)
	})
	return rule.Disorder(words, func(a, b string) int {
		return strings.Compare(strings.ToLower(a), strings.ToLower(b))
	})
}
