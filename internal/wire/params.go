package wire

import (
	"slices"
	"strings"
)

// The methods CheckParams return an [*Error] for parameters that exclude each other, otherwise nil. They list the
// expressions of a request, and its legacy parameters, in the order of the service's messages. KeyConditions may be
// combined with any expression except KeyConditionExpression. In transactions, the actions that write have no such
// method: Put and Delete accept names and values that no expression uses, and the others must have an expression.
// Source: dynalite validations/index.js, validateExpressionParams, and the names and their order in its callers.

// CheckParams checks the parameters of the request.
func (x *PutItemInput) CheckParams() error {
	return checkParams(OpPutItem, x.ExpressionAttributeNames != nil, x.ExpressionAttributeValues != nil,
		[]param{{"ConditionExpression", x.ConditionExpression != nil}},
		[]param{{"Expected", x.Expected != nil}, {operatorParam, x.ConditionalOperator != nil}}, len(x.Expected))
}

// CheckParams checks the parameters of the request.
func (x *DeleteItemInput) CheckParams() error {
	return checkParams(OpDeleteItem, x.ExpressionAttributeNames != nil, x.ExpressionAttributeValues != nil,
		[]param{{"ConditionExpression", x.ConditionExpression != nil}},
		[]param{{"Expected", x.Expected != nil}, {operatorParam, x.ConditionalOperator != nil}}, len(x.Expected))
}

// CheckParams checks the parameters of the request.
func (x *UpdateItemInput) CheckParams() error {
	return checkParams(OpUpdateItem, x.ExpressionAttributeNames != nil, x.ExpressionAttributeValues != nil,
		[]param{
			{"UpdateExpression", x.UpdateExpression != nil},
			{"ConditionExpression", x.ConditionExpression != nil},
		},
		[]param{
			{"AttributeUpdates", x.AttributeUpdates != nil},
			{"Expected", x.Expected != nil},
			{operatorParam, x.ConditionalOperator != nil},
		}, len(x.Expected))
}

// CheckParams checks the parameters of the request.
func (x *GetItemInput) CheckParams() error {
	return checkParams(OpGetItem, x.ExpressionAttributeNames != nil, false,
		[]param{{projectionParam, x.ProjectionExpression != nil}},
		[]param{{"AttributesToGet", x.AttributesToGet != nil}}, 0)
}

// CheckParams checks the parameters of the request.
func (x *QueryInput) CheckParams() error {
	return checkParams(OpQuery, x.ExpressionAttributeNames != nil, x.ExpressionAttributeValues != nil,
		[]param{
			{projectionParam, x.ProjectionExpression != nil},
			{"FilterExpression", x.FilterExpression != nil},
			{"KeyConditionExpression", x.KeyConditionExpression != nil},
		},
		[]param{
			{"AttributesToGet", x.AttributesToGet != nil},
			{"QueryFilter", x.QueryFilter != nil},
			{operatorParam, x.ConditionalOperator != nil},
			{"KeyConditions", x.KeyConditions != nil && x.KeyConditionExpression != nil},
		}, len(x.QueryFilter))
}

// CheckParams checks the parameters of the request.
func (x *ScanInput) CheckParams() error {
	return checkParams(OpScan, x.ExpressionAttributeNames != nil, x.ExpressionAttributeValues != nil,
		[]param{
			{projectionParam, x.ProjectionExpression != nil},
			{"FilterExpression", x.FilterExpression != nil},
		},
		[]param{
			{"AttributesToGet", x.AttributesToGet != nil},
			{"ScanFilter", x.ScanFilter != nil},
			{operatorParam, x.ConditionalOperator != nil},
		}, len(x.ScanFilter))
}

// CheckParams checks the parameters of one table.
func (x *KeysAndAttributes) CheckParams() error {
	return checkParams(OpBatchGetItem, x.ExpressionAttributeNames != nil, false,
		[]param{{projectionParam, x.ProjectionExpression != nil}},
		[]param{{"AttributesToGet", x.AttributesToGet != nil}}, 0)
}

// CheckParams checks whether the parameters of one table exclude those of another. Source: conformance, eu-west-2.
func (x *BatchGetItemInput) CheckParams() error {
	projection, attributes := param{name: projectionParam}, param{name: "AttributesToGet"}
	for _, ka := range x.RequestItems {
		projection.present = projection.present || ka.ProjectionExpression != nil
		attributes.present = attributes.present || ka.AttributesToGet != nil
	}
	return checkParams(OpBatchGetItem, false, false, []param{projection}, []param{attributes}, 0)
}

// CheckParams checks the parameters of the action.
func (x *Get) CheckParams() error {
	return checkParams(OpTransactGetItems, x.ExpressionAttributeNames != nil, false,
		[]param{{projectionParam, x.ProjectionExpression != nil}}, nil, 0)
}

// A param is a parameter of a request, and whether the request has it.
type param struct {
	name    string
	present bool
}

const (
	projectionParam = "ProjectionExpression" // the only expression that cannot use values
	operatorParam   = "ConditionalOperator"
)

// checkParams implements CheckParams. The parameters names and values report whether the request has names and values
// for its expressions. A ConditionalOperator needs two conditions to join, as captured in ExtendDB's tests of legacy
// parameters; conditions is their number.
func checkParams(op Op, names, values bool, expressions, legacy []param, conditions int) error {
	present := func(p param) bool { return p.present }
	expression := slices.ContainsFunc(expressions, present)
	used := slices.ContainsFunc(expressions, func(p param) bool { return p.present && p.name != projectionParam })
	operator := slices.Contains(legacy, param{operatorParam, true})
	switch {
	case expression && slices.ContainsFunc(legacy, present):
		return op.Invalid("Can not use both expression and non-expression parameters in the same request: " +
			"Non-expression parameters: {" + strings.Join(namesOf(legacy, true), ", ") + "} " +
			"Expression parameters: {" + strings.Join(namesOf(expressions, true), ", ") + "}")
	case names && !expression:
		return op.Invalid("ExpressionAttributeNames can only be specified when using expressions")
	case values && !used:
		return op.Invalid(op.valuesText(namesOf(expressions, false)))
	case operator && conditions == 0:
		return op.Invalid("ConditionalOperator cannot be used without Filter or Expected")
	case operator && conditions == 1:
		return op.Invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")
	}
	return nil
}

// namesOf returns the names of the parameters that are present, or of the absent ones that could use values.
func namesOf(list []param, present bool) (names []string) {
	for _, p := range list {
		if p.present == present && (present || p.name != projectionParam) {
			names = append(names, p.name)
		}
	}
	return names
}
