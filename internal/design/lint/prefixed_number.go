package lint

import (
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/text"
)

// checkPrefixedNumber reports numbers behind a word, such as v9 and v10 or INV-9 and INV-10, that are not padded,
// if a pattern needs their order. Ids have such numbers too, in samples above all.
func checkPrefixedNumber(p *rule.Pass, c rule.Component) {
	if !c.SortedText() || !rule.Plain(c.Type) || len(c.Timestamps()) > 0 {
		return
	}
	prefix, numbers, ok := prefixedNumbers(c)
	if !ok || numbers.padded || numbers.least == numbers.most && !counts(c) && lastWord(c.Name) != "version" {
		return
	}
	q := c.NeededBy(false)
	if q == nil {
		q = numberWanter(p, c)
	}
	if q == nil {
		return
	}

	a, b, n := rule.Disorder(c.Written(), func(a, b string) int {
		return numberAfter(prefix, a) - numberAfter(prefix, b)
	})
	f := c.Finding("%s in %s of %s is a number that is not padded, behind %s", c, c.Slot, c.View(), rule.Quoted(prefix))
	if n > 0 {
		f.Say(": %s sorts before %s%s", a, b, rule.AndMore(n-1))
		f.Keys = c.Pair(a, b)
	} else {
		f.Say(": %s10 would sort before %[1]s9", prefix)
		f.Keys = c.Pair(rule.Written{Text: prefix + "10"}, rule.Written{Text: prefix + "9"})
	}
	f.Say("; %q needs numeric order", q.Name)
	width, first := max(numbers.most+2, 4), numberAfter(prefix, c.Written()[0].Text)
	f.Advise("pad the numbers to one width, as in %s%0*d", prefix, width, first)
	p.Report(f)
}

var prefixedNumber = text.Pattern(`^([^0-9]*[^0-9.])([0-9]{1,9})$`)

// prefixedNumbers returns what all values of a component have before a number, and the numbers. It reports false
// if they do not have that form, or there is only one.
func prefixedNumbers(c rule.Component) (prefix string, numbers numberSpread, ok bool) {
	for i, w := range c.Written() {
		m := prefixedNumber().FindStringSubmatch(w.Text)
		if m == nil || i > 0 && m[1] != prefix {
			return "", numbers, false
		}
		prefix = m[1]
		numbers.add(m[2])
	}
	return prefix, numbers, numbers.n > 1
}

func numberAfter(prefix, value string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(value, prefix)) // it has up to nine digits
	return n
}
