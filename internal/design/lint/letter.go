package lint

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

var mixedCase = lint{Rule{
	ID: "mixed-case", Title: "Upper and lower case mixed", Severity: model.Warning,
	Help: "Keys are compared byte by byte, and all capital letters sort before all small letters: Zoe before adam. " +
		"Values that differ only in case are different keys, so Ann@example.com does not find the row of ann@example.com.",
	Example: []string{`"NAME#Zoe"`, `"NAME#adam"`},
	Cure:    "Use one case for values in keys, and keep what people typed in a separate attribute: email: ann@example.com in the key, display: Ann@example.com beside it.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.html (a is 0x61, A is 0x41)",
}, func(l *linter) {
	l.caseVariants()
	l.literalVariants()
	l.caseOrder()
}}

// caseVariants finds values of one component that differ only in case, across
// all entities that have the component in a key.
func (l *linter) caseVariants() {
	type seen struct {
		s *slot
		w authoredValue
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
		f := model.Finding{
			Message: fmt.Sprintf("%s and %s are two values of %s in keys%s: a request for one does not find rows of the other", quoted(t.a.w.text), quoted(t.b.w.text), t.name, andMore(t.n-1)),
			Advice:  fmt.Sprintf("use one case for %s in keys, and keep the original text in another attribute", t.name),
		}
		f.Keys = append(l.keyWith(t.a.s, t.name, t.a.w), l.keyWith(t.b.s, t.name, t.b.w)...)
		l.add(t.b.s.in(f))
	}
}

// keyWith returns a key that contains the value.
func (l *linter) keyWith(s *slot, field string, w authoredValue) []string {
	if w.it != nil {
		return s.view().shown(w.it)
	}
	return nonEmpty(l.suchAs(s.view(), s.e, nil, map[string]string{field: w.text}))
}

// literalVariants finds key attributes that begin with the same word in different
// case in two entities.
func (l *linter) literalVariants() {
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
		f := model.Finding{
			Message: fmt.Sprintf("%s begins with %s here and with %s in %s: their rows do not lie together", s.t.Name, quoted(word), quoted(have.literal()), have.e.Name),
			Advice:  fmt.Sprintf("begin both with %s", quoted(have.literal())),
			Keys:    append(l.exampleKey(have), l.exampleKey(s)...),
		}
		l.add(s.in(f))
	}
}

// exampleKey returns a key of the slot's entity.
func (l *linter) exampleKey(s *slot) []string {
	v := s.view()
	for _, it := range l.items[s.e] {
		if _, ok := v.size(it.Attributes); ok {
			return v.shown(it)
		}
	}
	return nonEmpty(l.suchAs(v, s.e, nil, nil))
}

// caseOrder finds values in sort keys whose byte order is not alphabetical.
func (l *linter) caseOrder() {
	for _, s := range l.slots {
		if s.sortView() == nil || s.t.Kind != attr.String {
			continue
		}
		for _, p := range s.parts {
			if p.Name == "" || !textual(p.Type) {
				continue
			}
			words := slices.Clone(l.authored(s.e, p.Name))
			words = slices.DeleteFunc(words, func(w authoredValue) bool { return strings.ContainsFunc(w.text, unicode.IsDigit) })
			var a, b authoredValue
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
			l.add(s.in(model.Finding{
				Message: fmt.Sprintf("%s in %s of %s mixes upper and lower case: %s sorts before %s, because all capitals sort before all small letters", p.Name, s.t.Name, s.sortView().name(), quoted(a.text), quoted(b.text)),
				Keys:    l.pair(s, p.Name, a, b),
				Advice:  fmt.Sprintf("write %s in lower case in %s, and keep the original text in a separate attribute", p.Name, s.t.Name),
			}))
		}
	}
}

var utf16Order = lint{Rule{
	ID: "utf16-order", Title: "Text that UTF-16 orders differently", Severity: model.Warning,
	Help: "Keys are ordered by their UTF-8 bytes, which is the order of code points. JavaScript, Java and C# compare strings by UTF-16 code units, " +
		"where characters beyond U+FFFF, such as emoji, sort before those from U+E000 to U+FFFF. A program that compares or merges keys with its own < gets a different order than the table.",
	Example: []string{`"TAG#ｗ"`, `"TAG#😀"`},
	Cure:    "Let the table order the rows instead of comparing keys in the program. If a program must compare them, compare UTF-8 bytes (Buffer.compare) or code points.",
	Source:  "https://www.unicode.org/faq/utf_bom.html (binary order of UTF-8 and UTF-16); https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html",
}, func(l *linter) {
	for _, s := range l.slots {
		if s.sortView() == nil || s.t.Kind != attr.String {
			continue
		}
		for _, p := range s.parts {
			if p.Name == "" || !textual(p.Type) {
				continue
			}
			words := l.authored(s.e, p.Name)
			n := 0
			var a, b authoredValue
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
			l.add(s.in(model.Finding{
				Message: fmt.Sprintf("%s in %s of %s is not in the order of UTF-16: %s sorts before %s here, but after it in JavaScript, Java and C#", p.Name, s.t.Name, s.sortView().name(), quoted(a.text), quoted(b.text)),
				Keys:    l.pair(s, p.Name, a, b),
				Advice:  fmt.Sprintf("keep the order in which the rows are returned; if a program must compare %s, compare UTF-8 bytes", p.Name),
			}))
		}
	}
}}
