package convert_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/design/convert"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/sortkeytest"
)

// endpoint returns an endpoint for a database in this process.
func endpoint(db *sortkey.DB) convert.Endpoint {
	return func(ctx context.Context, in wire.Request) (wire.Output, error) {
		out, _, err := explain.InProcess(db).Do(ctx, in)
		return out, err
	}
}

func serve(t *testing.T, db *sortkey.DB, op string, body []byte) {
	out, status := engine.Of(db).Service.Serve(t.Context(), "DynamoDB_20120810."+op, body, nil)
	require.Equal(t, http.StatusOK, status, "%s", out)
}

func TestFromEndpoint(t *testing.T) {
	db := sortkeytest.New(t).DB
	call, names := endpoint(db), []string{"Shop"}
	_, _, err := convert.FromEndpoint(t.Context(), "here", nil, call, convert.Options{})
	require.ErrorContains(t, err, "here: the endpoint has no tables")

	serve(t, db, "CreateTable", []byte(`{"TableName":"Shop","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"SK","AttributeType":"S"},{"AttributeName":"G","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}],
		"GlobalSecondaryIndexes":[{"IndexName":"byG","KeySchema":[{"AttributeName":"G","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]}`))
	for i := range 12 {
		serve(t, db, "PutItem", fmt.Appendf(nil, `{"TableName":"Shop","Item":{"PK":{"S":"C#%d"},"SK":{"S":"O#%04d"},"G":{"S":"DAY#2026-01-%02d"}}}`, i%3, i, 1+i%2))
	}
	m, losses, err := convert.FromEndpoint(t.Context(), "here", names, call, convert.Options{})
	require.NoError(t, err)
	require.Empty(t, losses)
	require.Equal(t, "shop", m.Name)
	require.Len(t, m.Entities, 1)
	e := m.Entities[0]
	require.Len(t, e.Samples, 12)
	require.Equal(t, "C#{cId}", e.Attribute("PK").Template.String())
	require.Equal(t, "O#{oId:int(4)}", e.Attribute("SK").Template.String())
	require.Equal(t, "DAY#{day:date}", e.Attribute("G").Template.String())
	require.Len(t, m.Patterns, 2)

	m, losses, err = convert.FromEndpoint(t.Context(), "here", names, call, convert.Options{Items: 5})
	require.NoError(t, err)
	require.Len(t, m.Entities[0].Samples, 5)
	require.Contains(t, fmt.Sprint(losses), "items of table Shop: only the first 5 were read")

	_, _, err = convert.FromEndpoint(t.Context(), "here", names, call, convert.Options{Table: "Nope"})
	require.ErrorContains(t, err, "no table Nope")

	gone := errors.New("gone")
	_, _, err = convert.FromEndpoint(t.Context(), "here", names, func(context.Context, wire.Request) (wire.Output, error) { return nil, gone }, convert.Options{})
	require.ErrorIs(t, err, gone)
}
