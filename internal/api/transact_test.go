package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func transact(items ...string) string {
	return `{"TransactItems":[` + strings.Join(items, ",") + `]}`
}

// with adds a member to a request.
func with(body, member string) string { return strings.TrimSuffix(body, "}") + "," + member + "}" }

func putH(key, rest string) string {
	return `{"Put":{"TableName":"HHH","Item":{"a":{"S":"` + key + `"}` + rest + `}}}`
}

func putIf(key, cond string) string {
	return `{"Put":{"TableName":"HHH","Item":{"a":{"S":"` + key + `"}},"ConditionExpression":"` + cond + `"}}`
}

func checkH(key, cond string) string {
	return `{"ConditionCheck":{"TableName":"HHH","Key":{"a":{"S":"` + key + `"}},"ConditionExpression":"` + cond + `"}}`
}

// onH returns an action other than Put on the item of table H with this key.
func onH(action, key, rest string) string {
	return `{"` + action + `":{"TableName":"HHH","Key":{"a":` + key + `}` + rest + `}}`
}

const (
	reasonNone   = `{"Code":"None"}`
	reasonFailed = `{"Code":"ConditionalCheckFailed","Message":"The conditional request failed"}`
)

func reasonInvalid(text string) string { return `{"Code":"ValidationError","Message":"` + text + `"}` }

func reasons(list ...string) string { return `[` + strings.Join(list, ",") + `]` }

// Source: conformance error-messages/transactWriteItems; alternator,
// test_transact.py.
func TestTransactWriteItemsReasons(t *testing.T) {
	const (
		set      = `,"UpdateExpression":"SET x = :v","ExpressionAttributeValues":{":v":{"S":"y"}}`
		old      = `,"ReturnValuesOnConditionCheckFailure":"ALL_OLD"`
		schema   = "The provided key element does not match the schema"
		key      = wrongValues + "Type mismatch for key a expected: S actual: "
		index    = wrongValues + "Type mismatch for Index Key c Expected: S Actual: N IndexName: index1"
		operand  = "An operand in the update expression has an incorrect data type"
		oversize = "Item size to update has exceeded the maximum allowed size"
	)
	e := newEndpoint(t, tableH, tableR)
	e.answer("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"old"},"n":{"N":"1"}}}`)
	putR := func(rest string) string {
		return `{"Put":{"TableName":"RRR","Item":{"a":{"S":"r"},"b":{"S":"r"}` + rest + `}}}`
	}
	updateR := func(expr, value string) string {
		return `{"Update":{"TableName":"RRR","Key":{"a":{"S":"r"},"b":{"S":"r"}},"UpdateExpression":"` + expr +
			`","ExpressionAttributeValues":{":v":` + value + `}}}`
	}
	for _, tt := range []struct {
		name    string
		actions []string
		reasons []string
	}{
		{
			"every failed condition",
			[]string{
				putH("1", ""), putIf("2", "attribute_not_exists(a)"), checkH("3", "attribute_exists(a)"),
				putIf("old", "attribute_not_exists(a)"),
			}, []string{reasonNone, reasonNone, reasonFailed, reasonFailed},
		},
		{"the item, when there is one", []string{
			onH(
				"Delete", `{"S":"old"}`,
				`,"ConditionExpression":"n = :v","ExpressionAttributeValues":{":v":{"N":"2"}}`+old,
			),
			onH("Delete", `{"S":"none"}`, `,"ConditionExpression":"attribute_exists(a)"`+old), putH("1", ""),
		},
			[]string{
				`{"Code":"ConditionalCheckFailed","Message":"The conditional request ` +
					`failed","Item":{"a":{"S":"old"},"n":{"N":"1"}}}`, reasonFailed, reasonNone,
			}},
		{
			"Put",
			[]string{
				`{"Put":{"TableName":"HHH","Item":{"a":{"S":"old"}},"ConditionExpression":"attribute_not_exists(a)"` +
					old + `}}`,
			},
			[]string{
				`{"Code":"ConditionalCheckFailed","Message":"The conditional request ` +
					`failed","Item":{"a":{"S":"old"},"n":{"N":"1"}}}`,
			},
		},
		{
			"Update, no ghost",
			[]string{onH("Update", `{"S":"ghost"}`, set+`,"ConditionExpression":"attribute_exists(a)"`), putH("1", "")},
			[]string{reasonFailed, reasonNone},
		},
		{
			"only the first that is invalid, and no failed condition",
			[]string{
				putIf("old", "attribute_not_exists(a)"), `{"Put":{"TableName":"HHH","Item":{"a":{"N":"7"}}}}`,
				`{"Put":{"TableName":"HHH","Item":{"a":{"N":"8"}}}}`,
			}, []string{reasonNone, reasonInvalid(key + "N"), reasonNone},
		},
		{
			"Put, key of another kind", []string{`{"Put":{"TableName":"HHH","Item":{"a":{"L":[{"S":"x"}]}}}}`},
			[]string{reasonInvalid(key + "L")},
		},
		{
			"Put, no key", []string{`{"Put":{"TableName":"HHH","Item":{"b":{"S":"x"}}}}`},
			[]string{reasonInvalid(wrongValues + "Missing the key a in the item")},
		},
		{"Update, key", []string{onH("Update", `{"N":"5"}`, set)}, []string{reasonInvalid(schema)}},
		{
			"Delete, key", []string{putH("1", ""), onH("Delete", `{"L":[{"S":"x"}]}`, ``)},
			[]string{reasonNone, reasonInvalid(schema)},
		},
		{
			"ConditionCheck, key",
			[]string{onH("ConditionCheck", `{"N":"5"}`, `,"ConditionExpression":"attribute_exists(a)"`)},
			[]string{reasonInvalid(schema)},
		},
		{
			"Update of the key",
			[]string{
				onH(
					"Update", `{"S":"x"}`,
					`,"UpdateExpression":"SET a = :v","ExpressionAttributeValues":{":v":{"S":"y"}}`,
				),
			}, []string{reasonInvalid(wrongValues + "Cannot update attribute a. This attribute is part of the key")},
		},
		{"Put, key of an index", []string{putR(`,"c":{"N":"1"}`)}, []string{reasonInvalid(index)}},
		{
			"Update, key of an index", []string{putH("1", ""), updateR("SET c = :v", `{"N":"1"}`)},
			[]string{reasonNone, reasonInvalid(index)},
		},
		{
			"Update, operand, beside a failed condition",
			[]string{
				onH(
					"Update", `{"S":"old"}`,
					`,"UpdateExpression":"ADD n :v","ExpressionAttributeValues":{":v":{"SS":["y"]}}`,
				), checkH("3", "attribute_exists(a)"), putH("1", ""),
			}, []string{reasonInvalid(operand), reasonFailed, reasonNone},
		},
		{
			"Update, size",
			[]string{
				onH(
					"Update", `{"S":"x"}`,
					`,"UpdateExpression":"SET x = :v","ExpressionAttributeValues":{":v":{"S":"`+
						strings.Repeat("x", 400*1024)+`"}}`,
				),
			}, []string{reasonInvalid(oversize)},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e.t = t
			e.cancelled("TransactWriteItems", transact(tt.actions...), reasons(tt.reasons...))
			for _, key := range []string{"1", "2", "3", "none", "ghost", "x"} {
				e.item("HHH", `{"a":{"S":"`+key+`"}}`, `{}`)
			}
			e.item("RRR", `{"a":{"S":"r"},"b":{"S":"r"}}`, `{}`)
		})
	}
	e.t = t
	e.item("HHH", `{"a":{"S":"old"}}`, `{"a":{"S":"old"},"n":{"N":"1"}}`)
}

// Errors that fail the whole request, and their order. Source: conformance error-messages/transactWriteItems,
// validation-ordering/ transactions and deepRequests, limits/itemSizeBySurface; alternator, test_transact.py.
func TestTransactWriteItemsRefusals(t *testing.T) {
	const (
		emptyKey = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot " +
			"contain an empty string value. Key: a"
		syntax = `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("`
		unused = "Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}"
		nested = "Nesting Levels have exceeded supported limits: " +
			"Attributes in the item have nested levels beyond supported limit"
		one = "Transaction request cannot include multiple operations on one item"
	)
	deep := `,"d":` + strings.Repeat(`{"M":{"n":`, 40) + `{"S":"x"}` + strings.Repeat(`}}`, 40)
	badSyntax, badValue := checkH("c", "attribute_not_exists("), onH("ConditionCheck", `{"S":"c"}`,
		`,"ConditionExpression":"attribute_exists(a)","ExpressionAttributeValues":{":u":{"S":"x"}}`)
	absent := `{"Put":{"TableName":"Absent","Item":{"a":{"S":"x"}}}}`
	e := newEndpoint(t, tableH)
	for name, tt := range map[string]struct{ body, want string }{
		"empty": {
			transact(), "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: " +
				"Member must have length greater than or equal to 1",
		},
		"no action": {
			transact(`{}`), "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request",
		},
		"two actions in one": {
			transact(
				`{"Put":{"TableName":"HHH","Item":{"a":{"S":"x"}}},"Delete":{"TableName":"HHH","Key":{"a":{"S":"x"}}}}`,
			), "TransactItems can only contain one of Check, Put, Update or Delete",
		},
		"two puts of one item": {transact(putH("x", ""), putH("x", "")), one},
		"put and check of one item": {
			transact(putH("y", ""), putH("x", ""), checkH("x", "attribute_exists(a)")), one,
		},
		"two on one, one invalid": {
			transact(putH("x", ""), onH("Delete", `{"N":"1"}`, ``), onH("Delete", `{"S":"x"}`, ``)), one,
		},
		"empty key, Put": {transact(putH("", "")), emptyKey},
		"empty key, Update": {
			transact(
				putH("x", ""), onH("Update", `{"S":""}`, ``),
			), "1 validation error detected: Value null at 'transactItems.2.member.update.updateExpression' failed " +
				"to satisfy constraint: Member must not be null",
		},
		"empty key, Update, expression": {
			transact(putH("x", ""), onH("Update", `{"S":""}`, `,"UpdateExpression":"REMOVE x"`)), emptyKey,
		},
		"empty key, Delete":             {transact(onH("Delete", `{"S":""}`, ``)), emptyKey},
		"empty key, ConditionCheck":     {transact(checkH("", "attribute_exists(a)")), emptyKey},
		"syntax before a missing table": {transact(absent, badSyntax), syntax},
		"value before a missing table":  {transact(absent, badValue), unused},
		"value before two on one item":  {transact(putH("c", ""), badValue), unused},
		"syntax before a deep item":     {transact(badSyntax, putH("x", deep)), syntax},
		"a deep item before syntax":     {transact(putH("x", deep), badSyntax), nested},
		"a deep item before an unnamed": {transact(putH("x", deep), putH("y", `,"":{"S":"x"}`)), nested},
		"oversize Put": {
			transact(checkH("c", "attribute_exists(a)"), putH("x", `,"v":{"S":"`+strings.Repeat("x", 400*1024)+`"}`)),
			"Item size has exceeded the maximum allowed size",
		},
		"ReturnConsumedCapacity": {
			with(
				transact(absent), `"ReturnConsumedCapacity":"BOGUS"`,
			), "1 validation error detected: Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: " +
				"Member must satisfy enum value set: [INDEXES, TOTAL, NONE]",
		},
		"both enumerations": {with(
			transact(putH("x", ""), putH("x", "")),
			`"ReturnConsumedCapacity":"BOGUS","ReturnItemCollectionMetrics":"BOGUS2"`,
		),
			"2 validation errors detected: Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: " +
				"Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; " +
				"Value 'BOGUS2' at 'returnItemCollectionMetrics' failed to satisfy constraint: " +
				"Member must satisfy enum value set: [SIZE, NONE]"},
		"token of 37": {
			with(transact(putH("x", "")), `"ClientRequestToken":"`+strings.Repeat("x", 37)+`"`),
			"1 validation error detected: Value '" + strings.Repeat("x", 37) +
				"' at 'clientRequestToken' failed to satisfy constraint: " +
				"Member must have length less than or equal to 36",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e.t = t
			e.invalid("TransactWriteItems", tt.body, tt.want)
			e.item("HHH", `{"a":{"S":"x"}}`, `{}`)
		})
	}
	e.t = t
	e.refuse("TransactWriteItems", transact(putH("x", ""), absent),
		"ResourceNotFoundException: Requested resource not found")
	e.item("HHH", `{"a":{"S":"x"}}`, `{}`)
	e.refuse("TransactWriteItems", transact(putH("x", ""), putH("x", ""), absent),
		"ResourceNotFoundException: Requested resource not found")
}

// Source: API_TransactWriteItems, ClientRequestToken. Source for the capacity of a replay, in reads of 4 KB: captures
// by authors of other implementations.
func TestTransactWriteItemsTokens(t *testing.T) {
	e := newEndpoint(t, tableH, tableR)
	const update = `{"Update":{"TableName":"HHH","Key":{"a":{"S":"n"}},"UpdateExpression":"ADD n ` +
		`:one","ExpressionAttributeValues":{":one":{"N":"1"}}}}`
	request := func(token string, items ...string) string {
		return with(transact(items...), `"ReturnConsumedCapacity":"TOTAL","ClientRequestToken":"`+token+`"`)
	}
	const mismatch = "IdempotentParameterMismatchException: The ClientRequestToken was used by another transaction " +
		"in the last 10 minutes. Take a new token for each transaction, and the same one only to send it again."
	counter := func(want string) {
		t.Helper()
		e.item("HHH", `{"a":{"S":"n"}}`, `{"a":{"S":"n"},"n":{"N":"`+want+`"}}`)
	}
	const written = `{"ConsumedCapacity":[{"TableName":"HHH","CapacityUnits":2,"WriteCapacityUnits":2}]}`
	const replayed = `{"ConsumedCapacity":[{"TableName":"HHH","CapacityUnits":2,"ReadCapacityUnits":2}]}`
	e.want("TransactWriteItems", request("t1", update), written)
	counter("1")
	e.want("TransactWriteItems", request("t1", update), replayed)
	counter("1")
	e.want("TransactWriteItems", with(transact(update), `"ClientRequestToken":"t1"`), `{}`)
	e.want("TransactWriteItems", request("t2", update), written)
	counter("2")
	// the same number
	e.want("TransactWriteItems", request("t1", strings.Replace(update, `{"N":"1"}`, `{"N":"1.0"}`, 1)), replayed)
	for _, other := range []string{
		strings.Replace(update, `{"N":"1"}`, `{"N":"2"}`, 1), putH("other", ""), update + "," + putH("other", ""),
	} {
		e.refuse("TransactWriteItems", request("t1", other), mismatch)
	}
	e.item("HHH", `{"a":{"S":"other"}}`, `{}`)
	counter("2")

	e.sleep(10*time.Minute - time.Millisecond)
	e.want("TransactWriteItems", request("t1", update), replayed)
	counter("2")
	e.sleep(time.Millisecond)
	e.want("TransactWriteItems", request("t1", update), written)
	counter("3")
	e.sleep(5 * time.Minute)
	e.want("TransactWriteItems", request("t1", update), replayed) // remembered anew
	counter("3")
	e.sleep(5 * time.Minute)
	e.want("TransactWriteItems", request("t1", putH("other", "")), written)

	// A client may use the token of a cancelled transaction again.
	cond := request("t3", putH("x", ""), checkH("later", "attribute_exists(a)"))
	e.cancelled("TransactWriteItems", cond, reasons(reasonNone, reasonFailed))
	e.answer("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"later"}}}`)
	e.answer("TransactWriteItems", cond)
	e.answer("DeleteItem", `{"TableName":"HHH","Key":{"a":{"S":"later"}}}`)
	e.answer("TransactWriteItems", cond)

	// The service forgets old tokens, but none of the last 10 minutes.
	for i := range 250 {
		e.answer("TransactWriteItems", request(fmt.Sprint("many", i), putH("x", "")))
		e.sleep(10 * time.Second)
	}
	e.refuse("TransactWriteItems", request("many249", putH("y", "")), mismatch)
	e.refuse("TransactWriteItems", request("many195", putH("y", "")), mismatch)
	e.answer("TransactWriteItems", request("many150", putH("y", "")))

	// The response for a replay has the capacity by table, in the order of the actions.
	big := strings.Repeat("x", 5000)
	two := with(transact(`{"Put":{"TableName":"RRR","Item":{"a":{"S":"r"},"b":{"S":"r"},"c":{"S":"c"},"v":{"S":"`+big+
		`"}}}}`, putH("z", ""), checkH("z2", "attribute_not_exists(a)")),
		`"ReturnConsumedCapacity":"INDEXES","ClientRequestToken":"t9"`)
	e.want("TransactWriteItems", two, `{"ConsumedCapacity":[
		{"TableName":"RRR","CapacityUnits":20,"WriteCapacityUnits":20,"Table":{"CapacityUnits":10,
		"WriteCapacityUnits":10},
			"LocalSecondaryIndexes":{"index1":{"CapacityUnits":5,"WriteCapacityUnits":5}},
			"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":5,"WriteCapacityUnits":5}}},
		{"TableName":"HHH","CapacityUnits":4,"WriteCapacityUnits":4,"Table":{"CapacityUnits":4,
		"WriteCapacityUnits":4}}]}`)
	for range 5 {
		e.want("TransactWriteItems", two, `{"ConsumedCapacity":[
			{"TableName":"RRR","CapacityUnits":4,"ReadCapacityUnits":4,"Table":{"CapacityUnits":4,
			"ReadCapacityUnits":4}},
			{"TableName":"HHH","CapacityUnits":4,"ReadCapacityUnits":4,"Table":{"CapacityUnits":4,
			"ReadCapacityUnits":4}}]}`)
	}
	e.answer("DeleteTable", `{"TableName":"RRR"}`)
	e.refuse("TransactWriteItems", two, "ResourceNotFoundException: Requested resource not found")
}

func TestTransactWriteItemsMetrics(t *testing.T) {
	e := newEndpoint(t, tableH, tableR)
	body := with(transact(`{"Put":{"TableName":"RRR","Item":{"a":{"S":"r"},"b":{"S":"r"}}}}`,
		`{"Delete":{"TableName":"RRR","Key":{"a":{"S":"r"},"b":{"S":"s"}}}}`, putH("z", "")),
		`"ReturnItemCollectionMetrics":"SIZE"`)
	e.want("TransactWriteItems", body,
		`{"ItemCollectionMetrics":{"RRR":[{"ItemCollectionKey":{"a":{"S":"r"}},"SizeEstimateRangeGB":[0,1]}]}}`)
}

// Source: alternator, test_transact.py; conformance
// error-messages/transactGetItems; DG/transaction-apis.html.
func TestTransactGetItems(t *testing.T) {
	e := newEndpoint(t, tableH, tableR)
	e.answer("PutItem",
		`{"TableName":"HHH","Item":{"a":{"S":"x"},"m":{"M":{"y":{"N":"1"},"z":{"N":"2"}}},"v":{"S":"`+
			strings.Repeat("v", 5000)+`"}}}`)
	get := func(key, rest string) string { return onH("Get", key, rest) }
	body := transact(get(`{"S":"none"}`, ""),
		get(`{"S":"x"}`, `,"ProjectionExpression":"m.#y","ExpressionAttributeNames":{"#y":"y"}`),
		`{"Get":{"TableName":"RRR","Key":{"a":{"S":"r"},"b":{"S":"r"}}}}`)
	e.want("TransactGetItems", with(body, `"ReturnConsumedCapacity":"INDEXES"`),
		`{"Responses":[{},{"Item":{"m":{"M":{"y":{"N":"1"}}}}},{}],"ConsumedCapacity":[
		{"TableName":"HHH","CapacityUnits":6,"ReadCapacityUnits":6,"Table":{"CapacityUnits":6,"ReadCapacityUnits":6}},
		{"TableName":"RRR","CapacityUnits":2,"ReadCapacityUnits":2,"Table":{"CapacityUnits":2,
		"ReadCapacityUnits":2}}]}`)
	e.want("TransactGetItems", with(body, `"ReturnConsumedCapacity":"NONE"`),
		`{"Responses":[{},{"Item":{"m":{"M":{"y":{"N":"1"}}}}},{}]}`)
	e.want("TransactGetItems", transact(get(`{"S":"x"}`, `,"ProjectionExpression":"nothing"`)),
		`{"Responses":[{}]}`)

	const schema = "The provided key element does not match the schema"
	e.cancelled("TransactGetItems", transact(get(`{"S":"x"}`, ""), get(`{"N":"1"}`, "")),
		reasons(reasonNone, reasonInvalid(schema)))
	e.cancelled("TransactGetItems", transact(`{"Get":{"TableName":"HHH","Key":{}}}`), reasons(reasonInvalid(schema)))
	e.invalid("TransactGetItems", transact(get(`{"S":"x"}`, ""), get(`{"S":"x"}`, `,"ProjectionExpression":"v"`)),
		"Transaction request cannot include multiple operations on one item")
	e.invalid("TransactGetItems", transact(get(`{"S":"x"}`, `,"ProjectionExpression":"!!!"`)),
		`Invalid ProjectionExpression: Syntax error; token: "!", near: "!!"`)
	e.invalid("TransactGetItems",
		transact(get(`{"S":"x"}`, `,"ProjectionExpression":"v","ExpressionAttributeNames":{"#q":"q"}`)),
		"Value provided in ExpressionAttributeNames unused in expressions: keys: {#q}")
	e.invalid("TransactGetItems",
		transact(get(`{"S":""}`,
			"")), "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "+
			"an empty string value. Key: a")
	e.invalid("TransactGetItems",
		transact(), "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: "+
			"Member must have length greater than or equal to 1")
	e.refuse("TransactGetItems", transact(get(`{"S":"x"}`, ""), `{"Get":{"TableName":"Absent","Key":{}}}`),
		"ResourceNotFoundException: Requested resource not found")
}
