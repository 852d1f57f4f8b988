package ask

import (
	"strings"

	"regexp"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/hint"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/keycond"
)

// A Condition on a sort key, as it was typed: its operands have no type yet.
type Condition struct {
	Op       ast.Op
	Operands []string
}

const conditionHint = "write x, '= x', '< x', '<= x', '> x', '>= x', 'between x and y', 'begins_with x' or 'x*'"

var (
	beginsWith = regexp.MustCompile(`(?is)^(?:begins|starts)[_-]with(?:\s*(\()|\s+)(.*)$`)
	between    = regexp.MustCompile(`(?is)^between\s+(.*)$`)
	and        = regexp.MustCompile(`(?is)\sand\s`)
)

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

// ParseCondition reads a sort condition. A value alone means =, one with an
// asterisk after it begins_with. An asterisk anywhere else, or in quotes, is
// itself.
func ParseCondition(text string) (Condition, error) {
	s := strings.TrimSpace(text)
	if s == "" {
		return Condition{}, hint.Usage(conditionHint, "the sort condition is empty")
	}
	if strings.HasPrefix(s, "<>") || strings.HasPrefix(s, "!=") {
		return Condition{}, hint.Usage("a slice has no holes: leave the condition out and use --filter, or quote the value",
			"a sort condition cannot be %q", s[:2])
	}
	for _, c := range comparisons {
		if rest, ok := strings.CutPrefix(s, c.text); ok {
			return one(c.op, c.text, rest)
		}
	}
	if m := beginsWith.FindStringSubmatch(s); m != nil {
		arg := m[2]
		if m[1] != "" {
			inner, ok := strings.CutSuffix(strings.TrimSpace(arg), ")")
			if !ok {
				return Condition{}, hint.Usage("write begins_with(x), or begins_with x", "%s has no closing parenthesis", s)
			}
			arg = inner
		}
		return one(ast.OpBeginsWith, "begins_with", arg)
	}
	if m := between.FindStringSubmatch(s); m != nil {
		return parseBetween(m[1])
	}
	if isQuoted(s) {
		v, rest, err := quoted(s)
		if err == nil && rest == "*" {
			return Condition{ast.OpBeginsWith, []string{v}}, nil
		}
		return one(ast.Equal, "=", s)
	}
	if prefix, ok := strings.CutSuffix(s, "*"); ok {
		if prefix == "" {
			return Condition{}, hint.Usage("leave the sort condition out to read the whole partition", "a sort condition cannot be * alone")
		}
		return Condition{ast.OpBeginsWith, []string{prefix}}, nil
	}
	return one(ast.Equal, "=", s)
}

func one(op ast.Op, word, operand string) (Condition, error) {
	if strings.TrimSpace(operand) == "" {
		return Condition{}, hint.Usage(conditionHint, "there is no value after %s", word)
	}
	v, err := unquote(operand)
	return Condition{op, []string{v}}, err
}

// parseBetween reads "x and y". Where the word comes more than once outside
// quotes, nobody can tell which one is meant.
func parseBetween(s string) (Condition, error) {
	var found []Condition
	for at := 0; ; {
		m := and.FindStringIndex(s[at:])
		if m == nil {
			break
		}
		lo, okLo := betweenOperand(s[:at+m[0]])
		hi, okHi := betweenOperand(s[at+m[1]:])
		if okLo && okHi {
			found = append(found, Condition{ast.OpBetween, []string{lo, hi}})
		}
		at += m[0] + 1
	}
	switch len(found) {
	case 0:
		return Condition{}, hint.Usage("write 'between x and y', with quotes round values that have any in them", "between needs two values")
	case 1:
		return found[0], nil
	}
	return Condition{}, hint.Usage(`put the values in quotes, as in: between "x and y" and "z"`, `there is more than one "and" in: between %s`, s)
}

func betweenOperand(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if s == "" || !isQuoted(s) && strings.ContainsAny(s, `"'`) {
		return "", false
	}
	v, err := unquote(s)
	return v, err == nil
}

// Clause gives the operands of c the type of the key attribute a.
func (c Condition) Clause(a keycond.Attribute) (keycond.Clause, error) {
	if c.Op == ast.OpBeginsWith && a.Kind == attr.Number {
		return keycond.Clause{}, hint.Usage("numbers have no beginnings: use between or >=", "%s is a number, and begins_with is for strings and binary data", a.Name)
	}
	clause := keycond.Clause{Attribute: a, Op: c.Op}
	for _, text := range c.Operands {
		v, err := value(a, text)
		if err != nil {
			return clause, err
		}
		clause.Values = append(clause.Values, v)
	}
	if c.Op == ast.OpBetween {
		if order, ok := attr.Compare(clause.Values[0], clause.Values[1]); ok && order > 0 {
			return clause, hint.Usage("give the lower bound first; --desc reads backwards", "between %s and %s is empty: the first is above the second", c.Operands[0], c.Operands[1])
		}
	}
	return clause, nil
}
