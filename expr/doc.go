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
// An [Error] has the service's text and the byte where the fault lies. If an expression has several faults, the error
// reports the one that the service reports.
//
// The types are aliases, which the other packages of this module share; the comment of each lists its methods.
package expr

import (
	impl "github.com/sortkey/sortkey/internal/expr"
)

// Params are the names and values that the placeholders of an expression stand for; for an expression without
// placeholders, pass the zero Params. A parsed expression keeps the values, so do not change them afterwards.
//
//	type Params struct {
//		Names  map[string]string // names of attributes by placeholder, such as "#n"; nil for none
//		Values attr.Item         // an attribute for each placeholder of a value, such as ":v"; nil for none
//	}
//
// Source: DG/Expressions.ExpressionAttributeNames.html, DG/Expressions.ExpressionAttributeValues.html.
type Params = impl.Params

// An Error says why the service refuses an expression, with a ValidationException. Look for it with errors.As to show
// where in the expression the fault lies; Error returns the service's text.
//
//	type Error struct {
//		Param   string // parameter of a request that takes such an expression, such as "UpdateExpression"
//		Message string // the service's message without the prefix that Error adds
//		Offset  int    // byte offset of the fault in the expression
//		Near    string // the token at Offset, with its neighbours for a syntax error
//	}
type Error = impl.Error

// Errors of Update.Apply that depend on the item. Test for them with errors.Is: an update that returns one of them
// may fit another item, and an update that returns another error fits no item.
var (
	// ErrPath means that the parent of a path does not exist in the item or is not a document.
	ErrPath = impl.ErrPath
	// ErrMissing means that the update reads a path that the item does not have.
	ErrMissing = impl.ErrMissing
	// ErrOperand means that the item has a value of a kind that the update cannot use.
	ErrOperand = impl.ErrOperand
)

// A Condition is a condition, filter or key condition expression: Match evaluates it on an item, and package keycond
// makes a range of it. The nil Condition is true for every item.
//
//	func (c *Condition) Match(it attr.Item) bool // whether it is true; nil is an item that does not exist
//	func (c *Condition) String() string          // one form, with all parentheses, to compare conditions
//
// Values of the wrong kind are not errors: they make a comparison false. Match does not allocate.
type Condition = impl.Condition

// ParseCondition parses and checks a condition, such as "#s = :open AND n > :n". It ignores names and values of p that
// the condition does not use, so several expressions may share one p. The error is an [*Error].
func ParseCondition(src string, p Params) (*Condition, error) {
	env, err := impl.NewEnv(p)
	if err != nil {
		return nil, err
	}
	return env.Condition(impl.ConditionExpression, src)
}

// A Projection selects parts of an item, to show or send less than all of it. The nil Projection selects the whole
// item.
//
//	func (p *Projection) Append(dst []byte, it attr.Item) []byte // append a new item with the projected parts of it
//
// Append omits what the item does not have, closes gaps in lists, and does not add key attributes.
type Projection = impl.Projection

// ParseProjection parses and checks a projection expression, such as "id, parts[0]". The error is an [*Error].
func ParseProjection(src string, p Params) (*Projection, error) {
	env, err := impl.NewEnv(p)
	if err != nil {
		return nil, err
	}
	return env.Projection(src)
}

// An Update is a change of an item, as UpdateItem makes it.
//
//	func (u *Update) Apply(old, key attr.Item) (attr.Item, error) // the item after the update
//	func (u *Update) Project(it attr.Item) attr.Item              // the parts of an item that the update changes
//	func (u *Update) String() string                              // one form, its clauses in their order
//
// Apply returns a new item that shares nothing with the old one. Every right-hand side and every list index refers to
// the old item. If the old item does not exist (the nil Item), the new one starts with the attributes of key, or is
// nil when the update only removes. The error is [ErrPath], [ErrMissing], [ErrOperand] or another [*Error]. Project
// returns what UpdateItem sends for UPDATED_OLD (given the item before the update) or UPDATED_NEW (given the item
// after). It returns nil if the item has none of the parts.
type Update = impl.Update

// ParseUpdate parses and checks an update expression, such as "SET a = :a REMOVE b". The error is an [*Error].
func ParseUpdate(src string, p Params) (*Update, error) {
	env, err := impl.NewEnv(p)
	if err != nil {
		return nil, err
	}
	return env.Update(src)
}
