package expr

import "github.com/sortkey/sortkey/attr"

// Params are what the placeholders of expressions stand for. The zero Params have none.
// Source: DG/Expressions.ExpressionAttributeNames.html, DG/Expressions.ExpressionAttributeValues.html.
type Params struct {
	// Names are names of attributes by placeholder, such as "#n"; nil for none.
	Names map[string]string
	// Values has an attribute for each placeholder of a value, such as ":v"; nil for none.
	Values attr.Item
}

// ParseCondition parses and checks a condition that stands alone, or a filter. Every placeholder must be
// used. The error is an [*Error].
func ParseCondition(src string, p Params) (*Condition, error) {
	return parseOne(p, func(e *Env) (*Condition, error) { return e.Condition(ConditionExpression, src) })
}

// ParseProjection is [ParseCondition] for a projection expression.
func ParseProjection(src string, p Params) (*Projection, error) {
	return parseOne(p, func(e *Env) (*Projection, error) { return e.Projection(src) })
}

// ParseUpdate is [ParseCondition] for an update expression.
func ParseUpdate(src string, p Params) (*Update, error) {
	return parseOne(p, func(e *Env) (*Update, error) { return e.Update(src) })
}

// parseOne parses the only expression of a request.
func parseOne[T any](p Params, parse func(*Env) (*T, error)) (*T, error) {
	e, err := NewEnv(p)
	if err != nil {
		return nil, err
	}
	parsed, err := parse(e)
	if err != nil {
		return nil, err
	}
	if err := e.Unused(); err != nil {
		return nil, err
	}
	return parsed, nil
}
