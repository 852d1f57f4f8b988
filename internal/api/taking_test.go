package api_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
)

// TestTaking: what is taken where it lies is what the methods that copy return.
func TestTaking(t *testing.T) {
	e := newEndpoint(t, tableR)
	ctx := context.Background()
	for i := range 5 {
		e.answer("PutItem", fmt.Sprintf(`{"TableName":"RRR","Item":{"a":{"S":"x"},"b":{"S":"%d"},"n":{"N":"%d"},"l":{"L":[{"S":"é"}]}}}`, i, i))
	}
	var taken []attr.Item
	take := func(it attr.Item) { taken = append(taken, bytes.Clone(it)) }

	for _, body := range []string{
		`{"TableName":"RRR","Key":{"a":{"S":"x"},"b":{"S":"3"}},"ReturnConsumedCapacity":"TOTAL"}`,
		`{"TableName":"RRR","Key":{"a":{"S":"x"},"b":{"S":"none"}}}`,
		`{"TableName":"RRR","Key":{"a":{"S":"x"}}}`,
		`{"TableName":"RRR","Key":{"a":{"S":"x"},"b":{"S":"1"}},"ProjectionExpression":"n, l[0]"}`,
		`{"TableName":"RRR","Key":{"a":{"S":"x"},"b":{"S":"1"}},"ProjectionExpression":"absent"}`,
	} {
		var in wire.GetItemInput
		require.NoError(t, in.DecodeJSON([]byte(body)))
		taken = nil
		want, wantErr := e.svc.GetItem(ctx, &in)
		used, err := e.svc.GetItemFunc(ctx, &in, take)
		require.Equal(t, wantErr, err, body)
		if err != nil {
			require.Empty(t, taken)
			continue
		}
		require.Equal(t, want.ConsumedCapacity, used, body)
		got := append(taken, nil)[0]
		require.Equal(t, want.Item, got, body)
	}

	for _, sel := range []string{"ALL_ATTRIBUTES", "COUNT"} {
		query := &wire.QueryInput{}
		require.NoError(t, query.DecodeJSON([]byte(`{"TableName":"RRR","KeyConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"S":"x"}},"Limit":3,"Select":"`+sel+`"}`)))
		want, err := e.svc.Query(ctx, query)
		require.NoError(t, err)
		taken = nil
		got, err := e.svc.QueryFunc(ctx, query, take)
		require.NoError(t, err)
		require.Nil(t, got.Items)
		got.Items = taken
		require.Equal(t, want, got)

		scan := &wire.ScanInput{TableName: query.TableName, Limit: query.Limit, Select: &sel}
		all, err := e.svc.Scan(ctx, scan)
		require.NoError(t, err)
		taken = nil
		rest, err := e.svc.ScanFunc(ctx, scan, take)
		require.NoError(t, err)
		rest.Items = taken
		require.Equal(t, all, rest)
	}
}
