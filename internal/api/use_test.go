package api_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/api"
)

// TestUse holds what operations report to have consumed to what they answer
// when ReturnConsumedCapacity asks them. Sizes make the units of a table and of
// its indexes differ.
func TestUse(t *testing.T) {
	e := newEndpoint(t, `{"TableName":"TTT","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],
		"GlobalSecondaryIndexes":[{"IndexName":"GGG","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]}`,
		`{"TableName":"UUU","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}]}`)
	const big = 5000 // 5 write units, 2 read units
	text := fmt.Sprintf("%0*d", big, 0)
	x := `{"a":{"S":"x"}}`
	token := `"ClientRequestToken":"once","TransactItems":[{"Put":{"TableName":"TTT","Item":{"a":{"S":"t"},"b":{"S":"` + text + `"}}}}]`
	for _, tt := range []struct {
		op, body string
		want     []string
		fails    bool
	}{
		{op: "PutItem", body: `{"TableName":"TTT","Item":{"a":{"S":"x"},"g":{"S":"g"},"b":{"S":"` + text + `"}}}`, want: []string{"TTT write 5 GGG 1"}},
		{op: "PutItem", body: `{"TableName":"TTT","Item":` + x + `,"ConditionExpression":"attribute_not_exists(a)"}`, want: []string{"TTT write 5"}, fails: true},
		{op: "PutItem", body: `{"TableName":"TTT","Item":{"g":{"S":"no key"}}}`, fails: true},
		{op: "UpdateItem", body: `{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/TTT","Key":` + x + `,"UpdateExpression":"SET g = :g","ExpressionAttributeValues":{":g":{"S":"h"}}}`,
			want: []string{"TTT write 5 GGG 2"}},
		{op: "GetItem", body: `{"TableName":"TTT","Key":` + x + `}`, want: []string{"TTT read 1"}},
		{op: "GetItem", body: `{"TableName":"TTT","Key":` + x + `,"ConsistentRead":true}`, want: []string{"TTT read 2"}},
		{op: "GetItem", body: `{"TableName":"TTT","Key":{"a":{"S":"none"}}}`, want: []string{"TTT read 0.5"}},
		{op: "GetItem", body: `{"TableName":"None","Key":` + x + `}`, fails: true},
		{op: "BatchGetItem", body: `{"RequestItems":{"UUU":{"Keys":[` + x + `]},"TTT":{"Keys":[` + x + `,{"a":{"S":"y"}}]}}}`, want: []string{"TTT read 1.5", "UUU read 0.5"}},
		{op: "BatchWriteItem", body: `{"RequestItems":{"UUU":[{"PutRequest":{"Item":` + x + `}}],"TTT":[{"PutRequest":{"Item":{"a":{"S":"y"}}}},{"PutRequest":{"Item":{"a":{"S":"z"},"g":{"S":"h"}}}}]}}`,
			want: []string{"TTT write 2 GGG 1", "UUU write 1"}},
		{op: "Query", body: `{"TableName":"TTT","IndexName":"GGG","KeyConditionExpression":"g = :h","ExpressionAttributeValues":{":h":{"S":"h"}}}`, want: []string{"TTT read 0 GGG 0.5"}},
		{op: "Scan", body: `{"TableName":"TTT","ConsistentRead":true}`, want: []string{"TTT read 2"}},
		{op: "TransactGetItems", body: `{"TransactItems":[{"Get":{"TableName":"TTT","Key":` + x + `}},{"Get":{"TableName":"UUU","Key":` + x + `}}]}`, want: []string{"TTT read 4", "UUU read 2"}},
		{op: "TransactWriteItems", body: `{` + token + `}`, want: []string{"TTT write 10"}},
		{op: "TransactWriteItems", body: `{` + token + `}`, want: []string{"TTT read 4"}},
		{op: "TransactWriteItems", body: `{"TransactItems":[{"ConditionCheck":{"TableName":"TTT","Key":` + x + `,"ConditionExpression":"attribute_not_exists(a)"}}]}`, fails: true},
		{op: "DeleteItem", body: `{"TableName":"TTT","Key":` + x + `}`, want: []string{"TTT write 5 GGG 1"}},
		{op: "DescribeTable", body: `{"TableName":"TTT"}`},
	} {
		var got, outer []string
		ctx := api.WithUse(t.Context(), func(u *api.Use) { outer = append(outer, u.Table) })
		ctx = api.WithUse(ctx, func(u *api.Use) {
			text := u.Table + " read"
			if u.Write {
				text = u.Table + " write"
			}
			text += fmt.Sprint(" ", u.Capacity.Table)
			for _, ix := range u.Indexes {
				text += fmt.Sprint(" ", ix.Name, " ", ix.Units)
			}
			got = append(got, text)
		})
		answer, status := e.svc.Serve(ctx, "DynamoDB_20120810."+tt.op, []byte(tt.body), nil)
		require.Equal(t, tt.fails, status != 200, "%s %.80s: %s", tt.op, tt.body, answer)
		require.Equal(t, tt.want, got, "%s %.80s", tt.op, tt.body)
		require.Len(t, outer, len(got))
	}
}
