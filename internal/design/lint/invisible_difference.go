package lint

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

var invisibleDifference = Rule{
	ID: "invisible-difference", Title: "Values that people take for equal", Severity: model.Warning,
	Help: "Keys are compared byte by byte, so Ann@example.com does not find the row of ann@example.com, and " +
		"values that look the same can be two keys: é can be one character or e with an accent, as macOS " +
		"writes file names; text can contain a zero-width space; \" ann\" is not \"ann\". The rule compares " +
		"the values in the model with each other and with those that patterns ask for. Normalise text before " +
		"you build a key, and keep what people typed in another attribute.",

	Whole: func(p *Pass) {
		checkTwins(p)
		checkWords(p)
	},
}

// A spelling is a value of a component as a sample or a pattern writes it.
type spelling struct {
	Component
	value Written
	q     *Query // the pattern that gives the value, or nil
}

// checkTwins reports two values of a field that look the same but differ in bytes. It compares all values of the
// fields of the same name, in all entities and patterns.
func checkTwins(p *Pass) {
	first, reported := map[[2]string]spelling{}, map[string]bool{}
	compare := func(b spelling) {
		key := [2]string{b.Name, folded(b.value.Text)}
		a, known := first[key]
		if !known {
			first[key] = b
			return
		}
		if a.value.Text == b.value.Text || reported[b.Name] {
			return
		}
		reported[b.Name] = true
		f := b.Finding("%s and %s are two values of %s in keys: a request for one does not find rows of the other",
			escaped(a.value.Text), escaped(b.value.Text), b.Name)
		f.Advise("normalise %s before you build the key, and keep the original text in another attribute", b.Name)
		f.Keys = append(a.KeyWith(a.value), b.KeyWith(b.value)...)
		if b.q != nil {
			f.Pattern, f.Pos = b.q.Name, b.q.Pos
		}
		escapeKeys(f)
		p.Report(f)
	}

	queries := map[*model.Entity][]*Query{}
	for _, q := range p.Queries {
		queries[q.Entity] = append(queries[q.Entity], q)
	}
	for _, s := range p.Slots {
		for _, c := range s.Components() {
			if !textual(c.Type) {
				continue
			}
			for _, w := range c.Written() {
				compare(spelling{c, w, nil})
			}
			for _, q := range queries[s.Entity] {
				if given, ok := q.Given(c.Name); ok && given.Op == ast.Equal {
					compare(spelling{c, Written{Text: given.Args[0]}, q})
				}
			}
		}
	}
}

// checkWords reports two entities whose templates of a key attribute begin with words that differ only in case.
func checkWords(p *Pass) {
	first := map[[3]string]*Slot{}
	for _, s := range p.Slots {
		word := s.Literal()
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
			s.Name, quoted(word), quoted(have.Literal()), have.Entity.Name)
		f.Advise("begin both with %s", quoted(have.Literal()))
		f.Keys = append(have.Example(), s.Example()...)
		p.Report(f)
	}
}

// folded returns a form of s that is equal for all texts that look the same. It converts s to lower case and Unicode
// normal form C, removes invisible characters, and puts single plain spaces between words.
func folded(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
	return strings.ToLower(norm.NFC.String(strings.Join(strings.Fields(s), " ")))
}

// escaped quotes s in ASCII, so that invisible characters show.
func escaped(s string) string { return terminal.ClipMiddle(strconv.QuoteToASCII(s), 120) }

// escapeKeys escapes the characters beyond ASCII in the keys of a finding.
func escapeKeys(f *Finding) {
	for i, key := range f.Keys {
		if strings.ContainsFunc(key, func(r rune) bool { return r > unicode.MaxASCII }) {
			key = strconv.QuoteToASCII(key)
			f.Keys[i] = strings.ReplaceAll(key[1:len(key)-1], `\"`, `"`)
		}
	}
}
