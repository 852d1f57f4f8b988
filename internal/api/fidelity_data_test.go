package api_test

import (
	"strings"
	"testing"
)

// TestFidelityOfData checks operations on items that once differed from the service. Each row has its number in the
// list of 2026-11-22 (see [TestFidelity]) and the source that decided it.
func TestFidelityOfData(t *testing.T) {
	const (
		one    = "1 validation error detected: "
		count  = "Cannot specify the ProjectionExpression when choosing to get only the Count"
		all    = "Cannot specify the AttributesToGet when choosing to get ALL_ATTRIBUTES"
		value  = `"ExpressionAttributeValues":{":a":{"S":"x"}}`
		eqA    = `"KeyConditionExpression":"a = :a",` + value
		vector = `{"TableName":"VVV","IndexName":"all"`
		syntax = `Invalid ConditionExpression: Syntax error; token: "=", near: "= = b"`
		nested = "Nesting Levels have exceeded supported limits: " +
			"Attributes in the item have nested levels beyond supported limit"
		mixed = "Can not use both expression and non-expression parameters in the same request: " +
			"Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}"
		invalid = "SerializationException: invalid type: null, expected "
	)
	deep := func(levels int) string {
		return `{"Delete":{"TableName":"HHH","Key":{"a":` + strings.Repeat(`{"M":{"n":`, levels) + `{"S":"x"}` +
			strings.Repeat(`}}`, levels) + `}`
	}
	nest := func(levels int) string {
		return `"d":` + strings.Repeat(`{"M":{"n":`, levels) + `{"S":"x"}` + strings.Repeat(`}}`, levels)
	}
	unnamed := func(attributes string) string {
		return `{"TransactItems":[{"Put":{"TableName":"HHH","Item":{"a":{"S":"x"},` + attributes + `}}}]}`
	}
	const broken, brokenPut = `,"ConditionExpression":"a = = b"}}`, `{"Put":{"TableName":"HHH",` +
		`"Item":{"a":{"S":"x"}},"ConditionExpression":"a = = b"}}`
	for _, tt := range []struct {
		name, op, body string
		want           string // see [endpoint.witness]
		source         string
	}{
		{
			"12 two tables", "BatchGetItem",
			`{"RequestItems":{"HHH":{"Keys":[{"a":{"S":"x"}}],"ProjectionExpression":"a"},` +
				`"RRR":{"Keys":[{"a":{"S":"x"},"b":{"S":"x"}}],"AttributesToGet":["a"]}}}`,
			mixed, "conformance error-messages/batchGetItem; the text is that of one table",
		},
		{
			"15 Query", "Query", vector + `,` + eqA + `}`, "Query operation not supported on this index type.",
			"dynoxide, eu-west-2, 2026-08-19",
		},
		{
			"15 Scan", "Scan", vector + `}`, "Scan operation not supported on this index type",
			"dynoxide, eu-west-2, 2026-08-19",
		},
		{
			"15 PartiQL", "ExecuteStatement", `{"Statement":"SELECT * FROM \"VVV\".\"all\""}`,
			"Scan operation not supported on this index type", "dynoxide, eu-west-2, 2026-08-11",
		},
		{
			"16 null", "SearchVectors", `{"TableName":null,"IndexName":"ab"}`,
			invalid + "a string at line 1 column 17", "conformance error-messages/searchVectors",
		},
		// The conformance suite saw a ValidationException here, but not the one for null.
		{
			"16 missing", "SearchVectors", `{"IndexName":"ab","SearchVector":[],"TopK":1}`,
			"missing field `TableName` at line 1 column 45", "conformance error-messages/searchVectors",
		},
		{
			"19 key of 40 levels", "TransactWriteItems", `{"TransactItems":[` + deep(40) + broken + `]}`, syntax,
			"conformance validation-ordering/deepRequests, ten regions",
		},
		{
			"19 key of 100 levels", "TransactWriteItems", `{"TransactItems":[` + deep(100) + broken + `]}`,
			syntax, "conformance validation-ordering/deepRequests, ten regions",
		},
		{
			"19 an earlier action", "TransactWriteItems",
			`{"TransactItems":[` + deep(40) + `}},` + brokenPut + `]}`, nested,
			"conformance validation-ordering/deepRequests, ten regions",
		},
		{
			"19 a later action", "TransactWriteItems",
			`{"TransactItems":[` + brokenPut + `,` + deep(100) + `}}]}`, syntax,
			"conformance validation-ordering/deepRequests, ten regions",
		},
		{
			"19 a name beside a deep value", "TransactWriteItems", unnamed(`"":{"S":"x"},` + nest(100)),
			"Empty attribute name", "conformance validation-ordering/deepRequests, ten regions",
		},
		{
			"19 a name after a deep value", "TransactWriteItems", unnamed(nest(100) + `,"":{"S":"x"}`),
			"Empty attribute name", "conformance validation-ordering/deepRequests, ten regions",
		},
		{
			"19 a member's name", "TransactWriteItems", unnamed(`"m":{"M":{"":{"S":"x"}}},` + nest(40)), nested,
			"conformance validation-ordering/deepRequests, ten regions",
		},
		{
			"20 empty number set",
			"UpdateItem", `{"TableName":"HHH","Key":{"a":{"S":"x"}},"UpdateExpression":"SET x = ` +
				`:one","ExpressionAttributeValues":{":one":{"NS":[]}}}`,
			one + wrongValues + "An number set  may not be empty", "a client's tests, run against the service in 2026",
		},
		{
			"24 global index", "ExecuteStatement",
			`{"ConsistentRead":true,"Statement":"SELECT * FROM RRR.index3 WHERE c = 'x'"}`,
			"Strongly consistent read is not supported on Global Secondary Indexes",
			"captures of the service, 2026",
		},
		{
			"24 local index", "ExecuteStatement",
			`{"ConsistentRead":true,"Statement":"SELECT * FROM RRR.index1 WHERE a = 'x'"}`, "",
			"captures of the service, 2026",
		},
		{
			"25 unknown index", "ExecuteStatement", `{"Statement":"SELECT * FROM RRR.\"gone\" WHERE a = 'x'"}`,
			"The table does not have the specified index", "dynoxide, eu-west-2, 2026-08-15",
		},
		{
			"26 BatchGetItem", "BatchGetItem", `{"RequestItems":{}}`,
			one +
				"Value at 'RequestItems' failed to satisfy constraint: " +
				"Member must have length greater than or equal to 1",
			"conformance error-messages/batchGetItem",
		},
		{
			"26 BatchWriteItem", "BatchWriteItem", `{"RequestItems":{}}`,
			"The requestItems parameter is required for BatchWriteItem",
			"conformance capture of 2026-10-07, 29 of 33 regions",
		},
		{
			"27 start of one item", "Query", `{"TableName":"HHH",` + eqA + `,"ExclusiveStartKey":{"a":{"S":"y"}}}`,
			"The provided exclusive start key is invalid: ExclusiveStartKey: {a=AttributeValue: {S:y}}", "alternator",
		},
		{
			"27 no key", "Query", `{"TableName":"HHH",` + eqA + `,"ExclusiveStartKey":{"b":{"S":"y"}}}`,
			"The provided starting key is invalid", "dynalite, dynoxide",
		},
		{
			"30 Query, COUNT", "Query",
			`{"TableName":"HHH",` + eqA + `,"Select":"COUNT","ProjectionExpression":"a"}`, one + count,
			"authors who asked the service; dynoxide, 2026-10",
		},
		{
			"30 Scan, COUNT", "Scan", `{"TableName":"HHH","Select":"COUNT","ProjectionExpression":"a"}`, count,
			"authors who asked the service; dynoxide issue 121",
		},
		{
			"30 Query, ALL_ATTRIBUTES",
			"Query", `{"TableName":"HHH","Select":"ALL_ATTRIBUTES","AttributesToGet":["a"],` +
				`"KeyConditions":{"a":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]}}}`,
			one + all, "authors who asked the service; dynoxide, 2026-10",
		},
		{
			"30 Scan, ALL_ATTRIBUTES", "Scan",
			`{"TableName":"HHH","Select":"ALL_ATTRIBUTES","AttributesToGet":["a"]}`, all,
			"authors who asked the service",
		},
	} {
		t.Run(tt.name, func(t *testing.T) { newEndpoint(t, tableH, tableR, tableV).witness(tt.op, tt.body, tt.want) })
	}
}

// TestFailedConditionOnTheWire checks that the member is called "message" whether or not the response has the item.
// Source: a capture of August 2026; recordings of 2025 have "Message" if there is an item.
func TestFailedConditionOnTheWire(t *testing.T) {
	e := newEndpoint(t, tableH)
	e.answer("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"x"}}}`)
	const put, typ = `{"TableName":"HHH","Item":{"a":{"S":"x"}},"ConditionExpression":"attribute_not_exists(a)"`,
		`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",`
	for body, want := range map[string]string{
		put + `}`: typ + `"message":"The conditional request failed"}`,
		put + `,"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`: typ +
			`"message":"The conditional request failed","Item":{"a":{"S":"x"}}}`,
	} {
		if got, _ := e.serve("PutItem", body); got != want {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
}

// TestOperandsOfAddAndDelete has row 12 of the list of 2026-11-26. Source: captures of the service,
// eu-west-2, 2026-09-17.
func TestOperandsOfAddAndDelete(t *testing.T) {
	const (
		text = "Invalid UpdateExpression: Incorrect operand type for operator or function; operator: "
		end  = ", typeSet: ALLOWED_FOR_ADD_OPERAND"
		one  = "1 validation error detected: "
	)
	e := newEndpoint(t, tableH)
	for _, tt := range []struct{ clause, value, want string }{
		{"ADD n :v", `{"S":"x"}`, "ADD, operand type: STRING"},
		{"ADD n :v", `{"BOOL":true}`, "ADD, operand type: BOOL"},
		{"DELETE n :v", `{"L":[{"S":"m"}]}`, "DELETE, operand type: LIST"},
		{"DELETE n :v", `{"N":"1"}`, "DELETE, operand type: NUMBER"},
	} {
		update := `{"TableName":"HHH","Key":{"a":{"S":"x"}},"UpdateExpression":"` + tt.clause +
			`","ExpressionAttributeValues":{":v":` + tt.value + `}}`
		e.invalid("UpdateItem", update, one+text+tt.want+end)
		e.invalid("TransactWriteItems", `{"TransactItems":[{"Update":`+update+`}]}`, text+tt.want+end)
	}
}

// TestTransactionReadsNothing has row 13 of the list of 2026-11-26: a projection that selects nothing. For GetItem
// the service returns an empty item, for a transaction none. Source: moto pull request 3420, dynoxide issues 39 and
// 53, whose authors asked the service.
func TestTransactionReadsNothing(t *testing.T) {
	e := newEndpoint(t, tableH)
	e.answer("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"x"}}}`)
	const get = `{"TableName":"HHH","Key":{"a":{"S":"x"}},"ProjectionExpression":"b"}`
	e.want("TransactGetItems", `{"TransactItems":[{"Get":`+get+`}]}`, `{"Responses":[{}]}`)
	e.want("GetItem", get, `{"Item":{}}`)
}

// TestDeepValuesOfTransactions has row 17 of the list of 2026-11-26 (probable): values nested deeper than 32 levels
// cancel the transaction in an Update, and have no effect in a ConditionCheck.
func TestDeepValuesOfTransactions(t *testing.T) {
	deep := strings.Repeat(`{"M":{"n":`, 40) + `{"S":"x"}` + strings.Repeat(`}}`, 40)
	e := newEndpoint(t, tableH)
	e.cancelled("TransactWriteItems", transact(putH("p", ""), onH("Update", `{"S":"x"}`,
		`,"UpdateExpression":"SET d = :d","ExpressionAttributeValues":{":d":`+deep+`}`)),
		reasons(reasonNone, reasonInvalid("Nesting Levels have exceeded supported limits: "+
			"Attributes in the item have nested levels beyond supported limit")))
	e.item("HHH", `{"a":{"S":"p"}}`, `{}`)
	e.answer("TransactWriteItems", transact(putH("p", ""), onH("ConditionCheck", `{"S":"x"}`,
		`,"ConditionExpression":"attribute_not_exists(a) OR d = :d","ExpressionAttributeValues":{":d":`+deep+`}`)))
}
