package lint

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
)

var accentOrder = rule.Rule{
	ID: "accent-order", Title: "Names with accents in byte order", Severity: model.Warning,
	Help: "Letters with accents are two bytes from 0xC3 on, above all letters of ASCII: Émile comes after " +
		"Zoe, and Muñoz after Muzzi. A list by name is not in alphabetical order, and a range from A to F leaves " +
		"Émile out. It is a note if no two values of the data are out of order yet, but one begins with such a " +
		"letter.",
	Example: []string{`"NAME#Anna"`, `"NAME#Zoe"`, `"NAME#Émile"`},
	Cure: "Put a folded form into the key, without accents and in lower case (emile), and what people typed " +
		"into an attribute of its own. Fold what readers ask for in the same way.",
	Source: guide + "Query.html (strings are ordered by their UTF-8 bytes); " +
		"https://www.unicode.org/reports/tr10/ (collation)",

	Component: checkAccentOrder,
}

func checkAccentOrder(p *rule.Pass, c rule.Component) {
	if !c.SortedText() {
		return
	}
	words := c.Written()
	var first *rule.Written // with an accent on its first letter
	for i, w := range words {
		if letter, _ := utf8.DecodeRuneInString(w.Text); first == nil && accented(string(letter)) {
			first = &words[i]
		}
	}

	a, b, n := rule.Disorder(words, func(a, b string) int {
		if !accented(a) && !accented(b) || strings.ToLower(a) > strings.ToLower(b) {
			return 0 // mixed-case judges those
		}
		return strings.Compare(folded(a), folded(b))
	})
	switch {
	case n > 0:
		f := c.Finding("%s in %s of %s has letters with accents: %s sorts before %s, "+
			"because they sort above all others", c, c.Slot, c.View(), a, b)
		f.Keys = c.Pair(a, b)
		if !slices.ContainsFunc(p.Queries, func(q *rule.Query) bool { return lists(q, c) }) {
			f.Severity = model.Note
		}
		report(p, c, f)
	case first != nil:
		f := c.Finding("%s in %s of %s has letters with accents: %s sorts after all values that begin with A to Z",
			c, c.Slot, c.View(), first)
		f.Severity = model.Note
		f.Keys = c.Pair(rule.Written{Text: "zoe"}, *first)
		report(p, c, f)
	}
}

// lists reports whether a query returns rows in the order of a component.
func lists(q *rule.Query, c rule.Component) bool {
	for o := range q.Orders {
		if o.Slot == c.Slot && o.At == c.At {
			return true
		}
	}
	return false
}

func report(p *rule.Pass, c rule.Component, f *rule.Finding) {
	f.Advise("put a form of %s without accents and in lower case into %s, and keep the original text in a separate "+
		"attribute", c, c.Slot)
	p.Report(f)
}

// folded returns a text in lower case with the letters of ASCII in place of those with accents.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, decomposed(barred.Replace(strings.ToLower(s))))
}

// barred replaces letters that are no letter with an accent.
var barred = strings.NewReplacer("ø", "o", "æ", "ae", "œ", "oe", "ß", "ss", "ł", "l", "đ", "d", "ð", "d", "þ", "th")

// accented reports whether a text consists of letters of ASCII when it is folded, and not before.
func accented(s string) bool { return !isPlain(s) && isPlain(folded(s)) }
