package explain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// TestPages reads a partition of more than 1 MB. The report must add up the pages and compute the units of each page.
func TestPages(t *testing.T) {
	db := makeDB(t, "table Things PK SK")
	defer db.Close()
	const rows, fill = 30, 100_000
	for i := range rows {
		serve(t, db, "PutItem", fmt.Sprintf(`{"TableName":"Things","Item":{"PK":{"S":"p"},"SK":{"S":"%02d"},"x":{"N":"%d"},"fill":{"S":"%s"}}}`, i, 1+i%2, bytes.Repeat([]byte("f"), fill)))
	}
	const request = `{"TableName": "Things", "KeyConditionExpression": "PK = :p", "FilterExpression": "x = :x", "ProjectionExpression": "SK",
		"ExpressionAttributeValues": {":p": {"S": "p"}, ":x": {"N": "1"}}}`
	run := func(op, request string, o explain.Options) *explain.Report {
		r, err := runJSON(context.Background(), explain.InProcess(db), op, json.RawMessage(request), o)
		require.NoError(t, err)
		require.Nil(t, r.Refused)
		require.Empty(t, r.Notes)
		checkTraces(t, r)
		return r
	}
	r := run("Query", request, explain.Options{})
	// A page ends with the row that reaches 1 MB, which is the eleventh.
	const first = 11
	size := r.Bytes / rows
	units := 2*table.ReadUnits(first*size, true) + table.ReadUnits((rows-2*first)*size, true)
	require.Equal(t, 3, r.Pages)
	require.Equal(t, rows, r.Examined)
	require.Equal(t, rows/2, r.Returned)
	require.Equal(t, r.Bytes/2, r.Wasted)
	require.Equal(t, units, r.Strong)
	require.Equal(t, units/2, r.Eventual)
	require.Equal(t, units/2, r.Consumed)
	require.Equal(t, "end of the range", r.Stop)
	require.Len(t, r.Items, rows/2)
	require.Nil(t, r.Last)

	r = run("Query", request, explain.Options{Pages: 1, Items: -1})
	require.Equal(t, first, r.Examined)
	require.Equal(t, "1 MB", r.Stop)
	require.Equal(t, `{"PK":{"S":"p"},"SK":{"S":"10"}}`, string(r.Last.AppendJSON(nil)))
	require.Equal(t, `{"PK":{"S":"p"},"SK":{"S":"11"}}`, string(r.Next.AppendJSON(nil)))
	require.Empty(t, r.Items)
	require.Empty(t, r.Rows)
	var out strings.Builder
	require.NoError(t, r.WriteText(&out, explain.TextOptions{}))
	require.Contains(t, out.String(), "ends       at 1 MB, before \"11\"\n")
	require.Contains(t, out.String(), "├  stopped at 1 MB\n")

	// Select COUNT reads as much.
	r = run("Query", `{"TableName": "Things", "KeyConditionExpression": "PK = :p", "Select": "COUNT", "ExpressionAttributeValues": {":p": {"S": "p"}}}`, explain.Options{})
	require.Equal(t, units/2, r.Consumed)
	require.Equal(t, rows, r.Returned)

	r = run("Scan", `{"TableName": "Things", "ConsistentRead": true, "Segment": 0, "TotalSegments": 1}`, explain.Options{Items: 3})
	require.Equal(t, 3, r.Pages)
	require.Equal(t, units, r.Consumed)
	require.Len(t, r.Rows, 3)
	require.Len(t, r.Tail, 10)
	require.Equal(t, `{"PK":{"S":"p"},"SK":{"S":"29"}}`, string(r.Tail[9].Key.AppendJSON(nil)))
}

// TestRefusedPage holds that a report says so if the service refuses a later page of a scan or a query.
func TestRefusedPage(t *testing.T) {
	db := makeDB(t, "table Things PK SK")
	defer db.Close()
	for i := range 20 {
		serve(t, db, "PutItem", fmt.Sprintf(
			`{"TableName":"Things","Item":{"PK":{"S":"p"},"SK":{"S":"%02d"},"fill":{"S":"%s"}}}`,
			i, bytes.Repeat([]byte("f"), 100_000),
		))
	}
	inner := explain.InProcess(db)
	target := targetFunc(func(ctx context.Context, in wire.Request) (wire.Output, error) {
		scan, isScan := in.(*wire.ScanInput)
		query, isQuery := in.(*wire.QueryInput)
		if isScan && scan.ExclusiveStartKey != nil || isQuery && query.ExclusiveStartKey != nil {
			return nil, &explain.ServiceError{Code: "ValidationException", Message: "no more pages", Status: 400}
		}
		out, _, err := inner.Do(ctx, in)
		return out, err
	})
	for op, request := range map[string]string{
		"Scan": `{"TableName": "Things"}`,
		"Query": `{"TableName": "Things", "KeyConditionExpression": "PK = :p",
			"ExpressionAttributeValues": {":p": {"S": "p"}}}`,
	} {
		for _, brief := range []bool{false, true} {
			r, err := runJSON(t.Context(), target, op, json.RawMessage(request), explain.Options{Brief: brief})
			require.NoError(t, err, op)
			require.NotNil(t, r.Refused, op)
			require.Equal(t, "no more pages", r.Refused.Message)
			require.Equal(t, 1, r.Pages)
		}
	}
}
