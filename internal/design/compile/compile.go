package compile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/keys"
)

// NotARange is the value of [model.Expect].Error for a pattern that is expected not to compile. [Pattern] cannot
// compile it, because its items are not in one range of keys.
const NotARange = "NotARange"

// An Error says why a pattern cannot be compiled into one request.
type Error struct {
	Pos     model.Pos `json:"-"`
	Pattern string    `json:"-"`
	// Attribute is the key attribute at which compiling fails, and Component is the field in the attribute's
	// template. They are "" if the error is not about an attribute or a field.
	Attribute string `json:"-"`
	Component string `json:"-"`
	Msg       string `json:"message"`
	Advice    string `json:"advice,omitempty"`
}

// Error returns the reason without the place and the advice.
func (e *Error) Error() string { return e.Msg }

// Pattern returns the request of a pattern. It compiles conditions on fields into the smallest range that contains
// the entity's rows with those values:
//
//   - The partition key needs a value for each of its components.
//   - The sort key takes values for its first components, then a condition on
//     at most one more. If all components have values, the condition is =. If
//     only some do, it is begins_with with the key up to the delimiter after
//     the last value.
//   - The operators <, <=, > and >= stay within the prefix that the values
//     determine: > becomes a BETWEEN that ends with this prefix and the highest
//     character, U+10FFFF. If another component follows, the bound is the value
//     and the delimiter after it, with the last character of the delimiter
//     increased by one. The range then depends only on the value.
//
// The error is an [*Error].
func Pattern(p *model.Pattern) (wire.Request, error) {
	if p.IsWrite() {
		return nil, &Error{
			Pos: p.Pos, Pattern: p.Name, Msg: "the pattern writes, and its request depends on the item",
			Advice: "sortkey design check shows it for an item of the model",
		}
	}
	c := compiler{p: p, used: map[string]bool{}}
	c.names.Readable = true
	c.names.Resolve, c.names.Parameter = c.resolve, c.parameter
	in, err := c.request()
	if err != nil {
		return nil, errorOf(p, err)
	}
	return in, nil
}

// Slice returns the range of a table or index that a pattern reads before its filter and limit. S is the key schema
// of the table or index. The error is an [*Error].
func Slice(s *keycond.Schema, p *model.Pattern) (*keycond.Slice, error) {
	c := compiler{p: p, used: map[string]bool{}}
	clauses, err := c.clauses()
	if err != nil {
		return nil, errorOf(p, err)
	}
	slice, err := keycond.Of(s, clauses...)
	if err != nil {
		return nil, errorOf(p, err)
	}
	return slice, nil
}

// errorOf converts an error of a pattern to an [*Error] with the pattern's place.
func errorOf(p *model.Pattern, err error) error {
	e := asError(err)
	if e.Pos == (model.Pos{}) {
		e.Pos = p.Pos
	}
	e.Pattern = p.Name
	return e
}

// asError converts an error to an [*Error].
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	e := &Error{Msg: err.Error()}
	if le, ok := errors.AsType[*advice.Error](err); ok {
		e.Advice = le.Advice
	}
	if ke, ok := errors.AsType[*keys.Error](err); ok {
		e.Msg, e.Advice, e.Component = ke.Msg, ke.Advice, ke.Component
		if ke.Component != "" {
			e.Msg = ke.Component + ": " + ke.Msg
		}
	}
	return e
}

// PatternJSON is like [Pattern], but returns the request as JSON.
func PatternJSON(p *model.Pattern) (json.RawMessage, error) {
	in, err := Pattern(p)
	if err != nil {
		return nil, err
	}
	return JSON(in), nil
}

// Order compares the names of two members of requests by the order in which people write them: the members that say
// what to read, then those that say how. It returns a negative number if a comes first.
func Order(a, b string) int {
	i, j := slices.Index(usual, a), slices.Index(usual, b)
	switch {
	case i < 0 && j < 0:
		return strings.Compare(a, b)
	case i < 0:
		return 1
	case j < 0:
		return -1
	}
	return i - j
}

// usual is the usual order of the members of requests that [Pattern] makes.
var usual = []string{
	"TransactItems", "TableName", "IndexName", "Key", "Item",
	"UpdateExpression", "ConditionExpression", "KeyConditionExpression", "FilterExpression", "ProjectionExpression",
	"ExpressionAttributeNames", "ExpressionAttributeValues", "ScanIndexForward", "Limit", "ConsistentRead",
}

// JSON returns a request of [Pattern] as JSON, with its members in the usual order. It escapes the highest character,
// U+10FFFF, which fonts cannot show.
func JSON(in wire.Request) json.RawMessage {
	raw := wire.AppendJSON(nil, in)
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return raw // cannot happen: package wire always writes an object
	}
	out := []byte{'{'}
	for _, name := range usual {
		value, ok := members[name]
		if !ok {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(strconv.AppendQuote(out, name), ':'), value...)
	}
	return bytes.ReplaceAll(append(out, '}'), []byte(highest), []byte(`\udbff\udfff`))
}

type compiler struct {
	p     *model.Pattern
	names literal.Placeholders
	used  map[string]bool // names in where that a key attribute has used
	open  model.Attribute // first sort key attribute without a fixed value
}

func (c *compiler) request() (wire.Request, error) {
	p := c.p
	if p.Table == nil {
		return nil, &Error{Msg: "the pattern has no table"}
	}
	in := wire.QueryInput{TableName: &p.Table.Name}
	if p.Index != nil {
		in.IndexName = &p.Index.Name
	}
	if p.Limit != 0 {
		in.Limit = new(int64(p.Limit))
	}
	if p.Consistent {
		in.ConsistentRead = new(true)
	}

	var key attr.Item
	switch p.Operation {
	case "GetItem":
		var err error
		if key, err = c.key(); err != nil {
			return nil, err
		}
	case "Query":
		clauses, err := c.clauses()
		if err != nil {
			return nil, err
		}
		in.KeyConditionExpression = new(c.names.KeyCondition(clauses))
		if p.Descending {
			in.ScanIndexForward = new(false)
		}
	}

	if err := c.expressions(&in); err != nil {
		return nil, err
	}
	switch p.Operation {
	case "GetItem":
		get := members[wire.GetItemInput](in)
		get.Key = key
		return get, nil
	case "Query":
		return &in, nil
	}
	return members[wire.ScanInput](in), nil
}

// expressions sets the filter, the projection and the placeholders, and checks the expressions as the service would.
func (c *compiler) expressions(in *wire.QueryInput) error {
	if c.p.Filter != "" {
		filter, err := c.names.Expression(c.p.Filter)
		if err != nil {
			return err
		}
		in.FilterExpression = &filter
	}
	if len(c.p.Project) > 0 {
		projection, err := c.names.Paths(strings.Join(c.p.Project, ", "))
		if err != nil {
			return err
		}
		in.ProjectionExpression = &projection
	}
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = c.names.Names(), c.names.Values()

	env, err := expr.NewEnv(expr.Params{Names: in.ExpressionAttributeNames, Values: in.ExpressionAttributeValues})
	if err != nil {
		return err
	}
	if in.FilterExpression != nil {
		if _, err := env.Condition(expr.FilterExpression, *in.FilterExpression); err != nil {
			return err
		}
	}
	if in.ProjectionExpression != nil {
		_, err = env.Projection(*in.ProjectionExpression)
	}
	return err
}

// resolve returns the attribute that a name in a filter stands for. This is the attribute with that name, or else the
// attribute whose template contains only the field with that name.
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
	return "", &Error{
		Component: name,
		Msg: fmt.Sprintf(
			"no attribute of entity %s contains only the field %s, so a filter cannot use it", e.Name, name,
		),
		Advice: fmt.Sprintf("add %s: \"{%s}\" to the attributes, or use the field in where", name, name),
	}
}

// parameter returns the value of a parameter in the filter or the condition.
func (c *compiler) parameter(name string) (attr.Value, error) {
	v := c.p.Parameters.Get(name)
	if v.IsZero() {
		return v, &Error{
			Msg:    fmt.Sprintf("parameter :%s has no value", name),
			Advice: fmt.Sprintf("add parameters: {%s: …} with a value to try it with, or write the value itself", name),
		}
	}
	return v, nil
}

// given returns the pattern's condition on a field or a key attribute.
func (c *compiler) given(name string) (model.Condition, bool) {
	for _, w := range c.p.Where {
		if w.Field == name {
			return w, true
		}
	}
	return model.Condition{}, false
}

// direct returns the condition on a key attribute itself, as opposed to its fields. It returns false if a field has
// the attribute's name, because the condition is then on the field.
func (c *compiler) direct(a model.Attribute) (model.Condition, bool) {
	if c.p.Entity != nil && c.p.Entity.Field(a.Name) != nil {
		return model.Condition{}, false
	}
	return c.given(a.Name)
}

func (c *compiler) where() string {
	if c.p.Index != nil {
		return "index " + c.p.Index.Name
	}
	return "table " + c.p.Table.Name
}

// equal returns the values of the fields that the pattern compares with =.
func (c *compiler) equal() map[string]string {
	all := map[string]string{}
	for _, w := range c.p.Where {
		if w.Op == ast.Equal {
			all[w.Field] = w.Args[0]
		}
	}
	return all
}

// fixedValue returns the one value that the pattern gives a key attribute. It returns an error if the pattern leaves
// the value open.
func (c *compiler) fixedValue(a model.Attribute, role string) (attr.Value, error) {
	if w, ok := c.direct(a); ok {
		c.used[a.Name] = true
		if w.Op != ast.Equal {
			return attr.Value{}, &Error{
				Pos: w.Pos, Attribute: a.Name,
				Msg:    fmt.Sprintf("%s is %s, which allows only =, not %s", a.Name, role, w.Op),
				Advice: "only sort keys allow other conditions; make it part of a sort key, or scan",
			}
		}
		return model.ValueOf(w.Args[0], a.Kind)
	}

	t, err := c.template(a)
	if err != nil {
		return attr.Value{}, err
	}
	if t.Template == nil {
		return t.Const, nil
	}

	equal := c.equal()
	for _, part := range t.Template.Parts() {
		name := part.Name
		if name == "" {
			continue
		}
		w, ok := c.given(name)
		c.used[name] = true
		if text, one := c.inOne(w, part.Type); ok && one {
			equal[name] = text
			continue
		}
		switch {
		case !ok:
			return attr.Value{}, &Error{
				Attribute: a.Name, Component: name,
				Msg: fmt.Sprintf("%s, %s, is %s, but the pattern does not give %s", a.Name, role, t.Template, name),
				Advice: fmt.Sprintf(
					"add %s to where, or an index whose partition key has only fields that the pattern gives", name,
				),
			}
		case w.Op != ast.Equal:
			return attr.Value{}, &Error{
				Pos: w.Pos, Attribute: a.Name, Component: name,
				Msg:    fmt.Sprintf("%s is in %s, %s, which allows only =, not %s", name, a.Name, role, w.Op),
				Advice: c.otherwise(w, part.Type),
			}
		}
	}

	value, err := t.Template.Build(equal)
	if err != nil {
		return attr.Value{}, err
	}
	return model.ValueOf(value, t.Kind)
}

// inOne returns the period of the partition key, such as a day, that contains a whole range of times. A query for
// some hours then reads the partition of their day. inOne returns false in two cases: the range spans several
// periods, or it is only a part of the period and the sort key does not contain the time.
func (c *compiler) inOne(w model.Condition, t keys.Type) (text string, ok bool) {
	if unit, ok := precision(t); !ok || unit == len(model.Units) {
		return "", false
	}
	ends := whole(w, t)
	if ends.Op != ast.OpBetween && ends.Op != ast.Equal {
		return "", false
	}
	low, high := ends.Args[0], ends.Args[len(ends.Args)-1]
	from, err1 := periodOf(t, low)
	to, err2 := periodOf(t, high)
	if err1 != nil || err2 != nil || from != to {
		return "", false
	}
	if ends.Op == ast.Equal {
		if _, err := t.Canonical(low); err == nil {
			return "", false // the template accepts this value as it is
		}
	}
	_, sort := c.p.Keys()
	inSort := c.p.Entity != nil && c.p.Entity.ComponentsOf(sort)[w.Field]
	return from, inSort || covers(low, high, from)
}

// otherwise returns advice for a pattern whose condition on a component of the partition key is not =.
func (c *compiler) otherwise(w model.Condition, t keys.Type) string {
	unit, ok := precision(t)
	switch {
	case w.Op == model.In:
		return "the pattern is one request for each value: write {" + w.Field + ": …} with one of them"
	case !ok || unit == len(model.Units):
		return fmt.Sprintf("move %s into a sort key; a query reads one partition", w.Field)
	case w.Op != ast.OpBetween:
		return fmt.Sprintf("write both ends, as in {%s: {between: [%s, %[2]s]}}", w.Field, w.Args[0])
	}
	return fmt.Sprintf(
		"a partition holds one %s: keep the range within it, and unless that is all of it add {%s} to the sort key",
		t.Name, w.Field,
	)
}

func (c *compiler) template(a model.Attribute) (*model.Template, error) {
	if c.p.Entity == nil {
		return nil, &Error{
			Attribute: a.Name, Msg: fmt.Sprintf("the pattern does not give %s, a key of %s", a.Name, c.where()),
			Advice: fmt.Sprintf("add %s to where, or name the entity with its fields", a.Name),
		}
	}
	t := c.p.Entity.Attribute(a.Name)
	if t == nil {
		return nil, &Error{
			Attribute: a.Name,
			Msg: fmt.Sprintf(
				"entity %s has no attribute %s, so none of its items is in %s", c.p.Entity.Name, a.Name, c.where(),
			),
			Advice: fmt.Sprintf("add %s to the attributes of %s", a.Name, c.p.Entity.Name),
		}
	}
	return t, nil
}

// key returns the key of a GetItem.
func (c *compiler) key() (attr.Item, error) {
	var b attr.Builder
	for _, a := range c.p.Table.Keys() {
		v, err := c.fixedValue(a, "a key of the item")
		if err != nil {
			return nil, err
		}
		b.Add(a.Name, v)
	}
	return b.Item(), c.checkUsed(c.p.Table.Keys())
}

// checkUsed returns an error if a condition applies to none of the listed key attributes.
func (c *compiler) checkUsed(list []model.Attribute) error {
	for _, w := range c.p.Where {
		if c.used[w.Field] {
			continue
		}
		for _, a := range list {
			if t := c.templateOf(a); t != nil && slices.Contains(t.Template.Components(), w.Field) {
				return c.blocked(w, a, t)
			}
		}
		return &Error{
			Pos: w.Pos, Component: w.Field, Msg: fmt.Sprintf("%s is not in a key of %s", w.Field, c.where()),
			Advice: "use filter, which reads rows before it drops them, or an index with it in the key",
		}
	}
	return nil
}

// templateOf returns the template of a key attribute, or nil.
func (c *compiler) templateOf(a model.Attribute) *model.Template {
	if c.p.Entity == nil {
		return nil
	}
	if t := c.p.Entity.Attribute(a.Name); t != nil && t.Template != nil {
		return t
	}
	return nil
}

// openPart returns the first component of a template that has no fixed value, and why it has none. It searches the
// components before the one named before, or all components if before is "". missing is true if the pattern has no
// condition on the component.
func (c *compiler) openPart(t *model.Template, before string) (name, why string, missing bool) {
	for _, part := range t.Template.Parts() {
		if part.Name == "" {
			continue
		}
		if part.Name == before {
			break
		}
		w, ok := c.given(part.Name)
		switch {
		case !ok:
			return part.Name, "the pattern does not give " + part.Name, true
		case whole(w, part.Type).Op != ast.Equal:
			return part.Name, part.Name + " already has a range", false
		}
	}
	return "", "", false
}

// blocked returns the error for a condition that cannot be used because an earlier component has no fixed value. The
// earlier component is in the same template, or in the template of an earlier key attribute.
func (c *compiler) blocked(w model.Condition, a model.Attribute, t *model.Template) error {
	name, why, missing := c.openPart(t, w.Field)
	moved, after, key := w.Field, name, fmt.Sprintf("%s (%s)", a.Name, t.Template)
	if name == "" {
		moved, after, key = a.Name, c.open.Name, "the key"
		if of := c.templateOf(c.open); of != nil {
			name, why, missing = c.openPart(of, "")
		}
		why = cmp.Or(why, c.open.Name+" already has a range")
	}

	where, otherwise := "the key of an index", "filter by "+w.Field
	if missing {
		where, otherwise = "the key or in "+where, "add "+name+" to where"
	}
	return &Error{
		Pos: w.Pos, Attribute: a.Name, Component: w.Field,
		Msg: fmt.Sprintf(
			"%s comes after %s in %s, and %s: rows with the same %s are not adjacent", moved, after, key, why, w.Field,
		),
		Advice: fmt.Sprintf("put %s before %s in %s, or %s", moved, after, where, otherwise),
	}
}
