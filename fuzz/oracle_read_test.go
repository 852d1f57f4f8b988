package fuzz_test

import (
	"encoding/json"
	"slices"
	"strings"
)

// view returns the table or one of its indexes.
func (g *generator) view(m *model) view {
	if g.often(30) {
		return view{m: m}
	}
	return pick(g.draw, m.views())
}

// newRead returns a random query or scan of a view. Its filter and projection have paths into documents.
func (g *generator) newRead(v view) *read {
	r := &read{view: v, consistent: !v.global() && g.often(50)}
	if g.often(75) {
		r.clauses = g.newClauses(v)
		r.reverse = g.often(50)
	} else if g.often(40) {
		r.segments = pick(g.draw, []int{1, 2, 3, 7, 1000})
		r.segment = g.IntN(r.segments)
		if len(r.entries()) > 0 && g.often(50) && v.scanOrderKnown() { // choose a segment with entries
			r.segment = int(scanHash(g.entry(v)[v.hash()[0]])) * r.segments >> 24
		}
	}
	if g.often(60) {
		r.limit = g.upTo(1, 12)
	}
	at := item{}
	if len(r.entries()) > 0 {
		at = g.entry(v)
	}
	names := slices.DeleteFunc(slices.Clone(attributeNames), func(name string) bool {
		queried := slices.Contains(v.hash(), name) || slices.Contains(v.sort(), name)
		return r.clauses != nil && (queried || !v.projects(name))
	})
	if len(names) > 0 && g.often(35) {
		r.filter = g.condition(v.m, at, names, 2)
	}
	switch g.IntN(8) {
	case 0:
		r.count = true
	case 1, 2:
		names := slices.DeleteFunc(slices.Clone(attributeNames), func(name string) bool {
			return v.global() && !v.projects(name)
		})
		r.projection = g.paths(v.m, at, names, 4)
	case 3:
		r.all = !v.global() || v.ix.projection == "ALL"
	}
	if r.clauses == nil && !v.scanOrderKnown() { // a limit or segments would need a known order
		r.limit, r.segments = 0, 0
	} else if g.often(15) {
		r.start = g.newStart(r)
	}
	return r
}

// entry returns a random entry of the view, which must not be empty.
func (g *generator) entry(v view) item {
	all := v.entries()
	slices.SortFunc(all, func(a, b item) int { return strings.Compare(v.m.id(a), v.m.id(b)) })
	return pick(g.draw, all)
}

// newClauses returns a valid key condition, usually one that some entry
// satisfies.
func (g *generator) newClauses(v view) []clause {
	at := item{}
	if len(v.entries()) > 0 && g.often(95) {
		at = g.entry(v)
	}
	operand := func(name string, limit int) value {
		near := at[name]
		if near.kind == 0 || g.often(10) {
			return g.value(v.m, name, limit)
		}
		if near.kind == 'N' {
			return g.rewrite(near)
		}
		return near
	}
	var out []clause
	for _, name := range v.hash() {
		out = append(out, clause{name, "=", []value{operand(name, 2048)}})
	}
	sort := v.sort()
	n := g.IntN(len(sort) + 1)
	if n == 0 && g.often(50) {
		n = len(sort)
	}
	for i, name := range sort[:n] {
		c := clause{name, "=", []value{operand(name, 1024)}}
		if i == n-1 {
			ops := []string{"=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"}
			if v.m.kinds[name] == 'N' {
				ops = ops[:6]
			}
			c.op = pick(g.draw, ops)
			near := slices.Clone(g.pools[v.m.name+"."+name])
			if at[name].kind != 0 {
				near = append(near, at[name])
			}
			limit := 1024
			if g.often(60) {
				c.args[0] = g.key(v.m.kinds[name], limit, near)
			}
			if c.op == "BETWEEN" {
				c.args = append(c.args, g.key(v.m.kinds[name], limit, near))
				if compare(c.args[0], c.args[1]) > 0 {
					slices.Reverse(c.args)
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// illegalQuery returns a query whose key condition is not one range of the view, or has an operand of the wrong kind.
// It returns nil if it finds no such query.
func (g *generator) illegalQuery(v view) map[string]any {
	r := &read{view: v, clauses: g.newClauses(v)}
	i := g.IntN(len(r.clauses))
	c := r.clauses[i]
	sort := v.sort()
	put := func(name, op string) {
		r.clauses = append(r.clauses, clause{name, op, []value{g.value(v.m, name, 1024)}})
	}
	switch g.IntN(6) {
	case 0: // a partition key attribute is missing or has another operator than =
		i = g.IntN(len(v.hash()))
		if len(r.clauses) > 1 && g.often(50) {
			r.clauses = slices.Delete(r.clauses, i, i+1)
		} else {
			r.clauses[i].op = pick(g.draw, []string{"<", "<=", ">", ">="})
		}
	case 1: // a sort key attribute before the last one is missing
		if len(sort) < 2 {
			return nil
		}
		r.clauses = r.clauses[:len(v.hash())]
		for _, name := range sort[:g.IntN(len(sort)-1)] {
			put(name, "=")
		}
		put(sort[len(sort)-1], "=")
	case 2: // a condition after a range
		if len(sort) < 2 {
			return nil
		}
		r.clauses = r.clauses[:len(v.hash())]
		put(sort[0], ">")
		put(sort[1], "=")
	case 3: // an operand of another kind, or empty
		v := pick(g.draw, []value{
			text("x"), blob("x"), number("1"), text(""), blob(""), other(`{"NULL":true}`), other(`{"L":[]}`),
		})
		if v.kind == c.args[0].kind && v.data != "" {
			return nil
		}
		r.clauses[i].args = []value{v}
		if c.op == "BETWEEN" {
			r.clauses[i].args = []value{v, v}
		}
	case 4: // the bounds in the wrong order
		if c.op != "BETWEEN" || compare(c.args[0], c.args[1]) == 0 {
			return nil
		}
		slices.Reverse(c.args)
	default: // two conditions on one attribute, or one on an attribute that is not a key
		name := pick(g.draw, []string{c.name, "p"})
		r.clauses = append(r.clauses, clause{name, "=", []value{c.args[0]}})
	}
	e := &expression{draw: g.draw}
	in := map[string]any{"TableName": v.m.name, "KeyConditionExpression": g.keyExpression(e, r.clauses)}
	if v.ix != nil {
		in["IndexName"] = v.ix.name
	}
	e.add(in)
	return in
}

// newStart returns a start key for a read. The key is not always in the read's range, and there need not be an item
// with the key.
func (g *generator) newStart(r *read) item {
	key := item{}
	if len(r.entries()) > 0 {
		key = g.entry(r.view).only(r.keyNames())
	}
	for _, c := range r.clauses { // usually stay in the partition of the query
		if c.op == "=" && g.often(95) {
			key[c.name] = c.args[0]
		}
	}
	for i, name := range r.keyNames() {
		if key[name].kind == 0 || i > 0 && g.often(20) {
			limit := 1024
			if slices.Contains(r.hash(), name) && name != r.m.sort {
				limit = 2048
			}
			key[name] = g.value(r.m, name, limit)
		}
	}
	for _, name := range r.keyNames() {
		if v := key[name]; !fits(v, r.m.kinds[name], !slices.Contains(r.sort(), name) && name != r.m.sort) {
			return nil
		}
	}
	return key
}

// request returns the request for a read, sometimes with legacy parameters.
func (g *generator) request(r *read) (op string, in map[string]any) {
	in = map[string]any{"TableName": r.m.name}
	if r.ix != nil {
		in["IndexName"] = r.ix.name
	}
	if r.limit > 0 {
		in["Limit"] = r.limit
	}
	if r.consistent {
		in["ConsistentRead"] = true
	}
	switch {
	case r.count:
		in["Select"] = "COUNT"
	case r.all:
		in["Select"] = "ALL_ATTRIBUTES"
	}
	if r.start != nil {
		in["ExclusiveStartKey"] = r.start.wire()
	}
	e := &expression{draw: g.draw}
	op = "Scan"
	if r.clauses != nil {
		op = "Query"
		if r.reverse {
			in["ScanIndexForward"] = false
		}
		if r.filter == nil && r.projection == nil && g.often(15) {
			in["KeyConditions"] = legacy(r.clauses)
		} else {
			in["KeyConditionExpression"] = g.keyExpression(e, r.clauses)
		}
	} else if r.segments > 0 {
		in["Segment"], in["TotalSegments"] = r.segment, r.segments
	}
	if r.filter != nil {
		in["FilterExpression"] = e.test(r.filter)
	}
	if r.projection != nil {
		parts := make([]string, len(r.projection))
		for i, p := range r.projection {
			parts[i] = e.path(p)
		}
		in["ProjectionExpression"] = strings.Join(parts, ",")
	}
	e.add(in)
	return op, in
}

// keyExpression formats clauses in any order, sometimes with parentheses.
func (g *generator) keyExpression(e *expression, clauses []clause) string {
	parts := make([]string, len(clauses))
	for i, c := range clauses {
		parts[i] = e.clause(c)
		if g.often(20) {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	for i := range parts {
		j := i + g.IntN(len(parts)-i)
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, pick(g.draw, []string{" AND ", " and "}))
}

func legacy(clauses []clause) map[string]any {
	ops := map[string]string{
		"=": "EQ", "<": "LT", "<=": "LE", ">": "GT", ">=": "GE", "BETWEEN": "BETWEEN", "begins_with": "BEGINS_WITH",
	}
	out := map[string]any{}
	for _, c := range clauses {
		args := make([]json.RawMessage, len(c.args))
		for i, v := range c.args {
			args[i] = v.wire()
		}
		out[c.name] = map[string]any{"ComparisonOperator": ops[c.op], "AttributeValueList": args}
	}
	return out
}
