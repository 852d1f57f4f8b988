package design

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/advice"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/literal"
	"github.com/sortkey/sortkey/keys"
)

// NotARange is what [Expect].Error calls a pattern that [Pattern.Compile] has
// no request for.
const NotARange = "NotARange"

// A CompileError says why a pattern is not one request, and what would be.
type CompileError struct {
	Pos     Pos
	Pattern string
	// Attribute is the key attribute, and Component the field in its template,
	// that the pattern fails at, as far as they apply.
	Attribute, Component string
	Msg, Advice          string
}

// Error returns why the pattern is not one request.
func (e *CompileError) Error() string { return e.Msg }

// Compile returns the request of the pattern. One that is written by field
// becomes the smallest range that holds the entity's rows with these values:
//
//   - the partition key needs a value for each of its components;
//   - the sort key takes values for its first components, then a condition on
//     at most one more. When all are there it is =; when some are, begins_with
//     the key up to and with the delimiter after the last;
//   - <, <=, > and >= stay within what is known before them: > becomes BETWEEN
//     up to the highest character, U+10FFFF, behind the prefix. Where another
//     component follows, a bound is moved past the delimiter, to the character
//     after it, so that it counts the value and not what follows it.
//
// The error is a [*CompileError].
func (p *Pattern) Compile(m *Model) (op string, request json.RawMessage, err error) {
	if p.Request != nil {
		return p.Operation, p.Request, nil
	}
	c := compiler{p: p, m: m, used: map[string]bool{}}
	c.names.Readable = true
	c.names.Resolve = c.resolve
	request, err = c.request()
	if err != nil {
		ce, ok := errors.AsType[*CompileError](err)
		if !ok {
			ce = &CompileError{Msg: err.Error()}
			if le, ok := errors.AsType[*advice.Error](err); ok {
				ce.Advice = le.Advice
			}
			if ke, ok := errors.AsType[*keys.Error](err); ok {
				ce.Msg, ce.Advice, ce.Component = ke.Msg, ke.Advice, ke.Component
				if ke.Component != "" {
					ce.Msg = ke.Component + ": " + ke.Msg
				}
			}
		}
		if ce.Pos == (Pos{}) {
			ce.Pos = p.Pos
		}
		ce.Pattern = p.Name
		return p.Operation, nil, ce
	}
	return p.Operation, request, nil
}

type compiler struct {
	p     *Pattern
	m     *Model
	names literal.Placeholders
	used  map[string]bool // fields and attributes of where
	open  Attribute       // of the sort key, the first that is not known entirely
}

// body is a request in the order people write it.
type body struct {
	TableName                 string
	IndexName                 string            `json:",omitempty"`
	Key                       json.RawMessage   `json:",omitempty"`
	KeyConditionExpression    string            `json:",omitempty"`
	FilterExpression          string            `json:",omitempty"`
	ProjectionExpression      string            `json:",omitempty"`
	ExpressionAttributeNames  map[string]string `json:",omitempty"`
	ExpressionAttributeValues json.RawMessage   `json:",omitempty"`
	ScanIndexForward          *bool             `json:",omitempty"`
	Limit                     int               `json:",omitempty"`
	ConsistentRead            bool              `json:",omitempty"`
}

func (c *compiler) request() (json.RawMessage, error) {
	p := c.p
	if p.Table == nil {
		return nil, &CompileError{Msg: "the pattern names no table"}
	}
	b := body{TableName: p.Table.Name, Limit: p.Limit, ConsistentRead: p.Consistent}
	if p.Index != nil {
		b.IndexName = p.Index.Name
	}
	switch p.Operation {
	case "GetItem":
		key, err := c.key()
		if err != nil {
			return nil, err
		}
		b.Key = key.AppendJSON(nil)
	case "Query":
		clauses, err := c.clauses()
		if err != nil {
			return nil, err
		}
		b.KeyConditionExpression = c.names.KeyCondition(clauses)
		if p.Descending {
			forward := false
			b.ScanIndexForward = &forward
		}
	}
	var err error
	if p.Filter != "" {
		if b.FilterExpression, err = c.names.Expression(p.Filter); err != nil {
			return nil, err
		}
	}
	if len(p.Project) > 0 {
		if b.ProjectionExpression, err = c.names.Expression(strings.Join(p.Project, ", ")); err != nil {
			return nil, err
		}
	}
	b.ExpressionAttributeNames = c.names.Names()
	if values := c.names.Values(); values != nil {
		b.ExpressionAttributeValues = values.AppendJSON(nil)
	}
	if err := c.check(&b); err != nil {
		return nil, err
	}
	return marshal(b)
}

// marshal is json.Marshal that leaves < and > as they are.
func marshal(v any) (json.RawMessage, error) {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	// Fonts have no picture of the highest character.
	return json.RawMessage(strings.ReplaceAll(strings.TrimSpace(text.String()), highest, `\udbff\udfff`)), nil
}

// check parses the filter and the projection as the service would.
func (c *compiler) check(b *body) error {
	env, err := expr.NewEnv(b.ExpressionAttributeNames, c.names.Values())
	if err != nil {
		return err
	}
	if b.FilterExpression != "" {
		if _, err := env.Condition("FilterExpression", b.FilterExpression); err != nil {
			return err
		}
	}
	if b.ProjectionExpression != "" {
		if _, err := env.Projection(b.ProjectionExpression); err != nil {
			return err
		}
	}
	return nil
}

// resolve returns the attribute that a name in a filter means: one of that
// name, or one that holds the field of that name and nothing else.
func (c *compiler) resolve(name string) (string, error) {
	e := c.p.Entity
	if e == nil || e.Attribute(name) != nil || e.Field(name) == nil {
		return name, nil
	}
	for _, t := range e.Attributes {
		if t.Template == nil {
			continue
		}
		if parts := t.Template.Parts(); len(parts) == 1 && parts[0].Name == name {
			return t.Name, nil
		}
	}
	return "", &CompileError{
		Component: name,
		Msg:       fmt.Sprintf("no attribute of entity %s holds the field %s alone, so a filter cannot see it", e.Name, name),
		Advice:    fmt.Sprintf("add %s: \"{%s}\" to its attributes, or give it in where", name, name),
	}
}

// given returns the condition on a field, or on a key attribute by its own
// name.
func (c *compiler) given(name string) (Condition, bool) {
	for _, w := range c.p.Where {
		if w.Field == name {
			return w, true
		}
	}
	return Condition{}, false
}

// direct returns the condition on a key attribute that is no field.
func (c *compiler) direct(a Attribute) (Condition, bool) {
	if c.p.Entity != nil && c.p.Entity.Field(a.Name) != nil {
		return Condition{}, false
	}
	return c.given(a.Name)
}

func (c *compiler) where() string {
	if c.p.Index != nil {
		return "index " + c.p.Index.Name
	}
	return "table " + c.p.Table.Name
}

// equal are the values of fields that the pattern gives.
func (c *compiler) equal() map[string]string {
	all := map[string]string{}
	for _, w := range c.p.Where {
		if w.Op == ast.Equal {
			all[w.Field] = w.Args[0]
		}
	}
	return all
}

// whole returns the value of a key attribute that must be known entirely.
func (c *compiler) whole(a Attribute, role string) (attr.Value, error) {
	if w, ok := c.direct(a); ok {
		c.used[a.Name] = true
		if w.Op != ast.Equal {
			return attr.Value{}, &CompileError{
				Pos: w.Pos, Attribute: a.Name, Msg: fmt.Sprintf("%s is %s, which takes = and not %s", a.Name, role, w.Op),
				Advice: "conditions other than = are for sort keys; make it part of one, or scan",
			}
		}
		return valueOf(w.Args[0], a.Kind)
	}
	t, err := c.template(a)
	if err != nil {
		return attr.Value{}, err
	}
	if t.Template == nil {
		return t.Const, nil
	}
	equal := c.equal()
	for _, name := range t.Template.Components() {
		w, ok := c.given(name)
		c.used[name] = true
		switch {
		case !ok:
			return attr.Value{}, &CompileError{
				Attribute: a.Name, Component: name,
				Msg:    fmt.Sprintf("%s, %s, is %s, and the pattern does not say %s", a.Name, role, t.Template, name),
				Advice: fmt.Sprintf("add %s to where, or an index whose partition key is made of what the pattern knows", name),
			}
		case w.Op != ast.Equal:
			return attr.Value{}, &CompileError{
				Pos: w.Pos, Attribute: a.Name, Component: name,
				Msg:    fmt.Sprintf("%s is in %s, %s, which takes = and not %s", name, a.Name, role, w.Op),
				Advice: fmt.Sprintf("move %s into a sort key; a query reads one partition", name),
			}
		}
	}
	text, err := t.Template.Build(equal)
	if err != nil {
		return attr.Value{}, err
	}
	return valueOf(text, t.Kind)
}

func (c *compiler) template(a Attribute) (*Template, error) {
	if c.p.Entity == nil {
		return nil, &CompileError{
			Attribute: a.Name, Msg: fmt.Sprintf("the pattern does not say %s, a key of %s", a.Name, c.where()),
			Advice: fmt.Sprintf("add %s to where, or name the entity whose fields it is made of", a.Name),
		}
	}
	t := c.p.Entity.Attribute(a.Name)
	if t == nil {
		return nil, &CompileError{
			Attribute: a.Name, Msg: fmt.Sprintf("entity %s does not make %s, so none of its items is in %s", c.p.Entity.Name, a.Name, c.where()),
			Advice: fmt.Sprintf("add %s to the attributes of %s", a.Name, c.p.Entity.Name),
		}
	}
	return t, nil
}

// key is the key of a GetItem.
func (c *compiler) key() (attr.Item, error) {
	var b attr.Builder
	for _, a := range c.p.Table.Keys() {
		v, err := c.whole(a, "a key of the item")
		if err != nil {
			return nil, err
		}
		b.Add(a.Name, v)
	}
	return b.Item(), c.leftover(c.p.Table.Keys())
}

// leftover refuses conditions that no key attribute took.
func (c *compiler) leftover(list []Attribute) error {
	for _, w := range c.p.Where {
		if c.used[w.Field] {
			continue
		}
		for _, a := range list {
			if t := c.made(a); t != nil && slices.Contains(t.Template.Components(), w.Field) {
				return c.defeated(w, a, t)
			}
		}
		return &CompileError{
			Pos: w.Pos, Component: w.Field, Msg: fmt.Sprintf("%s is in no key of %s", w.Field, c.where()),
			Advice: "use filter, which reads the rows before it drops them, or an index that has it in its key",
		}
	}
	return nil
}

// made returns what makes a key attribute out of fields, or nil.
func (c *compiler) made(a Attribute) *Template {
	if c.p.Entity == nil {
		return nil
	}
	if t := c.p.Entity.Attribute(a.Name); t != nil && t.Template != nil {
		return t
	}
	return nil
}

// unknown says why the open attribute is not known entirely, and the field that
// is missing if one is.
func (c *compiler) unknown() (why, missing string) {
	if t := c.made(c.open); t != nil {
		for _, part := range t.Template.Parts() {
			if part.Name == "" {
				continue
			}
			switch w, ok := c.given(part.Name); {
			case !ok:
				return "the pattern does not say " + part.Name, part.Name
			case wholeDays(w, part.Type).Op != ast.Equal:
				return part.Name + " has a range already", ""
			}
		}
	}
	return c.open.Name + " has a range already", ""
}

// defeated is the error of a condition behind a component that has none.
func (c *compiler) defeated(w Condition, a Attribute, t *Template) error {
	e := &CompileError{Pos: w.Pos, Attribute: a.Name, Component: w.Field}
	for _, part := range t.Template.Parts() {
		name := part.Name
		if name == "" {
			continue
		}
		if name == w.Field {
			break
		}
		before, ok := c.given(name)
		if ok && wholeDays(before, part.Type).Op == ast.Equal {
			continue
		}
		if ok {
			e.Msg = fmt.Sprintf("%s comes after %s in %s (%s), and %s has a range already: rows with one %s do not lie together", w.Field, name, a.Name, t.Template, name, w.Field)
			e.Advice = fmt.Sprintf("put %s before %s in the key of an index, or use filter for %s", w.Field, name, w.Field)
		} else {
			e.Msg = fmt.Sprintf("%s comes after %s in %s (%s), and the pattern does not say %s: rows with one %s do not lie together", w.Field, name, a.Name, t.Template, name, w.Field)
			e.Advice = fmt.Sprintf("put %s before %s in the key, or in the key of an index, or give %s in where", w.Field, name, name)
		}
		return e
	}
	why, missing := c.unknown()
	e.Msg = fmt.Sprintf("%s comes after %s in the key, and %s: rows with one %s do not lie together", a.Name, c.open.Name, why, w.Field)
	e.Advice = fmt.Sprintf("put %s before %s in the key of an index, or use filter for %s", a.Name, c.open.Name, w.Field)
	if missing != "" {
		e.Advice = fmt.Sprintf("give %s in where, or put %s before %s in the key of an index", missing, a.Name, c.open.Name)
	}
	return e
}
