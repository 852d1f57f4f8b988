package wire

import (
	"cmp"
	"reflect"
	"strings"
)

// The methods CheckParams return an [*Error] for parameters that exclude each other, otherwise nil. They list the
// expressions of a request, and then its legacy parameters, in the order of the service's messages. In transactions,
// Put and Delete have no such method, as they accept names and values that no expression uses. Source: dynalite
// validations/index.js, validateExpressionParams, and the names and their order in its callers.

// CheckParams checks the parameters of the request.
func (x *PutItemInput) CheckParams() error {
	return checkParams(OpPutItem, x, "ConditionExpression", "Expected", "ConditionalOperator")
}

// CheckParams checks the parameters of the request.
func (x *DeleteItemInput) CheckParams() error {
	return checkParams(OpDeleteItem, x, "ConditionExpression", "Expected", "ConditionalOperator")
}

// CheckParams checks the parameters of the request.
func (x *UpdateItemInput) CheckParams() error {
	return checkParams(OpUpdateItem, x, "UpdateExpression", "ConditionExpression",
		"AttributeUpdates", "Expected", "ConditionalOperator")
}

// CheckParams checks the parameters of the request.
func (x *GetItemInput) CheckParams() error {
	return checkParams(OpGetItem, x, "ProjectionExpression", "AttributesToGet")
}

// CheckParams checks the parameters of the request.
func (x *QueryInput) CheckParams() error {
	return checkParams(OpQuery, x, "ProjectionExpression", "FilterExpression", "KeyConditionExpression",
		"AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions")
}

// CheckParams checks the parameters of the request.
func (x *ScanInput) CheckParams() error {
	return checkParams(OpScan, x, "ProjectionExpression", "FilterExpression",
		"AttributesToGet", "ScanFilter", "ConditionalOperator")
}

// CheckParams checks the parameters of one table.
func (x *KeysAndAttributes) CheckParams() error {
	return checkParams(OpBatchGetItem, x, "ProjectionExpression", "AttributesToGet")
}

// CheckParams checks whether the parameters of one table exclude those of another. Source: conformance, eu-west-2.
func (x *BatchGetItemInput) CheckParams() error {
	var all KeysAndAttributes
	for _, ka := range x.RequestItems {
		all.ProjectionExpression = cmp.Or(all.ProjectionExpression, ka.ProjectionExpression)
		if ka.AttributesToGet != nil {
			all.AttributesToGet = ka.AttributesToGet
		}
	}
	return all.CheckParams()
}

// CheckParams checks the parameters of the action.
func (x *Get) CheckParams() error { return checkParams(OpTransactGetItems, x, "ProjectionExpression") }

// checkParams implements CheckParams for the structure that x points to. A ConditionalOperator joins the conditions
// of the parameter before it, and needs two of them, as captured in ExtendDB's tests of legacy parameters.
// KeyConditions may be combined with any expression except KeyConditionExpression.
func checkParams(op Op, x any, names ...string) error {
	v := reflect.ValueOf(x).Elem()
	s := structureOf(v.Type())
	field := func(name string) reflect.Value { return v.Field(s.find(name).index) }
	present := func(name string) bool { return s.find(name) != nil && !field(name).IsNil() }

	const most = 4
	expressions, legacy := make([]string, 0, most), make([]string, 0, most)
	absent := make([]string, 0, most) // expressions that could use ExpressionAttributeValues
	used, conditions := false, -1
	for i, name := range names {
		switch projection := name == "ProjectionExpression"; {
		case !strings.HasSuffix(name, "Expression"):
			if !present(name) || name == "KeyConditions" && !present("KeyConditionExpression") {
				continue
			}
			legacy = append(legacy, name)
			if name == "ConditionalOperator" {
				conditions = field(names[i-1]).Len()
			}
		case present(name):
			expressions = append(expressions, name)
			used = used || !projection
		case !projection:
			absent = append(absent, name)
		}
	}

	switch {
	case len(expressions) > 0 && len(legacy) > 0:
		return op.Invalid("Can not use both expression and non-expression parameters in the same request: " +
			"Non-expression parameters: {" + strings.Join(legacy, ", ") + "} " +
			"Expression parameters: {" + strings.Join(expressions, ", ") + "}")
	case len(expressions) == 0 && present("ExpressionAttributeNames"):
		return op.Invalid("ExpressionAttributeNames can only be specified when using expressions")
	case !used && present("ExpressionAttributeValues"):
		return op.Invalid(op.valuesText(absent))
	case conditions == 0:
		return op.Invalid("ConditionalOperator cannot be used without Filter or Expected")
	case conditions == 1:
		return op.Invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")
	}
	return nil
}
