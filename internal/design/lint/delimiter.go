package lint

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

const sortDesign = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-sort-keys.html"

var delimiterInValue = lint{Rule{
	ID: "delimiter-in-value", Title: "A delimiter inside a value", Severity: model.Warning,
	Help: "A value that contains the delimiter looks like two values: the product TV#55 is in the slice of the product TV, and a program that splits the key at # gets one part too many. " +
		"The key can even be a valid key of another entity.",
	Example: []string{`"PRODUCT#TV#55"`, `"PRODUCT#TV#VARIANT#red"`},
	Cure:    "Choose a delimiter that values cannot contain, or replace it in values when you build the key. If the value is meant to be a path, type it so: {category:path}.",
	Source:  sortDesign,
}, func(l *linter) {
	for _, s := range l.slots {
		if s.t.Kind != attr.String {
			continue
		}
		for i, p := range s.parts {
			if p.Name == "" || p.Type.Name != "" && p.Type.Name != "string" {
				continue
			}
			l.delimitersIn(s, i)
		}
	}
}}

// delimitersIn checks the values of one component.
func (l *linter) delimitersIn(s *slot, at int) {
	var marks []string
	for i := 1; i+1 < len(s.parts); i++ {
		if s.parts[i].Name == "" {
			marks = append(marks, delimiterAfter(s.parts[i].Literal))
		}
	}
	// Longer keys of other entities continue after this component.
	for _, o := range l.slots {
		if o != s && o.e.Table == s.e.Table && o.t.Name == s.t.Name && len(o.parts) > at+1 &&
			skeleton(o.parts[:at+1]) == skeleton(s.parts[:at+1]) {
			marks = append(marks, delimiterAfter(o.parts[at+1].Literal))
		}
	}
	var hits []authoredValue
	mark := ""
	for _, w := range l.authored(s.e, s.parts[at].Name) {
		for _, m := range marks {
			if m != "" && strings.Contains(w.text, m) {
				hits = append(hits, w)
				mark = m
				break
			}
		}
	}
	if len(hits) == 0 {
		return
	}
	name := s.parts[at].Name
	f := model.Finding{
		Message: fmt.Sprintf("%s in %s contains the delimiter %s: %s%s", name, s.t.Name, quoted(mark), quoted(hits[0].text), andMore(len(hits)-1)),
		Advice:  fmt.Sprintf("replace %s in %s when you build the key", quoted(mark), name),
	}
	better := otherDelimiter(s, mark)
	fix := proposal{
		text: f.Advice + fmt.Sprintf(", or use another delimiter in %s for all entities, here %q", s.t.Name, better),
	}
	for _, o := range l.slots {
		if other := otherDelimiter(o, mark); o.e.Table == s.e.Table && o.t.Name == s.t.Name && other != o.t.Template.String() {
			fix.edits = append(fix.edits, writeTemplate(o.e.Name, o.t.Name, other))
		}
	}
	if better == s.t.Template.String() {
		fix.text = f.Advice + fmt.Sprintf(
			", or use another delimiter in %s for the entities whose keys continue after %s", s.t.Name, name,
		)
	}
	f.Keys = l.keyWith(s, name, hits[0])
	short, _, _ := strings.Cut(hits[0].text, mark)
	if short != "" {
		f.Message += fmt.Sprintf("; its row lies among the rows of %s", quoted(short))
		f.Keys = append(f.Keys, nonEmpty(l.suchAs(s.view(), s.e, hits[0].it, map[string]string{name: short}))...)
	}
	for _, w := range hits {
		if w.it == nil {
			continue
		}
		if e := l.m.Classify(s.e.Table, w.it.Attributes); e != nil && e != s.e {
			f.Severity = model.Error
			f.Message += fmt.Sprintf("; the key with %s is a valid key of %s", quoted(w.text), e.Name)
			f.Keys = append(s.view().shown(w.it), l.exampleKey(l.slotOf(e, s.t.Name))...)
			break
		}
	}
	l.propose(s.in(f), fix)
}

// otherDelimiter returns the template with another delimiter.
func otherDelimiter(s *slot, mark string) string {
	other := "|"
	if mark == "|" {
		other = "#"
	}
	parts := s.t.Template.Parts()
	for i := range parts {
		if parts[i].Name == "" {
			parts[i].Literal = strings.ReplaceAll(parts[i].Literal, mark, other)
		}
	}
	return source(parts, "", "")
}

var lowByte = lint{Rule{
	ID: "low-byte", Title: "Bytes that sort below the delimiter", Severity: model.Warning,
	Help: "A delimiter after a value takes part in the order. Space and ! sort below #, so New York# sorts before New#, " +
		"and - and . sort below /. Rows are then not in the order of the names, and a range of names contains unexpected ones.",
	Example: []string{`"New York#Sales"`, `"New#Sales"`},
	Cure:    "Use a delimiter that sorts below all characters of the values, or keep such characters out of the key: New_York. A tab or U+0001 sorts below everything people type.",
	Source:  sortDesign + " (space is 0x20, ! is 0x21, # is 0x23, - is 0x2D, . is 0x2E, / is 0x2F)",
}, func(l *linter) {
	for _, s := range l.slots {
		if s.sortView() == nil || s.t.Kind != attr.String {
			continue
		}
		for i, p := range s.parts {
			if p.Name == "" || i+1 >= len(s.parts) || !textual(p.Type) || s.parts[i+1].Literal == "" {
				continue
			}
			l.lowBytes(s, i)
		}
	}
}}

func (l *linter) lowBytes(s *slot, at int) {
	delimiter := s.parts[at+1].Literal[0]
	words := l.authored(s.e, s.parts[at].Name)
	known := make(map[string]authoredValue, len(words))
	for _, w := range words {
		known[w.text] = w
	}
	var a, b authoredValue
	n := 0
	for _, w := range words {
		for i := 1; i < len(w.text); i++ {
			if short, ok := known[w.text[:i]]; ok && w.text[i] < delimiter {
				if n++; n == 1 {
					a, b = w, short
				}
				break
			}
		}
	}
	if n == 0 {
		return
	}
	low := a.text[len(b.text)]
	name := s.parts[at].Name
	l.add(s.in(model.Finding{
		Message: fmt.Sprintf("%s in %s of %s is followed by %s, and %s (0x%02X) sorts below it: %s sorts before %s%s",
			name, s.t.Name, s.sortView().name(), quoted(string(rune(delimiter))), quoted(string(rune(low))), low, quoted(a.text), quoted(b.text), andMore(n-1)),
		Keys:   l.pair(s, name, a, b),
		Advice: fmt.Sprintf("keep %s out of %s when you build the key, as in %q, or use a delimiter that sorts below all characters, such as a tab", quoted(string(rune(low))), name, strings.ReplaceAll(a.text, string(rune(low)), "_")),
	}))
}
