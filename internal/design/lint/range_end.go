package lint

import (
	"strings"
	"time"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/keys"
)

var rangeEnd = Rule{
	ID: "range-end", Title: "Keys above the end of a range that means them", Severity: model.Warning,
	Help: "BETWEEN ORDER#2026-01-01 AND ORDER#2026-01-31 does not find the orders of January 31, because their " +
		"keys go on after the day. A bound such as ORDER#~ or ORDER#zzz is not above all keys of ORDER# " +
		"either: é and emoji sort above both. A bound that is the first day of the next period is taken for " +
		"an end that is left out on purpose. It is an error if the data has such rows.",

	Query: checkRangeEnd,
}

// aboutEnd matches the words by which a pattern excludes the end of a range on purpose.
var aboutEnd = text.Pattern(`(?i)\b(before|until|till|up to|exclusive|excluding)\b`)

// checkRangeEnd reports a range that seems to include keys that begin with its upper bound. The range misses these
// keys, because they are longer than the bound and so sort above it. If the bound ends in a sentinel, such as ~, the
// range misses keys that begin with the text before the sentinel.
func checkRangeEnd(p *Pass, q *Query) {
	c := q.Range()
	if c == nil || c.Op != ast.OpBetween && c.Op != ast.Less && c.Op != ast.LessOrEqual || q.Expect.Error != "" ||
		aboutEnd().MatchString(q.Name+" "+q.About) {
		return
	}
	low, bound := "", string(c.Values[len(c.Values)-1].Raw())
	if c.Op == ast.OpBetween {
		low = string(c.Values[0].Raw())
	}

	base := cutSentinel(bound)
	sentinel := base != bound
	if !sentinel && (c.Op == ast.Less || !endsInPeriod(low, bound)) || base == "" && low == "" {
		return
	}
	missed, last, first := keysBeyond(q, c.Attribute, base, bound)
	above, open := goesOn(p, q, c, base, sentinel)
	if missed == 0 && !open {
		return
	}

	f := q.Finding("the range ends at %s, but keys that begin with %s go on after it",
		quoted(bound), quoted(base))
	f.Keys = q.View.Shown(last)
	if missed > 0 {
		f.Severity = model.Error
		f.Say(": %s %s missing", text.Count(missed, "row"), text.Agree(missed, "is", "are"))
		f.Keys = q.View.Shown(last, first)
	}
	next, _ := keys.Successor(base + map[bool]string{false: above}[sentinel])
	f.Advise("end the range with %s", quoted(next))
	if sentinel && low == base {
		f.Advise("use begins_with(%s, %s), which needs no bound", text.Name(c.Attribute), quoted(base))
	}
	p.Report(f)
}

// cutSentinel removes a sentinel, such as ~ or zzz, from the end of a bound. People append these characters so that
// the bound sorts after all keys.
func cutSentinel(bound string) string {
	for _, mark := range []string{"~", "z", "Z", "\uffff", "\ufffe", "\ufffd", "ÿ"} {
		base := bound
		for strings.HasSuffix(base, mark) {
			base = strings.TrimSuffix(base, mark)
		}
		n := (len(bound) - len(base)) / len(mark)
		if n >= 3 || n > 0 && mark != "z" && mark != "Z" {
			return base
		}
	}
	return bound
}

// endsInPeriod reports whether a bound ends in a day, a month or a year that the range should include. It returns
// false if the author seems to exclude the bound on purpose. There are three such cases: the bound is the period
// after the lower bound; it is seven days later; or both bounds are the first day of a month or of a year.
func endsInPeriod(low, bound string) bool {
	for _, u := range model.Units[:3] { // years, months and days
		at := len(bound) - len(u.Layout)
		if at < 0 || at > 0 && '0' <= bound[at-1] && bound[at-1] <= '9' {
			continue
		}
		end, err := time.Parse(u.Layout, bound[at:])
		if err != nil {
			continue
		}
		first, err := time.Parse(u.Layout, strings.TrimPrefix(low, bound[:at]))
		begins := end.Day() == 1 && first.Day() == 1 && (u.Name == "date" || end.Month() == first.Month())
		return err != nil || !end.Equal(u.Next(first)) && !end.Equal(first.AddDate(0, 0, 7)) &&
			(!begins || !end.After(first))
	}
	return false
}

// keysBeyond counts the keys that begin with base but are above the bound. last is the last item up to the bound, and
// first is the first item above it.
func keysBeyond(q *Query, name, base, bound string) (missed int, last, first *dataset.Item) {
	part, _ := q.Partition()
	for _, r := range q.View.In(part) {
		key := valueText(r.Item, name)
		switch {
		case !strings.HasPrefix(key, base):
		case key <= bound:
			last = r.Item
		default:
			if missed++; first == nil {
				first = r.Item
			}
		}
	}
	return missed, last, first
}

// goesOn reports whether a key can begin with base and sort above the bound. above is an example of the text after
// base in such a key. If the bound has a sentinel, above is text that sorts after every sentinel. If the bound is a
// period, above is the text that follows the period in the entity's first item.
func goesOn(p *Pass, q *Query, c *keycond.Clause, base string, sentinel bool) (above string, ok bool) {
	for _, s := range p.SlotsOf(q.View.Table, c.Attribute) {
		at, _, fits := s.After(base)
		switch {
		case !fits || at.Name == "" || !q.Reaches(s.Entity):
		case sentinel && textual(at.Type):
			return "😀", true
		case !sentinel && p.First(s.Entity) != nil:
			key, n := valueText(p.First(s.Entity), s.Name), len(base)
			if n < len(key) && masked(key[:n]) == masked(base) {
				return key[n : n+1], true
			}
		}
	}
	return "", false
}
