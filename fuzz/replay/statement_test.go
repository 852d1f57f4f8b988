package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// statement is a statement of PartiQL that is being built. Its values are
// literals, or parameters.
type statement struct {
	g      *generator
	params list
}

// word returns a value as a literal or as a parameter. Sets and binary values have
// no literal here.
func (s *statement) word(v object) string {
	if chance(s.g.r, 50) {
		if text, ok := literal(v); ok {
			return text
		}
	}
	s.params = append(s.params, v)
	return "?"
}

func literal(v object) (string, bool) {
	for kind, x := range v {
		switch x := x.(type) {
		case string:
			if kind == "S" {
				return "'" + strings.ReplaceAll(x, "'", "''") + "'", true
			} else if kind == "N" {
				return x, true
			}
		case bool:
			if kind == "NULL" {
				return "NULL", true
			}
			return fmt.Sprint(x), true
		case list:
			if kind == "L" {
				var out []string
				for _, e := range x {
					word, ok := literal(e.(object))
					if !ok {
						return "", false
					}
					out = append(out, word)
				}
				return "[" + strings.Join(out, ", ") + "]", true
			}
		case object:
			return record(x, literal)
		}
	}
	return "", false
}

// record writes a map, or an item, with its names in order.
func record(fields object, word func(object) (string, bool)) (string, bool) {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		v, ok := word(fields[name].(object))
		if !ok {
			return "", false
		}
		out = append(out, "'"+name+"': "+v)
	}
	return "{" + strings.Join(out, ", ") + "}", true
}

// path returns a path of a statement.
func (s *statement) path() string {
	p := pick(s.g.r, names)
	for chance(s.g.r, 20) {
		p += pick(s.g.r, []string{"[0]", "[1]", ".v", ".w"})
	}
	return p
}

// condition returns a condition on attributes other than keys.
func (s *statement) condition(depth int) string {
	g := s.g
	if depth > 0 && chance(g.r, 30) {
		return "(" + s.condition(depth-1) + pick(g.r, []string{" AND ", " OR "}) + s.condition(depth-1) + ")"
	}
	if depth > 0 && chance(g.r, 10) {
		return "NOT (" + s.condition(depth-1) + ")"
	}

	p := s.path()
	switch g.r.IntN(8) {
	case 0:
		return p + pick(g.r, []string{" IS MISSING", " IS NOT MISSING"})
	case 1:
		return "begins_with(" + p + ", " + s.word(scalar(g.r, "S")) + ")"
	case 2:
		return "contains(" + p + ", " + s.word(scalar(g.r, pick(g.r, []string{"S", "N"}))) + ")"
	case 3:
		return "size(" + p + ")" + pick(g.r, []string{" > ", " = ", " <= "}) + fmt.Sprint(g.r.IntN(4))
	case 4:
		return p + " IN [" + s.word(scalar(g.r, "S")) + ", " + s.word(scalar(g.r, "N")) + "]"
	case 5:
		return p + " BETWEEN " + s.word(object{"N": "-5"}) + " AND " + s.word(object{"N": "5"})
	case 6:
		return "attribute_type(" + p + ", " + s.word(object{"S": pick(g.r, []string{"S", "N", "L", "M", "BOOL"})}) + ")"
	}
	return p + pick(g.r, []string{" = ", " <> ", " < ", " >= "}) + s.word(scalar(g.r, pick(g.r, []string{"S", "N"})))
}

// equal returns the condition that names one item.
func (s *statement) equal(key object) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(key)) {
		out = append(out, name+" = "+s.word(key[name].(object)))
	}
	return strings.Join(out, " AND ")
}

func (s *statement) selects(t *schema) string {
	g := s.g
	from, hash, sort := `"`+t.name+`"`, t.hash, t.sort
	if len(t.indexes) > 0 && chance(g.r, 30) {
		ix := pick(g.r, t.indexes)
		from, hash, sort = from+`."`+ix.name+`"`, ix.hash, ix.sort
	}

	what := "*"
	if chance(g.r, 25) {
		what = s.path()
	}
	var where []string
	if chance(g.r, 80) {
		where = append(where, hash.name+" = "+s.word(scalar(g.r, hash.kind)))
		if sort != nil && chance(g.r, 50) {
			where = append(where, sort.name+pick(g.r, []string{" = ", " < ", " >= "})+s.word(scalar(g.r, sort.kind)))
		}
	}

	ordered := len(where) > 0 && sort != nil && chance(g.r, 20)
	if chance(g.r, 25) {
		where = append(where, s.condition(2))
	}
	out := "SELECT " + what + " FROM " + from
	if len(where) > 0 {
		out += " WHERE " + strings.Join(where, " AND ")
	}
	if ordered {
		out += " ORDER BY " + sort.name + pick(g.r, []string{"", " ASC", " DESC"})
	}
	return out
}

func (s *statement) inserts(t *schema) string {
	text, _ := record(s.g.item(t), func(v object) (string, bool) { return s.word(v), true })
	return `INSERT INTO "` + t.name + `" VALUE ` + text
}

func (s *statement) updates(t *schema) string {
	g := s.g
	out := `UPDATE "` + t.name + `"`
	for range 1 + g.r.IntN(2) {
		p := pick(g.r, names)
		switch g.r.IntN(6) {
		case 0:
			out += " REMOVE " + p
		case 1:
			out += " SET " + p + " = " + p + pick(g.r, []string{" + ", " - "}) + s.word(scalar(g.r, "N"))
		case 2:
			out += " SET " + p + " = list_append(" + p + ", " + s.word(object{"L": list{scalar(g.r, "S")}}) + ")"
		default:
			out += " SET " + p + " = " + s.word(anyValue(g.r, 1))
		}
	}
	out += " WHERE " + s.equal(s.g.key(t))
	if chance(g.r, 25) {
		out += " AND " + s.condition(1)
	}
	return out
}

func (s *statement) deletes(t *schema) string {
	out := `DELETE FROM "` + t.name + `" WHERE ` + s.equal(s.g.key(t))
	if chance(s.g.r, 20) {
		out += " AND " + s.condition(1)
	}
	return out
}

// write returns a statement that writes an item of a table.
func (s *statement) write(t *schema) string {
	switch s.g.r.IntN(3) {
	case 0:
		return s.inserts(t)
	case 1:
		return s.updates(t)
	}
	return s.deletes(t)
}

func (s *statement) into(text string, body object) object {
	body["Statement"] = text
	if s.params != nil {
		body["Parameters"] = s.params
	}
	return body
}

// statement returns a request with statements.
func (g *generator) statement(t *schema) request {
	switch g.r.IntN(10) {
	case 0:
		return g.batchStatement()
	case 1:
		return g.transactStatement()
	case 2, 3, 4, 5, 6:
		s := &statement{g: g}
		text := s.write(t)
		if chance(g.r, 30) && !strings.HasPrefix(text, "INSERT") {
			text += " RETURNING " + pick(g.r, []string{"ALL OLD", "ALL NEW", "MODIFIED OLD", "MODIFIED NEW"}) + " *"
		}
		return request{op: "ExecuteStatement", body: g.options(s.into(text, object{}))}
	}
	s := &statement{g: g}
	body := s.into(s.selects(t), object{})
	if chance(g.r, 20) {
		body["Limit"] = 1 + g.r.IntN(4)
	}
	return request{op: "ExecuteStatement", body: g.options(body)}
}

func (g *generator) batchStatement() request {
	var statements list
	reads := chance(g.r, 40)
	for range 1 + g.r.IntN(3) {
		s, t := &statement{g: g}, pick(g.r, g.tables)
		if reads {
			text := `SELECT * FROM "` + t.name + `" WHERE ` + s.equal(g.key(t))
			statements = append(statements, s.into(text, object{}))
			continue
		}
		statements = append(statements, s.into(s.write(t), object{}))
	}
	return request{op: "BatchExecuteStatement", body: g.options(object{"Statements": statements})}
}

func (g *generator) transactStatement() request {
	var statements list
	for range 1 + g.r.IntN(3) {
		s, t := &statement{g: g}, pick(g.r, g.tables)
		if chance(g.r, 20) {
			text := `EXISTS(SELECT * FROM "` + t.name + `" WHERE ` + s.equal(g.key(t)) + " AND " + s.condition(1) + ")"
			statements = append(statements, s.into(text, object{}))
			continue
		}
		statements = append(statements, s.into(s.write(t), object{}))
	}
	return request{op: "ExecuteTransaction", body: g.options(object{"TransactStatements": statements})}
}
