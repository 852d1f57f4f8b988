package ask

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/lex"

	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// Meant returns the request that a query means whose sort condition [Query.Input] refuses,
// such as "> 5 OR < 3", for an explanation: the service refuses it too, or it needs other
// words. It reports false if the meaning is not clear.
func (q *Query) Meant(t *keyschema.Table) (*wire.QueryInput, bool) {
	schema := t.Schema(q.Index)
	if schema == nil || len(q.Sort) != 1 || len(schema.Sort()) != 1 {
		return nil, false
	}
	partition := *q
	partition.Sort = nil
	clauses, err := partition.clauses(schema)
	if err != nil {
		return nil, false
	}
	var p literal.Placeholders
	condition := p.KeyCondition(clauses)
	sort, ok := meant(&p, schema.Sort()[0], q.Sort[0])
	if !ok {
		return nil, false
	}

	partition.Limit, partition.Consistent = 0, false // they explain nothing
	in, err := partition.input(t, &p, condition+" AND "+sort)
	return in, err == nil
}

// meant returns the expression that a refused condition on attribute a means.
func meant(p *literal.Placeholders, a keycond.Attribute, s string) (expression string, ok bool) {
	var parts []string
	between, start := false, 0
	for _, tok := range lex.LexLiterals(nil, s) {
		switch word := tok.Text(s); tok.Kind {
		case lex.TokBetween:
			between = true
		case lex.TokAnd, lex.TokOr, lex.TokEOF:
			if between && tok.Kind == lex.TokAnd {
				between = false // this AND is between its operands
				continue
			}
			clause, ok := meantClause(p, a, strings.TrimSpace(s[start:tok.Start]))
			if !ok {
				return "", false
			}
			parts, start = append(parts, clause, strings.ToUpper(word)), int(tok.End)
		}
	}
	expression = strings.TrimSpace(strings.Join(parts, " "))
	if slices.Contains(parts, "OR") {
		expression = "(" + expression + ")"
	}
	return expression, true
}

var contains = regexp.MustCompile(`(?i)^contains(?:\s+|\s*\()(?:(\w+)\s*,)?(.*)$`)

// meantClause returns the expression that one part of a refused condition means.
func meantClause(p *literal.Placeholders, a keycond.Attribute, s string) (expression string, ok bool) {
	if rest, ok := afterName(a.Name, s); ok {
		s = strings.TrimSpace(rest)
	}
	if m := compared().FindStringSubmatch(s); m != nil && !strings.EqualFold(m[1], a.Name) {
		return "", false // on another attribute
	}
	inner := func(s string) string { return strings.TrimSuffix(strings.TrimSpace(s), ")") }
	var c Condition
	err := error(nil)
	switch {
	case strings.HasPrefix(s, "<>"), strings.HasPrefix(s, "!="):
		c, err = comparison(ast.NotEqual, "<>", s[2:])
	case contains.MatchString(s):
		m := contains.FindStringSubmatch(s)
		if m[1] != "" && m[1] != a.Name {
			return "", false
		}
		c, err = comparison("contains", "contains", inner(m[2]))
	case beginsKey().MatchString(s):
		m := beginsKey().FindStringSubmatch(s)
		if m[1] != a.Name {
			return "", false
		}
		c, err = comparison(ast.OpBeginsWith, "begins_with", inner(m[2]))
	case beginsWith().MatchString(s):
		prefix, _ := strings.CutSuffix(inner(beginsWith().FindStringSubmatch(s)[1]), "*")
		c, err = comparison(ast.OpBeginsWith, "begins_with", prefix)
	case betweenOf().MatchString(s):
		c, err = parseBetween(inner(s[len("between("):]))
	case otherTest().MatchString(s):
		return "", false
	default:
		c, err = parseCondition(s)
	}
	if err != nil {
		return "", false
	}

	clause := keycond.Clause{Attribute: a.Name, Op: c.Op}
	for _, text := range c.Operands {
		v, err := value(a, text)
		if err != nil {
			return "", false
		}
		clause.Values = append(clause.Values, v)
	}
	if c.Op == "contains" {
		return "contains(" + p.Name(a.Name) + ", " + p.Value(clause.Values[0]) + ")", true
	}
	return p.KeyCondition([]keycond.Clause{clause}), true
}
