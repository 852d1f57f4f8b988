package wire

import (
	"cmp"
	"slices"
	"strings"
)

// All messages and rules that differ between operations, or that the service has changed in some regions, are in this
// file. The service has two layers of validation. Messages of the older layer print values, and their member names
// begin with a lower-case letter. Messages of the newer layer, such as "Value at 'Limit' failed to satisfy
// constraint", print no values, and their member names begin with a capital letter. During 2026, regions moved
// operations from the older to the newer layer. The texts here are those of most regions on 2026-10-20. By then the
// newer layer had GetItem, BatchGetItem, Query, PutItem, UpdateItem and DeleteItem (all seven regions captured on
// 2026-10-09) and Scan (20 of 33). Sources: paritysuite/dynamodb-conformance, registry/splits.json and captures/, and
// the captures listed in dynoxide's CHANGELOG.md, 1.3.0 and 1.4.0.

// A form is the wording of a violation. It also decides which other violations are reported with it.
type form uint8

const (
	formUsual    form = iota // together with others
	formSentence             // a sentence of its own; no other violation is reported
	formGeneric              // newer wording, reported together with others of this form
	formFirst                // newer wording, alone
	formOmitted              // not reported if the request also violates an enumeration
	formReturns              // newer wording of an enumeration, reported together with others
	formReturn               // newer wording of an enumeration, reported alone
)

// A rule gives the form in which some operations report violations of a member.
type rule struct {
	ops    []Op
	member string
	checks []check
	form   form
	text   string // the sentence of formSentence; %s stands for the value
}

var (
	isNull  = []check{checkNull}
	isEmpty = []check{checkEmpty}
	isOther = []check{checkEnum}
	tooLow  = []check{checkMin}
	inRange = []check{checkMin, checkMax}
	ofTags  = []check{checkNull, checkMin, checkMax}
)

var rules = []rule{
	// An empty table name is reported before everything else.
	worded(
		formGeneric, "TableName", isEmpty,
		OpPutItem, OpUpdateItem, OpDeleteItem, OpGetItem, OpQuery, OpScan, OpSearchVectors,
	),
	// Dynoxide, captured 2026-10-08 in 31 of 33 regions. UpdateItem reports only
	// the first enumeration: conformance validation-ordering/updateItem.
	worded(formReturns, "ReturnValues", isOther, OpPutItem, OpDeleteItem),
	worded(formReturn, "ReturnValues", isOther, OpUpdateItem),
	// Conformance error-messages/query; for Scan, dynoxide, captured 2026-10-20 in eu-west-2 and eu-central-1.
	worded(formGeneric, "Limit", tooLow, OpQuery, OpScan),
	worded(formGeneric, "Segment", inRange, OpScan),
	worded(formGeneric, "TotalSegments", inRange, OpScan),
	// Dynoxide, captured 2026-08-13 to 2026-10-23.
	worded(formGeneric, "IndexName", inRange, OpSearchVectors),
	worded(formGeneric, "SearchVector", tooLow, OpSearchVectors),
	worded(formGeneric, "TopK", tooLow, OpSearchVectors),
	// Conformance error-messages/batchGetItem.
	worded(formFirst, "Keys", inRange, OpBatchGetItem),
	// Conformance error-messages/batchGetItem: all regions but one since 2026-09-02. In most regions, BatchWriteItem
	// still has its old sentence (2026-10-07).
	worded(formGeneric, "RequestItems", tooLow, OpBatchGetItem),
	sentence("RequestItems", tooLow, "The requestItems parameter is required for BatchWriteItem", OpBatchWriteItem),
	// Conformance validation-ordering/batchOperations.
	worded(formOmitted, "RequestItems", []check{checkKeys}, OpBatchWriteItem),
	// Conformance error-messages/createTable; dynalite test/updateTable.js,
	// deleteTable.js, describeTable.js, describeTimeToLive.js.
	sentence("TableName", isNull, "The parameter 'TableName' is required but was not present in the request",
		OpCreateTable, OpUpdateTable, OpDeleteTable, OpDescribeTable, OpDescribeTimeToLive),
	// Dynalite test/tagResource.js, untagResource.js, listTagsOfResource.js.
	sentence("ResourceArn", isNull, "Invalid TableArn", OpTagResource, OpUntagResource, OpListTagsOfResource),
	// Ack-api-quirks, DDB-TABLE-457, 2026-10-09.
	sentence("IndexName", tooLow, "IndexName"+lengthText, OpUpdateContributorInsights, OpDescribeContributorInsights),
	sentence("TargetTableName", tooLow, "TableName"+lengthText, OpRestoreTableFromBackup, OpRestoreTableToPointInTime),
	sentence("TableArn", isEmpty, "Invalid TableArn: Invalid Table ARN", OpExportTableToPointInTime),
	sentence("BackupArn", tooLow, "Invalid Backup ARN", OpDescribeBackup, OpDeleteBackup, OpRestoreTableFromBackup),
	sentence("GlobalTableName", tooLow, "TableName"+lengthText, OpDescribeGlobalTable, OpDescribeGlobalTableSettings),
	// Ack-api-quirks, DDB-TABLE-107, 110 and 457, 2026-10-08 and 09. For UntagResource the keys are list elements,
	// which have no member name.
	sentence("Key", ofTags, tagKeyText, OpCreateTable, OpTagResource),
	sentence("", ofTags, tagKeyText, OpUntagResource),
	sentence("Value", ofTags, "The Tag Value provided is invalid, Value: %s", OpCreateTable, OpTagResource),
}

const (
	lengthText = " must be at least 3 characters long and at most 255 characters long"
	tagKeyText = "The Tag Key provided is invalid, Key: %s"
)

func worded(form form, member string, checks []check, ops ...Op) rule {
	return rule{ops, member, checks, form, ""}
}

func sentence(member string, checks []check, text string, ops ...Op) rule {
	return rule{ops, member, checks, formSentence, text}
}

func (op Op) rule(x *violation) *rule {
	for i := range rules {
		r := &rules[i]
		if r.member == x.member && slices.Contains(r.ops, op) && slices.Contains(r.checks, x.check) {
			return r
		}
	}
	return nil
}

// lifecycle reports whether op creates, describes, changes or deletes a table.
func (op Op) lifecycle() bool {
	switch op {
	case OpCreateTable, OpUpdateTable, OpDeleteTable, OpDescribeTable, OpDescribeTimeToLive:
		return true
	}
	return false
}

// enveloped reports whether op puts the prefix "1 validation error detected: " before errors that are found before
// the table is looked up.
func (op Op) enveloped() bool {
	return op == OpPutItem || op == OpUpdateItem || op == OpDeleteItem
}

// newer reports whether the newer layer of the service validates op. If an attribute value is faulty, the messages of
// that layer do not name its key. Source: conformance error-messages/valueLayers.
func (op Op) newer() bool {
	switch op {
	case OpGetItem, OpBatchGetItem, OpQuery, OpScan:
		return true
	}
	return op.enveloped()
}

// Invalid returns a ValidationException with the prefix of op, if op has one. Use it for errors that are found before
// the table is looked up, and [Validation] for errors that depend on the table.
func (op Op) Invalid(message string) *Error {
	if op.enveloped() && !strings.HasPrefix(message, withoutEnvelope) {
		message = heading(1) + message
	}
	return Validation(message)
}

// faultText returns the message of a fault as op words it.
func (op Op) faultText(f *Fault) string {
	const values = "ExpressionAttributeValues."
	at := strings.LastIndex(f.Path, values)
	msg := f.Msg
	if !op.newer() {
		msg = cmp.Or(f.Older, f.Msg)
	}
	switch {
	case at >= 0 && !op.newer():
		return "ExpressionAttributeValues contains invalid value: " + msg + " for key " + f.Path[at+len(values):]
	case op == OpScan && strings.HasPrefix(f.Path, "ExclusiveStartKey") &&
		!slices.ContainsFunc(withoutPrefix[:], func(part string) bool { return strings.Contains(msg, part) }):
		return "The provided starting key is invalid: " + msg
	}
	return msg
}

// withoutEnvelope is the beginning of the messages for values that do not have exactly one type. In both layers,
// these messages get no prefix. Source: dynoxide, actions/put_item.rs.
const withoutEnvelope = "Supplied AttributeValue "

// withoutPrefix lists parts of messages about the start key of a Scan. A message that contains one of them gets no
// prefix. Source: dynalite, validations/scan.js.
var withoutPrefix = [...]string{
	"contains duplicates", "number set", "numeric value", "significant digits", "number with magnitude",
}

// valuesText returns the message for a request that has ExpressionAttributeValues but no expression that could use
// them. For PutItem, UpdateItem and DeleteItem, the service does not list the absent expressions.
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
	textCast      = "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to " +
		"class java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and " +
		"java.lang.Class are in module java.base of loader 'bootstrap')"
	textNoKind = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
)
