package modelfile

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
)

// operators are the operators of conditions on keys. A plain value means =.
var operators = []string{"=", "<", "<=", ">", ">=", "between", "begins_with", "in"}

// every is the text in place of a list of values if a condition allows all values of a field.
const every = "all"

// maxIn is the largest number of values that a condition can list.
const maxIn = 1000

// whereCodec is the codec of conditions on fields and key attributes.
var whereCodec = special(func(in value, q *model.Pattern) {
	for _, e := range in.entries() {
		e.restrict(q)
	}
}, func(q *model.Pattern) *yaml.Node {
	n := flowNode()
	for _, c := range q.Where {
		put(n, c.Field, conditionNode(c.Op, c.Args))
	}
	return n
})

func conditionNode(op ast.Op, args []string) *yaml.Node {
	value := oneOrList(args, textNode)
	switch {
	case op == ast.Equal:
		return value
	case op == model.In && len(args) == 0:
		value = textNode(every)
	case op == model.In:
		value = listNode(yaml.FlowStyle, args, textNode)
	}
	return put(flowNode(), strings.ToLower(string(op)), value)
}

// restrict reads a condition and adds it to the pattern.
func (e entry) restrict(q *model.Pattern) {
	keys := namesOf(q.Table.Keys())
	if q.Index != nil {
		keys = append(namesOf(q.Index.Keys()), keys...)
	}

	subject, known := "table "+q.Table.Name+" has no key attribute", keys
	var field *model.Field
	if q.Entity != nil {
		subject, known = "entity "+q.Entity.Name+" has no field", append(namesOf(q.Entity.Fields), keys...)
		field = q.Entity.Field(e.name)
	} else if !slices.Contains(keys, e.name) && e.anyField(e.name) {
		subject, known = "a condition on a field needs the entity of the field:", nil
	}
	if !e.key.known(e.name, known, "%s %s", subject) {
		return
	}

	c, ok := e.condition()
	if !ok {
		return
	}
	for _, arg := range c.Args {
		if field == nil || c.Op == ast.OpBeginsWith {
			continue
		}
		if err := encodes(q.Entity, field, arg); err != nil {
			e.failKey(e.pos(), "field "+e.name, err)
		}
	}

	q.Where = append(q.Where, c)
}

// encodes returns an error if the text is not a value of the field. The text may also be a period, such as the month
// of a time, or a text that a template of the entity can encode: the key of an index may contain only the month of a
// time.
func encodes(e *model.Entity, f *model.Field, text string) error {
	_, err := f.Type.Encode(text)
	if _, _, period := compile.Period(f.Type, text); err == nil || period {
		return nil
	}
	for _, part := range e.AllParts() {
		if _, bad := part.Type.Encode(text); part.Name == f.Name && bad == nil {
			return nil
		}
	}
	return err
}

// anyField reports whether the model or an entity has the named field.
func (p *parser) anyField(name string) bool {
	is := func(f *model.Field) bool { return f.Name == name }
	return slices.ContainsFunc(p.m.Fields, is) ||
		slices.ContainsFunc(p.m.Entities, func(e *model.Entity) bool { return slices.ContainsFunc(e.Fields, is) })
}

// condition reads a condition: a plain value, which means =, or {begins_with: x}, {between: [a, b]} and so on.
func (e entry) condition() (model.Condition, bool) {
	c := model.Condition{Pos: e.key.pos(), Field: e.name, Op: ast.Equal}
	in := e.called("the condition on " + e.name)
	switch {
	case in.node == nil:
		return c, false
	case in.node.Kind == yaml.ScalarNode:
		s, ok := in.text()
		c.Args = []string{s}
		return c, ok
	case in.node.Kind == yaml.SequenceNode:
		in.fail(
			"write a range as {between: [low, high]}, and several values, each in a request of its own, "+
				"as {in: [a, b]}",
			"%s is a list", in.what,
		)
		return c, false
	}

	all := in.entries()
	if len(all) != 1 {
		in.fail("write a range as {between: [low, high]}", "%s has %d operators, not 1", in.what, len(all))
		return c, false
	}

	op := all[0]
	if !slices.Contains(operators, op.name) {
		hint := text.DidYouMean(op.name, operators)
		if strings.Contains("<> != or not contains", strings.ToLower(op.name)) {
			hint = "a query reads one range: " +
				"write {in: [a, b]} for several requests, or use filter for an attribute outside the key"
		}
		op.key.fail(hint, "unknown condition %s on a key", clip(op.name))
		return c, false
	}

	c.Op = ast.Op(op.name)
	if c.Op == model.In {
		if s := op.node; s.Kind == yaml.ScalarNode && s.Value == every {
			return c, true
		}
		c.Args = op.texts()
		if len(c.Args) == 0 || len(c.Args) > maxIn {
			op.fail("write a list such as {in: [a, b]}, or {in: all}", "%s needs 1 to %d values", op.name, maxIn)
		}
		return c, len(c.Args) > 0 && len(c.Args) <= maxIn
	}

	want := 1
	if op.name == "between" {
		c.Op, want = ast.OpBetween, 2
	}
	if c.Args = op.texts(); len(c.Args) != want {
		op.fail("", "%s needs %s, not %d", op.name, text.Count(want, "value"), len(c.Args))
		return c, false
	}
	return c, true
}
