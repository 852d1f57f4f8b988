package wire

import "strings"

// params are the parameters of a request that belong to expressions and the
// legacy ones they may not be mixed with, in the order in which the service
// lists them. Source: dynalite validations/index.js, validateExpressionParams;
// its callers give the names and their order.
type params struct {
	op            Op
	names, values bool // ExpressionAttributeNames and ExpressionAttributeValues are there
	expressions   [4]string
	legacy        [4]string
	using         [4]string // expressions that can use values and are absent
	nExpressions  int
	nLegacy       int
	nUsing        int
	used          bool // an expression that can use values is there
	operator      bool // ConditionalOperator is there
	conditions    int  // that it can join
}

// expression notes an expression parameter that can use values.
func (p *params) expression(name string, present bool) {
	if present {
		p.projection(name, true)
		p.used = true
		return
	}
	p.using[p.nUsing] = name
	p.nUsing++
}

// projection notes an expression parameter that cannot use values.
func (p *params) projection(name string, present bool) {
	if present {
		p.expressions[p.nExpressions] = name
		p.nExpressions++
	}
}

func (p *params) old(name string, present bool) {
	if present {
		p.legacy[p.nLegacy] = name
		p.nLegacy++
	}
}

// joined notes a ConditionalOperator and the number of conditions it joins.
func (p *params) joined(operator *string, conditions int) {
	p.old("ConditionalOperator", operator != nil)
	p.operator, p.conditions = operator != nil, conditions
}

// check returns the ValidationException for parameters that do not go
// together. That a ConditionalOperator needs two conditions is captured in
// ExtendDB's tests of legacy parameters.
func (p *params) check() error {
	switch {
	case p.nExpressions > 0 && p.nLegacy > 0:
		return p.op.Invalid("Can not use both expression and non-expression parameters in the same request: " +
			"Non-expression parameters: {" + strings.Join(p.legacy[:p.nLegacy], ", ") + "} " +
			"Expression parameters: {" + strings.Join(p.expressions[:p.nExpressions], ", ") + "}")
	case p.operator && p.conditions == 0:
		return p.op.Invalid("ConditionalOperator cannot be used without Filter or Expected")
	case p.operator && p.conditions == 1:
		return p.op.Invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")
	case p.names && p.nExpressions == 0:
		return p.op.Invalid("ExpressionAttributeNames can only be specified when using expressions")
	case p.values && !p.used:
		return p.op.Invalid(p.op.valuesText(p.using[:p.nUsing]))
	}
	return nil
}

// CheckParams returns the error for parameters that may not be used together,
// an [*Error]; nil when they may.
func (x *PutItemInput) CheckParams() error {
	p := params{op: OpPutItem, names: x.ExpressionAttributeNames != nil, values: x.ExpressionAttributeValues != nil}
	p.expression("ConditionExpression", x.ConditionExpression != nil)
	p.old("Expected", x.Expected != nil)
	p.joined(x.ConditionalOperator, len(x.Expected))
	return p.check()
}

// CheckParams is as [PutItemInput.CheckParams].
func (x *DeleteItemInput) CheckParams() error {
	p := params{op: OpDeleteItem, names: x.ExpressionAttributeNames != nil, values: x.ExpressionAttributeValues != nil}
	p.expression("ConditionExpression", x.ConditionExpression != nil)
	p.old("Expected", x.Expected != nil)
	p.joined(x.ConditionalOperator, len(x.Expected))
	return p.check()
}

// CheckParams is as [PutItemInput.CheckParams].
func (x *UpdateItemInput) CheckParams() error {
	p := params{op: OpUpdateItem, names: x.ExpressionAttributeNames != nil, values: x.ExpressionAttributeValues != nil}
	p.expression("UpdateExpression", x.UpdateExpression != nil)
	p.expression("ConditionExpression", x.ConditionExpression != nil)
	p.old("AttributeUpdates", x.AttributeUpdates != nil)
	p.old("Expected", x.Expected != nil)
	p.joined(x.ConditionalOperator, len(x.Expected))
	return p.check()
}

// CheckParams is as [PutItemInput.CheckParams].
func (x *GetItemInput) CheckParams() error {
	p := params{op: OpGetItem, names: x.ExpressionAttributeNames != nil}
	p.projection("ProjectionExpression", x.ProjectionExpression != nil)
	p.old("AttributesToGet", x.AttributesToGet != nil)
	return p.check()
}

// CheckParams is as [PutItemInput.CheckParams]. KeyConditions may stand beside
// expressions other than a KeyConditionExpression.
func (x *QueryInput) CheckParams() error {
	p := params{op: OpQuery, names: x.ExpressionAttributeNames != nil, values: x.ExpressionAttributeValues != nil}
	p.projection("ProjectionExpression", x.ProjectionExpression != nil)
	p.expression("FilterExpression", x.FilterExpression != nil)
	p.expression("KeyConditionExpression", x.KeyConditionExpression != nil)
	p.old("AttributesToGet", x.AttributesToGet != nil)
	p.old("QueryFilter", x.QueryFilter != nil)
	p.joined(x.ConditionalOperator, len(x.QueryFilter))
	p.old("KeyConditions", x.KeyConditions != nil && x.KeyConditionExpression != nil)
	return p.check()
}

// CheckParams is as [PutItemInput.CheckParams].
func (x *ScanInput) CheckParams() error {
	p := params{op: OpScan, names: x.ExpressionAttributeNames != nil, values: x.ExpressionAttributeValues != nil}
	p.projection("ProjectionExpression", x.ProjectionExpression != nil)
	p.expression("FilterExpression", x.FilterExpression != nil)
	p.old("AttributesToGet", x.AttributesToGet != nil)
	p.old("ScanFilter", x.ScanFilter != nil)
	p.joined(x.ConditionalOperator, len(x.ScanFilter))
	return p.check()
}

// CheckParams is as [PutItemInput.CheckParams], for one table of BatchGetItem.
func (x *KeysAndAttributes) CheckParams() error {
	p := params{op: OpBatchGetItem, names: x.ExpressionAttributeNames != nil}
	p.projection("ProjectionExpression", x.ProjectionExpression != nil)
	p.old("AttributesToGet", x.AttributesToGet != nil)
	return p.check()
}

// CheckParams is as [PutItemInput.CheckParams], for one action of
// TransactGetItems.
func (x *Get) CheckParams() error {
	p := params{op: OpTransactGetItems, names: x.ExpressionAttributeNames != nil}
	p.projection("ProjectionExpression", x.ProjectionExpression != nil)
	return p.check()
}

// CheckParams is as [PutItemInput.CheckParams], for one action of
// TransactWriteItems.
func (x *Put) CheckParams() error {
	return transactParams(x.ConditionExpression != nil, x.ExpressionAttributeNames != nil, x.ExpressionAttributeValues != nil)
}

// CheckParams is as [Put.CheckParams].
func (x *Delete) CheckParams() error {
	return transactParams(x.ConditionExpression != nil, x.ExpressionAttributeNames != nil, x.ExpressionAttributeValues != nil)
}

// CheckParams is as [Put.CheckParams].
func (x *ConditionCheck) CheckParams() error {
	return transactParams(x.ConditionExpression != nil, x.ExpressionAttributeNames != nil, x.ExpressionAttributeValues != nil)
}

// CheckParams is as [Put.CheckParams].
func (x *Update) CheckParams() error {
	p := params{op: OpTransactWriteItems, names: x.ExpressionAttributeNames != nil, values: x.ExpressionAttributeValues != nil}
	p.expression("UpdateExpression", x.UpdateExpression != nil)
	p.expression("ConditionExpression", x.ConditionExpression != nil)
	return p.check()
}

func transactParams(condition, names, values bool) error {
	p := params{op: OpTransactWriteItems, names: names, values: values}
	p.expression("ConditionExpression", condition)
	return p.check()
}
