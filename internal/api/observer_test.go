package api_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/wire"
)

// TestConsumed compares the capacity that observers see with the capacity in the response for ReturnConsumedCapacity.
// The items have sizes for which the units of the table and those of its indexes differ.
func TestConsumed(t *testing.T) {
	e := newEndpoint(t, `{"TableName":"TTT","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],
		"GlobalSecondaryIndexes":[{"IndexName":"GGG","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],
		"Projection":{"ProjectionType":"KEYS_ONLY"}}]}`,
		`{"TableName":"UUU","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"a",
		"AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}]}`)
	svc := api.New(e.db, api.Options{Observer: new(watcher)})
	const big = 5000 // 5 write units, 2 read units
	text := fmt.Sprintf("%0*d", big, 0)
	x := `{"a":{"S":"x"}}`
	token := `"ClientRequestToken":"once","TransactItems":[{"Put":{"TableName":"TTT","Item":{"a":{"S":"t"},"b":{"S":"` +
		text + `"}}}}]`
	for _, tt := range []struct {
		op, body string
		want     []string
		fails    bool
	}{
		{
			op: "PutItem", body: `{"TableName":"TTT","Item":{"a":{"S":"x"},"g":{"S":"g"},"b":{"S":"` + text + `"}}}`,
			want: []string{"TTT write 5", "TTT/GGG write 1"},
		},
		{
			op: "PutItem", body: `{"TableName":"TTT","Item":` + x + `,"ConditionExpression":"attribute_not_exists(a)"}`,
			want: []string{"TTT write 5"}, fails: true,
		},
		{op: "PutItem", body: `{"TableName":"TTT","Item":{"g":{"S":"no key"}}}`, fails: true},
		{op: "UpdateItem",
			body: `{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/TTT","Key":` + x +
				`,"UpdateExpression":"SET g = :g","ExpressionAttributeValues":{":g":{"S":"h"}}}`,
			want: []string{"TTT write 5", "TTT/GGG write 2"}},
		{op: "GetItem", body: `{"TableName":"TTT","Key":` + x + `}`, want: []string{"TTT read 1"}},
		{
			op: "GetItem", body: `{"TableName":"TTT","Key":` + x + `,"ConsistentRead":true}`,
			want: []string{"TTT read 2"},
		},
		{op: "GetItem", body: `{"TableName":"TTT","Key":{"a":{"S":"none"}}}`, want: []string{"TTT read 0.5"}},
		{op: "GetItem", body: `{"TableName":"None","Key":` + x + `}`, fails: true},
		{
			op:   "BatchGetItem",
			body: `{"RequestItems":{"UUU":{"Keys":[` + x + `]},"TTT":{"Keys":[` + x + `,{"a":{"S":"y"}}]}}}`,
			want: []string{"TTT read 1.5", "UUU read 0.5"},
		},
		{op: "BatchWriteItem",
			body: `{"RequestItems":{"UUU":[{"PutRequest":{"Item":` + x +
				`}}],"TTT":[{"PutRequest":{"Item":{"a":{"S":"y"}}}},` +
				`{"PutRequest":{"Item":{"a":{"S":"z"},"g":{"S":"h"}}}}]}}`,
			want: []string{"TTT write 2", "TTT/GGG write 1", "UUU write 1"}},
		{
			op: "Query",
			body: `{"TableName":"TTT","IndexName":"GGG","KeyConditionExpression":"g = ` +
				`:h","ExpressionAttributeValues":{":h":{"S":"h"}}}`, want: []string{"TTT/GGG read 0.5"},
		},
		{op: "Scan", body: `{"TableName":"TTT","ConsistentRead":true}`, want: []string{"TTT read 2"}},
		{
			op: "TransactGetItems",
			body: `{"TransactItems":[{"Get":{"TableName":"TTT","Key":` + x + `}},{"Get":{"TableName":"UUU","Key":` + x +
				`}}]}`, want: []string{"TTT read 4", "UUU read 2"},
		},
		{op: "TransactWriteItems", body: `{` + token + `}`, want: []string{"TTT write 10"}},
		{op: "TransactWriteItems", body: `{` + token + `}`, want: []string{"TTT read 4"}},
		{
			op: "TransactWriteItems",
			body: `{"TransactItems":[{"ConditionCheck":{"TableName":"TTT","Key":` + x +
				`,"ConditionExpression":"attribute_not_exists(a)"}}]}`, fails: true,
		},
		{
			op: "DeleteItem", body: `{"TableName":"TTT","Key":` + x + `}`,
			want: []string{"TTT write 5", "TTT/GGG write 1"},
		},
		{op: "DescribeTable", body: `{"TableName":"TTT"}`},
	} {
		var ev event.Event
		ctx := event.With(t.Context(), &ev)
		answer, status := svc.Serve(ctx, "DynamoDB_20120810."+tt.op, []byte(tt.body), nil)
		require.Equal(t, tt.fails, status != 200, "%s %.80s: %s", tt.op, tt.body, answer)
		require.Equal(t, tt.want, consumed(&ev), "%s %.80s", tt.op, tt.body)
		require.Equal(t, tt.fails, ev.Error != "")
	}
}

func consumed(e *event.Event) (all []string) {
	for _, u := range e.Used {
		place, kind := u.Table, "read"
		if u.Index != "" {
			place += "/" + u.Index
		}
		if u.Write {
			kind = "write"
		}
		all = append(all, fmt.Sprint(place, " ", kind, " ", u.Units))
	}
	return all
}

// A watcher is an observer that keeps all events.
type watcher struct {
	begun int
	ended []*event.Event
}

func (w *watcher) Begin(context.Context, *event.Event) { w.begun++ }

func (w *watcher) End(_ context.Context, e *event.Event) { w.ended = append(w.ended, e) }

// TestObserver checks that observers see calls without HTTP and the tables that they name, even if the calls fail.
func TestObserver(t *testing.T) {
	var w watcher
	e := newEndpoint(t)
	svc := api.New(e.db, api.Options{Observer: &w, Clock: func() time.Time { return e.now }})
	ctx := t.Context()
	create := new(wire.CreateTableInput)
	require.NoError(t, wire.Decode([]byte(tableR), create))
	_, err := svc.CreateExpiring(ctx, create, "")
	require.NoError(t, err)
	query := &wire.QueryInput{
		TableName: new("arn:aws:dynamodb:us-east-1:000000000000:table/RRR"), KeyConditionExpression: new("a = :a"),
		ExpressionAttributeValues: mustItem(t, `{":a":{"S":"x"}}`),
	}
	_, err = svc.Query(ctx, query, func(attr.Item) (int, error) { return 0, nil })
	require.NoError(t, err)
	_, err = svc.GetItem(ctx, &wire.GetItemInput{TableName: new("None"), Key: mustItem(t, `{"a":{"S":"x"}}`)}, nil)
	require.Error(t, err)
	_, err = svc.BatchGetItem(ctx, &wire.BatchGetItemInput{
		RequestItems: map[string]wire.KeysAndAttributes{"b": {}, "a": {}},
	})
	require.Error(t, err)
	_, status := svc.Serve(ctx, wire.OpTagResource.Target(),
		[]byte(`{"ResourceArn":"nothing","Tags":[{"Key":"k","Value":"v"}]}`), nil)
	require.Equal(t, 400, status)
	put := &wire.PutItemInput{
		TableName: new("RRR"), Item: mustItem(t, `{"a":{"S":"x"},"b":{"S":"y"}}`),
		ConditionExpression: new("attribute_exists(a)"),
	}
	out, err := svc.PutItem(ctx, put)
	require.Error(t, err)
	require.Nil(t, out, "a failed operation has no output")

	require.Equal(t, len(w.ended), w.begun)
	var got []string
	for _, ev := range w.ended {
		got = append(got,
			fmt.Sprint(ev.Operation, " ", ev.Tables, " ", ev.Error, " ", len(ev.Traces), " ", consumed(ev)))
	}
	require.Equal(t, []string{
		"CreateTable [RRR]  0 []",
		"Query [RRR]  1 [RRR read 0.5]",
		"GetItem [None] ResourceNotFoundException 0 []",
		"BatchGetItem [a b] ValidationException 0 []",
		"TagResource [nothing] ValidationException 0 []",
		"PutItem [RRR] ConditionalCheckFailedException 0 [RRR write 1]",
	}, got)
}
