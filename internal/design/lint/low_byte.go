package lint

import (
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
)

var lowByte = rule.Rule{
	ID: "low-byte", Title: "Bytes that sort below the delimiter", Severity: model.Warning,
	Help: "A delimiter after a value takes part in the order. Space and ! sort below #, so New York# sorts before " +
		"New#, and - and . sort below /. Rows are then not in the order of the names, and a range of names " +
		"contains unexpected ones.",
	Example: []string{`"New York#Sales"`, `"New#Sales"`},
	Cure: "Use a delimiter that sorts below all characters of the values, or keep such characters out of the key: " +
		"New_York. A tab or U+0001 sorts below everything people type.",
	Source: guide + "bp-sort-keys.html (space is 0x20, ! is 0x21, # is 0x23, - is 0x2D, . is 0x2E, / is 0x2F)",

	Component: checkLowByte,
}

func checkLowByte(p *rule.Pass, c rule.Component) {
	if !c.SortedText() || c.At+1 >= len(c.Parts) || c.Parts[c.At+1].Literal == "" {
		return
	}

	delimiter := c.Parts[c.At+1].Literal[0]
	known := map[string]rule.Written{}
	for _, w := range c.Written() {
		known[w.Text] = w
	}

	var a, b rule.Written
	n := 0
	for _, w := range c.Written() {
		for i := 1; i < len(w.Text); i++ {
			if short, ok := known[w.Text[:i]]; ok && w.Text[i] < delimiter {
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
	low := a.Text[len(b.Text)]
	mark := string(rune(low))
	f := c.Finding("%s in %s of %s is followed by %s, and %s (0x%02X) sorts below it: %s sorts before %s%s",
		c, c.Slot, c.View(), rule.Quoted(string(rune(delimiter))), rule.Quoted(mark), low,
		a, b, rule.AndMore(n-1))
	f.Keys = c.Pair(a, b)
	if r := rune(low); unicode.IsLetter(r) || unicode.IsDigit(r) {
		f.Advice = "use a delimiter that sorts below letters and digits, such as #"
		var edits []rule.Edit
		for _, s := range p.SlotsOf(c.Entity.Table, c.Slot.Name) {
			if better := delimitedBy(s, string(rune(delimiter)), "#"); better != s.Template.String() {
				edits = append(edits, s.Write(better))
			}
		}
		better := delimitedBy(c.Slot, string(rune(delimiter)), "#")
		f.Propose(f.Advice+": "+rule.Writing(c.Slot.Name, better), edits...)
	} else {
		f.Advise("keep %s out of %s when you build the key, as in %q, "+
			"or use a delimiter that sorts below all characters, such as a tab",
			rule.Quoted(mark), c.Name, strings.ReplaceAll(a.Text, mark, "_"))
	}

	p.Report(f)
}
