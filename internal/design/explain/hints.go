package explain

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/expr/ast"
)

// instead adds hints for a query that breaks a rule. They name requests that find what its author wants.
func (e *explainer) instead() {
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

	if e.hintQueries(groups) {
		return
	}
	if how := e.newKey(); how != "" {
		e.hint("for one slice, %s", how)
	}
	if all := conjunction(append(key, filter...)); all != nil {
		e.hint("scan the table with the filter %s; this works, but reads every row", spelled.Condition(all))
	} else {
		e.hint("scan the table if you want every row")
	}
}

// hintQueries adds hints about queries that together find the rows of all groups. It returns true if these queries
// express all conditions. If it returns false, the program must check the other conditions itself.
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
