package lint

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

var highSentinel = rule.Rule{
	ID: "high-sentinel", Title: "High sentinels that keys exceed", Severity: model.Warning,
	Help: "An upper bound such as ORDER#~ or ORDER#zzz is meant to be above all keys that begin with ORDER#. It is " +
		"not: ~ (0x7E) sorts below every non-ASCII character, zzz sorts below zzzz, { and é, and U+FFFF, the " +
		"highest code unit of UTF-16, is EF BF BF in UTF-8, which sorts below emoji and everything else beyond " +
		"U+FFFF. Rows above the bound are missing from the result.",
	Example: []string{`"CITY#Zürich"`, `"CITY#~"`, `"CITY#Århus"`},
	Cure: "Use begins_with(SK, \"CITY#\"), which needs no bound. If you need a range, end it with the character " +
		"after the delimiter: BETWEEN \"CITY#M\" AND \"CITY$\".",
	Source: guide + "Query.KeyConditionExpressions.html; https://www.rfc-editor.org/rfc/rfc3629 (UTF-8)",

	Query: checkHighSentinel,
}

// cutSentinel splits a bound into the text before a sentinel and the sentinel.
func cutSentinel(bound string) (base, sentinel string) {
	for _, mark := range []string{"~", "z", "Z", "\uffff", "\ufffe", "\ufffd", "ÿ"} {
		base = bound
		for strings.HasSuffix(base, mark) {
			base = strings.TrimSuffix(base, mark)
		}
		n := (len(bound) - len(base)) / len(mark)
		if n >= 3 || n > 0 && mark != "z" && mark != "Z" {
			return base, bound[len(base):]
		}
	}
	return bound, ""
}

// checkHighSentinel reports a range with an upper bound that keys exceed.
func checkHighSentinel(p *rule.Pass, q *rule.Query) {
	c := q.Range()
	if c == nil || c.Op != ast.OpBetween && c.Op != ast.Less && c.Op != ast.LessOrEqual {
		return
	}
	name := c.Attribute
	low, bound := string(c.Values[0].Raw()), string(c.Values[len(c.Values)-1].Raw())
	between := len(c.Values) == 2
	base, sentinel := cutSentinel(bound)
	if sentinel == "" || base == "" && !between {
		return
	}
	f := q.Finding("")
	missed, last, first := keysBeyond(q, name, base, bound)
	switch {
	case missed > 0:
		f.Severity = model.Error
		f.Say("the bound %s is too low: %s that %s with %s %s above it and missing", rule.Quoted(bound),
			text.Count(missed, "key"), text.Agree(missed, "begins", "begin"), rule.Quoted(base),
			text.Agree(missed, "is", "are"))
		f.Keys = q.View.Shown(last, first)
	case belowSentinels(p, q, name, base):
		return
	default:
		f.Say("the bound %s is not above all keys that begin with %s", rule.Quoted(bound), rule.Quoted(base))
		f.Keys = append(q.View.Shown(last), q.SuchAs(name, base+aboveSentinel(sentinel)))
	}

	f.Advice = "end the range with the character after the delimiter"
	if between && low == base {
		f.Advice = "use begins_with, which needs no bound, with a prefix that ends with the delimiter"
		f.Propose(
			fmt.Sprintf("use begins_with(%s, %s), which needs no bound", text.Name(name), rule.Quoted(base)),
			q.Ranged(ast.OpBeginsWith, base),
		)
	} else if next, ok := keys.Successor(base); ok {
		bounds := []string{next}
		if between {
			bounds = []string{low, next}
		}
		f.Propose(
			fmt.Sprintf("use the bound %s, which is above all keys that begin with %s",
				rule.Quoted(next), rule.Quoted(base)),
			q.Ranged(c.Op, bounds...),
		)
	}
	p.Report(f)
}

// keysBeyond counts the keys that begin with base and are above the bound. It
// returns the last item below the bound and the first above it.
func keysBeyond(q *rule.Query, name, base, bound string) (missed int, last, first *world.Item) {
	part, ok := q.Partition()
	if !ok {
		return 0, nil, nil
	}
	for _, r := range q.View.In(part) {
		key := rule.Value(r.Item, name)
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

// aboveSentinel returns text that sorts above a sentinel.
func aboveSentinel(sentinel string) string {
	switch sentinel[0] {
	case 'z', 'Z':
		return "été"
	case 0xEF:
		return "😀"
	}
	return "é"
}

// belowSentinels reports whether every component that follows base in keys is
// of a type whose characters are all below the sentinels.
func belowSentinels(p *rule.Pass, q *rule.Query, name, base string) bool {
	n := 0
	for _, s := range p.SlotsOf(q.View.Table, name) {
		c, _, ok := s.After(base)
		if !ok {
			continue
		}
		n++
		if c.Name != "" && rule.Textual(c.Type) {
			return false
		}
	}
	return n > 0
}
