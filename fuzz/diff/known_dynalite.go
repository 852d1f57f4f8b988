package main

import (
	"regexp"
	"strings"
)

// dynalite, version 4.
var dynalite = []known{
	{"dynalite names both faults of a short name with a wrong character; " +
		"the newer layer of the service stops at the first (internal/wire/texts.go)", func(p *pair) bool {
		return p.oursSays("1 validation error detected") && p.peerSays("2 validation errors detected") &&
			p.oursSays("at 'tableName'")
	}},
	{"dynalite looks at Segment before expressions; the service after them " +
		"(internal/api/fidelity_test.go, row 33)", func(p *pair) bool {
		return p.req.op == "Scan" && p.ours.status == 400 && p.peerSays("The Segment parameter")
	}},
	{"dynalite words syntax errors as its parser generator does; " +
		"the service names token and neighbours", func(p *pair) bool {
		return p.peerSays("Syntax error; Expected")
	}},
	{"dynalite charges nothing for index entries and for reading nothing " +
		"(DG/GSI.html, alternator test_returnconsumedcapacity.py)", func(p *pair) bool {
		return p.onlyMembers("ConsumedCapacity")
	}},
	{"dynalite describes tables without DeletionProtectionEnabled and with members " +
		"of a former preview", func(p *pair) bool {
		return p.onlyMembers("Table", "TableDescription")
	}},
	{"dynalite takes two attributes that are not there for equal; they are not " +
		"(alternator test_condition_expression.py)", func(p *pair) bool {
		return twoPaths.MatchString(p.expressionOf())
	}},
	{"dynalite takes ALL_PROJECTED_ATTRIBUTES without an index " +
		"(semantics of Select: DG/Query.html)", func(p *pair) bool {
		return p.oursSays("ALL_PROJECTED_ATTRIBUTES can be used only")
	}},
	{"dynalite reads attributes a global index does not project as absent instead of refusing them " +
		"(DG/GSI.html)", func(p *pair) bool {
		return p.oursSays("does not project")
	}},
	{"dynalite does not fetch from the table what a local index does not project (DG/LSI.html)", func(p *pair) bool {
		_, local := p.index()
		return local && p.kind == "body"
	}},
	{"dynalite checks the form of a start key before the projection of an index " +
		"(internal/api/fidelity_test.go, row 36)", func(p *pair) bool {
		return p.req.op == "Scan" &&
			p.oursSays("Select type ALL_ATTRIBUTES is not supported for global secondary index") &&
			p.peerSays("The provided starting key is invalid")
	}},
	{"dynalite checks for overflow after all actions of an update, so it reports a wrong type " +
		"in a later action first; the order is not documented", func(p *pair) bool {
		return p.req.op == "UpdateItem" && p.oursSays("Number overflow") &&
			p.peerSays("An operand in the update expression has an incorrect data type")
	}},
	{"dynalite checks the keys of one table for duplicates before it checks the values of the next; " +
		"the order is not documented", func(p *pair) bool {
		return p.req.op == "BatchGetItem" && p.oursSays("cannot be converted to a numeric value") &&
			p.peerSays("contains duplicates")
	}},
	{"dynalite has the older faults of an empty TableName: its pattern, and a length of 3 " +
		"(conformance s_put_table_*)", func(p *pair) bool {
		return p.oursSays("Value '' at 'tableName'") && p.peerSays("Value '' at 'tableName'")
	}},
	{"dynalite makes the item of an update that only takes away; the service does not " +
		"(alternator test_item.py)", func(p *pair) bool {
		return strings.HasPrefix(p.req.op, "UpdateItem") && !setOrAdd.MatchString(p.expressionOf())
	}},
	{"dynalite names a place to go on from after the one item of a partition; the service takes none there " +
		"(alternator test_query.py)", func(p *pair) bool {
		last, _ := p.peer.body.(object)
		key, ok := last["LastEvaluatedKey"].(object)
		return p.req.op == "Query" && p.onlyMembers("LastEvaluatedKey", "ConsumedCapacity") && ok && len(key) == 1
	}},
	{"dynalite goes on from a start key in a partition of one item; the service refuses it " +
		"(alternator test_query.py)", func(p *pair) bool {
		key, _ := p.req.body["ExclusiveStartKey"].(object)
		return p.req.op == "Query" && len(key) == 1 && p.oursSays("The provided exclusive start key is invalid")
	}},
	{"dynalite finds no two documents equal: it compares where they are, not what is in them " +
		"(DG/Expressions.OperatorsAndFunctions.html)", func(p *pair) bool {
		values := text(p.req.body["ExpressionAttributeValues"])
		return strings.Contains(p.expressionOf(), "<>") &&
			(strings.Contains(values, `{"M":`) || strings.Contains(values, `{"L":`)) &&
			(p.onlyMembers("Count", "Items", "LastEvaluatedKey") ||
				p.kind == "outcome" && strings.Contains(p.signature, "ConditionalCheckFailed"))
	}},
	{"dynalite lets an action of an update see what one before it did to a list; they read the item as it was " +
		"(DG/Expressions.UpdateExpressions.html)", func(p *pair) bool {
		return strings.HasPrefix(p.req.op, "UpdateItem") && p.onlyMembers("Attributes", "Item", "ConsumedCapacity") &&
			copied.MatchString(p.expressionOf())
	}},
	{"dynalite has the older text for more conditions than key attributes " +
		"(conformance error-messages/queryKeyConditionOperands)", func(p *pair) bool {
		return p.oursSays("The number of query conditions")
	}},
	{"dynalite does not see the segment 0 without a total (DG/Scan.html)", func(p *pair) bool {
		return p.oursSays("The TotalSegments parameter is required")
	}},
	{"dynalite takes conditions joined by OR for not fulfilled when one is of an attribute that is missing " +
		"(API_Query, ConditionalOperator)", func(p *pair) bool {
		return p.req.body["ConditionalOperator"] == "OR" &&
			(p.onlyMembers("Count", "Items", "LastEvaluatedKey") ||
				p.peer.code == "ConditionalCheckFailedException" && p.ours.status == 200)
	}},
	{"dynalite does not check the values in an AttributeValueList of Expected", func(p *pair) bool {
		return p.req.body["Expected"] != nil && p.oursSays("Supplied AttributeValue")
	}},
	{"dynalite takes a ConditionalOperator that joins nothing; the service does not " +
		"(alternator test_expected.py, extenddb's tests)", func(p *pair) bool {
		return p.oursSays("ConditionalOperator can")
	}},
	{"dynalite takes Expected with Exists true for fulfilled where there is nothing " +
		"(API_ExpectedAttributeValue)", func(p *pair) bool {
		return p.ours.code == "ConditionalCheckFailedException" && p.peer.status == 200 &&
			strings.Contains(text(p.req.body["Expected"]), `"Exists":true`)
	}},
	{"dynalite compares no documents and no BOOL in filters; EQ and NE are for all kinds " +
		"(API_Condition, alternator test_query_filter.py)", func(p *pair) bool {
		return p.peerSays("ComparisonOperator EQ is not valid for") ||
			p.peerSays("ComparisonOperator NE is not valid for")
	}},
	{"dynalite takes BEGINS_WITH and CONTAINS of any value in Expected " +
		"(API_ExpectedAttributeValue, alternator test_expected.py)", func(p *pair) bool {
		return p.req.body["Expected"] != nil && p.oursSays("is not valid for")
	}},
	{"dynalite takes NOT_CONTAINS for true of what is not there; it is not " +
		"(alternator test_expected.py)", func(p *pair) bool {
		return strings.Contains(text(p.req.body), `"NOT_CONTAINS"`) &&
			(p.kind == "body" || p.ours.code == "ConditionalCheckFailedException" && p.peer.status == 200)
	}},
	{"dynalite puts empty Attributes where there is nothing to return " +
		"(alternator test_returnvalues.py)", func(p *pair) bool {
		return p.onlyMembers("Attributes", "ConsumedCapacity") && strings.Contains(p.peer.raw, `"Attributes":{}`)
	}},
	{"dynalite refuses NOT NOT", func(p *pair) bool {
		return nestedNot.MatchString(p.expressionOf())
	}},
	{"dynalite ends on a value that would hold itself, and loses the request (SET a[1] = a)", func(p *pair) bool {
		return p.peer.code == noAnswer && selfHeld.MatchString(p.expressionOf())
	}},
	{"dynalite checks values in the older layer for every operation; " +
		"GetItem, BatchGetItem and Query left it in 2026 (conformance error-messages/valueLayers)", func(p *pair) bool {
		return (p.req.op == "Query" || p.req.op == "GetItem" || p.req.op == "BatchGetItem") && p.kind == "text" &&
			(p.peerSays("contains invalid value: "+trimNumber(p.ours.text)) ||
				p.peerSays("starting key is invalid: "+p.ours.text) ||
				trimNumber(p.ours.text) == trimNumber(p.peer.text))
	}},
	{"dynalite has requestItems in the model's words; most regions have an own sentence " +
		"(conformance captures/2026-10-07-batch-empty-request-items.json)", func(p *pair) bool {
		return p.oursSays("The requestItems parameter is required") && p.peerSays("at 'requestItems'")
	}},
	{"dynalite has the Keys of BatchGetItem in the model's words; the service is in the newer layer there " +
		"(conformance error-messages/batchGetItem)", func(p *pair) bool {
		return p.req.op == "BatchGetItem" && p.oursSays("Value at 'RequestItems.") && p.peerSays("' at 'requestItems.")
	}},
	{"dynalite takes names that begin with _; the service wants a letter " +
		"(alternator test_update_expression.py)", func(p *pair) bool {
		return p.oursSays(`token: "_"`)
	}},
	{"dynalite echoes maps as JSON; the service prints them as Java does " +
		"(dynalite's own test/batchWriteItem.js only matches {.+}; " +
		"conformance error-messages/batchWriteItem)", func(p *pair) bool {
		return p.kind == "text" && p.peerSays(`Value '{"`) && p.oursSays("Value '{") &&
			afterEcho(p.ours.text) == afterEcho(p.peer.text)
	}},
	{"dynalite has the text of empty key values of before 2020; it is \"are not valid.\" since " +
		"(conformance error-messages/batchWriteItem, moto test_dynamodb_exceptions)", func(p *pair) bool {
		return p.kind == "text" && strings.Replace(p.ours.text, "are not valid. ", "were invalid: ", 1) == p.peer.text
	}},
	{"dynalite takes empty values for keys of indexes and of key conditions; the service does not " +
		"(alternator test_gsi.py, DG/HowItWorks.NamingRulesDataTypes.html)", func(p *pair) bool {
		return (p.peer.status == 200 || p.peer.code == "ConditionalCheckFailedException" || p.req.op == "Query") &&
			p.oursSays("cannot contain an empty")
	}},
	{"dynalite takes an empty attribute name for none; the service names the key " +
		"(extenddb's tests, others agree)", func(p *pair) bool {
		return p.oursSays("Empty attribute name for key")
	}},
	{"dynalite reads a bare # or : as the name of a placeholder; " +
		"undocumented, to us it is no token", func(p *pair) bool {
		return (p.oursSays(`token: "#"`) || p.oursSays(`token: ":"`)) && p.peerSays("is not defined; attribute")
	}},
	{"dynalite rounds sums to 38 digits; to the service they are an overflow " +
		"(alternator test_number.py)", func(p *pair) bool {
		return p.peer.status == 200 && p.oursSays("Number overflow") && strings.HasPrefix(p.req.op, "UpdateItem")
	}},
	{"dynalite has a word of the syntax, alone in a projection, for an attribute's name; " +
		"to us it is a syntax error, undocumented", func(p *pair) bool {
		return p.oursSays("Syntax error; token:") && p.peerSays("reserved keyword:") &&
			p.req.body["ProjectionExpression"] != nil
	}},
	{"dynalite does not see false as a BOOL in attribute_type " +
		"(DG/Expressions.OperatorsAndFunctions.html)", func(p *pair) bool {
		return strings.Contains(p.expressionOf(), "attribute_type") &&
			strings.Contains(text(p.req.body), `{"S":"BOOL"}`)
	}},
}

// copied finds a SET of a place inside an attribute beside one that copies the
// attribute.
var copied = regexp.MustCompile(
	`#n\d+(\[\d+\]|\.#n\d+) = .*, #n\d+\S* = (if_not_exists\()?#n|` +
		`= (if_not_exists\()?#n\d+.*, #n\d+(\[\d+\]|\.#n\d+) = `,
)

// selfHeld finds a SET of a place in an attribute to the attribute itself.
var selfHeld = regexp.MustCompile(`#n\d+(\[\d+\]|\.)`)

// afterEcho returns what follows the value that a text echoes.
func afterEcho(s string) string {
	if i := strings.Index(s, "' at '"); i >= 0 {
		return s[i:]
	}
	return s
}

// trimNumber leaves out of a text what follows "a numeric value", which one of
// the layers does not say of an empty number.
func trimNumber(s string) string {
	const end = "converted to a numeric value"
	if i := strings.Index(s, end); i >= 0 {
		return s[:i+len(end)]
	}
	return s
}
