package lint

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

var openPrefix = rule.Rule{
	ID: "open-prefix", Title: "A prefix without its closing delimiter", Severity: model.Warning,
	Help: "begins_with compares bytes, not components: USER#1 is a prefix of USER#10 and USER#11, and root/photos " +
		"of root/photos-old/ and root/photos.zip. A query for one also reads, pays for and returns its siblings.",
	Example: []string{`"root/photos-old/"`, `"root/photos.zip"`, `"root/photos/"`, `"root/photos2/"`},
	Cure: "End the prefix with the delimiter: begins_with(SK, \"root/photos/\"). To include the node itself in the " +
		"slice, end its own key with the delimiter too.",
	Source: guide + "bp-sort-keys.html",

	Query: checkPrefix,
	Slot:  checkNodes,
}

// delimitersIn returns the delimiters in a key attribute of a table.
func delimitersIn(p *rule.Pass, t *model.Table, name string) string {
	var all strings.Builder
	for _, s := range p.SlotsOf(t, name) {
		for i, part := range s.Parts {
			if part.Name == "" && i > 0 {
				if d := rule.DelimiterAfter(part.Literal); d != "" {
					all.WriteString(d[:1])
				}
			}
		}
		for _, c := range s.Components() {
			if c.Type.Name == "path" {
				all.WriteString(pathMark(c))
			}
		}
	}
	return all.String()
}

// pathMark returns the separator of a path: the mark that most values contain.
func pathMark(c rule.Component) string {
	best, most := "/", 0
	for _, mark := range []string{"/", "#", "|", ":", `\`, "."} {
		n := 0
		for _, w := range c.Written() {
			if strings.Contains(w.Text, mark) {
				n++
			}
		}
		if n > most {
			best, most = mark, n
		}
	}
	return best
}

// checkPrefix checks a query with begins_with.
func checkPrefix(p *rule.Pass, q *rule.Query) {
	c := q.Range()
	if c == nil || c.Op != ast.OpBeginsWith {
		return
	}
	name, prefix := c.Attribute, string(c.Values[0].Raw())
	marks := delimitersIn(p, q.View.Table, name)
	part, ok := q.Partition()
	if prefix == "" || strings.ContainsRune(marks, rune(prefix[len(prefix)-1])) || !ok {
		return
	}

	// Rows are the node's own, which go on with a delimiter, or of its siblings.
	var own, sibling *world.Item
	var siblings []string
	seen := map[string]bool{}
	for _, r := range q.View.In(part) {
		key := rule.Value(r.Item, name)
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		if rest == "" || strings.ContainsRune(marks, rune(rest[0])) {
			if own == nil || rest != "" && rule.Value(own, name) == prefix {
				own = r.Item
			}
			continue
		}
		if at := strings.IndexAny(rest, marks); at >= 0 {
			key = prefix + rest[:at+1]
		}
		if bare := strings.TrimRight(key, marks); !seen[bare] {
			seen[bare] = true
			siblings = append(siblings, key)
		}
		if sibling == nil {
			sibling = r.Item
		}
	}
	if own == nil {
		return
	}
	closed := rule.Value(own, name)
	if closed == prefix {
		if len(siblings) > 0 {
			reportWholeKey(p, q, prefix, own, sibling, siblings)
		}
		return
	}

	closed = closed[:len(prefix)+1]
	f := q.Finding("")
	f.Advice = "end the prefix with the delimiter"
	change := fmt.Sprintf("%s: begins_with(%s, %s)", f.Advice, text.Name(name), rule.Quoted(closed))
	if len(siblings) == 0 {
		if !insideValue(p, q, name, prefix) {
			return
		}
		f.Severity = model.Note
		f.Say("the prefix %s does not end with a delimiter: other keys of %s can begin with it too",
			rule.Quoted(prefix), q.View)
		f.Keys = append(q.View.Shown(own), q.SuchAs(name, prefix+"2"))
		change += ", which leaves out a row whose key is the prefix itself: " +
			"end that key with the delimiter, or read it with GetItem"
	} else {
		f.Say("the prefix %s also reads siblings: %s%s",
			rule.Quoted(prefix), siblings, lowSiblings(siblings, prefix, closed))
		if q.Expects(sibling) {
			f.Severity = model.Note
		}
		f.Keys = q.View.Shown(own, sibling)
	}
	f.ProposeFewer(change, q.Ranged(ast.OpBeginsWith, closed))
	p.Report(f)
}

// reportWholeKey reports a prefix that is the whole key of a row and the
// beginning of the keys of its siblings.
func reportWholeKey(p *rule.Pass, q *rule.Query, key string, own, sibling *world.Item, siblings []string) {
	f := q.Finding("the prefix %s is the whole key of a row and also reads siblings: %s",
		rule.Quoted(key), siblings)
	f.Keys = q.View.Shown(own, sibling)
	rows := q.Expect.Rows
	if q.Expects(sibling) || rows != nil && *rows == q.Report.Returned && q.Report.Returned > 1 {
		f.Severity = model.Note
	}
	f.Advice = "compare the whole key with ="
	f.ProposeFewer(
		fmt.Sprintf("compare the whole key: %s = %s", text.Name(q.Range().Attribute), rule.Quoted(key)),
		q.Ranged(ast.Equal, key),
	)
	p.Report(f)
}

// lowSiblings says which siblings sort before the rows under the prefix, if any
// do.
func lowSiblings(siblings []string, prefix, closed string) string {
	byteAt := func(key string) string {
		return fmt.Sprintf("%s (0x%02X)", rule.Quoted(key[len(prefix):len(prefix)+1]), key[len(prefix)])
	}
	var low []string
	for _, s := range siblings {
		if s < closed && !slices.Contains(low, byteAt(s)) {
			low = append(low, byteAt(s))
		}
	}
	if len(low) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s %s before %s", rule.List(low), text.Agree(len(low), "sorts", "sort"), byteAt(closed))
}

// insideValue reports whether the prefix ends inside a component of arbitrary
// text.
func insideValue(p *rule.Pass, q *rule.Query, name, prefix string) bool {
	return slices.ContainsFunc(q.Entities, func(e *model.Entity) bool {
		s := p.Slot(e, name)
		if s == nil {
			return false
		}
		c, inside, _ := s.After(prefix)
		return inside && rule.Textual(c.Type)
	})
}

// checkNodes finds nodes of a tree whose names are prefixes of the names of
// siblings, if no pattern reads them by prefix.
func checkNodes(p *rule.Pass, s *rule.Slot) {
	all := s.Components()
	if s.SortView() == nil || s.Kind != attr.String || len(all) == 0 || all[len(all)-1].At != len(s.Parts)-1 {
		return
	}
	if slices.ContainsFunc(p.Queries, func(q *rule.Query) bool {
		c := q.Range()
		return c != nil && c.Op == ast.OpBeginsWith && slices.Contains(q.Entities, s.Entity)
	}) {
		return
	}
	last := all[len(all)-1]
	mark, longer := "", false
	if last.Type.Name == "path" {
		mark = pathMark(last)
	} else if rule.Plain(last.Type) {
		for o, delimiter := range last.Longer {
			if o.SortView() == s.SortView() {
				mark, longer = delimiter, true
			}
		}
	}
	if mark == "" {
		return
	}

	names := map[string]*world.Item{} // of nodes, without the mark at the end
	inner := map[string]bool{}
	add := func(node string, isInner bool, it *world.Item) {
		inner[node] = inner[node] || isInner
		if names[node] == nil {
			names[node] = it
		}
	}
	for _, w := range last.Written() {
		name := strings.TrimSuffix(w.Text, mark)
		add(name, longer || name != w.Text, w.Item)
		for at := strings.LastIndex(name, mark); at > 0; at = strings.LastIndex(name[:at], mark) {
			add(name[:at], true, w.Item)
		}
	}
	sorted := slices.Sorted(maps.Keys(names))
	for _, node := range sorted {
		siblings := siblingsOf(sorted, node, mark)
		if !inner[node] || node == "" || len(siblings) == 0 {
			continue
		}
		f := s.Finding("%s of %s is also a prefix of its siblings: begins_with without %s at the end reads %s",
			rule.Quoted(node), last.Name, rule.Quoted(mark), siblings)
		f.Severity = model.Note
		f.Keys = last.Pair(
			rule.Written{Text: node, Item: names[node]}, rule.Written{Text: siblings[0], Item: names[siblings[0]]},
		)
		f.Advise("query with the delimiter: begins_with(%s, %s)", text.Name(s.Name),
			rule.Quoted(strings.TrimSuffix(last.With(node), mark)+mark))
		p.Report(f)
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
