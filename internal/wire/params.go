package wire

import "strings"

// params collects the expression parameters of a request and its legacy parameters, which exclude each other. It
// keeps both in the order in which the service's message lists them. The generated CheckParams methods fill it from a
// table in apigen. Source: dynalite validations/index.js, validateExpressionParams, and the names and their order in
// its callers.
type params struct {
	op            Op
	names, values bool // ExpressionAttributeNames and ExpressionAttributeValues are present
	expressions   [4]string
	legacy        [4]string
	absent        [4]string // names of absent expressions that could use values
	nExpressions  int
	nLegacy       int
	nAbsent       int
	used          bool // at least one expression that can use values is present
	operator      bool // ConditionalOperator is present
	conditions    int  // number of conditions that ConditionalOperator can join
}

// expression adds a parameter whose expression can use ExpressionAttributeValues, such as a FilterExpression.
func (p *params) expression(name string, present bool) {
	if present {
		p.projection(name, true)
		p.used = true
		return
	}
	p.absent[p.nAbsent] = name
	p.nAbsent++
}

// projection adds a parameter that is present and whose expression cannot use ExpressionAttributeValues.
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

// joined adds the legacy parameter ConditionalOperator, and the number of conditions that it can join.
func (p *params) joined(operator *string, conditions int) {
	p.legacyParam("ConditionalOperator", operator != nil)
	p.operator, p.conditions = operator != nil, conditions
}

// check returns a ValidationException if the request has parameters that exclude each other. It also returns one if
// ConditionalOperator has fewer than two conditions to join, as captured in ExtendDB's tests of legacy parameters.
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

// CheckParams does for the parameters of each table what [PutItemInput.CheckParams] does for those of a request.
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
