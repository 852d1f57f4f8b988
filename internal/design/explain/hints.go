package explain

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

// instead adds hints about requests that find what the author of a query that breaks a rule wants.
func (e *explainer) instead(s *keycond.Schema) {
	key, filter := e.conditions()
	groups, ok := []group{{}}, true
	if key != nil {
		groups, ok = normal(conjunction(key), e.info.IsKey)
	}
	if !ok {
		e.hint("split the request: it is more than %d ranges", maxGroups)
		return
	}
	for i := range groups {
		for _, n := range filter {
			groups[i].add(n, e.info.IsKey)
		}
	}

	found := e.hintQueries(groups)
	e.hintPartition(groups, s)
	if found {
		return
	}
	if all := conjunction(append(key, filter...)); all != nil {
		e.hint("scan the table with the filter %s; this works, but reads every row", spelled.Condition(all))
	} else {
		e.hint("scan the table if you want every row")
	}
}

// hintQueries adds hints about queries that together find the rows of all groups. It returns true if these queries
// express all conditions. Otherwise the program must check the rest itself.
func (e *explainer) hintQueries(groups []group) bool {
	var queries []string
	complete := true
	for _, g := range groups {
		list := e.plans(g)
		if len(list) == 0 {
			return false
		}
		if list[0].empty {
			continue
		}
		words := list[0].words(spelled)
		if !slices.Contains(queries, words) {
			queries = append(queries, words)
		}
		complete = complete && len(list[0].dropped) == 0
	}

	n := len(queries)
	switch {
	case n == 0:
		e.hint("no row can satisfy all conditions")
	case n == 1:
		e.hint("%s", queries[0])
	default:
		for i, q := range queries {
			e.hint("send %d queries and combine their results, %d of %[1]d: %[3]s", n, i+1, q)
		}
	}
	return complete
}

// hintPartition adds a hint about an index for a group that has no condition on the whole partition key.
func (e *explainer) hintPartition(groups []group, s *keycond.Schema) {
	for _, g := range groups {
		if len(e.plans(g)) > 0 {
			continue
		}
		for _, a := range g.atoms {
			what := spelled.Condition(a.node)
			switch {
			case !s.Has(a.Attribute):
				continue
			case a.Op == ast.Equal:
				e.hint("for one slice without the partition key, make %s the partition key of an index",
					text.Name(a.Attribute))
			case a.Op == ast.OpBeginsWith:
				e.hint("for one slice, store the common prefix, %s, in its own attribute and make that the partition "+
					"key of an index with the sort key %s: then compare the prefix with =, and use %s as the "+
					"condition on the sort key",
					text.Literal(a.Values[0]), text.Name(a.Attribute), what)
			default:
				e.hint("for one slice, make %s the sort key of an index whose partition key the wanted rows share: "+
					"then %s can be the condition on it", text.Name(a.Attribute), what)
			}
			return
		}
	}
}

// words describes a plan: its query, and the conditions that the program must check itself. style formats the
// conditions.
func (p *plan) words(style ast.Style) string {
	var conditions []string
	for _, c := range p.clauses {
		conditions = append(conditions, style.Condition(nodeOf(c)))
	}
	var b strings.Builder
	b.WriteString("query " + p.place() + " with " + strings.Join(conditions, " AND "))
	if len(p.filter) > 0 {
		b.WriteString(", and the filter " + style.Condition(conjunction(p.filter)))
	}
	if len(p.dropped) > 0 {
		b.WriteString("; check " + style.Condition(conjunction(p.dropped)) + " in the program")
	}
	for _, r := range p.remarks {
		b.WriteString("; " + r)
	}
	return b.String()
}
