package wire_test

import (
	"testing"

	"github.com/sortkey/sortkey/internal/wire"
)

// TestCheckParams: source dynalite test/query.js, scan.js, putItem.js, batchGetItem.js; conformance
// error-messages/updateItem.
func TestCheckParams(t *testing.T) {
	const one = "1 validation error detected: "
	const mixed = "Can not use both expression and non-expression parameters in the same request: "
	for _, tt := range []struct {
		op         wire.Op
		body, want string
	}{
		{wire.OpPutItem, `{}`, ""},
		{wire.OpPutItem, `{"ConditionExpression":"","ExpressionAttributeValues":{},"ExpressionAttributeNames":{}}`, ""},
		{
			wire.OpPutItem, `{"Expected":{},"ExpressionAttributeNames":{},"ConditionExpression":""}`,
			one + mixed + "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}",
		},
		{
			wire.OpPutItem, `{"Expected":{},"ExpressionAttributeNames":{},"ExpressionAttributeValues":{}}`,
			one + "ExpressionAttributeNames can only be specified when using expressions",
		},
		{
			wire.OpPutItem, `{"ExpressionAttributeValues":{}}`,
			one + "ExpressionAttributeValues can only be specified when using expressions",
		},
		{
			wire.OpDeleteItem, `{"Expected":{},"ConditionExpression":""}`,
			one + mixed + "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}",
		},
		{
			wire.OpUpdateItem, `{"UpdateExpression":"SET a = :v","AttributeUpdates":{}}`,
			one + mixed + "Non-expression parameters: {AttributeUpdates} Expression parameters: {UpdateExpression}",
		},
		{
			wire.OpUpdateItem, `{"ExpressionAttributeValues":{}}`,
			one + "ExpressionAttributeValues can only be specified when using expressions",
		},
		{
			wire.OpGetItem, `{"ProjectionExpression":"a","AttributesToGet":["a"]}`,
			mixed + "Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}",
		},
		{
			wire.OpQuery,
			`{"AttributesToGet":["a"],"QueryFilter":{},"ConditionalOperator":"OR","KeyConditions":{},
			"ProjectionExpression":"",
			"FilterExpression":"","KeyConditionExpression":""}`,
			mixed + "Non-expression parameters: {AttributesToGet, QueryFilter, ConditionalOperator, KeyConditions} " +
				"Expression parameters: {ProjectionExpression, FilterExpression, KeyConditionExpression}",
		},
		{
			wire.OpQuery, `{"AttributesToGet":["a"],"QueryFilter":{},"ConditionalOperator":"OR","KeyConditions":{},` +
				`"ProjectionExpression":"","FilterExpression":""}`,
			mixed + "Non-expression parameters: {AttributesToGet, QueryFilter, ConditionalOperator} " +
				"Expression parameters: {ProjectionExpression, FilterExpression}",
		},
		{wire.OpQuery, `{"KeyConditions":{},"FilterExpression":"a = :a"}`, ""},
		{
			wire.OpQuery, `{"QueryFilter":{},"ExpressionAttributeValues":{}}`,
			"ExpressionAttributeValues can only be specified when using expressions: " +
				"FilterExpression and KeyConditionExpression are null",
		},
		{
			wire.OpScan, `{"AttributesToGet":["a"],"ScanFilter":{},"ConditionalOperator":"OR","FilterExpression":"",` +
				`"ProjectionExpression":""}`,
			mixed + "Non-expression parameters: {AttributesToGet, ScanFilter, ConditionalOperator} " +
				"Expression parameters: {ProjectionExpression, FilterExpression}",
		},
		{
			wire.OpScan, `{"ProjectionExpression":"a","ExpressionAttributeValues":{}}`,
			"ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null",
		},
	} {
		in := tt.op.NewInput()
		if err := wire.Decode([]byte(tt.body), in); err != nil {
			t.Fatal(err)
		}
		if got := message(t, in.(interface{ CheckParams() error }).CheckParams()); got != tt.want {
			t.Errorf("%v %s\n got %s\nwant %s", tt.op, tt.body, got, tt.want)
		}
	}
}

func TestCheckParamsOfActions(t *testing.T) {
	var in wire.TransactWriteItemsInput
	if err := wire.Decode([]byte(`{"TransactItems":[{"ConditionCheck":{"ExpressionAttributeNames":{}}},
		{"Update":{"UpdateExpression":"","ExpressionAttributeValues":{}}},
		{"ConditionCheck":{"ExpressionAttributeValues":{}}},{"ConditionCheck":{"ConditionExpression":""}}]}`), &in); err != nil {
		t.Fatal(err)
	}
	if got := message(
		t, in.TransactItems[0].ConditionCheck.CheckParams(),
	); got != "ExpressionAttributeNames can only be specified when using expressions" {
		t.Errorf("ConditionCheck: %s", got)
	}
	if err := in.TransactItems[1].Update.CheckParams(); err != nil {
		t.Errorf("Update: %v", err)
	}
	if got := message(
		t, in.TransactItems[2].ConditionCheck.CheckParams(),
	); got != "ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null" {
		t.Errorf("ConditionCheck: %s", got)
	}
	if err := in.TransactItems[3].ConditionCheck.CheckParams(); err != nil {
		t.Errorf("ConditionCheck: %v", err)
	}
}
