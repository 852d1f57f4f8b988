package wire

import (
	"cmp"
	"reflect"
	"slices"
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

// CheckParams checks the parameters of the action.
func (x *ConditionCheck) CheckParams() error {
	return checkParams(OpTransactWriteItems, x, "ConditionExpression")
}

// CheckParams checks the parameters of the action.
func (x *Update) CheckParams() error {
	return checkParams(OpTransactWriteItems, x, "UpdateExpression", "ConditionExpression")
}

// checkParams implements CheckParams for the structure that x points to. A ConditionalOperator joins the conditions
// of the parameter before it, and needs two of them, as captured in ExtendDB's tests of legacy parameters.
// KeyConditions may be combined with any expression except KeyConditionExpression.
func checkParams(op Op, x any, names ...string) error {
	v := reflect.ValueOf(x)
	s := structureOf(v.Type().Elem())
	known := s.params.Load()
	if known == nil {
		known = new([]*member)
		for _, name := range append(names, "ExpressionAttributeNames", "ExpressionAttributeValues") {
			*known = append(*known, s.find(name))
		}
		s.params.Store(known)
	}
	at := v.UnsafePointer()
	present := func(i int) bool { return (*known)[i] != nil && !(*known)[i].absentFrom(at) }

	var expression, used, legacy bool
	conditions := -1
	for i, name := range names {
		if !present(i) {
			continue
		}
		switch {
		case strings.HasSuffix(name, "Expression"):
			expression = true
			used = used || name != "ProjectionExpression"
		case name == "ConditionalOperator":
			conditions = v.Elem().Field((*known)[i-1].index).Len()
			fallthrough
		default:
			legacy = legacy || name != "KeyConditions" || present(slices.Index(names, "KeyConditionExpression"))
		}
	}

	switch {
	case expression && legacy:
		var expressions, others []string
		for i, name := range names {
			switch {
			case !present(i):
			case strings.HasSuffix(name, "Expression"):
				expressions = append(expressions, name)
			case name != "KeyConditions" || slices.Contains(expressions, "KeyConditionExpression"):
				others = append(others, name)
			}
		}
		return op.Invalid("Can not use both expression and non-expression parameters in the same request: " +
			"Non-expression parameters: {" + strings.Join(others, ", ") + "} " +
			"Expression parameters: {" + strings.Join(expressions, ", ") + "}")
	case !expression && present(len(names)):
		return op.Invalid("ExpressionAttributeNames can only be specified when using expressions")
	case !used && present(len(names)+1):
		return op.Invalid(op.valuesText(slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return name == "ProjectionExpression" || !strings.HasSuffix(name, "Expression")
		})))
	case conditions == 0:
		return op.Invalid("ConditionalOperator cannot be used without Filter or Expected")
	case conditions == 1:
		return op.Invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")
	}
	return nil
}
