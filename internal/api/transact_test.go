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

func checkH(key, cond string) string {
	return `{"ConditionCheck":{"TableName":"HHH","Key":{"a":{"S":"` + key + `"}},"ConditionExpression":"` + cond + `"}}`
}

const (
	reasonNone   = `{"Code":"None"}`
	reasonFailed = `{"Code":"ConditionalCheckFailed","Message":"The conditional request failed"}`
)

func reasons(list ...string) string { return `[` + strings.Join(list, ",") + `]` }

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
