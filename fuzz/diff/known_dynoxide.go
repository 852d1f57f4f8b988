package main

import "strings"

// dynoxide, version 3. Its author compares it with the service, so where both
// refuse, its words are a newer layer of validation or another fault of several;
// those that are captured are in internal/api/fidelity_test.go, one by one. What
// one takes and the other refuses, and what both answer, is looked at closely.
var dynoxide = []known{
	{"dynoxide finds another fault of several first, or has the words " +
		"of another layer of validation", func(p *pair) bool {
		return p.ours.status == 400 && p.peer.status == 400
	}},
	{"dynoxide describes tables with another region, without milliseconds and with other members", func(p *pair) bool {
		return p.onlyMembers("Table", "TableDescription")
	}},
	{"dynoxide describes a stream by its table, and looks for no label in the ARN " +
		"(API_streams_DescribeStream)", func(p *pair) bool {
		return (p.req.op == "DescribeStream" || p.req.op == "GetShardIterator") &&
			p.ours.code == "ResourceNotFoundException" && p.peer.status == 200
	}},
	{"dynoxide goes on from a start key in a partition of one item, and names one; the service refuses it " +
		"(alternator test_query.py)", func(p *pair) bool {
		key, _ := p.req.body["ExclusiveStartKey"].(object)
		return p.req.op == "Query" &&
			(len(key) == 1 && p.oursSays("The provided exclusive start key is invalid") ||
				p.req.body["Limit"] != nil && p.onlyMembers("LastEvaluatedKey"))
	}},
	{"dynoxide names a place to go on from after the one item that a statement can find " +
		"(alternator test_query.py)", func(p *pair) bool {
		return p.req.op == "ExecuteStatement" && p.req.body["Limit"] != nil && p.onlyMembers("NextToken") &&
			!strings.Contains(p.ours.raw, "NextToken")
	}},
	{"dynoxide checks no names of tables in ListStreams, and no ARN in GetShardIterator beyond its table " +
		"(the service model)", func(p *pair) bool {
		return (p.req.op == "ListStreams" || p.req.op == "GetShardIterator") && p.ours.code == "ValidationException" &&
			p.peer.status == 200
	}},
	{"dynoxide says more of what is wrong with a statement, or something else " +
		"(the service's texts of syntax errors are not all captured)", func(p *pair) bool {
		return p.onlyStatements("Statement wasn't well formed") && p.onlyMembers("Responses")
	}},
	{"dynoxide does not know that a name may be used by a Delete without a condition " +
		"in a transaction", func(p *pair) bool {
		return p.req.op == "TransactWriteItems" &&
			p.oursSays("ExpressionAttributeNames can only be specified when using expressions") && p.peer.status == 200
	}},
	{"dynoxide reads some EXISTS of a transaction as an expression (API_ExecuteTransaction)", func(p *pair) bool {
		return p.req.op == "ExecuteTransaction" && p.ours.status == 200 &&
			p.peerSays("EXISTS can only be used in ExecuteTransaction write requests")
	}},
	{"dynoxide has no LastEvaluatedKey beside NextToken (API_ExecuteStatement)", func(p *pair) bool {
		return p.req.op == "ExecuteStatement" && p.onlyMembers("LastEvaluatedKey")
	}},
	{"statements that scan a table or an index have no documented order", func(p *pair) bool {
		return p.req.op == "ExecuteStatement" && p.scans() &&
			(p.sameItems() || p.req.body["Limit"] != nil && p.onlyMembers("Items", "LastEvaluatedKey", "NextToken"))
	}},
	{"dynoxide takes a key in brackets for a second condition on it when it looks at ORDER BY", func(p *pair) bool {
		return p.ours.status == 200 && p.peerSays("Must have hash key in ORDER BY clause")
	}},
	{"dynoxide records writes that change nothing (DG/Streams.html)", func(p *pair) bool {
		return p.moreRecords()
	}},
	{"dynoxide looks for two statements on one item among those that are refused " +
		"by themselves, too", func(p *pair) bool {
		return p.req.op == "BatchExecuteStatement" && strings.Contains(p.ours.raw, "ValidationError") &&
			p.peerSays("contains duplicates")
	}},
	{"dynoxide charges a batch nothing for an INSERT whose item exists; a condition that fails consumes capacity " +
		"(DG/WorkingWithItems.html)", func(p *pair) bool {
		// A statement whose syntax is wrong may stand in the same batch.
		return p.req.op == "BatchExecuteStatement" && p.onlyMembers("ConsumedCapacity") ||
			p.onlyStatements("Statement wasn't well formed") && p.onlyMembers("ConsumedCapacity", "Responses")
	}},
	{"dynoxide names a missing table beside the error of a statement; " +
		"its captures name only tables of statements that ran", func(p *pair) bool {
		return p.onlyStatements("Requested resource not found") && p.onlyMembers("Responses")
	}},
	{"dynoxide finds nothing on a page of some statements with OR, where one side is true " +
		"(DG/ql-operators.html)", func(p *pair) bool {
		statement, _ := p.req.body["Statement"].(string)
		return strings.Contains(statement, " OR ") && p.req.body["Limit"] != nil &&
			strings.Contains(p.peer.raw, `"Items":[]`) &&
			p.onlyMembers("Items", "LastEvaluatedKey", "NextToken")
	}},
	{"dynoxide takes empty values for keys of statements " +
		"(DG/HowItWorks.NamingRulesDataTypes.html)", func(p *pair) bool {
		return p.onlyStatements("The AttributeValue for a key attribute cannot contain an empty") &&
			p.onlyMembers("ConsumedCapacity", "Responses")
	}},
	{"dynoxide makes the item of an update that only takes away; the service does not " +
		"(alternator test_item.py)", func(p *pair) bool {
		update := strings.HasPrefix(p.req.op, "UpdateItem") && !setOrAdd.MatchString(p.expressionOf()) ||
			p.req.op == "TransactWriteItems, then GetItem" && takes.MatchString(p.expressionOf())
		return update && p.kind == "body" && p.onlyMembers("Item", "Attributes", "ConsumedCapacity")
	}},
	{"dynoxide refuses to remove from a path whose parent is missing in an item that is missing " +
		"(alternator test_update_expression.py)", func(p *pair) bool {
		update := strings.HasPrefix(p.req.op, "UpdateItem") || p.req.op == "TransactWriteItems"
		return p.ours.status == 200 && update &&
			(p.peerSays("The document path provided") || p.peerSays("ValidationError")) &&
			takes.MatchString(p.expressionOf())
	}},
	{"dynoxide scans in its own order, so pages and segments hold other items " +
		"(order is not documented; dynalite has ours)", func(p *pair) bool {
		return p.req.op == "Scan" && p.kind == "body" &&
			(p.req.body["Limit"] != nil || p.req.body["ExclusiveStartKey"] != nil || p.req.body["Segment"] != nil)
	}},
	{"dynoxide does not check that a start key lies in the segment (DG/Scan.html)", func(p *pair) bool {
		return p.req.op == "Scan" && p.req.body["ExclusiveStartKey"] != nil && p.req.body["Segment"] != nil &&
			p.peer.status == 200
	}},
	{"dynoxide takes what an index does not project for absent instead of refusing it " +
		"(DG/GSI.html; its PartiQL refuses filters, on local indexes too)", func(p *pair) bool {
		name, _ := p.index()
		return (name != "" || p.req.op == "ExecuteStatement") && p.oursSays("does not project") && p.peer.status == 200
	}},
	{"dynoxide does not fetch from the table what a local index does not project (DG/LSI.html)", func(p *pair) bool {
		_, local := p.index()
		return local && p.onlyMembers("Items", "Count", "ConsumedCapacity", "LastEvaluatedKey")
	}},
	{"ties in an index have no documented order, so pages of dynoxide hold other items", func(p *pair) bool {
		name, _ := p.index()
		return name != "" && p.kind == "body" &&
			(p.req.body["Limit"] != nil || p.req.body["ExclusiveStartKey"] != nil || p.sameItems())
	}},
	{"dynoxide lists a table part of 0 for reads of an index", func(p *pair) bool {
		return p.onlyMembers("ConsumedCapacity") && p.req.body["IndexName"] != nil
	}},
	{"dynoxide takes paths into key attributes " +
		"(dynalite refuses them too, from the same sequence)", func(p *pair) bool {
		return p.oursSays("Key attributes must be scalars") && p.peer.status == 200
	}},
	{"dynoxide compares the bounds of BETWEEN only when it looks at an item, and not of binary values " +
		"(dynalite refuses them, from the same sequence)", func(p *pair) bool {
		return p.oursSays("The BETWEEN condition was provided a range") && p.peer.status == 200
	}},
	{"dynoxide takes two equal operands where one is a path of several steps " +
		"(DG/Expressions.OperatorsAndFunctions.html)", func(p *pair) bool {
		return p.oursSays("The first operand must be distinct") && p.peer.status == 200
	}},
	{"dynoxide takes empty values for keys of key conditions " +
		"(DG/HowItWorks.NamingRulesDataTypes.html)", func(p *pair) bool {
		return p.oursSays("cannot contain an empty") && p.peer.status == 200
	}},
	{"dynoxide takes NOT_CONTAINS for true of what is not there; it is not " +
		"(alternator test_expected.py)", func(p *pair) bool {
		return strings.Contains(text(p.req.body), "NOT_CONTAINS") &&
			(p.ours.code == "ConditionalCheckFailedException" || p.onlyMembers("Count", "Items"))
	}},
	{"dynoxide returns the key as the old attributes of an item that was not there " +
		"(API_UpdateItem, ReturnValues)", func(p *pair) bool {
		return p.req.op == "UpdateItem" && p.onlyMembers("Attributes", "ConsumedCapacity") &&
			p.req.body["ReturnValues"] == "ALL_OLD"
	}},
	{"dynoxide does not look for undefined and unused placeholders, and for paths that conflict, before it reads " +
		"(dynalite does)", func(p *pair) bool {
		return p.peer.status == 200 &&
			(p.oursSays("is not defined") || p.oursSays("paths conflict") || p.oursSays("unused in expressions"))
	}},
}
