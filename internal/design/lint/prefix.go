package lint

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/keycond"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

var openPrefix = lint{Rule{
	ID: "open-prefix", Title: "A prefix without its closing delimiter", Severity: model.Warning,
	Help: "begins_with compares bytes, not components: USER#1 is a prefix of USER#10 and USER#11, and root/photos of root/photos-old/ and root/photos.zip. " +
		"A query for one also reads, pays for and returns its siblings.",
	Example: []string{`"root/photos-old/"`, `"root/photos.zip"`, `"root/photos/"`, `"root/photos2/"`},
	Cure:    "End the prefix with the delimiter: begins_with(SK, \"root/photos/\"). To include the node itself in the slice, end its own key with the delimiter too.",
	Source:  sortDesign,
}, func(l *linter) {
	asked := map[*model.Entity]bool{} // entities that a pattern reads by prefix
	for _, q := range l.queries {
		if c := q.rangeClause(); c != nil && c.Op == ast.OpBeginsWith {
			l.checkPrefix(q, c)
			for _, e := range q.entities {
				asked[e] = true
			}
		}
	}
	for _, s := range l.slots {
		if v := s.sortView(); v != nil && !asked[s.e] {
			l.checkNodes(v, s)
		}
	}
}}

// marks returns the delimiters in a key attribute of a table.
func (l *linter) marks(t *model.Table, name string) string {
	var all strings.Builder
	for _, s := range l.slots {
		if s.e.Table != t || s.t.Name != name {
			continue
		}
		for i, p := range s.parts {
			if p.Name == "" {
				if i > 0 {
					if d := delimiterAfter(p.Literal); d != "" {
						all.WriteString(d[:1])
					}
				}
				continue
			}
			if p.Type.Name == "path" {
				all.WriteString(l.pathMark(s.e, p.Name))
			}
		}
	}
	return all.String()
}

// pathMark returns the separator of a path: the mark that most values contain.
func (l *linter) pathMark(e *model.Entity, field string) string {
	best, most := "/", 0
	for _, mark := range []string{"/", "#", "|", ":", `\`, "."} {
		n := 0
		for _, w := range l.authored(e, field) {
			if strings.Contains(w.text, mark) {
				n++
			}
		}
		if n > most {
			best, most = mark, n
		}
	}
	return best
}

// checkPrefix checks one query with begins_with.
func (l *linter) checkPrefix(q *query, c *keycond.Clause) {
	prefix := string(c.Values[0].Raw())
	marks := l.marks(q.v.t, c.Attribute.Name)
	if prefix == "" || strings.ContainsRune(marks, rune(prefix[len(prefix)-1])) {
		return
	}
	p, ok := q.slice()
	if !ok {
		return
	}
	var own *world.Item
	var siblings []string
	var sibling *world.Item
	seen := map[string]bool{}
	for _, r := range q.v.In(p) {
		key := string(r.Item.Attributes.Get(c.Attribute.Name).Raw())
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		if rest == "" || strings.ContainsRune(marks, rune(rest[0])) {
			if own == nil ||
				rest != "" && r.Item.Attributes.Get(c.Attribute.Name).Size() > len(prefix) && own.Attributes.Get(c.Attribute.Name).Size() == len(prefix) {
				own = r.Item
			}
			continue
		}
		name := key
		if at := strings.IndexAny(rest, marks); at >= 0 {
			name = prefix + rest[:at+1]
		}
		if bare := strings.TrimRight(name, marks); !seen[bare] {
			seen[bare] = true
			siblings = append(siblings, name)
		}
		if sibling == nil {
			sibling = r.Item
		}
	}
	if own == nil {
		return
	}
	ownKey := string(own.Attributes.Get(c.Attribute.Name).Raw())
	if ownKey == prefix {
		if len(siblings) > 0 {
			l.wholeKey(q, c, own, sibling, siblings)
		}
		return
	}
	closed := prefix + ownKey[len(prefix):len(prefix)+1]
	f := q.in(model.Finding{Advice: "end the prefix with the delimiter"})
	fix := proposal{
		text:  fmt.Sprintf("end the prefix with the delimiter: begins_with(%s, %s)", text.Name(c.Attribute.Name), quoted(closed)),
		edits: []edit{q.rangedBy(ast.OpBeginsWith, closed)},
	}
	if len(siblings) == 0 {
		s := l.insideValue(q, c.Attribute.Name, prefix)
		if s == nil {
			return
		}
		f.Severity = model.Note
		f.Message = fmt.Sprintf(
			"the prefix %s does not end with a delimiter: other keys of %s can begin with it too", quoted(prefix),
			q.v.name(),
		)
		f.Keys = append(q.v.shown(own), "such as "+l.beginning(q, c.Attribute.Name)+quoted(prefix+"2"))
		fix.text += ", which leaves out a row whose key is the prefix itself: end that key with the delimiter, or read it with GetItem"
		l.propose(f, fix)
		return
	}
	f.Message = fmt.Sprintf("the prefix %s also reads siblings: %s", quoted(prefix), list(siblings))
	if q.expectsKey(sibling) {
		f.Severity = model.Note // the pattern expects them
	}
	if low := lowSiblings(siblings, prefix, closed); low != "" {
		f.Message += "; " + low
	}
	f.Keys = q.v.shown(own, sibling)
	l.propose(f, fix)
}

// rangedBy returns the edit that gives the query another condition in place of
// the one on its sort key.
func (q *query) rangedBy(op ast.Op, bounds ...string) edit {
	old := q.rangeClause()
	c := keycond.Clause{Attribute: old.Attribute, Op: op}
	for _, b := range bounds {
		c.Values = append(c.Values, attr.NewString(b))
	}
	var clauses []keycond.Clause
	for i := range q.clauses {
		if &q.clauses[i] == old {
			clauses = append(clauses, c)
		} else {
			clauses = append(clauses, q.clauses[i])
		}
	}
	return ask(q.p.Name, q.v.t.Name, q.v.indexName(), clauses)
}

// expectsKey reports whether the pattern expects an item in its result.
func (q *query) expectsKey(it *world.Item) bool {
	return slices.ContainsFunc(q.p.Expect.Keys, func(key model.Key) bool {
		for i, a := range q.v.t.Keys() {
			if i >= len(key) || !attr.Equal(key[i], it.Attributes.Get(a.Name)) {
				return false
			}
		}
		return true
	})
}

// wholeKey reports a prefix that is the whole key of a row and the beginning of
// the keys of its siblings.
func (l *linter) wholeKey(q *query, c *keycond.Clause, own, sibling *world.Item, siblings []string) {
	prefix := quoted(string(c.Values[0].Raw()))
	f := q.in(model.Finding{
		Message: fmt.Sprintf("the prefix %s is the whole key of a row and also reads siblings: %s", prefix, list(siblings)),
		Keys:    q.v.shown(own, sibling),
		Advice:  "compare the whole key with =",
	})
	fix := proposal{
		text:  fmt.Sprintf("compare the whole key: %s = %s", text.Name(c.Attribute.Name), prefix),
		edits: []edit{q.rangedBy(ast.Equal, string(c.Values[0].Raw()))},
	}
	if q.expectsKey(sibling) ||
		q.p.Expect.Rows != nil && *q.p.Expect.Rows == q.report.Returned && q.report.Returned > 1 {
		f.Severity = model.Note // the pattern expects them
	}
	l.propose(f, fix)
}

// lowSiblings says which siblings sort before the rows under the prefix.
func lowSiblings(siblings []string, prefix, closed string) string {
	var low []string
	for _, s := range siblings {
		if s < closed {
			if mark := fmt.Sprintf("%s (0x%02X)", quoted(s[len(prefix):len(prefix)+1]), s[len(prefix)]); !slices.Contains(low, mark) {
				low = append(low, mark)
			}
		}
	}
	if len(low) == 0 {
		return ""
	}
	verb := "sorts"
	if len(low) > 1 {
		verb = "sort"
	}
	return fmt.Sprintf("%s %s before %s (0x%02X)", list(low), verb, quoted(closed[len(prefix):]), closed[len(prefix)])
}

// slice returns the partition that the query reads.
func (q *query) slice() (world.Part, bool) {
	id, ok := q.v.Schema.AppendPartition(nil, q.key())
	if !ok {
		return world.Part{}, false
	}
	return q.v.Partition(id)
}

// beginning returns the values of the key attributes before the named one, as
// the query has them.
func (l *linter) beginning(q *query, name string) string {
	var b strings.Builder
	it := q.key()
	for _, a := range q.v.all {
		if a.Name == name {
			break
		}
		b.WriteString(text.Literal(it.Get(a.Name)) + ", ")
	}
	return b.String()
}

// insideValue returns a slot in which the prefix ends inside a component of
// arbitrary text, or nil.
func (l *linter) insideValue(q *query, name, prefix string) *slot {
	for _, e := range q.entities {
		s := l.slotOf(e, name)
		if s == nil {
			continue
		}
		if at, ok := s.ends(prefix); ok && at >= 0 && textual(s.parts[at].Type) {
			return s
		}
	}
	return nil
}

// checkNodes finds nodes of a tree whose names are prefixes of the names of
// siblings, if no pattern reads them by prefix.
func (l *linter) checkNodes(v *view, s *slot) {
	last := s.parts[len(s.parts)-1]
	if last.Name == "" || s.t.Kind != attr.String {
		return
	}
	mark, under := "", ""
	switch {
	case last.Type.Name == "path":
		mark = l.pathMark(s.e, last.Name)
	case last.Type.Name == "" || last.Type.Name == "string":
		for _, o := range l.slots {
			if o.e.Table == s.e.Table && o.t.Name == s.t.Name && len(o.parts) > len(s.parts) && o.sortView() == v &&
				skeleton(o.parts[:len(s.parts)]) == skeleton(s.parts) {
				mark, under = delimiterAfter(o.parts[len(s.parts)].Literal), o.e.Name
			}
		}
	}
	if mark == "" {
		return
	}
	names := map[string]*world.Item{} // of nodes, without the mark at the end
	inner := map[string]bool{}
	for _, w := range l.authored(s.e, last.Name) {
		name := strings.TrimSuffix(w.text, mark)
		if names[name] == nil {
			names[name] = w.it
		}
		inner[name] = inner[name] || name != w.text || under != ""
		for at := strings.LastIndex(name, mark); at > 0; at = strings.LastIndex(name[:at], mark) {
			if names[name[:at]] == nil {
				names[name[:at]] = w.it
			}
			inner[name[:at]] = true
		}
	}
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	for _, node := range sorted {
		if !inner[node] || node == "" {
			continue
		}
		siblings := siblingsOf(sorted, node, mark)
		if len(siblings) == 0 {
			continue
		}
		sibling := authoredValue{siblings[0], names[siblings[0]]}
		l.add(v.in(s.in(model.Finding{
			Severity: model.Note,
			Message:  fmt.Sprintf("%s of %s is also a prefix of its siblings: begins_with without %s at the end reads %s", quoted(node), last.Name, quoted(mark), list(siblings)),
			Keys:     l.pair(s, last.Name, authoredValue{node, names[node]}, sibling),
			Advice:   fmt.Sprintf("query with the delimiter: begins_with(%s, %s)", text.Name(s.t.Name), quoted(strings.TrimSuffix(source(s.parts, last.Name, node), mark)+mark)),
		})))
		return // one finding is enough
	}
}

// siblingsOf returns the names that begin with node and do not continue with
// the mark.
func siblingsOf(sorted []string, node, mark string) (all []string) {
	from, _ := slices.BinarySearch(sorted, node+"\x00")
	for i := from; i < len(sorted) && len(all) < 20; {
		name := sorted[i]
		if !strings.HasPrefix(name, node) {
			break
		}
		if strings.HasPrefix(name, node+mark) {
			// Skip the names under node.
			i += sort.Search(len(sorted)-i, func(k int) bool { return !strings.HasPrefix(sorted[i+k], node+mark) })
			continue
		}
		if !strings.Contains(name[len(node):], mark) {
			all = append(all, name)
		}
		i++
	}
	return all
}

var highSentinel = lint{Rule{
	ID: "high-sentinel", Title: "High sentinels that keys exceed", Severity: model.Warning,
	Help: "An upper bound such as ORDER#~ or ORDER#zzz is meant to be above all keys that begin with ORDER#. It is not: ~ (0x7E) sorts below every non-ASCII character, " +
		"zzz sorts below zzzz, { and é, and U+FFFF, the highest code unit of UTF-16, is EF BF BF in UTF-8, which sorts below emoji and everything else beyond U+FFFF. Rows above the bound are missing from the result.",
	Example: []string{`"CITY#Zürich"`, `"CITY#~"`, `"CITY#Århus"`},
	Cure:    "Use begins_with(SK, \"CITY#\"), which needs no bound. If you need a range, end it with the character after the delimiter: BETWEEN \"CITY#M\" AND \"CITY$\".",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html; https://www.rfc-editor.org/rfc/rfc3629 (UTF-8)",
}, func(l *linter) {
	for _, q := range l.queries {
		c := q.rangeClause()
		if c == nil || c.Op != ast.OpBetween && c.Op != ast.Less && c.Op != ast.LessOrEqual {
			continue
		}
		l.sentinel(q, c, string(c.Values[len(c.Values)-1].Raw()))
	}
}}

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

func (l *linter) sentinel(q *query, c *keycond.Clause, bound string) {
	base, sentinel := cutSentinel(bound)
	if sentinel == "" || base == "" && len(c.Values) < 2 {
		return
	}
	f := q.in(model.Finding{Advice: "end the range with the character after the delimiter"})
	var fixes []proposal
	if len(c.Values) == 2 && string(c.Values[0].Raw()) == base {
		f.Advice = "use begins_with, which needs no bound, with a prefix that ends with the delimiter"
		fixes = append(fixes, proposal{
			text:  fmt.Sprintf("use begins_with(%s, %s), which needs no bound", text.Name(c.Attribute.Name), quoted(base)),
			edits: []edit{q.rangedBy(ast.OpBeginsWith, base)},
		})
	} else if bound, ok := keys.Successor(base); ok {
		bounds := []string{bound}
		if len(c.Values) == 2 {
			bounds = []string{string(c.Values[0].Raw()), bound}
		}
		fixes = append(fixes, proposal{
			text:  fmt.Sprintf("use the bound %s, which is above all keys that begin with %s", quoted(bound), quoted(base)),
			edits: []edit{q.rangedBy(c.Op, bounds...)},
		})
	}
	missed, last := 0, (*world.Item)(nil)
	var first *world.Item
	if p, ok := q.slice(); ok {
		for _, r := range q.v.In(p) {
			key := string(r.Item.Attributes.Get(c.Attribute.Name).Raw())
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
	}
	if missed > 0 {
		f.Severity = model.Error
		f.Message = fmt.Sprintf(
			"the bound %s is too low: %s that %s with %s %s above it and missing", quoted(bound),
			text.Count(missed, "key"), begin(missed), quoted(base), are(missed),
		)
		f.Keys = q.v.shown(last, first)
		l.propose(f, fixes...)
		return
	}
	if l.bounded(q, c.Attribute.Name, base) {
		return
	}
	beyond := "é"
	switch sentinel[0] {
	case 'z', 'Z':
		beyond = "été"
	case 0xEF:
		beyond = "😀"
	}
	f.Message = fmt.Sprintf("the bound %s is not above all keys that begin with %s", quoted(bound), quoted(base))
	f.Keys = append(q.v.shown(last), "such as "+l.beginning(q, c.Attribute.Name)+quoted(base+beyond))
	l.propose(f, fixes...)
}

func begin(n int) string {
	if n == 1 {
		return "begins"
	}
	return "begin"
}

// bounded reports whether every component that follows base in keys is of a
// type whose characters are all below the sentinels.
func (l *linter) bounded(q *query, name, base string) bool {
	n := 0
	for _, s := range l.slots {
		if s.e.Table != q.v.t || s.t.Name != name {
			continue
		}
		at, ok := s.ends(base)
		if !ok {
			continue
		}
		n++
		if at < 0 {
			// The base ends in literal text, before a component or the end.
			for i, p := range s.parts {
				if p.Name != "" && s.endsBefore(i, base) {
					at = i
					break
				}
			}
		}
		if at < 0 {
			continue
		}
		if textual(s.parts[at].Type) {
			return false
		}
	}
	return n > 0
}
