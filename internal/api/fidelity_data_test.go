package api_test

import (
	"testing"
)

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
