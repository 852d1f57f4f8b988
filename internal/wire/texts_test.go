package wire_test

import (
	"testing"

	"github.com/sortkey/sortkey/internal/wire"
)

// TestTexts checks the messages that the service changed in 2026. Each has its date and the number of regions that
// sent it.
func TestTexts(t *testing.T) {
	const (
		one    = "1 validation error detected: "
		values = "ExpressionAttributeValues can only be specified when using expressions"
		number = "The parameter cannot be converted to a numeric value: z"
		noKind = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
		length = " failed to satisfy constraint: Member must have length greater than or equal to "
		chars  = " failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
	)
	for _, tt := range []struct {
		op               wire.Op
		body, want, when string
	}{
		{
			wire.OpPutItem, `{"TableName":"","Item":{}}`, one + "Value at 'TableName'" + length + "1",
			"2026-10-09, 7 of 7",
		},
		{
			wire.OpUpdateItem, `{"TableName":"","Key":{}}`, one + "Value at 'TableName'" + length + "1",
			"2026-10-09, 5 of 7",
		},
		{
			wire.OpGetItem, `{"TableName":"","Key":{}}`, one + "Value at 'TableName'" + length + "1",
			"2026-10-09, 6 of 7",
		},
		{
			wire.OpBatchGetItem, `{"RequestItems":{}}`, one + "Value at 'RequestItems'" + length + "1",
			"2026-09-02, all regions but one",
		},
		{
			wire.OpScan, `{"TableName":""}`, one + "Value at 'TableName'" + length + "1",
			"2026-10-20, 20 of 33",
		},
		{
			wire.OpQuery, `{"TableName":"","Limit":0}`,
			errorsOf(
				"Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
				"Value at 'TableName'"+length+"1",
			),
			"2026-10-09, 6 of 7",
		},
		{
			wire.OpGetItem, `{"TableName":"a;","Key":{}}`, one + "Value 'a;' at 'tableName'" + length + "3",
			"2026-10-09, 7 of 7",
		},
		{
			wire.OpPutItem, `{"TableName":"a;","Item":{}}`, one + "Value 'a;' at 'tableName'" + length + "3",
			"2026-10-09, 7 of 7",
		},
		{
			wire.OpUpdateItem, `{"TableName":"a;","Key":{}}`,
			errorsOf("Value 'a;' at 'tableName'"+chars, "Value 'a;' at 'tableName'"+length+"3"),
			"2026-10-09, 5 of 7",
		},
		{
			wire.OpPutItem, `{"TableName":"abc","Item":{},"ReturnValues":"x"}`, one + returns,
			"2026-10-08, 31 of 33",
		},
		{
			wire.OpUpdateItem, `{"TableName":"abc","Key":{},"ReturnValues":"x","ReturnConsumedCapacity":"x"}`,
			one + returns, "2026-10-08, 31 of 33",
		},
		{
			wire.OpScan, `{"TableName":"abc","Limit":0}`,
			one + "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
			"2026-10-20, 20 of 33",
		},
		{
			wire.OpPutItem, `{"TableName":"abc","Item":{},"ExpressionAttributeValues":{":a":{"N":"1"}}}`, one + values,
			"2026-10-09, 7 of 7",
		},
		{
			wire.OpDeleteItem, `{"TableName":"abc","Key":{},"ExpressionAttributeNames":{"#a":"a"}}`,
			one + "ExpressionAttributeNames can only be specified when using expressions",
			"2026-10-09, 7 of 7",
		},
		{
			wire.OpUpdateItem, `{"TableName":"abc","Key":{},"UpdateExpression":"SET a = ` +
				`:a","ExpressionAttributeValues":{":a":{"N":"z"}}}`, one + number,
			"2026-10-09, 7 of 7",
		},
		{
			wire.OpScan, `{"TableName":"abc","FilterExpression":"a = :a","ExpressionAttributeValues":{":a":{"N":"z"}}}`,
			number,
			"2026-10-20, 20 of 33",
		},
		{wire.OpPutItem, `{"TableName":"abc","Item":{"a":{}}}`, noKind, "2026-10-09, 7 of 7"},
		{
			wire.OpPutItem, `{"TableName":"abc","Item":{"a":{"BS":["Yg==","Yg=="]}}}`,
			one +
				`One or more parameter values were invalid: Input collection ["Yg==","Yg=="]of ` +
				`type BS contains duplicates.`,
			"2026-07, eu-west-2; 2026-10-09, 7 of 7",
		},
	} {
		in := tt.op.NewInput()
		if err := wire.Decode([]byte(tt.body), in); err != nil {
			t.Fatal(err)
		}
		err := wire.Validate(tt.op, in)
		if err == nil {
			err = in.(interface{ CheckParams() error }).CheckParams()
		}
		if err == nil {
			switch in := in.(type) {
			case *wire.PutItemInput:
				err = tt.op.FaultError(in.Faults, "")
			case *wire.UpdateItemInput:
				err = tt.op.FaultError(in.Faults, "")
			case *wire.ScanInput:
				err = tt.op.FaultError(in.Faults, "")
			}
		}
		if got := message(t, err); got != tt.want {
			t.Errorf("%v %s, %s\n got %s\nwant %s", tt.op, tt.body, tt.when, got, tt.want)
		}
	}
}
