package lint

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design"
)

var mixedCase = lint{Rule{
	ID: "mixed-case", Title: "Upper and lower case mixed", Severity: design.Warning,
	Help: "Keys are compared byte by byte, and all capital letters come before all small ones: Zoe before adam. " +
		"Values that differ only in case are different keys, so Ann@example.com does not find the row of ann@example.com.",
	Example: []string{`"NAME#Zoe"`, `"NAME#adam"`},
	Cure:    "Write values into keys in one case, and keep what people typed in an attribute of its own: email: ann@example.com in the key, display: Ann@example.com beside it.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.html (a is 0x61, A is 0x41)",
}, func(l *linter) {
	l.twins()
	l.literalTwins()
	l.caseOrder()
}}

// twins finds values of one component, in all entities that have it in a key,
// that differ in case alone.
func (l *linter) twins() {
	type seen struct {
		s *slot
		w word
	}
	type twin struct {
		name string
		a, b seen
		n    int
	}
	first := map[string]seen{}
	twins := map[string]*twin{}
	var order []*twin
	for _, s := range l.slots {
		for _, p := range s.parts {
			if p.Name == "" || !textual(p.Type) {
				continue
			}
			for _, w := range l.authored(s.e, p.Name) {
				key := p.Name + "\x00" + strings.ToLower(w.text)
				have, ok := first[key]
				switch {
				case !ok:
					first[key] = seen{s, w}
				case have.w.text != w.text:
					t := twins[p.Name]
					if t == nil {
						t = &twin{name: p.Name, a: have, b: seen{s, w}}
						twins[p.Name] = t
						order = append(order, t)
					}
					t.n++
				}
			}
		}
	}
	for _, t := range order {
		f := design.Finding{
			Message: fmt.Sprintf("%s and %s are two values of %s in keys%s: a request for one does not find the rows of the other", quoted(t.a.w.text), quoted(t.b.w.text), t.name, also(t.n-1)),
			Advice:  fmt.Sprintf("write %s in one case wherever it is part of a key, and keep the text as it was typed in another attribute", t.name),
		}
		f.Keys = append(l.one(t.a.s, t.name, t.a.w), l.one(t.b.s, t.name, t.b.w)...)
		l.add(t.b.s.in(f))
	}
}

// one is the key that shows one value.
func (l *linter) one(s *slot, field string, w word) []string {
	if w.it != nil {
		return s.first().shown(w.it)
	}
	return nonEmpty(l.suchAs(s.first(), s.e, nil, map[string]string{field: w.text}))
}

// literalTwins finds key attributes that begin with the same word in different
// case in two entities.
func (l *linter) literalTwins() {
	first := map[string]*slot{}
	for _, s := range l.slots {
		word := s.literal()
		if word == "" || !strings.ContainsFunc(word, unicode.IsLetter) {
			continue
		}
		key := s.e.Table.Name + "\x00" + s.t.Name + "\x00" + strings.ToLower(word)
		have := first[key]
		if have == nil {
			first[key] = s
			continue
		}
		if have.literal() == word {
			continue
		}
		f := design.Finding{
			Message: fmt.Sprintf("%s begins with %s here and with %s in %s: the two do not lie together", s.t.Name, quoted(word), quoted(have.literal()), have.e.Name),
			Advice:  fmt.Sprintf("begin both with %s", quoted(have.literal())),
			Keys:    append(l.any(have), l.any(s)...),
		}
		l.add(s.in(f))
	}
}

// any is a key of the slot's entity.
func (l *linter) any(s *slot) []string {
	v := s.first()
	for _, it := range l.items[s.e] {
		if _, ok := v.size(it.Attributes); ok {
			return v.shown(it)
		}
	}
	return nonEmpty(l.suchAs(v, s.e, nil, nil))
}

// caseOrder finds words in sort keys whose byte order is not that of the
// alphabet.
func (l *linter) caseOrder() {
	for _, s := range l.slots {
		if s.sorts() == nil || s.t.Kind != attr.String {
			continue
		}
		for _, p := range s.parts {
			if p.Name == "" || !textual(p.Type) {
				continue
			}
			words := slices.Clone(l.authored(s.e, p.Name))
			words = slices.DeleteFunc(words, func(w word) bool { return strings.ContainsFunc(w.text, unicode.IsDigit) })
			var a, b word
			n := 0
			for i := 1; i < len(words); i++ {
				if strings.ToLower(words[i-1].text) > strings.ToLower(words[i].text) {
					if n++; n == 1 {
						a, b = words[i-1], words[i]
					}
				}
			}
			if n == 0 {
				continue
			}
			l.add(s.in(design.Finding{
				Message: fmt.Sprintf("%s in %s of %s is in upper and lower case: %s stands before %s, for all capitals come before all small letters", p.Name, s.t.Name, s.sorts().name(), quoted(a.text), quoted(b.text)),
				Keys:    l.pair(s, p.Name, a, b),
				Advice:  fmt.Sprintf("write %s in lower case into %s, and keep the text as it was typed in an attribute of its own", p.Name, s.t.Name),
			}))
		}
	}
}

var utf16Order = lint{Rule{
	ID: "utf16-order", Title: "Text that UTF-16 orders otherwise", Severity: design.Warning,
	Help: "Keys are ordered by their UTF-8 bytes, which is the order of code points. JavaScript, Java and C# compare strings by UTF-16 code units, " +
		"in which characters beyond U+FFFF, such as emoji, come before those from U+E000 to U+FFFF. A program that compares or merges keys with its own < puts them elsewhere than the table does.",
	Example: []string{`"TAG#ｗ"`, `"TAG#😀"`},
	Cure:    "Let the table order the rows, and do not compare keys in the program; where it must, compare UTF-8 bytes: Buffer.compare, or by code point.",
	Source:  "https://www.unicode.org/faq/utf_bom.html (binary order of UTF-8 and UTF-16); https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html",
}, func(l *linter) {
	for _, s := range l.slots {
		if s.sorts() == nil || s.t.Kind != attr.String {
			continue
		}
		for _, p := range s.parts {
			if p.Name == "" || !textual(p.Type) {
				continue
			}
			words := l.authored(s.e, p.Name)
			n := 0
			var a, b word
			for i := 1; i < len(words); i++ {
				if slices.Compare(utf16.Encode([]rune(words[i-1].text)), utf16.Encode([]rune(words[i].text))) > 0 {
					if n++; n == 1 {
						a, b = words[i-1], words[i]
					}
				}
			}
			if n == 0 {
				continue
			}
			l.add(s.in(design.Finding{
				Message: fmt.Sprintf("%s in %s of %s stands in another order than programs that compare UTF-16 expect: %s before %s here, after it in JavaScript, Java and C#", p.Name, s.t.Name, s.sorts().name(), quoted(a.text), quoted(b.text)),
				Keys:    l.pair(s, p.Name, a, b),
				Advice:  fmt.Sprintf("keep the order of the rows as they come; where a program must compare %s, compare the UTF-8 bytes", p.Name),
			}))
		}
	}
}}
