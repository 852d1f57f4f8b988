package wire_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/wire"
)

// check decodes a body and validates it. It returns the error's text, or "".
func check(t *testing.T, op wire.Op, body string) string {
	t.Helper()
	in := op.NewInput()
	if err := wire.Decode([]byte(body), in); err != nil {
		t.Fatalf("%v.Decode(%s) = %v", op, body, err)
	}
	return message(t, wire.Validate(op, in))
}

func message(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	e, ok := errors.AsType[*wire.Error](err)
	if !ok {
		t.Fatalf("error is %T, want *wire.Error", err)
	}
	if e.Code != wire.CodeValidation || e.Status != 400 {
		t.Fatalf("error is %s with status %d, want a ValidationException with 400", e.Code, e.Status)
	}
	return e.Message
}

func errorsOf(list ...string) string {
	head := "1 validation error detected: "
	if n := len(list); n > 1 {
		head = string(rune('0'+n)) + " validation errors detected: "
		if n == 10 {
			head = "10 validation errors detected: "
		}
	}
	return head + strings.Join(list, "; ")
}

const (
	comparisons = "[IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]"
	keyNames    = "Map keys must satisfy constraint: [Member must have length less than or equal to 255, " +
		"Member must have length greater than or equal to 3, Member must satisfy regular " +
		"expression pattern: [a-zA-Z0-9_.-]+]"
	returns = "Failed to satisfy constraint: Member must satisfy enum value set: " +
		"[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
	values25 = "Map value must satisfy constraint: [Member must have length less than or equal to 25, " +
		"Member must have length greater than or equal to 1]"
)

func null(path string) string {
	return "Value null at '" + path + "' failed to satisfy constraint: Member must not be null"
}

func at(value, path, text string) string {
	return "Value '" + value + "' at '" + path + "' failed to satisfy constraint: Member must " + text
}

// TestValidate has these sources: "dynalite" is test/<operation>.js of architect/dynalite, which its authors ran
// against the service; "conformance" is paritysuite (formerly nubo-db)/dynamodb-conformance, tests/tier3, captured in
// 2026.
func TestValidate(t *testing.T) {
	long := strings.Repeat("a", 256)
	many := func(n int, elem string) string { return strings.TrimSuffix(strings.Repeat(elem+",", n), ",") }
	for _, tt := range []struct {
		name string // with the source
		op   wire.Op
		body string
		want string
	}{
		{"fine", wire.OpPutItem, `{"TableName":"abc","Item":{"a":{"S":"x"}},"ReturnValues":"ALL_OLD"}`, ""},
		{"no table, conformance putItem", wire.OpPutItem, `{"Item":{}}`, errorsOf(null("tableName"))},
		{"nothing, dynalite putItem", wire.OpPutItem, `{}`, errorsOf(null("tableName"), null("item"))},
		{
			"empty table, conformance putItem", wire.OpPutItem, `{"TableName":"","Item":{},"ReturnValues":"x"}`,
			errorsOf(
				"Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1",
			),
		},
		{
			"long table, conformance putItem", wire.OpPutItem, `{"TableName":"` + long + `","Item":{}}`,
			errorsOf(at(long, "tableName", "have length less than or equal to 255")),
		},
		{
			"bad table, conformance putItem", wire.OpPutItem, `{"TableName":"bad table!@#","Item":{}}`,
			errorsOf(at("bad table!@#", "tableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+")),
		},
		{
			"table ARN", wire.OpPutItem,
			`{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/abc","Item":{}}`, "",
		},
		{
			"three enums, conformance validation-ordering/putItem", wire.OpPutItem,
			`{"TableName":"abc","Item":{},"ReturnConsumedCapacity":"hi",` +
				`"ReturnItemCollectionMetrics":"hi","ReturnValues":"hi"}`,
			errorsOf(at("hi", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]"),
				returns,
				at("hi", "returnItemCollectionMetrics", "satisfy enum value set: [SIZE, NONE]")),
		},
		{
			"conformance validation-ordering/updateItem", wire.OpUpdateItem,
			`{"TableName":"abc","Key":{},"ReturnValues":"INVALID","ReturnConsumedCapacity":"INVALID"}`,
			errorsOf(returns),
		},
		{
			"beside a missing key, conformance validation-ordering/updateItem", wire.OpUpdateItem,
			`{"TableName":"","ReturnConsumedCapacity":"INVALID","ReturnValues":"INVALID"}`,
			errorsOf(at("INVALID", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]"),
				at("", "tableName", "have length greater than or equal to 1"),
				at(
					"INVALID", "returnValues",
					"satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]",
				), null("key")),
		},
		{
			"conformance validation-ordering/updateItem XOR", wire.OpUpdateItem,
			`{"TableName":"abc","ConditionalOperator":"XOR"}`,
			errorsOf(at("XOR", "conditionalOperator", "satisfy enum value set: [OR, AND]"), null("key")),
		},
		{
			"conformance validation-ordering/deleteItem", wire.OpDeleteItem,
			`{"TableName":"abc","Key":{},"ReturnValues":"INVALID","ReturnConsumedCapacity":"INVALID"}`,
			errorsOf(
				at("INVALID", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]"), returns,
			),
		},
		{
			"dynalite query, ten and no more", wire.OpQuery,
			`{"TableName":"abc;","ReturnConsumedCapacity":"hi","AttributesToGet":[],"IndexName":"abc;","Select":"hi",
			"KeyConditions":{"a":{},"b":{"ComparisonOperator":""}},
			"ConditionalOperator":"AN","QueryFilter":{"a":{},"b":{"ComparisonOperator":""}},"Limit":-1}`,
			errorsOf(at(
				"hi", "select",
				"satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
			),
				at("abc;", "indexName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
				at("hi", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]"),
				null("queryFilter.a.member.comparisonOperator"),
				at("", "queryFilter.b.member.comparisonOperator", "satisfy enum value set: "+comparisons),
				at("abc;", "tableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
				at("AN", "conditionalOperator", "satisfy enum value set: [OR, AND]"),
				at("[]", "attributesToGet", "have length greater than or equal to 1"),
				at("-1", "limit", "have value greater than or equal to 1"),
				null("keyConditions.a.member.comparisonOperator")),
		},
		{
			"Limit 0, conformance query", wire.OpQuery, `{"TableName":"abc","Limit":0}`,
			"1 validation error detected: Value at 'Limit' failed to satisfy constraint: " +
				"Member must have value greater than or equal to 1",
		},
		{
			"Limit 0, dynoxide 2026-10-20", wire.OpScan, `{"TableName":"abc","Limit":0}`,
			errorsOf(
				"Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
			),
		},
		{
			"index names, dynalite query", wire.OpQuery, `{"TableName":"abc","IndexName":""}`,
			errorsOf(
				at("", "indexName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
				at("", "indexName", "have length greater than or equal to 3"),
			),
		},
		{
			"dynalite scan", wire.OpScan,
			`{"TableName":"abc;","ReturnConsumedCapacity":"hi","IndexName":"abc;","Segment":-1,"TotalSegments":-1,
			"Select":"hi","Limit":-1,
			"ScanFilter":{"a":{},"b":{"ComparisonOperator":""}},"ConditionalOperator":"AN"}`,
			errorsOf(at(
				"hi", "select",
				"satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
			),
				at("abc;", "indexName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
				at("-1", "totalSegments", "have value greater than or equal to 1"),
				at("hi", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]"),
				at("abc;", "tableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
				at("AN", "conditionalOperator", "satisfy enum value set: [OR, AND]"),
				null("scanFilter.a.member.comparisonOperator"),
				at("", "scanFilter.b.member.comparisonOperator", "satisfy enum value set: "+comparisons),
				at("-1", "segment", "have value greater than or equal to 0"),
				at("-1", "limit", "have value greater than or equal to 1")),
		},
		{
			"segments", wire.OpScan, `{"TableName":"abc","Segment":0,"TotalSegments":1000001}`,
			errorsOf(
				"Value at 'TotalSegments' failed to satisfy constraint: " +
					"Member must have value less than or equal to 1000000",
			),
		},

		{
			"dynalite batchGetItem", wire.OpBatchGetItem, `{"ReturnConsumedCapacity":"hi"}`,
			errorsOf(
				null("requestItems"),
				at("hi", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]"),
			),
		},
		{
			"conformance batchGetItem, all regions but one since 2026-09-02", wire.OpBatchGetItem,
			`{"RequestItems":{}}`,
			"1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: " +
				"Member must have length greater than or equal to 1",
		},
		{
			"101 keys, conformance batchGetItem", wire.OpBatchGetItem,
			`{"RequestItems":{"My.Table":{"Keys":[` + many(101, `{"a":{"S":"x"}}`) + `]}}}`,
			"1 validation error detected: Value at 'RequestItems.My.Table.member.Keys' failed to satisfy constraint: " +
				"Member must have length less than or equal to 100",
		},
		{
			"no keys, conformance batchGetItem", wire.OpBatchGetItem, `{"RequestItems":{"abc":{"Keys":[]}}}`,
			"1 validation error detected: Value at 'RequestItems.abc.member.Keys' failed to satisfy constraint: " +
				"Member must have length greater than or equal to 1",
		},
		{
			"bad name, conformance batchOperations", wire.OpBatchGetItem,
			`{"RequestItems":{"bad!name":{"Keys":[{"pk":{"S":"a"}}]}},"ReturnConsumedCapacity":"BOGUS"}`,
			errorsOf(`Value '{"bad!name":{"Keys":[{"pk":{"S":"a"}}]}}' at 'requestItems' failed `+
				`to satisfy constraint: `+keyNames,
				at("BOGUS", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]")),
		},
		{
			"null keys, dynalite batchGetItem", wire.OpBatchGetItem, `{"RequestItems":{"aa;":{}}}`,
			errorsOf(
				`Value '{"aa;":{}}' at 'requestItems' failed to satisfy constraint: `+keyNames,
				null("requestItems.aa;.member.keys"),
			),
		},

		{"dynalite batchWriteItem", wire.OpBatchWriteItem, `{}`, errorsOf(null("requestItems"))},
		{
			"semantics, batchWriteItem", wire.OpBatchWriteItem, `{"RequestItems":{}}`,
			"The requestItems parameter is required for BatchWriteItem",
		},
		{
			"empty list, conformance batchWriteItem", wire.OpBatchWriteItem, `{"RequestItems":{"abc":[]}}`,
			errorsOf("Value '{abc=[]}' at 'requestItems' failed to satisfy constraint: " + values25),
		},
		{
			"bad name, conformance batchWriteItem", wire.OpBatchWriteItem,
			`{"RequestItems":{"bad!name":[{"PutRequest":{"Item":{"pk":{"S":"x"}}}}]}}`,
			errorsOf("Value '{bad!name=[WriteRequest(putRequest=PutRequest(item={pk=AttributeValue(s=x, n=null, " +
				"b=null, iNT=null, dECIMAL=null, dOUBLE=null, sS=null, nS=null, bS=null, iNTSET=null, " +
				"dECIMALSET=null, dOUBLESET=null, m=null, l=null, nULL=null, bOOL=null)}, workloadProfileName=null), " +
				"deleteRequest=null)]}' at 'requestItems' failed to satisfy constraint: " + keyNames),
		},
		{
			"bad name is omitted, conformance batchOperations", wire.OpBatchWriteItem,
			`{"RequestItems":{"bad!name":[{"PutRequest":{"Item":{}}}]},"ReturnConsumedCapacity":"BOGUS"}`,
			errorsOf(at("BOGUS", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]")),
		},
		{
			"nulls inside, dynalite batchWriteItem", wire.OpBatchWriteItem,
			`{"RequestItems":{"abc":[{"PutRequest":{},"DeleteRequest":{}}]}}`,
			errorsOf(
				null("requestItems.abc.member.1.member.deleteRequest.key"),
				null("requestItems.abc.member.1.member.putRequest.item"),
			),
		},

		{
			"empty, conformance transactWriteItems", wire.OpTransactWriteItems, `{"TransactItems":[]}`,
			errorsOf(at("[]", "transactItems", "have length greater than or equal to 1")),
		},
		{
			"empty, conformance transactGetItems", wire.OpTransactGetItems, `{"TransactItems":[]}`,
			errorsOf(at("[]", "transactItems", "have length greater than or equal to 1")),
		},
		{
			"token, conformance transactions", wire.OpTransactWriteItems,
			`{"TransactItems":[{"Put":{"TableName":"abc","Item":{}}}],"ClientRequestToken":"` +
				strings.Repeat("x", 37) + `","ReturnConsumedCapacity":"BOGUS"}`,
			errorsOf(at(strings.Repeat("x", 37), "clientRequestToken", "have length less than or equal to 36"),
				at("BOGUS", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]")),
		},
		{
			"null members, dynalite transactWriteItem", wire.OpTransactWriteItems,
			`{"TransactItems":[{"Put":{"TableName":"abc"}}]}`, errorsOf(null("transactItems.1.member.put.item")),
		},

		{
			"dynalite createTable", wire.OpCreateTable, `{}`,
			"The parameter 'TableName' is required but was not present in the request",
		},
		{
			"short, conformance createTable", wire.OpCreateTable,
			`{"TableName":"ab","AttributeDefinitions":[],"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}]}`,
			errorsOf(at("ab", "tableName", "have length greater than or equal to 3")),
		},
		{
			"nulls, dynalite createTable", wire.OpCreateTable, `{"TableName":"abc;"}`,
			errorsOf(
				null("attributeDefinitions"),
				at("abc;", "tableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"), null("keySchema"),
			),
		},
		{
			"throughput, dynalite createTable", wire.OpCreateTable,
			`{"TableName":"abc","AttributeDefinitions":[],"KeySchema":[],` +
				`"ProvisionedThroughput":{"ReadCapacityUnits":-1,"WriteCapacityUnits":-1}}`,
			errorsOf(at("-1", "provisionedThroughput.writeCapacityUnits", "have value greater than or equal to 1"),
				at("-1", "provisionedThroughput.readCapacityUnits", "have value greater than or equal to 1"),
				at("[]", "keySchema", "have length greater than or equal to 1")),
		},
		{
			"three keys, conformance createTable", wire.OpCreateTable,
			`{"TableName":"abc","AttributeDefinitions":[],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},` +
				`{"AttributeName":"sk","KeyType":"RANGE"},{"AttributeName":"extra","KeyType":"RANGE"}]}`,
			errorsOf(at("[KeySchemaElement(attributeName=pk, keyType=HASH), KeySchemaElement(attributeName=sk, "+
				"keyType=RANGE), KeySchemaElement(attributeName=extra, keyType=RANGE)]",
				"keySchema", "have length less than or equal to 2")),
		},
		{
			"key elements, dynalite createTable", wire.OpCreateTable,
			`{"TableName":"abc","AttributeDefinitions":[],"KeySchema":[{"KeyType":"HASH"},` +
				`{"KeyType":"Woop","AttributeName":"a"}]}`,
			errorsOf(
				null("keySchema.1.member.attributeName"),
				at("Woop", "keySchema.2.member.keyType", "satisfy enum value set: [HASH, RANGE]"),
			),
		},
		{
			"attribute type, conformance createTable", wire.OpCreateTable,
			`{"TableName":"abc","AttributeDefinitions":[{"AttributeName":"b","AttributeType":"SS"}],` +
				`"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}]}`,
			errorsOf(at("SS", "attributeDefinitions.1.member.attributeType", "satisfy enum value set: [B, N, S]")),
		},
		{
			"billing mode, conformance createTable", wire.OpCreateTable,
			`{"TableName":"abc","AttributeDefinitions":[],"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],` +
				`"BillingMode":"INVALID_MODE"}`,
			errorsOf(at("INVALID_MODE", "billingMode", "satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]")),
		},
		{
			"global before local, conformance validation-ordering/createTable", wire.OpCreateTable,
			`{"TableName":"abc","AttributeDefinitions":[],"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],
			"LocalSecondaryIndexes":[{"IndexName":"l1","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],
			"Projection":{"ProjectionType":"ALL"}}],
			"GlobalSecondaryIndexes":[{"IndexName":"g1","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],
			"Projection":{"ProjectionType":"ALL"}}]}`,
			errorsOf(at("g1", "globalSecondaryIndexes.1.member.indexName", "have length greater than or equal to 3"),
				at("l1", "localSecondaryIndexes.1.member.indexName", "have length greater than or equal to 3")),
		},
		{
			"an empty name of an index, ack-api-quirks, DDB-TABLE-457", wire.OpUpdateTable,
			`{"TableName":"abc","GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"",
			"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`,
			errorsOf(
				at("", "globalSecondaryIndexUpdates.1.member.create.indexName", "have length greater than or equal to 3"),
				at("", "globalSecondaryIndexUpdates.1.member.create.indexName", "satisfy regular expression pattern: "+
					"[a-zA-Z0-9_.-]+"),
			),
		},
		{
			"ten empty indexes, dynalite createTable", wire.OpCreateTable,
			`{"TableName":"abc","AttributeDefinitions":[],"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],` +
				`"LocalSecondaryIndexes":[{},{},{},{},{}]}`,
			errorsOf(null("localSecondaryIndexes.1.member.indexName"), null("localSecondaryIndexes.1.member.keySchema"),
				null("localSecondaryIndexes.1.member.projection"),
				null("localSecondaryIndexes.2.member.indexName"), null("localSecondaryIndexes.2.member.keySchema"),
				null("localSecondaryIndexes.2.member.projection"),
				null("localSecondaryIndexes.3.member.indexName"), null("localSecondaryIndexes.3.member.keySchema"),
				null("localSecondaryIndexes.3.member.projection"), null("localSecondaryIndexes.4.member.indexName")),
		},
		{
			"dynalite updateTable",
			wire.OpUpdateTable,
			`{"TableName":"abc","GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"a","ProvisionedThroughput":{}}},
			{"Update":{"IndexName":"abc;","ProvisionedThroughput":{"ReadCapacityUnits":1000000000001,
			"WriteCapacityUnits":0}}}]}`,
			errorsOf(at(
				"a", "globalSecondaryIndexUpdates.1.member.update.indexName", "have length greater than or equal to 3",
			),
				null("globalSecondaryIndexUpdates.1.member.update.provisionedThroughput.writeCapacityUnits"),
				null("globalSecondaryIndexUpdates.1.member.update.provisionedThroughput.readCapacityUnits"),
				at(
					"abc;", "globalSecondaryIndexUpdates.2.member.update.indexName",
					"satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
				),
				at(
					"0", "globalSecondaryIndexUpdates.2.member.update.provisionedThroughput.writeCapacityUnits",
					"have value greater than or equal to 1",
				)),
		},
		{
			"dynalite listTables", wire.OpListTables, `{"Limit":101,"ExclusiveStartTableName":"a;"}`,
			errorsOf(at("101", "limit", "have value less than or equal to 100"),
				at("a;", "exclusiveStartTableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
				at("a;", "exclusiveStartTableName", "have length greater than or equal to 3")),
		},
		{"dynalite tagResource", wire.OpTagResource, `{}`, "Invalid TableArn"},
		{
			"an empty name, ack-api-quirks", wire.OpDescribeTable, `{"TableName":""}`,
			errorsOf(at("", "tableName", "have length greater than or equal to 3"),
				at("", "tableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+")),
		},
		{
			"tag lengths", wire.OpTagResource, `{"ResourceArn":"arn:x","Tags":[{"Key":"","Value":"v"}]}`,
			"The Tag Key provided is invalid, Key: ",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := check(t, tt.op, tt.body); got != tt.want {
				t.Errorf("%v %.300s\n got %s\nwant %s", tt.op, tt.body, got, tt.want)
			}
		})
	}
}

// TestTextsAreBounded checks that a message does not repeat all of a text that is too long, however many such texts
// there are.
func TestTextsAreBounded(t *testing.T) {
	long := strings.Repeat("é", 4<<20)
	statements := strings.TrimSuffix(strings.Repeat(`{"Statement":"`+strings.Repeat("x", 1<<20)+`"},`, 12), ",")
	for _, tt := range []struct {
		op   wire.Op
		body string
	}{
		{wire.OpExecuteStatement, `{"Statement":"` + long + `"}`},
		{wire.OpBatchExecuteStatement, `{"Statements":[` + statements + `]}`},
		{wire.OpPutItem, `{"TableName":"abc","Item":{},"ReturnConsumedCapacity":"` + long + `"}`},
		{
			wire.OpBatchWriteItem,
			`{"RequestItems":{"` + long + `":[{"PutRequest":{}},{"PutRequest":{}},{"PutRequest":{}}]}}`,
		},
	} {
		got := check(t, tt.op, tt.body)
		if len(got) > 600<<10 || !strings.Contains(got, "...") || !utf8.ValidString(got) {
			t.Errorf("%v: the message has %d bytes: %.100s", tt.op, len(got), got)
		}
	}
	statement := strings.Repeat("x", 8193) // captured: all of it
	if got, want := check(
		t, wire.OpExecuteStatement, `{"Statement":"`+statement+`"}`,
	), errorsOf(at(statement, "statement", "have length less than or equal to 8192")); got != want {
		t.Errorf("got %.200s", got)
	}
}

func TestEchoIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"RequestItems":{"abc":[`)
	for i := range 26 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"PutRequest":{"Item":{"a":{"L":[` +
			strings.TrimSuffix(strings.Repeat(`{"S":"x"},`, 5000), ",") + `]}}}}`)
	}
	b.WriteString(`]}}`)
	got := check(t, wire.OpBatchWriteItem, b.String())
	if len(got) > 1<<20 {
		t.Errorf("the message has %d bytes", len(got))
	}
	if !strings.HasSuffix(got, "]}' at 'requestItems' failed to satisfy constraint: "+values25) {
		t.Errorf("the message ends in %q", got[len(got)-300:])
	}
}
