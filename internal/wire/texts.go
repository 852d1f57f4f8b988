package wire

import (
	"cmp"
	"slices"
	"strings"
)

// This file is the only place for messages and rules that differ between
// operations, or that the service has changed from region to region. The
// service has two layers of validation. The older one prints values and writes
// members with a lower-case first letter. The newer one ("Value at 'Limit'
// failed to satisfy constraint") stops at the first violation. During 2026,
// regions moved from one layer to the other operation by operation. Source:
// paritysuite/dynamodb-conformance, registry/splits.json and captures/.

// A form says how a violation is reported.
type form uint8

const (
	formUsual    form = iota // together with others
	formSentence             // as a sentence of its own, before all others
	formAlone                // in the usual wording, but without others
	formGeneric              // in the newer layer's wording, and without others
	formOmitted              // omitted if an enumeration is violated too
)

// emptyTable is the form for an empty table name. In the newer layer it would
// be formGeneric.
const emptyTable = formAlone

// newerWrites adds the prefix "1 validation error detected: " to the refusals
// of PutItem, UpdateItem and DeleteItem, as in regions that have moved.
const newerWrites = false

// A rule says how an operation reports a violation.
type rule struct {
	op     Op
	member string
	check  check
	form   form
	text   string // of formSentence
}

const (
	noTable    = "The parameter 'TableName' is required but was not present in the request"
	noResource = "Invalid TableArn"
)

var rules = [...]rule{
	// An empty table name is reported alone, whatever else is wrong.
	{op: OpPutItem, member: "TableName", check: checkMin, form: emptyTable},
	{op: OpUpdateItem, member: "TableName", check: checkMin, form: emptyTable},
	{op: OpDeleteItem, member: "TableName", check: checkMin, form: emptyTable},
	{op: OpGetItem, member: "TableName", check: checkMin, form: emptyTable},
	{op: OpQuery, member: "TableName", check: checkMin, form: emptyTable},
	{op: OpScan, member: "TableName", check: checkMin, form: emptyTable},
	// Conformance validation-ordering/updateItem: only the first enumeration.
	{op: OpUpdateItem, member: "ReturnValues", check: checkEnum, form: formAlone},
	// Conformance error-messages/query; Scan has the usual form.
	{op: OpQuery, member: "Limit", check: checkMin, form: formGeneric},
	// Conformance error-messages/batchGetItem.
	{op: OpBatchGetItem, member: "Keys", check: checkMin, form: formGeneric},
	{op: OpBatchGetItem, member: "Keys", check: checkMax, form: formGeneric},
	{op: OpBatchGetItem, member: "RequestItems", check: checkMin, form: formSentence, text: "The requestItems parameter is required for BatchGetItem"},
	{op: OpBatchWriteItem, member: "RequestItems", check: checkMin, form: formSentence, text: "The requestItems parameter is required for BatchWriteItem"},
	// Conformance validation-ordering/batchOperations.
	{op: OpBatchWriteItem, member: "RequestItems", check: checkKeys, form: formOmitted},
	// Conformance error-messages/createTable; dynalite test/updateTable.js,
	// deleteTable.js, describeTable.js.
	{op: OpCreateTable, member: "TableName", check: checkNull, form: formSentence, text: noTable},
	{op: OpUpdateTable, member: "TableName", check: checkNull, form: formSentence, text: noTable},
	{op: OpDeleteTable, member: "TableName", check: checkNull, form: formSentence, text: noTable},
	{op: OpDescribeTable, member: "TableName", check: checkNull, form: formSentence, text: noTable},
	// Dynalite test/tagResource.js, untagResource.js, listTagsOfResource.js.
	{op: OpTagResource, member: "ResourceArn", check: checkNull, form: formSentence, text: noResource},
	{op: OpUntagResource, member: "ResourceArn", check: checkNull, form: formSentence, text: noResource},
	{op: OpListTagsOfResource, member: "ResourceArn", check: checkNull, form: formSentence, text: noResource},
}

func (op Op) rule(x *violation) *rule {
	for i := range rules {
		if r := &rules[i]; r.op == op && r.member == x.member && r.check == x.check {
			return r
		}
	}
	return nil
}

// enveloped reports whether op's own refusals get the prefix of newerWrites.
func (op Op) enveloped() bool {
	return newerWrites && (op == OpPutItem || op == OpUpdateItem || op == OpDeleteItem)
}

// newer reports whether op runs in the newer layer, whose messages name neither
// the key of a value nor missing expressions. Source: conformance
// error-messages/valueLayers.
func (op Op) newer() bool {
	switch op {
	case OpGetItem, OpBatchGetItem, OpQuery:
		return true
	}
	return op.enveloped()
}

// Invalid returns the ValidationException, in op's wording, for an error in a
// request that is found before its table is looked up. Use [Validation] for
// errors that depend on the table.
func (op Op) Invalid(message string) *Error {
	if op.enveloped() {
		message = heading(1) + message
	}
	return Validation(message)
}

// faultText returns the message of a fault with the text that op adds.
func (op Op) faultText(f *Fault) string {
	if op.newer() {
		return f.Msg
	}
	msg := cmp.Or(f.Older, f.Msg)
	const values = "ExpressionAttributeValues."
	if i := strings.LastIndex(f.Path, values); i >= 0 {
		return "ExpressionAttributeValues contains invalid value: " + msg + " for key " + f.Path[i+len(values):]
	}
	if strings.HasPrefix(f.Path, "ExclusiveStartKey") && !slices.ContainsFunc(withoutPrefix[:], func(part string) bool { return strings.Contains(msg, part) }) {
		return "The provided starting key is invalid: " + msg
	}
	return msg
}

// withoutPrefix lists parts of messages about a start key that get no prefix.
// Source: dynalite, validations/scan.js.
var withoutPrefix = [...]string{"contains duplicates", "number set", "numeric value", "significant digits", "number with magnitude"}

// valuesText returns the message for values that no expression can use.
func (op Op) valuesText(absent []string) string {
	const text = "ExpressionAttributeValues can only be specified when using expressions"
	if op.enveloped() || len(absent) == 0 {
		return text
	}
	verb := " is null"
	if len(absent) > 1 {
		verb = " are null"
	}
	return text + ": " + strings.Join(absent, " and ") + verb
}

// Messages of the protocol layer. Source: dynalite test/helpers.js, assertType.
const (
	textNull      = "Member must not be null"
	textStructure = "Start of structure or map found where not expected"
	textCast      = "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class " +
		"(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader 'bootstrap')"
	textNoKind = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
)
