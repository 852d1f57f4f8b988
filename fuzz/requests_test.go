package fuzz_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

var requestsTo = flag.String("to", "", "file for the requests of TestRequests, as scripts/replay.sh gives it")

// TestRequests runs a sequence of random requests twice, each time on a new database. The answers must be the same,
// byte for byte, and none may be an internal error. The requests are those of the oracle and others that the oracle
// does not predict: PartiQL statements, requests without expressions, and requests with a mistake.
func TestRequests(t *testing.T) {
	g := newGenerator(proptest.Seed(), newService(true))
	g.small = true
	var all []message
	var lines bytes.Buffer
	sent := map[string]bool{}
	for range cmp.Or(*oracleRequests, 1500) {
		m := g.any()
		all, sent[m.op] = append(all, m), true
		fmt.Fprintf(&lines, "%s %s\n", m.op, m.body)
	}
	if *requestsTo != "" {
		require.NoError(t, os.WriteFile(*requestsTo, lines.Bytes(), 0o600))
		return
	}

	require.Len(t, sent, 20, "operations")
	first, second := memoryEngine(t), memoryEngine(t)
	defer first.close()
	defer second.close()
	for _, m := range all {
		one, _ := first.answer(m)
		other, _ := second.answer(m)
		require.Equal(t, one, other, "%s %s", m.op, m.body)
		require.Contains(t, []int{200, 400}, one.status, "%s %s\n%s", m.op, m.body, one.body)
	}
}

// any returns a message of the oracle, which it applies to the model, or one that the model does not know.
func (g *generator) any() message {
	m := g.message()
	switch n := g.IntN(100); {
	case len(g.tables) == 0 || m.administers():
		m.step(g.service)
		return m
	case n < 15:
		m = g.statements()
	case n < 30:
		m = g.legacy(pick(g.draw, g.tables))
	default:
		m.step(g.service)
	}
	if g.often(12) {
		m.body = g.spoil(m.body)
	}
	return m
}

// statements returns a request with statements of PartiQL.
func (g *generator) statements() message {
	several := func(verbs ...string) (all []any) {
		for range g.upTo(1, 3) {
			all = append(all, g.statement(pick(g.draw, g.tables), pick(g.draw, verbs)))
		}
		return all
	}
	switch g.IntN(5) {
	case 0:
		all := several("INSERT", "UPDATE", "DELETE")
		return message{op: "BatchExecuteStatement"}.with(map[string]any{"Statements": all})
	case 1:
		all := several("INSERT", "UPDATE", "DELETE", "EXISTS")
		return message{op: "ExecuteTransaction"}.with(map[string]any{"TransactStatements": all})
	}
	verb := pick(g.draw, []string{"SELECT", "SELECT", "SELECT", "INSERT", "UPDATE", "UPDATE", "DELETE"})
	in := g.statement(pick(g.draw, g.tables), verb)
	if (verb == "UPDATE" || verb == "DELETE") && g.often(30) {
		returning := pick(g.draw, []string{" RETURNING ALL OLD *", " RETURNING MODIFIED NEW *"})
		in["Statement"] = in["Statement"].(string) + returning
	}
	option(in, "ReturnConsumedCapacity", g.spending())
	if verb == "SELECT" && g.often(20) {
		in["Limit"] = g.upTo(1, 4)
	}
	return message{op: "ExecuteStatement"}.with(in)
}

// statement returns a statement that reads or writes items of a table, with its parameters.
func (g *generator) statement(m *model, verb string) map[string]any {
	e := &expression{draw: g.draw, partiql: true}
	where := func(conditions int, clauses []clause) string {
		text := " WHERE " + g.keyExpression(e, clauses)
		if g.often(conditions) {
			text += " AND " + e.inner(g.condition(m, g.base(m), attributeNames, 2), 2)
		}
		return text
	}
	key := g.newKey(m)
	var equal []clause
	for _, name := range m.keyNames() {
		equal = append(equal, clause{name, "=", []value{key[name]}})
	}

	text, table := "", e.name(m.name)
	switch verb {
	case "SELECT":
		v := g.view(m)
		if v.ix != nil {
			table += "." + e.name(v.ix.name)
		}
		text = "SELECT * FROM " + table + where(25, g.newClauses(v))
		if len(v.sort()) > 0 && g.often(20) {
			text += " ORDER BY " + e.name(v.sort()[0]) + pick(g.draw, []string{"", " ASC", " DESC"})
		}
	case "EXISTS":
		text = "EXISTS(SELECT * FROM " + table + where(90, equal) + ")"
	case "INSERT":
		it := g.item(m)
		var parts []string
		for _, name := range sortedNames(it) {
			parts = append(parts, "'"+name+"': "+e.value(it[name]))
		}
		text = "INSERT INTO " + table + " VALUE {" + strings.Join(parts, ", ") + "}"
	case "DELETE":
		text = "DELETE FROM " + table + where(25, equal)
	case "UPDATE":
		text = "UPDATE " + table
		for _, a := range g.actions(m, g.base(m)) {
			path := e.path(a.path)
			switch a.verb {
			case "SET":
				text += " SET " + path + " = " + e.source(a.to)
			case "REMOVE":
				text += " REMOVE " + path
			default:
				function := "set_" + strings.ToLower(a.verb)
				text += " SET " + path + " = " + function + "(" + path + ", " + e.value(a.to.arg) + ")"
			}
		}
		text += where(25, equal)
	}
	in := map[string]any{"Statement": text}
	if e.params != nil {
		in["Parameters"] = e.params
	}
	return in
}

// legacyOps are the legacy comparison operators, from before expressions, with the number of values that they take.
var legacyOps = map[string]int{
	"EQ": 1, "NE": 1, "LE": 1, "LT": 1, "GE": 1, "GT": 1, "NOT_NULL": 0, "NULL": 0, "CONTAINS": 1, "NOT_CONTAINS": 1,
	"BEGINS_WITH": 1, "IN": 2, "BETWEEN": 2,
}

// compared adds legacy conditions on attributes to a request, now and then with one value too many.
func (g *generator) compared(in map[string]any, member string) {
	conditions := map[string]any{}
	for range g.upTo(1, 2) {
		op := pick(g.draw, sortedNames(legacyOps))
		c := map[string]any{"ComparisonOperator": op}
		var values []any
		for k := range legacyOps[op] + g.IntN(33)/32 {
			if values = append(values, g.document(1).wire()); k > 0 && g.often(80) {
				values[k] = values[0]
			}
		}
		if values != nil {
			c["AttributeValueList"] = values
		}
		conditions[pick(g.draw, attributeNames)] = c
	}
	in[member] = conditions
	if g.often(25) {
		in["ConditionalOperator"] = pick(g.draw, []string{"AND", "OR"})
	}
}

// legacy returns a request with legacy parameters instead of expressions.
func (g *generator) legacy(m *model) message {
	in := map[string]any{"TableName": m.name}
	op := pick(g.draw, []string{"PutItem", "DeleteItem", "UpdateItem", "GetItem", "Scan", "Query"})
	switch op {
	case "PutItem":
		in["Item"] = g.item(m).wire()
	case "Scan":
	case "Query":
		v := g.view(m)
		if v.ix != nil {
			in["IndexName"] = v.ix.name
		}
		in["KeyConditions"] = legacy(g.newClauses(v))
	default:
		in["Key"] = g.newKey(m).wire()
	}
	if filter, reads := map[string]string{"GetItem": "", "Scan": "ScanFilter", "Query": "QueryFilter"}[op]; reads {
		if g.often(40) {
			in["AttributesToGet"] = []any{m.hash, pick(g.draw, attributeNames[1:])}
		}
		if filter != "" && g.often(60) {
			g.compared(in, filter)
		}
		return message{op: op}.with(in)
	}
	if op == "UpdateItem" {
		updates := map[string]any{}
		for range g.upTo(1, 2) {
			action := pick(g.draw, []string{"PUT", "PUT", "ADD", "DELETE"})
			updates[pick(g.draw, documents)] = map[string]any{"Action": action, "Value": g.document(1).wire()}
		}
		in["AttributeUpdates"] = updates
	}
	switch g.IntN(4) {
	case 0:
		g.compared(in, "Expected")
	case 1:
		e := pick(g.draw, []map[string]any{{"Exists": false}, {"Value": g.document(1).wire()}})
		in["Expected"] = map[string]any{pick(g.draw, attributeNames): e}
	}
	return message{op: op}.with(in)
}

// spoil returns a copy of a request with one mistake: a member is missing, has another type or is unknown, or a word
// of an expression has changed.
func (g *generator) spoil(body []byte) []byte {
	doc, err := decode(body)
	if err != nil {
		panic(err)
	}
	at := any(doc)
	for {
		o, ok := at.(map[string]any)
		if !ok || len(o) == 0 {
			return marshal(doc)
		}
		name := pick(g.draw, sortedNames(o))
		switch child := o[name].(type) {
		case map[string]any:
			if g.often(60) {
				at = child
				continue
			}
		case string:
			if g.often(60) {
				o[name] = g.spoilText(child)
				return marshal(doc)
			}
		case []any:
			if len(child) > 0 && g.often(60) {
				at = child[g.IntN(len(child))]
				continue
			}
		}

		switch g.IntN(3) {
		case 0:
			delete(o, name)
		case 1:
			o[name] = pick(g.draw, []any{"x", 7, true, []any{}, map[string]any{}, ""})
		default:
			o[name+"x"] = o[name]
			delete(o, name)
		}
		return marshal(doc)
	}
}

func (g *generator) spoilText(s string) string {
	extra := []string{"", " ", "AND", "(", ")", ":nope", "#nope", "=", "size", "2", "x", "NONE", "<>", ","}
	i := g.IntN(len(s) + 1)
	for i > 0 && i < len(s) && s[i]&0xC0 == 0x80 {
		i--
	}
	switch g.IntN(3) {
	case 0:
		return s[:i]
	case 1:
		return s[:i] + pick(g.draw, extra) + s[i:]
	}
	return pick(g.draw, extra)
}
