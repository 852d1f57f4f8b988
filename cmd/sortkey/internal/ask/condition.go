package ask

import (
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/keycond"
)

// A Condition is a sort key condition as a person typed it. Its operands are text. [Condition.Clause] converts them
// to values of the attribute's type.
type Condition struct {
	Op       ast.Op
	Operands []string
}

const conditionSyntax = "write x, '= x', '< x', '<= x', '> x', '>= x', 'between x and y', 'begins_with x' or 'x*'"

var comparisons = []struct {
	text string
	op   ast.Op
}{
	{"<=", ast.LessOrEqual},
	{">=", ast.GreaterOrEqual},
	{"==", ast.Equal},
	{"<", ast.Less},
	{">", ast.Greater},
	{"=", ast.Equal},
}

// ParseCondition parses a condition on the sort key attribute called name. A bare value means =, and a value followed
// by an asterisk means begins_with. Elsewhere, and in quotes, an asterisk is an ordinary character. ParseCondition
// rejects text that resembles a condition but is not one, such as "contains x", unless the text is in quotes or
// follows =.
func ParseCondition(name, text string) (Condition, error) {
	s := strings.TrimSpace(text)
	if s == "" {
		return Condition{}, UsageError(conditionSyntax, "the sort condition is empty")
	}
	if strings.HasPrefix(s, "<>") || strings.HasPrefix(s, "!=") {
		return Condition{}, UsageError(
			"a query reads one range; write '= "+s+"' for exactly this text", "a sort condition cannot be %q", s[:2],
		)
	}
	if !isQuoted(s) && s[0] != '=' {
		if err := lookalike(name, s); err != nil {
			return Condition{}, err
		}
	}
	return parseCondition(s)
}

// parseCondition parses s as [ParseCondition] does, without its checks for empty text and lookalikes.
func parseCondition(s string) (Condition, error) {
	for _, c := range comparisons {
		if rest, ok := strings.CutPrefix(s, c.text); ok {
			return comparison(c.op, c.text, rest)
		}
	}

	if arg, ok := cutWord(s, true, "begins_with", "begins-with", "starts_with", "starts-with"); ok {
		if inner, ok := strings.CutPrefix(arg, "("); ok {
			if arg, ok = strings.CutSuffix(inner, ")"); !ok {
				return Condition{}, UsageError(
					"write begins_with(x), or begins_with x", "%s has no closing parenthesis", s,
				)
			}
		}
		return comparison(ast.OpBeginsWith, "begins_with", arg)
	}

	if operands, ok := cutWord(s, false, "between"); ok {
		return parseBetween(operands)
	}
	if isQuoted(s) {
		v, rest, err := quoted(s)
		if err == nil && rest == "*" {
			return Condition{ast.OpBeginsWith, []string{v}}, nil
		}
		return comparison(ast.Equal, "=", s)
	}

	if prefix, ok := strings.CutSuffix(s, "*"); ok {
		if prefix == "" {
			return Condition{}, UsageError(
				"omit the sort condition to read the whole partition", "a sort condition cannot be just *",
			)
		}
		return Condition{ast.OpBeginsWith, []string{prefix}}, nil
	}
	return comparison(ast.Equal, "=", s)
}

// cutWord returns the text after the word that s begins with, if this word is one of words in any case. White space
// must follow the word or, if parens is set, an opening parenthesis. Otherwise cutWord returns false.
func cutWord(s string, parens bool, words ...string) (string, bool) {
	for _, w := range words {
		if len(s) < len(w) || !strings.EqualFold(s[:len(w)], w) {
			continue
		}
		rest := s[len(w):]
		text := strings.TrimSpace(rest)
		if text != "" && text != rest || parens && strings.HasPrefix(text, "(") {
			return text, true
		}
	}
	return "", false
}

func comparison(op ast.Op, word, operand string) (Condition, error) {
	if strings.TrimSpace(operand) == "" {
		return Condition{}, UsageError(conditionSyntax, "missing value after %s", word)
	}
	v, err := unquote(operand)
	return Condition{op, []string{v}}, err
}

// parseBetween parses the "x and y" of a between condition. It returns an error if more than one "and" could separate
// x and y. To avoid the error, the user puts x and y in quotes.
func parseBetween(s string) (Condition, error) {
	var found []Condition
	const and = "and"
	for i := range s {
		before, rest := s[:i], s[i:]
		if len(rest) < len(and) || !strings.EqualFold(rest[:len(and)], and) {
			continue
		}
		after := rest[len(and):]
		if strings.TrimRightFunc(before, unicode.IsSpace) == before ||
			strings.TrimLeftFunc(after, unicode.IsSpace) == after {
			continue // part of a longer word
		}
		low, okLow := betweenOperand(before)
		high, okHigh := betweenOperand(after)
		if okLow && okHigh {
			found = append(found, Condition{ast.OpBetween, []string{low, high}})
		}
	}

	switch len(found) {
	case 0:
		return Condition{}, UsageError(
			"write 'between x and y'; quote values that contain quotes", "between needs two values",
		)
	case 1:
		return found[0], nil
	}

	return Condition{}, UsageError(
		`put the values in quotes, as in: between "x and y" and "z"`, `ambiguous "and" in: between %s`, s,
	)
}

func betweenOperand(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if s == "" || !isQuoted(s) && strings.ContainsAny(s, `"'`) {
		return "", false
	}
	v, err := unquote(s)
	return v, err == nil
}

// Clause returns c as a condition on the key attribute a.
func (c Condition) Clause(a keycond.Attribute) (keycond.Clause, error) {
	if c.Op == ast.OpBeginsWith && a.Kind == attr.Number {
		return keycond.Clause{}, UsageError(
			"use between or >=", "%s is a number; begins_with works on strings and binary data", a.Name,
		)
	}
	clause := keycond.Clause{Attribute: a.Name, Op: c.Op}
	for _, text := range c.Operands {
		v, err := value(a, text)
		if err != nil {
			return clause, err
		}
		clause.Values = append(clause.Values, v)
	}
	if c.Op == ast.OpBetween {
		if order, ok := attr.Compare(clause.Values[0], clause.Values[1]); ok && order > 0 {
			return clause, UsageError(
				"put the lower bound first; --desc reads backwards",
				"between %s and %s is empty: the lower bound is above the upper", c.Operands[0], c.Operands[1],
			)
		}
	}
	return clause, nil
}
