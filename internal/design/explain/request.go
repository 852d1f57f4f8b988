package explain

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/literal"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

// members are the raw members of a request by name.
type members map[string]json.RawMessage

func parseMembers(request []byte) (members, error) {
	var m members
	if err := json.Unmarshal(request, &m); err != nil {
		return nil, fmt.Errorf("the request is not a JSON object: %w", err)
	}
	if m == nil {
		return nil, fmt.Errorf("the request is null instead of a JSON object")
	}
	return m, nil
}

// text returns a member that is a string.
func (m members) text(name string) string {
	var s string
	_ = json.Unmarshal(m[name], &s) // the service refuses other types
	return s
}

func (m members) number(name string) int {
	var n int
	_ = json.Unmarshal(m[name], &n)
	return n
}

func (m members) flag(name string, def bool) bool {
	_ = json.Unmarshal(m[name], &def)
	return def
}

func (m members) item(name string) attr.Item {
	it, err := attr.ParseItem(m[name])
	if err != nil {
		return nil
	}
	return it
}

func (m members) names(name string) map[string]string {
	var s map[string]string
	if json.Unmarshal(m[name], &s) != nil {
		return nil
	}
	return s
}

func (m members) has(name string) bool {
	raw, ok := m[name]
	return ok && string(raw) != "null"
}

// set sets a member to a value that has a JSON form.
func (m members) set(name string, value any) {
	switch v := value.(type) {
	case attr.Item:
		m[name] = v.AppendJSON(nil)
		return
	case json.RawMessage:
		m[name] = v
		return
	}
	raw, err := text.JSON(value)
	if err == nil {
		m[name] = raw
	}
}

func (m members) encode() json.RawMessage {
	raw, err := text.JSON(m)
	if err != nil { // members are JSON already
		return json.RawMessage("{}")
	}
	return raw
}

// bind sets the names and values from p.
func (m members) bind(p *literal.Placeholders) {
	delete(m, "ExpressionAttributeNames")
	delete(m, "ExpressionAttributeValues")
	if names := p.Names(); names != nil {
		m.set("ExpressionAttributeNames", names)
	}
	if values := p.Values(); values != nil {
		m.set("ExpressionAttributeValues", values)
	}
}

// without returns a copy of m without some members.
func (m members) without(names ...string) members {
	c := maps.Clone(m)
	for _, name := range names {
		delete(c, name)
	}
	return c
}

// placeholders returns the placeholders in the expressions of m.
func (m members) placeholders() map[string]bool {
	used := map[string]bool{}
	for _, name := range expressions {
		src := m.text(name)
		for _, t := range ast.LexLiterals(src) {
			if t.Kind == ast.TokName || t.Kind == ast.TokValue {
				used[t.Text(src)] = true
			}
		}
	}
	return used
}

// prune removes the names and values that no expression of m uses, because the
// service refuses them.
func (m members) prune() {
	used := m.placeholders()
	for _, name := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
		var all members
		if json.Unmarshal(m[name], &all) != nil {
			continue
		}
		for key := range all {
			if !used[key] {
				delete(all, key)
			}
		}
		if len(all) == 0 {
			delete(m, name)
		} else {
			m.set(name, all)
		}
	}
}

// whole returns the request for the same rows without a filter or projection.
func (m members) whole() members {
	c := m.without("FilterExpression", "ProjectionExpression", "QueryFilter", "ScanFilter", "ConditionalOperator", "AttributesToGet", "Select")
	c.prune()
	return c
}

// hasFilter reports whether m has a member that [members.whole] removes.
func (m members) hasFilter() bool {
	if slices.ContainsFunc([]string{"FilterExpression", "ProjectionExpression", "QueryFilter", "ScanFilter", "AttributesToGet"}, m.has) {
		return true
	}
	return m.text("Select") == "COUNT"
}

// An expressionSet holds the parsed expressions of a request.
type expressionSet struct {
	key, filter *expr.Condition
	projection  *expr.Projection
}

// expressions parses the expressions of a request, or its legacy parameters. It
// returns the valid ones even if there is an error.
func (m members) expressions() (q expressionSet, err error) {
	env, err := expr.NewEnv(m.names("ExpressionAttributeNames"), m.item("ExpressionAttributeValues"))
	if err != nil {
		return q, err
	}
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	condition := func(to **expr.Condition, p, old expr.Param) {
		var e error
		switch {
		case m.has(string(p)):
			*to, e = env.Condition(p, m.text(string(p)))
		case old != "" && m.has(string(old)):
			*to, e = m.legacy(old)
		}
		keep(e)
	}
	condition(&q.key, expr.KeyConditionExpression, expr.KeyConditions)
	if m.has(string(expr.ScanFilter)) {
		condition(&q.filter, expr.FilterExpression, expr.ScanFilter)
	} else {
		condition(&q.filter, expr.FilterExpression, expr.QueryFilter)
	}
	if m.has("ProjectionExpression") {
		p, e := env.Projection(m.text("ProjectionExpression"))
		q.projection = p
		keep(e)
	}
	var list []string
	if json.Unmarshal(m["AttributesToGet"], &list) == nil && len(list) > 0 {
		q.projection = expr.Attributes(list)
	}
	return q, err
}

// Clauses returns the conjuncts of a request's key condition and of its filter
// that are conditions on one attribute, whether or not they form one range.
func Clauses(request json.RawMessage) (key, filter []keycond.Clause) {
	m, err := parseMembers(request)
	if err != nil {
		return nil, nil
	}
	q, _ := m.expressions()
	clauses := func(c *expr.Condition) (all []keycond.Clause) {
		if c == nil {
			return nil
		}
		for _, n := range conjuncts(c.Root) {
			if a, ok := atomOf(n, anyName); ok {
				all = append(all, a.Clause)
			}
		}
		return all
	}
	return clauses(q.key), clauses(q.filter)
}

func (m members) legacy(p expr.Param) (*expr.Condition, error) {
	var conds map[string]struct {
		ComparisonOperator string
		AttributeValueList []json.RawMessage
	}
	if err := json.Unmarshal(m[string(p)], &conds); err != nil {
		return nil, err
	}
	out := make(map[string]expr.LegacyCondition, len(conds))
	for name, c := range conds {
		lc := expr.LegacyCondition{Op: c.ComparisonOperator}
		for _, raw := range c.AttributeValueList {
			v, err := attr.ParseValue(raw)
			if err != nil {
				return nil, err
			}
			lc.Values = append(lc.Values, v)
		}
		out[name] = lc
	}
	return expr.FromLegacy(p, out, m.text("ConditionalOperator") == "OR" && p != expr.KeyConditions)
}
