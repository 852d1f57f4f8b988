// Package expr parses, checks and evaluates the expressions of DynamoDB on items, without a table:
//
//	values, err := attr.ParseItem([]byte(`{":open": {"S": "open"}, ":n": {"N": "3"}}`))
//	params := expr.Params{Names: map[string]string{"#s": "status"}, Values: values}
//	filter, err := expr.ParseCondition("#s = :open AND size(parts) >= :n", params)
//	filter.Match(item) // true or false; nil is an item that does not exist
//
//	some, err := expr.ParseProjection("id, parts[0], holder.city", expr.Params{})
//	part := attr.Item(some.Append(nil, item))
//
//	count, err := expr.ParseUpdate("ADD visits :n", …)
//	after, err := count.Apply(item, key)
//
// A [Condition], a [Projection] and an [Update] are immutable and safe for concurrent use. They work on
// binary items in place and allocate only the new item of an update. Package keycond makes a range of a
// [Condition] on a key.
//
// An [Error] has the service's text and the byte where the fault lies. If an expression has several faults, the
// reported one is that which the service reports.
package expr

import (
	"errors"

	"github.com/sortkey/sortkey/attr"
	impl "github.com/sortkey/sortkey/internal/expr"
)

// Params are what the placeholders of an expression stand for. The zero Params have none. What is parsed keeps
// the values, so do not change them afterwards.
// Source: DG/Expressions.ExpressionAttributeNames.html, DG/Expressions.ExpressionAttributeValues.html.
type Params struct {
	// Names are names of attributes by placeholder, such as "#n"; nil for none.
	Names map[string]string
	// Values has an attribute for each placeholder of a value, such as ":v"; nil for none.
	Values attr.Item
}

// An Error says why the service refuses an expression, with a ValidationException. Use it to show the user of an
// expression where the fault lies; its text alone is that of any error.
type Error struct {
	// Param is the parameter of a request that takes such an expression, such as "UpdateExpression". It is
	// ExpressionAttributeNames or ExpressionAttributeValues if the fault is there, and empty for errors that depend
	// on the item.
	Param string
	// Message is the service's message without the prefix that [Error.Error] adds, such as
	// "Invalid UpdateExpression: ".
	Message string
	// Offset is the byte offset of the fault in the expression.
	Offset int
	// Near is the text at Offset: the token and its neighbours for a syntax error, otherwise the token.
	Near string
}

// Error returns the text of the service's ValidationException.
func (e *Error) Error() string {
	return (&impl.Error{Param: impl.Param(e.Param), Message: e.Message}).Error()
}

// Errors of [Update.Apply], for errors.Is, which depend on the item.
var (
	// ErrPath is for a path whose parent is not in the item, or is not a document.
	ErrPath = public(impl.ErrPath)
	// ErrMissing is for a path that is read and is not in the item.
	ErrMissing = public(impl.ErrMissing)
	// ErrOperand is for a value in the item that is of another kind than the update needs.
	ErrOperand = public(impl.ErrOperand)
)

// public returns the *Error of an error of package impl.
func public(err error) error {
	e, ok := errors.AsType[*impl.Error](err)
	if !ok {
		return err
	}
	return &Error{string(e.Param), e.Message, e.Offset, e.Near}
}

// A Condition is a condition on an item: a condition, filter or key condition expression. The nil Condition is true
// for every item.
type Condition impl.Condition

// ParseCondition parses and checks a condition. Other expressions may have the same [Params]: those that the condition
// does not use are ignored. The error is an [*Error].
func ParseCondition(src string, p Params) (*Condition, error) {
	c, err := parse(p, func(e *impl.Env) (*impl.Condition, error) { return e.Condition(impl.ConditionExpression, src) })
	return (*Condition)(c), err
}

// parse parses an expression with an environment of its parameters.
func parse[T any](p Params, parse func(*impl.Env) (*T, error)) (*T, error) {
	env, err := impl.NewEnv(impl.Params(p))
	if err != nil {
		return nil, public(err)
	}
	parsed, err := parse(env)
	return parsed, public(err)
}

// Match reports whether the condition is true for the item. An item that does not exist is nil. Values of the wrong
// kind are not errors: they make a comparison false. Match does not allocate.
func (c *Condition) Match(it attr.Item) bool { return (*impl.Condition)(c).Match(it) }

// String returns the condition in one form, with all parentheses, or "" for nil. Use it to compare conditions.
func (c *Condition) String() string { return (*impl.Condition)(c).String() }

// A Projection selects parts of an item. The nil Projection selects the whole item.
type Projection impl.Projection

// ParseProjection is [ParseCondition] for a projection expression.
func ParseProjection(src string, p Params) (*Projection, error) {
	parsed, err := parse(p, func(e *impl.Env) (*impl.Projection, error) { return e.Projection(src) })
	return (*Projection)(parsed), err
}

// Append appends to dst a new item with the projected parts of it, and returns the extended dst. It omits what the
// item does not have, closes gaps in lists, and does not add key attributes.
func (p *Projection) Append(dst []byte, it attr.Item) []byte {
	return (*impl.Projection)(p).Append(dst, it)
}

// An Update is a change of an item.
type Update impl.Update

// ParseUpdate is [ParseCondition] for an update expression.
func ParseUpdate(src string, p Params) (*Update, error) {
	u, err := parse(p, func(e *impl.Env) (*impl.Update, error) { return e.Update(src) })
	return (*Update)(u), err
}

// Apply returns the item after the update: a new item that shares nothing with the old one. Every right-hand side and
// every list index refers to the old item. If the old item does not exist (the nil Item), the new one starts with the
// attributes of key, or is nil when the update only removes. The error is [ErrPath], [ErrMissing], [ErrOperand] or
// another [*Error].
func (u *Update) Apply(old, key attr.Item) (attr.Item, error) {
	after, err := (*impl.Update)(u).Apply(old, key)
	switch err {
	case impl.ErrPath:
		return after, ErrPath
	case impl.ErrMissing:
		return after, ErrMissing
	case impl.ErrOperand:
		return after, ErrOperand
	}
	return after, public(err)
}

// Project returns the parts of an item that the update changes, which is what UPDATED_OLD and UPDATED_NEW return for
// the item before and after. It is nil if the item has none of them.
func (u *Update) Project(it attr.Item) attr.Item { return (*impl.Update)(u).Project(it) }

// String returns the update in one form, its clauses in their order.
func (u *Update) String() string { return (*impl.Update)(u).String() }
