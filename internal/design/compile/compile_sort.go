package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/keys"
)

// highest is the character that sorts above all others in UTF-8.
const highest = "\U0010FFFF"

// on returns a clause with a condition on a key attribute.
func on(a model.Attribute, op ast.Op, values ...attr.Value) *keycond.Clause {
	return &keycond.Clause{Attribute: a.Name, Op: op, Values: values}
}

func (c *compiler) clauses() ([]keycond.Clause, error) {
	hash, sort := c.p.Keys()
	var all []keycond.Clause
	for _, a := range hash {
		v, err := c.fixedValue(a, "the partition key")
		if err != nil {
			return nil, err
		}
		all = append(all, *on(a, ast.Equal, v))
	}

	for _, a := range sort {
		cl, whole, err := c.sort(a)
		if err != nil {
			return nil, err
		}
		if cl != nil {
			all = append(all, *cl)
		}
		if !whole {
			c.open = a
			break
		}
	}
	return all, c.checkUsed(slices.Concat(hash, sort))
}

// sort returns the condition on a sort key attribute, or nil. The second result is true if the condition fixes the
// attribute's value. Only then can the next attribute have a condition.
func (c *compiler) sort(a model.Attribute) (*keycond.Clause, bool, error) {
	if w, ok := c.direct(a); ok {
		c.used[a.Name] = true
		return rawClause(w, a)
	}
	if c.p.Entity == nil {
		return nil, false, nil
	}

	t := c.p.Entity.Attribute(a.Name)
	if t == nil {
		_, err := c.template(a)
		return nil, false, err
	}
	if t.Template == nil {
		return on(a, ast.Equal, t.Const), true, nil
	}

	equal := c.equal()
	for _, part := range t.Template.Parts() {
		if _, _, ok := Period(part.Type, equal[part.Name]); ok {
			delete(equal, part.Name) // a range, not a value
		}
	}

	prefix, n, err := t.Template.BuildPrefix(equal)
	if err != nil {
		return nil, false, err
	}
	names := t.Template.Components()
	for _, name := range names[:n] {
		c.used[name] = true
	}
	if n == len(names) {
		v, err := model.ValueOf(prefix, t.Kind)
		return on(a, ast.Equal, v), true, err
	}

	w, ok := c.given(names[n])
	if !ok {
		if prefix == "" {
			return nil, false, nil
		}
		v, err := model.ValueOf(prefix, t.Kind)
		return on(a, ast.OpBeginsWith, v), false, err
	}

	c.used[names[n]] = true
	parts := t.Template.Parts()
	at := slices.IndexFunc(parts, func(p keys.Part) bool { return p.Name == names[n] })
	s := span{a: a, typ: parts[at].Type, prefix: prefix, last: at == len(parts)-1}
	if !s.last {
		s.next = parts[at+1].Literal
	}

	cl, err := s.clause(whole(w, s.typ))
	if err != nil {
		if ce, ok := errors.AsType[*Error](err); ok {
			ce.Pos, ce.Attribute, ce.Component = w.Pos, a.Name, w.Field
		}
		return nil, false, err
	}
	return cl, false, nil
}

// rawClause returns a condition on the attribute itself, not on its components.
func rawClause(w model.Condition, a model.Attribute) (*keycond.Clause, bool, error) {
	if w.Op == ast.OpBeginsWith && a.Kind == attr.Number {
		return nil, false, noPrefixes(w.Field, "numbers")
	}
	cl := on(a, w.Op)
	for _, arg := range w.Args {
		v, err := model.ValueOf(arg, a.Kind)
		if err != nil {
			return nil, false, &Error{Pos: w.Pos, Attribute: a.Name, Msg: fmt.Sprintf("%s: %v", a.Name, err)}
		}
		cl.Values = append(cl.Values, v)
	}
	return cl, w.Op == ast.Equal, nil
}

func noPrefixes(field, what string) error {
	return &Error{
		Component: field, Msg: fmt.Sprintf("cannot use begins_with on %s: %s have no prefixes", field, what),
		Advice: "use between, or a comparison such as >=",
	}
}

// A span is the place of a component in a sort key. prefix is the text before the component, and next the text after
// it. last is true if no text follows.
type span struct {
	a            model.Attribute
	typ          keys.Type
	prefix, next string
	last         bool
}

// empty returns the error for a range whose upper bound, once encoded, is below its lower bound.
func (s *span) empty(w model.Condition, first, second string) error {
	why := "the first comes after the second"
	cure := "write the lower value first; use order: desc to read in descending order"
	switch {
	case !s.typ.Ordered():
		why = fmt.Sprintf("%s values sort as text, and %q comes after %q", s.typ, first, second)
		cure = "use a type that sorts by value, such as int(8)"
	case (s.typ.Name == "" || s.typ.Name == "string") && text.CompareNatural(w.Args[0], w.Args[1]) < 0:
		why = fmt.Sprintf("text is compared byte by byte, and %s sorts before %s", w.Args[1], w.Args[0])
		cure = "pad the numbers in " + w.Field + " to one width"
	}
	return &Error{
		Msg: fmt.Sprintf("%s between %s and %s is empty: %s", w.Field, w.Args[0], w.Args[1], why), Advice: cure,
	}
}

func (s *span) clause(w model.Condition) (*keycond.Clause, error) {
	if w.Op == ast.OpBeginsWith {
		text, err := s.prefixOf(w)
		if err != nil {
			return nil, err
		}
		return s.comparison(ast.OpBeginsWith, s.prefix+text)
	}

	encoded := make([]string, len(w.Args))
	for i, arg := range w.Args {
		part, err := s.typ.Encode(arg)
		if err != nil {
			return nil, err
		}
		encoded[i] = s.prefix + part
	}

	op := w.Op
	if s.typ.Desc {
		slices.Reverse(encoded)
		if op != ast.OpBetween {
			op = ast.Mirror(op)
		}
	}

	if s.a.Kind == attr.Number {
		return s.comparison(op, encoded...)
	}
	first := encoded[0]
	if s.prefix == "" && op != ast.OpBetween {
		switch {
		case s.last:
		case op == ast.Greater:
			op, first = ast.GreaterOrEqual, s.above(first)
		case op == ast.LessOrEqual:
			op, first = ast.Less, s.above(first)
		}
		return s.comparison(op, first)
	}

	switch op {
	case ast.OpBetween:
		if first > encoded[1] {
			return nil, s.empty(w, first, encoded[1])
		}
		return s.comparison(ast.OpBetween, first, s.through(encoded[1]))
	case ast.Greater:
		low := s.above(first)
		if s.last {
			low = first + "\x00"
		}
		return s.comparison(ast.OpBetween, low, s.prefix+highest)
	case ast.GreaterOrEqual:
		return s.comparison(ast.OpBetween, first, s.prefix+highest)
	case ast.LessOrEqual:
		return s.comparison(ast.OpBetween, s.prefix, s.through(first))
	}

	high := first // if something follows the component, no key equals this bound, so BETWEEN excludes it
	if s.last {
		high = predecessor(first)
		if _, fixed := s.typ.Fixed(); fixed {
			high = strings.TrimSuffix(high, highest)
		}
	}
	if high < s.prefix {
		high = s.prefix
	}
	return s.comparison(ast.OpBetween, s.prefix, high)
}

// through returns an inclusive upper bound for the keys up to a value of the component. key is the prefix with this
// value.
func (s *span) through(key string) string {
	if s.last {
		return key
	}
	return s.above(key)
}

// above returns the lowest text above all keys that have a value of the component. key is the prefix with this value.
func (s *span) above(key string) string { return successor(key + s.next) }

// successor returns the lowest text above all texts that begin with s. It increments the last character.
func successor(s string) string {
	r := []rune(s)
	for i := len(r) - 1; i >= 0; i-- {
		if r[i] < '\U0010FFFF' {
			if r[i]++; r[i] == 0xD800 {
				r[i] = 0xE000
			}
			return string(r[:i+1])
		}
	}
	return s + highest
}

// predecessor returns an inclusive upper bound of the texts below s. The bound lowers the last character of s by one
// and appends the highest character. It misses the few texts below s that continue after this highest character.
func predecessor(s string) string {
	r := []rune(s)
	if len(r) == 0 {
		return ""
	}
	last := len(r) - 1
	if r[last] == 0 {
		return string(r[:last])
	}
	if r[last]--; r[last] == 0xDFFF {
		r[last] = 0xD7FF
	}
	return string(r) + highest
}

// prefixOf returns the encoded prefix for begins_with.
func (s *span) prefixOf(w model.Condition) (string, error) {
	text := w.Args[0]
	switch s.typ.Name {
	case "int", "signed", "decimal", "number", "epoch", "epochms":
		return "", noPrefixes(w.Field, s.typ.String()+" values")
	case "ulid":
		text = strings.ToUpper(text)
	case "uuid", "hex":
		text = strings.ToLower(text)
	}
	if s.typ.Desc {
		return "", noPrefixes(w.Field, "values in descending order")
	}
	return text, nil
}

func (s *span) comparison(op ast.Op, texts ...string) (*keycond.Clause, error) {
	cl := on(s.a, op)
	for _, text := range texts {
		v, err := model.ValueOf(text, s.a.Kind)
		if err != nil {
			return nil, err
		}
		cl.Values = append(cl.Values, v)
	}
	return cl, nil
}
