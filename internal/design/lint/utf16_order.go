package lint

import (
	"slices"
	"unicode/utf16"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
)

var utf16Order = rule.Rule{
	ID: "utf16-order", Title: "Text that UTF-16 orders differently", Severity: model.Warning,
	Help: "Keys are ordered by their UTF-8 bytes, which is the order of code points. JavaScript, Java and C# " +
		"compare strings by UTF-16 code units, where characters beyond U+FFFF, such as emoji, sort before those " +
		"from U+E000 to U+FFFF. A program that compares or merges keys with its own < gets a different order than " +
		"the table.",
	Example: []string{`"TAG#ｗ"`, `"TAG#😀"`},
	Cure: "Let the table order the rows instead of comparing keys in the program. If a program must compare them, " +
		"compare UTF-8 bytes (Buffer.compare) or code points.",
	Source: "https://www.unicode.org/faq/utf_bom.html (binary order of UTF-8 and UTF-16); " + guide +
		"HowItWorks.NamingRulesDataTypes.html",

	Component: func(p *rule.Pass, c rule.Component) {
		a, b, n := rule.Disorder(c.Written(), func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
		if !c.SortedText() || n == 0 {
			return
		}
		f := c.Finding("%s in %s of %s is not in the order of UTF-16: "+
			"%s sorts before %s here, but after it in JavaScript, Java and C#",
			c, c.Slot, c.View(), a, b)
		f.Advise("keep the order in which the rows are returned; if a program must compare %s, compare UTF-8 bytes", c)
		f.Keys = c.Pair(a, b)
		p.Report(f)
	},
}
