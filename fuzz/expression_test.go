package fuzz_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

// An expression formats tests and clauses. It uses placeholders for values and, sometimes, for names. In PartiQL it
// quotes names, and writes values as literals or as parameters.
type expression struct {
	draw
	names   map[string]string
	values  map[string]json.RawMessage
	partiql bool
	params  []json.RawMessage
}

// bare reports whether a name needs no placeholder.
func bare(name string) bool { return len(name) <= 2 && name[0] < 0x80 }

func (e *expression) name(name string) string {
	if e.partiql {
		return `"` + name + `"`
	}
	if bare(name) && e.often(70) {
		return name
	}
	if e.names == nil {
		e.names = map[string]string{}
	}
	key := fmt.Sprintf("#%x", name)
	e.names[key] = name
	return key
}

func (e *expression) value(v value) string {
	if e.partiql {
		if text := literal(v); text != "" && e.often(50) {
			return text
		}
		e.params = append(e.params, v.wire())
		return "?"
	}
	if e.values == nil {
		e.values = map[string]json.RawMessage{}
	}
	key := fmt.Sprintf(":%d", len(e.values))
	e.values[key] = v.wire()
	return key
}

// literal returns a value as a PartiQL literal, or "" if it should be a parameter.
func literal(v value) string {
	var parts []string
	switch v.kind {
	case 'S':
		return "'" + strings.ReplaceAll(v.data, "'", "''") + "'"
	case 'N', isBool:
		return v.data
	case isNull:
		return "NULL"
	case isList, 's', 'n':
		for _, e := range v.list {
			part := literal(e)
			if part == "" {
				return ""
			}
			parts = append(parts, part)
		}
		if v.kind == isList {
			return "[" + strings.Join(parts, ", ") + "]"
		}
		return "<<" + strings.Join(parts, ", ") + ">>"
	}
	return ""
}

func (e *expression) clause(c clause) string {
	switch c.op {
	case "begins_with":
		return "begins_with(" + e.name(c.name) + "," + e.value(c.args[0]) + ")"
	case "BETWEEN":
		return e.name(c.name) + " BETWEEN " + e.value(c.args[0]) + " AND " + e.value(c.args[1])
	}
	if e.often(20) { // the operands may be swapped
		op := map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}[c.op]
		return e.value(c.args[0]) + " " + op + " " + e.name(c.name)
	}
	return e.name(c.name) + " " + c.op + " " + e.value(c.args[0])
}

// add adds the placeholders to a request.
func (e *expression) add(in map[string]any) {
	if e.names != nil {
		in["ExpressionAttributeNames"] = e.names
	}
	if e.values != nil {
		in["ExpressionAttributeValues"] = e.values
	}
}

// path formats a path.
func (e *expression) path(p path) string {
	var out strings.Builder
	for i, s := range p {
		switch {
		case s.name == "":
			fmt.Fprintf(&out, "[%d]", s.at)
			continue
		case i > 0:
			out.WriteByte('.')
		}
		out.WriteString(e.name(s.name))
	}
	return out.String()
}

func (e *expression) operand(o operand) string {
	switch {
	case o.path == nil:
		return e.value(o.arg)
	case o.size:
		return "size(" + e.path(o.path) + ")"
	}
	return e.path(o.path)
}

func (e *expression) test(f *test) string {
	switch f.op {
	case "NOT":
		return "NOT " + e.inner(f.l, 3)
	case "AND":
		return e.inner(f.l, 2) + " AND " + e.inner(f.r, 2)
	case "OR":
		return e.inner(f.l, 1) + " OR " + e.inner(f.r, 1)
	}
	args := make([]string, len(f.args))
	for i, o := range f.args {
		args[i] = e.operand(o)
	}
	switch {
	case e.partiql && f.op == "attribute_exists":
		return args[0] + " IS NOT MISSING"
	case e.partiql && f.op == "attribute_not_exists":
		return args[0] + " IS MISSING"
	case e.partiql && f.op == "IN":
		return args[0] + " IN [" + strings.Join(args[1:], ", ") + "]"
	}
	switch f.op {
	case "BETWEEN":
		return args[0] + " BETWEEN " + args[1] + " AND " + args[2]
	case "IN":
		return args[0] + " IN (" + strings.Join(args[1:], ", ") + ")"
	case "=", "<>", "<", "<=", ">", ">=":
		return args[0] + " " + f.op + " " + args[1]
	}
	return f.op + "(" + strings.Join(args, ", ") + ")"
}

// inner formats a test below a connective with the precedence binds: OR is 1, AND 2 and NOT 3. It sometimes leaves
// out parentheses that are not necessary.
func (e *expression) inner(f *test, binds int) string {
	own := map[string]int{"OR": 1, "AND": 2, "NOT": 3}[f.op]
	if own == 0 {
		own = 4
	}
	if own >= binds && e.often(40) {
		return e.test(f)
	}
	return "(" + e.test(f) + ")"
}

// update formats an update expression.
func (e *expression) update(actions []action) string {
	var clauses []string
	for _, verb := range []string{"SET", "REMOVE", "ADD", "DELETE"} {
		var parts []string
		for _, a := range actions {
			if a.verb != verb {
				continue
			}
			switch part := e.path(a.path); verb {
			case "SET":
				parts = append(parts, part+" = "+e.source(a.to))
			case "REMOVE":
				parts = append(parts, part)
			default:
				parts = append(parts, part+" "+e.value(a.to.arg))
			}
		}
		if parts != nil {
			clauses = append(clauses, verb+" "+strings.Join(parts, ", "))
		}
	}
	for i := range clauses {
		j := i + e.IntN(len(clauses)-i)
		clauses[i], clauses[j] = clauses[j], clauses[i]
	}
	return strings.Join(clauses, " ")
}

func (e *expression) source(t *source) string {
	switch t.op {
	case "":
		return e.value(t.arg)
	case "path":
		return e.path(t.path)
	case "if_not_exists":
		return "if_not_exists(" + e.path(t.path) + ", " + e.source(t.r) + ")"
	case "list_append":
		return "list_append(" + e.source(t.l) + ", " + e.source(t.r) + ")"
	}
	return e.source(t.l) + " " + t.op + " " + e.source(t.r)
}
