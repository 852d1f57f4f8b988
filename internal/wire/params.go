package wire

import "strings"

// params collects the parameters of expressions in a request, and the legacy
// ones that exclude them, in the order in which the service lists them. Source:
// dynalite validations/index.js, validateExpressionParams, and the names and
// their order in its callers.
type params struct {
	op            Op
	names, values bool // ExpressionAttributeNames and ExpressionAttributeValues are present
	expressions   [4]string
	legacy        [4]string
	absent        [4]string // absent expressions that could use values
	nExpressions  int
	nLegacy       int
	nAbsent       int
	used          bool // an expression that can use values is present
	operator      bool // ConditionalOperator is present
	conditions    int  // the number of conditions that it can join
}

// expression records an expression parameter that can use values.
func (p *params) expression(name string, present bool) {
	if present {
		p.projection(name, true)
		p.used = true
		return
	}
	p.absent[p.nAbsent] = name
	p.nAbsent++
}

// projection records an expression parameter that cannot use values.
func (p *params) projection(name string, present bool) {
	if present {
		p.expressions[p.nExpressions] = name
		p.nExpressions++
	}
}

func (p *params) legacyParam(name string, present bool) {
	if present {
		p.legacy[p.nLegacy] = name
		p.nLegacy++
	}
}

// joined records a ConditionalOperator and the number of conditions it joins.
func (p *params) joined(operator *string, conditions int) {
	p.legacyParam("ConditionalOperator", operator != nil)
	p.operator, p.conditions = operator != nil, conditions
}

// check returns the ValidationException for parameters that exclude each other.
// ExtendDB's tests of legacy parameters captured that a ConditionalOperator
// needs two conditions.
func (p *params) check() error {
	switch {
	case p.nExpressions > 0 && p.nLegacy > 0:
		return p.op.Invalid("Can not use both expression and non-expression parameters in the same request: " +
			"Non-expression parameters: {" + strings.Join(p.legacy[:p.nLegacy], ", ") + "} " +
			"Expression parameters: {" + strings.Join(p.expressions[:p.nExpressions], ", ") + "}")
	case p.names && p.nExpressions == 0:
		return p.op.Invalid("ExpressionAttributeNames can only be specified when using expressions")
	case p.values && !p.used:
		return p.op.Invalid(p.op.valuesText(p.absent[:p.nAbsent]))
	case p.operator && p.conditions == 0:
		return p.op.Invalid("ConditionalOperator cannot be used without Filter or Expected")
	case p.operator && p.conditions == 1:
		return p.op.Invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")
	}
	return nil
}

// CheckParams returns an [*Error] for parameters that exclude each other,
// otherwise nil.
func (x *PutItemInput) CheckParams() error {
	p := params{op: OpPutItem, names: x.ExpressionAttributeNames != nil, values: x.ExpressionAttributeValues != nil}
	p.expression("ConditionExpression", x.ConditionExpression != nil)
	p.legacyParam("Expected", x.Expected != nil)
	p.joined(x.ConditionalOperator, len(x.Expected))
	return p.check()
}

// CheckParams is like [PutItemInput.CheckParams].
func (x *DeleteItemInput) CheckParams() error {
	p := params{op: OpDeleteItem, names: x.ExpressionAttributeNames != nil, values: x.ExpressionAttributeValues != nil}
	p.expression("ConditionExpression", x.ConditionExpression != nil)
	p.legacyParam("Expected", x.Expected != nil)
	p.joined(x.ConditionalOperator, len(x.Expected))
	return p.check()
}

// CheckParams is like [PutItemInput.CheckParams].
func (x *UpdateItemInput) CheckParams() error {
	p := params{op: OpUpdateItem, names: x.ExpressionAttributeNames != nil, values: x.ExpressionAttributeValues != nil}
	p.expression("UpdateExpression", x.UpdateExpression != nil)
	p.expression("ConditionExpression", x.ConditionExpression != nil)
	p.legacyParam("AttributeUpdates", x.AttributeUpdates != nil)
	p.legacyParam("Expected", x.Expected != nil)
	p.joined(x.ConditionalOperator, len(x.Expected))
	return p.check()
}

// CheckParams is like [PutItemInput.CheckParams].
func (x *GetItemInput) CheckParams() error {
	p := params{op: OpGetItem, names: x.ExpressionAttributeNames != nil}
	p.projection("ProjectionExpression", x.ProjectionExpression != nil)
	p.legacyParam("AttributesToGet", x.AttributesToGet != nil)
	return p.check()
}

// CheckParams is like [PutItemInput.CheckParams]. KeyConditions may be combined
// with expressions other than a KeyConditionExpression.
func (x *QueryInput) CheckParams() error {
	p := params{op: OpQuery, names: x.ExpressionAttributeNames != nil, values: x.ExpressionAttributeValues != nil}
	p.projection("ProjectionExpression", x.ProjectionExpression != nil)
	p.expression("FilterExpression", x.FilterExpression != nil)
	p.expression("KeyConditionExpression", x.KeyConditionExpression != nil)
	p.legacyParam("AttributesToGet", x.AttributesToGet != nil)
	p.legacyParam("QueryFilter", x.QueryFilter != nil)
	p.joined(x.ConditionalOperator, len(x.QueryFilter))
	p.legacyParam("KeyConditions", x.KeyConditions != nil && x.KeyConditionExpression != nil)
	return p.check()
}

// CheckParams is like [PutItemInput.CheckParams].
func (x *ScanInput) CheckParams() error {
	p := params{op: OpScan, names: x.ExpressionAttributeNames != nil, values: x.ExpressionAttributeValues != nil}
	p.projection("ProjectionExpression", x.ProjectionExpression != nil)
	p.expression("FilterExpression", x.FilterExpression != nil)
	p.legacyParam("AttributesToGet", x.AttributesToGet != nil)
	p.legacyParam("ScanFilter", x.ScanFilter != nil)
	p.joined(x.ConditionalOperator, len(x.ScanFilter))
	return p.check()
}

// CheckParams is like [PutItemInput.CheckParams], for parameters of different tables.
// Source: conformance, eu-west-2.
func (x *BatchGetItemInput) CheckParams() error {
	p := params{op: OpBatchGetItem}
	expression, legacy := false, false
	for _, ka := range x.RequestItems {
		expression = expression || ka.ProjectionExpression != nil
		legacy = legacy || ka.AttributesToGet != nil
	}
	p.projection("ProjectionExpression", expression)
	p.legacyParam("AttributesToGet", legacy)
	return p.check()
}

// CheckParams is like [PutItemInput.CheckParams], for one table of BatchGetItem.
func (x *KeysAndAttributes) CheckParams() error {
	p := params{op: OpBatchGetItem, names: x.ExpressionAttributeNames != nil}
	p.projection("ProjectionExpression", x.ProjectionExpression != nil)
	p.legacyParam("AttributesToGet", x.AttributesToGet != nil)
	return p.check()
}

// CheckParams is like [PutItemInput.CheckParams], for one action of
// TransactGetItems.
func (x *Get) CheckParams() error {
	p := params{op: OpTransactGetItems, names: x.ExpressionAttributeNames != nil}
	p.projection("ProjectionExpression", x.ProjectionExpression != nil)
	return p.check()
}

// CheckParams is like [PutItemInput.CheckParams], for one action of
// TransactWriteItems. Put and Delete accept names and values that no expression uses.
func (x *ConditionCheck) CheckParams() error {
	p := params{
		op: OpTransactWriteItems, names: x.ExpressionAttributeNames != nil, values: x.ExpressionAttributeValues != nil,
	}
	p.expression("ConditionExpression", x.ConditionExpression != nil)
	return p.check()
}

// CheckParams is like [ConditionCheck.CheckParams].
func (x *Update) CheckParams() error {
	p := params{
		op: OpTransactWriteItems, names: x.ExpressionAttributeNames != nil, values: x.ExpressionAttributeValues != nil,
	}
	p.expression("UpdateExpression", x.UpdateExpression != nil)
	p.expression("ConditionExpression", x.ConditionExpression != nil)
	return p.check()
}
