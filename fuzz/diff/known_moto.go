package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// moto, version 5. It checks few requests before it uses them, so what it says
// of a request that we refuse is not evidence: dynalite, which checks nearly
// everything, is the peer for refusals, from the same requests. What moto
// refuses and we take, and where both have an answer, is looked at closely.
var moto = []known{
	{"moto fails with status 500 on requests it does not check, " +
		"and on conditions with a missing attribute", func(p *pair) bool {
		return p.peer.status == 500
	}},
	{"moto takes requests that the service refuses " +
		"(dynalite refuses them too, from the same sequence)", func(p *pair) bool {
		return p.peer.status == 200 &&
			slices.Contains([]string{"ValidationException", "SerializationException"}, p.ours.code) &&
			p.req.op != "TransactWriteItems"
	}},
	{"moto refuses in other words, or another fault first " +
		"(dynalite has our words, from the same sequence)", func(p *pair) bool {
		return p.ours.status == 400 && p.peer.status == 400 && p.req.op != "TransactWriteItems"
	}},
	{"moto describes tables without DeletionProtectionEnabled and with other members", func(p *pair) bool {
		return p.onlyMembers("Table", "TableDescription")
	}},
	{"moto knows no indexes in statements (DG/ql-reference.select.html)", func(p *pair) bool {
		return p.req.op == "ExecuteStatement" && p.peer.code == "ResourceNotFoundException" &&
			strings.Contains(text(p.req.body["Statement"]), `\".\"`)
	}},
	{"moto has an error for a statement of a batch that reads an item that is not there " +
		"(API_BatchExecuteStatement)", func(p *pair) bool {
		return p.req.op == "BatchExecuteStatement" && p.onlyMembers("Responses") &&
			strings.Contains(p.peer.raw, "ResourceNotFound")
	}},
	{"moto leaves out of a batch what a failing statement answers: code, table and message " +
		"(API_BatchStatementResponse)", func(p *pair) bool {
		return p.req.op == "BatchExecuteStatement" && p.onlyMembers("Responses") &&
			strings.Contains(p.ours.raw, `"Error"`)
	}},
	{"moto reads of a WHERE little more than equality (DG/ql-functions.html, ql-operators.html)", func(p *pair) bool {
		return p.req.op == "ExecuteStatement" && p.onlyMembers("Items", "LastEvaluatedKey", "NextToken") &&
			richWhere.MatchString(fmt.Sprint(p.req.body["Statement"]))
	}},
	{"moto does not read numbers with a point or an exponent in a WHERE", func(p *pair) bool {
		return p.req.op == "ExecuteStatement" && p.onlyMembers("Items") &&
			fraction.MatchString(fmt.Sprint(p.req.body["Statement"]))
	}},
	{"moto does not know Limit of a statement", func(p *pair) bool {
		return p.req.op == "ExecuteStatement" && p.req.body["Limit"] != nil && p.kind == "body"
	}},
	{"moto takes an UPDATE of an item that is not there, and a WHERE of an UPDATE or DELETE that does not hold, " +
		"for done (DG/ql-reference.update.html)", func(p *pair) bool {
		return strings.HasPrefix(p.req.op, "Execute") && p.peer.status == 200 &&
			(p.ours.code == "ConditionalCheckFailedException" || p.ours.code == "TransactionCanceledException")
	}},
	{"moto writes an INSERT of an item that exists, in tables with a sort key or not, when it differs " +
		"(DG/ql-reference.insert.html)", func(p *pair) bool {
		return p.req.op == "ExecuteStatement" && p.ours.code == "DuplicateItemException" && p.peer.status == 200
	}},
	{"moto describes a stream by its table, and looks for no label in the ARN " +
		"(API_streams_DescribeStream)", func(p *pair) bool {
		return (p.req.op == "DescribeStream" || p.req.op == "GetShardIterator") &&
			p.ours.code == "ResourceNotFoundException" && p.peer.status == 200
	}},
	{"moto does not know Limit of ListStreams", func(p *pair) bool {
		return p.req.op == "ListStreams" && p.req.body["Limit"] != nil && p.onlyMembers("Streams")
	}},
	{"moto encodes binary keys twice in stream records", func(p *pair) bool {
		return p.req.op == readStream && binaryKey.MatchString(text(p.ours.body))
	}},
	{"moto records writes that change nothing (DG/Streams.html)", func(p *pair) bool {
		return p.moreRecords()
	}},
	{"statements that scan a table or an index have no documented order", func(p *pair) bool {
		return p.req.op == "ExecuteStatement" && p.scans() && p.sameItems()
	}},
	{"moto makes the item of an update that only takes away; the service does not " +
		"(alternator test_item.py)", func(p *pair) bool {
		update := strings.HasPrefix(p.req.op, "UpdateItem") && !setOrAdd.MatchString(p.expressionOf()) ||
			p.req.op == "TransactWriteItems, then GetItem" && takes.MatchString(p.expressionOf())
		return update && p.kind == "body" && p.onlyMembers("Item", "Attributes")
	}},
	{"moto keeps what a refused write had done before its fault was found; writes are all or nothing " +
		"(DG/Expressions.UpdateExpressions.html)", func(p *pair) bool {
		return strings.HasSuffix(p.req.op, refusedThen)
	}},
	{"moto returns the keys among the attributes of an update; only those updated belong there " +
		"(API_UpdateItem)", func(p *pair) bool {
		return p.req.op == "UpdateItem" && p.onlyMembers("Attributes") &&
			(p.req.body["ReturnValues"] == "UPDATED_NEW" || p.req.body["ReturnValues"] == "UPDATED_OLD") &&
			keysOnlyMore(p)
	}},
	{"moto does not fetch from the table what a local index does not project (DG/LSI.html)", func(p *pair) bool {
		_, local := p.index()
		return local && p.onlyMembers("Items", "Count")
	}},
	{"ties in an index have no documented order, so pages of moto hold other items", func(p *pair) bool {
		name, _ := p.index()
		return name != "" && p.kind == "body" && p.req.body["Limit"] != nil
	}},
	{"moto does not know AttributesToGet (API_GetItem, API_Query, API_Scan)", func(p *pair) bool {
		return p.req.body["AttributesToGet"] != nil && p.kind == "body"
	}},
	{"moto looks for the item of a start key, and stops if it does not exist; a start key is a place " +
		"(alternator test_query.py)", func(p *pair) bool {
		return p.req.body["ExclusiveStartKey"] != nil && p.kind == "body"
	}},
	{"moto cuts scans into segments by its own hash, so they hold other items " +
		"(which items are in a segment is not documented)", func(p *pair) bool {
		return p.req.op == "Scan" && p.req.body["Segment"] != nil && p.kind == "body"
	}},
	{"moto ignores most of Expected (API_ExpectedAttributeValue)", func(p *pair) bool {
		return p.req.body["Expected"] != nil &&
			(p.ours.code == "ConditionalCheckFailedException" || p.peer.code == "ConditionalCheckFailedException")
	}},
	{"moto takes conditions of ScanFilter and QueryFilter on what is not there for false; NE is true of it " +
		"(API_Condition, alternator test_query_filter.py)", func(p *pair) bool {
		return (p.req.body["ScanFilter"] != nil || p.req.body["QueryFilter"] != nil) && p.onlyMembers("Count", "Items")
	}},
	{"moto makes a missing table a reason of cancellation " +
		"(conformance error-messages/transactWriteItems)", func(p *pair) bool {
		return p.req.op == "TransactWriteItems" && p.ours.code == "ResourceNotFoundException"
	}},
	{"moto looks beyond the last item of a page; the service does not " +
		"(DG/Query.Pagination.html: a LastEvaluatedKey does not mean that there is more)", func(p *pair) bool {
		return p.onlyMembers("LastEvaluatedKey") && p.req.body["Limit"] != nil &&
			!strings.Contains(p.peer.raw, "LastEvaluatedKey")
	}},
	{"moto refuses to remove from a path whose parent is missing in an item that is missing " +
		"(alternator test_update_expression.py)", func(p *pair) bool {
		update := strings.HasPrefix(p.req.op, "UpdateItem") || p.req.op == "TransactWriteItems"
		return p.ours.status == 200 && update && p.peerSays("The document path provided") &&
			strings.Contains(p.expressionOf(), "REMOVE")
	}},
	{"moto does not know begins_with and contains of binary values " +
		"(DG/Expressions.OperatorsAndFunctions.html)", func(p *pair) bool {
		return binaryPrefix(p) &&
			(p.onlyMembers("Items", "Count") ||
				p.kind == "outcome" && strings.Contains(p.signature, "ConditionalCheckFailed"))
	}},
	{"moto leaves out of UPDATED_NEW the set that DELETE took elements from; it was updated " +
		"(API_UpdateItem)", func(p *pair) bool {
		return p.req.op == "UpdateItem" && p.onlyMembers("Attributes") && p.req.body["ReturnValues"] == "UPDATED_NEW" &&
			strings.Contains(p.expressionOf(), "DELETE")
	}},
	{"moto takes one key in two tables for a duplicate " +
		"(API_BatchWriteItem: the same item in the same request)", func(p *pair) bool {
		return p.req.op == "BatchWriteItem" && p.ours.status == 200 && p.peerSays("contains duplicates")
	}},
	{"moto refuses if_not_exists of a list element that is missing, which is what the function is for " +
		"(DG/Expressions.UpdateExpressions.html)", func(p *pair) bool {
		return p.ours.status == 200 && strings.HasPrefix(p.req.op, "UpdateItem") &&
			p.peerSays("The document path provided") && strings.Contains(p.expressionOf(), "if_not_exists(")
	}},
	{"moto compares values without their kinds: true is 1, and what is missing is NULL " +
		"(DG/Expressions.OperatorsAndFunctions.html)", func(p *pair) bool {
		values := text(p.req.body)
		ambiguous := strings.Contains(values, `{"NULL":true}`) || strings.Contains(values, `{"N":"1"}`) ||
			strings.Contains(values, `{"N":"0"}`) || strings.Contains(values, `{"BOOL":`)

		return ambiguous && p.expressionOf() != "" &&
			(p.onlyMembers("Count", "Items") ||
				p.kind == "outcome" && strings.Contains(p.signature, "ConditionalCheckFailed"))
	}},
	{"moto starts scans in its own order of partitions, so pages hold other items " +
		"(order is not documented)", func(p *pair) bool {
		return p.req.op == "Scan" && p.kind == "body" && p.req.body["Limit"] != nil
	}},
	{"moto has two names of one attribute, or a path deeper than it looks, for unused", func(p *pair) bool {
		return p.ours.status == 200 && p.peerSays("unused in expressions")
	}},
	{"moto takes two attributes that are not there for equal; they are not " +
		"(alternator test_condition_expression.py)", func(p *pair) bool {
		return twoPaths.MatchString(p.expressionOf())
	}},
	{"moto refuses filters with NOT NOT, and with size of an attribute that an item does not have", func(p *pair) bool {
		return p.ours.status == 200 && p.peerSays("Bad Filter Expression")
	}},
	{"moto takes a missing attribute for one BETWEEN two numbers; it is not " +
		"(alternator test_condition_expression.py)", func(p *pair) bool {
		return between.MatchString(p.expressionOf()) &&
			(p.ours.code == "ConditionalCheckFailedException" || p.peer.code == "ConditionalCheckFailedException" ||
				p.kind == "body")
	}},
	{"moto has the errors of its own code as cancellation reasons", func(p *pair) bool {
		return p.req.op == "TransactWriteItems" &&
			(p.peerSays("ValueError") || p.peerSays("TypeError") || p.peerSays("KeyError") ||
				p.peerSays("AttributeError"))
	}},
	{"moto refuses a transaction as a whole for what is wrong with one update; " +
		"the service cancels it with a ValidationError (conformance transactWriteItems)", func(p *pair) bool {
		return p.req.op == "TransactWriteItems" && p.ours.code == "TransactionCanceledException" &&
			p.peer.code == "ValidationException"
	}},
	{"moto does not find what is wrong with the paths of an update in a transaction " +
		"(dynalite refuses the same update by itself)", func(p *pair) bool {
		return p.req.op == "TransactWriteItems" && p.oursSays("ValidationError") && !p.peerSays("ValidationError")
	}},
	{"moto does not check transactions before it runs them: members, names and types " +
		"(dynamodb model, DG/transaction-apis.html)", func(p *pair) bool {
		return p.req.op == "TransactWriteItems" &&
			(p.ours.code == "ValidationException" || p.ours.code == "SerializationException")
	}},
}

// unrecorded reports whether moto keeps no record of what a request does: its
// updates change the item in place, and with it the images of earlier records.
func unrecorded(req request) bool {
	return req.op == "UpdateItem" || strings.Contains(text(req.body), `"Update":`) ||
		strings.Contains(text(req.body), `UPDATE `)
}

var takes = regexp.MustCompile(`(?m)^(REMOVE|DELETE) `)

var richWhere = regexp.MustCompile(`\(|\bNOT\b|\bOR\b|\bIS\b|\bIN\b|BETWEEN|<|>|ORDER BY|SELECT [^*]`)

var fraction = regexp.MustCompile(` [-0-9]+[.e]`)

var binaryKey = regexp.MustCompile(`"[ps]k":\{"B"`)

var between = regexp.MustCompile(`#n\d+\S* BETWEEN `)

// keysOnlyMore reports whether the peer returned keys besides our attributes.
func keysOnlyMore(p *pair) bool {
	ours, _ := p.ours.body.(object)
	theirs, _ := clone(p.peer.body).(object)
	a, _ := ours["Attributes"].(object)
	b, _ := theirs["Attributes"].(object)
	delete(b, "pk")
	delete(b, "sk")
	return text(canonical(clone(a))) == text(canonical(clone(b)))
}

// binaryPrefix reports whether a request has begins_with or contains and a binary value.
func binaryPrefix(p *pair) bool {
	return (strings.Contains(p.expressionOf(), "begins_with") || strings.Contains(p.expressionOf(), "contains")) &&
		strings.Contains(text(p.req.body), `{"B":`)
}
