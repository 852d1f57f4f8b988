package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/wire"
)

// longest bounds the bytes of a response with several items: 32 MB for the items, and 4 KB for the rest.
const longest = 32<<20 + 4<<10

// inflated is a list of numbers. An item with it has a documented size of 390 KB, but 17.5 MB of JSON.
var inflated = `{"L":[` + strings.Repeat(`{"N":"1E125"},`, 130_000) + `{"N":"1"}]}`

// inflate puts n items with [inflated] into table RRR.
func inflate(e *endpoint, n int) {
	for i := range n {
		e.want("PutItem",
			fmt.Sprintf(`{"TableName":"RRR","Item":{"a":{"S":"x"},"b":{"S":"%d"},"v":%s}}`, i, inflated), `{}`)
	}
}

// inflatedKeys returns the keys of n items, or form filled with their numbers, separated by commas.
func inflatedKeys(n int, form string) string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf(form, i)
	}
	return strings.Join(keys, ",")
}

// TestLongAnswers checks that operations that read several items end a page when the JSON becomes too long, whatever
// the documented size of the items, and that the pages together have all items.
func TestLongAnswers(t *testing.T) {
	proptest.SkipShort(t)
	e := newEndpoint(t, tableR)
	const items = 3
	inflate(e, items)

	// pages reads all pages and counts their items. next makes the parameters of the next page from a response.
	pages := func(op, body string, next func(out map[string]json.RawMessage) string) {
		t.Helper()
		found, more := 0, ""
		for page := 1; ; page++ {
			require.LessOrEqual(t, page, items+1, "%s: more pages than items", op)
			got := e.answer(op, body+more+"}")
			require.LessOrEqual(t, len(got), longest, op)
			found += strings.Count(got, `"v":{"L":`)
			_, rest, ok := strings.Cut(got[strings.LastIndexByte(got, ']'):], ",") // what follows the items
			var out map[string]json.RawMessage
			if ok {
				require.NoError(t, json.Unmarshal([]byte("{"+rest), &out))
			}
			if more = next(out); more == "" {
				break
			}
		}
		require.Equal(t, items, found, op)
	}
	after := func(out map[string]json.RawMessage) string {
		if out["LastEvaluatedKey"] == nil {
			return ""
		}
		return `,"ExclusiveStartKey":` + string(out["LastEvaluatedKey"])
	}
	pages("Scan", `{"TableName":"RRR"`, after)
	pages("Query",
		`{"TableName":"RRR","KeyConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"S":"x"}}`, after)
	pages("ExecuteStatement", `{"Statement":"SELECT * FROM RRR WHERE a = 'x'"`, func(
		out map[string]json.RawMessage,
	) string {
		if out["NextToken"] == nil {
			return ""
		}
		return `,"NextToken":` + string(out["NextToken"])
	})

	got := e.answer("BatchGetItem",
		`{"RequestItems":{"RRR":{"Keys":[`+inflatedKeys(items, `{"a":{"S":"x"},"b":{"S":"%d"}}`)+`]}}}`)
	require.LessOrEqual(t, len(got), longest)
	require.Contains(t, got, `"UnprocessedKeys":{"RRR":{"Keys":[{"a":{"S":"x"},"b":{"S":"1"}},`)

	e.invalid("TransactGetItems",
		`{"TransactItems":[`+inflatedKeys(items, `{"Get":{"TableName":"RRR","Key":{"a":{"S":"x"},"b":{"S":"%d"}}}}`)+
			`]}`,
		"Transaction payload size cannot exceed 33554432 bytes of JSON; read fewer items at a time")
	const statement = `{"Statement":"SELECT * FROM RRR WHERE a = 'x' AND b = '%d'"}`
	e.invalid("ExecuteTransaction", `{"TransactStatements":[`+inflatedKeys(items, statement)+`]}`,
		"Transaction payload size cannot exceed 33554432 bytes of JSON; read fewer items at a time")

	got = e.answer("BatchExecuteStatement", `{"Statements":[`+inflatedKeys(items, statement)+`]}`)
	require.LessOrEqual(t, len(got), longest)
	require.Contains(t, got, "RequestLimitExceeded")

	got, status := e.serve("TransactWriteItems", `{"TransactItems":[`+inflatedKeys(items,
		`{"ConditionCheck":{"TableName":"RRR","Key":{"a":{"S":"x"},"b":{"S":"%d"}},`+
			`"ConditionExpression":"attribute_not_exists(a)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}}`)+`]}`)
	require.Equal(t, 400, status)
	require.LessOrEqual(t, len(got), longest)
	require.Contains(t, got, `"Item":{`)
}

// TestLongPagesTyped checks that a page of a typed request ends at the same item as that of the same request in JSON.
func TestLongPagesTyped(t *testing.T) {
	e := newEndpoint(t, tableR)
	inflate(e, 3)
	for i := range 40 { // ordinary items before them
		e.want("PutItem",
			fmt.Sprintf(`{"TableName":"RRR","Item":{"a":{"S":"x"},"b":{"S":"!%02d"},"v":{"S":"%s"}}}`, i,
				strings.Repeat(`\n`, 3000)), `{}`)
	}
	want := e.answer("Scan", `{"TableName":"RRR"}`)

	found := 0
	out, err := e.svc.Scan(t.Context(), &wire.ScanInput{TableName: new("RRR")}, func(attr.Item) (int, error) {
		found++
		return 0, nil
	})
	require.NoError(t, err)
	require.Equal(t, 41, found)
	require.True(t, strings.HasSuffix(want, string(wire.AppendJSON(nil, out)[1:])))
}

// TestLongRecords checks that a page of stream records ends like a page of items.
func TestLongRecords(t *testing.T) {
	proptest.NeedLong(t)
	e := newEndpoint(t,
		strings.Replace(tableR, `{`, `{"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},`, 1))
	inflate(e, 3)
	var streams struct{ Streams []struct{ StreamArn string } }
	require.NoError(t, json.Unmarshal([]byte(e.answer("ListStreams", `{}`)), &streams))
	arn := streams.Streams[0].StreamArn
	var stream struct {
		StreamDescription struct{ Shards []struct{ ShardId string } }
	}
	require.NoError(t, json.Unmarshal([]byte(e.answer("DescribeStream", `{"StreamArn":"`+arn+`"}`)), &stream))

	found := 0
	for _, shard := range stream.StreamDescription.Shards {
		var at struct{ ShardIterator string }
		body := fmt.Sprintf(`{"StreamArn":%q,"ShardId":%q,"ShardIteratorType":"TRIM_HORIZON"}`, arn, shard.ShardId)
		require.NoError(t, json.Unmarshal([]byte(e.answer("GetShardIterator", body)), &at))
		for range 4 {
			got := e.answer("GetRecords", fmt.Sprintf(`{"ShardIterator":%q}`, at.ShardIterator))
			require.LessOrEqual(t, len(got), longest)
			var out struct {
				Records           []json.RawMessage
				NextShardIterator string
			}
			require.NoError(t, json.Unmarshal([]byte(got), &out))
			found += len(out.Records)
			at.ShardIterator = out.NextShardIterator
		}
	}
	require.Equal(t, 3, found)
}

// A narrow is a reservation of at most limit bytes.
type narrow struct{ limit, reserved int }

func (r *narrow) Reserved() int { return r.reserved }

func (r *narrow) Reserve(n int) bool {
	r.reserved = max(r.reserved, min(n, r.limit))
	return n <= r.limit
}

// TestReservation checks that operations reserve about as much memory as their response takes, before they encode it,
// and that they fail if the server has not enough memory.
func TestReservation(t *testing.T) {
	e := newEndpoint(t, tableR)
	inflate(e, 1)
	for i := range 300 {
		e.want("PutItem",
			fmt.Sprintf(`{"TableName":"RRR","Item":{"a":{"S":"y"},"b":{"S":"%d"},"v":{"S":"%s"}}}`, i,
				strings.Repeat("v", 3000)), `{}`)
	}
	statement := inflatedKeys(1, `{"Statement":"SELECT * FROM RRR WHERE a = 'x' AND b = '%d'"}`)
	for op, body := range map[string]string{
		"Scan": `{"TableName":"RRR"}`,
		"Query": `{"TableName":"RRR","KeyConditionExpression":"a = ` +
			`:a","ExpressionAttributeValues":{":a":{"S":"y"}}}`,
		"BatchGetItem":          `{"RequestItems":{"RRR":{"Keys":[{"a":{"S":"x"},"b":{"S":"0"}}]}}}`,
		"TransactGetItems":      `{"TransactItems":[{"Get":{"TableName":"RRR","Key":{"a":{"S":"x"},"b":{"S":"0"}}}}]}`,
		"ExecuteStatement":      `{"Statement":"SELECT * FROM RRR WHERE a = 'y'"}`,
		"ExecuteTransaction":    `{"TransactStatements":[` + statement + `]}`,
		"BatchExecuteStatement": `{"Statements":[` + statement + `]}`,
	} {
		room := &narrow{limit: 1 << 30}
		out, status := serveIn(e.svc, room, op, body)
		require.Equal(t, 200, status, op)
		require.GreaterOrEqual(t, room.reserved, len(out)-47*64<<10, op)
		require.LessOrEqual(t, room.reserved, 2*len(out)+64<<10, op)

		out, status = serveIn(e.svc, &narrow{limit: 128 << 10}, op, body)
		require.Equal(t, 503, status, op)
		require.Contains(t, string(out), "The server is busy.", op)
	}
}

func serveIn(svc *api.Service, room event.Reservation, op, body string) ([]byte, int) {
	ctx := event.WithCall(context.Background(), event.Call{Reservation: room})
	return svc.Serve(ctx, "DynamoDB_20120810."+op, []byte(body), nil)
}
