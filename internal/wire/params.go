package wire

import (
	"reflect"
	"slices"
	"strings"
)

// expressionParams and legacyParams are the parameters that exclude each other, in the order of the service's
// messages. No request has more than a few of them. Source: dynalite validations/index.js, validateExpressionParams,
// and the names and their order in its callers.
var (
	expressionParams = []string{
		projectionParam, "FilterExpression", "KeyConditionExpression", "UpdateExpression", "ConditionExpression",
	}
	legacyParams = []string{
		"AttributesToGet", "AttributeUpdates", "QueryFilter", "ScanFilter", "Expected", operatorParam, "KeyConditions",
	}
)

const (
	projectionParam = "ProjectionExpression" // the only expression that cannot use values
	operatorParam   = "ConditionalOperator"
)

// CheckParams returns an [*Error] for parameters that exclude each other, otherwise nil. x points to the input of op
// or to a structure inside the input. In transactions, the actions that write need no such check: Put and Delete
// accept names and values that no expression uses, and the others must have an expression.
func (op Op) CheckParams(x any) error {
	v := reflect.ValueOf(x).Elem()
	s, at := structureOf(v.Type()), v.Addr().UnsafePointer()
	has := func(m *member) bool { return m != nil && !m.absentFrom(at) }
	used := slices.ContainsFunc(s.expressions, func(m *member) bool { return m.name != projectionParam && has(m) })
	unused := has(s.values) && !used || has(s.names) && !slices.ContainsFunc(s.expressions, has)
	if !unused && !slices.ContainsFunc(s.legacy, has) {
		return nil
	}

	var present, absent, legacy []string
	for _, m := range s.expressions {
		if has(m) {
			present = append(present, m.name)
		} else if m.name != projectionParam {
			absent = append(absent, m.name)
		}
	}
	for _, m := range s.legacy {
		// KeyConditions may be combined with any expression except KeyConditionExpression.
		if has(m) && (m.name != "KeyConditions" || slices.Contains(present, "KeyConditionExpression")) {
			legacy = append(legacy, m.name)
		}
	}
	switch operator := slices.Contains(legacy, operatorParam); {
	case present != nil && legacy != nil:
		return op.Invalid("Can not use both expression and non-expression parameters in the same request: " +
			"Non-expression parameters: {" + strings.Join(legacy, ", ") + "} " +
			"Expression parameters: {" + strings.Join(present, ", ") + "}")
	case has(s.names) && present == nil:
		return op.Invalid("ExpressionAttributeNames can only be specified when using expressions")
	case has(s.values) && !used:
		return op.Invalid(op.valuesText(absent))
	case operator:
		return op.checkOperator(v)
	}
	return nil
}

// checkOperator returns an error for a ConditionalOperator without two conditions to join. Source: ExtendDB's tests of
// legacy parameters.
func (op Op) checkOperator(x reflect.Value) error {
	n := 0
	for _, name := range []string{"QueryFilter", "ScanFilter", "Expected"} {
		if conditions := x.FieldByName(name); conditions.IsValid() {
			n += conditions.Len()
		}
	}
	switch n {
	case 0:
		return op.Invalid("ConditionalOperator cannot be used without Filter or Expected")
	case 1:
		return op.Invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")
	}
	return nil
}
