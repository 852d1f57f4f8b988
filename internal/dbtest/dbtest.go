// Package dbtest has helpers for tests of databases on any engine.
package dbtest

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/stretchr/testify/require"
)

// Expiring opens a database with a table of n items that expire in a minute,
// and one item that does not expire.
func Expiring(t testing.TB, opts sortkey.Options, n int) *sortkey.DB {
	t.Helper()
	db, err := sortkey.Open(opts)
	require.NoError(t, err)
	ctx, s := t.Context(), inside.Service(db)
	_, err = s.CreateTable(ctx, &wire.CreateTableInput{
		TableName: new("Sessions"), BillingMode: new("PAY_PER_REQUEST"),
		AttributeDefinitions: []wire.AttributeDefinition{{AttributeName: new("id"), AttributeType: new("S")}, {AttributeName: new("user"), AttributeType: new("S")}},
		KeySchema:            []wire.KeySchemaElement{{AttributeName: new("id"), KeyType: new("HASH")}},
		GlobalSecondaryIndexes: []wire.GlobalSecondaryIndex{{
			IndexName:  new("ByUser"),
			KeySchema:  []wire.KeySchemaElement{{AttributeName: new("user"), KeyType: new("HASH")}},
			Projection: &wire.Projection{ProjectionType: new("ALL")},
		}},
	})
	require.NoError(t, err)
	answer, status := s.Serve(ctx, wire.OpUpdateTimeToLive.Target(),
		[]byte(`{"TableName":"Sessions","TimeToLiveSpecification":{"AttributeName":"until","Enabled":true}}`), nil)
	require.Equal(t, 200, status, "%s", answer)
	until := strconv.FormatInt(opts.Clock().Add(time.Minute).Unix(), 10)
	for i := range n {
		item, err := attr.ParseItem(fmt.Appendf(nil, `{"id":{"S":"%d"},"user":{"S":"u"},"until":{"N":"%s"}}`, i, until))
		require.NoError(t, err)
		_, err = s.PutItem(ctx, &wire.PutItemInput{TableName: new("Sessions"), Item: item})
		require.NoError(t, err)
	}
	item, err := attr.ParseItem([]byte(`{"id":{"S":"stays"},"user":{"S":"u"}}`))
	require.NoError(t, err)
	_, err = s.PutItem(ctx, &wire.PutItemInput{TableName: new("Sessions"), Item: item})
	require.NoError(t, err)
	return db
}

// Count returns the number of items in the table or, unless index is nil, in
// the index.
func Count(t *testing.T, db *sortkey.DB, index *string) int64 {
	t.Helper()
	out, err := inside.Service(db).Scan(t.Context(), &wire.ScanInput{TableName: new("Sessions"), IndexName: index}, func(attr.Item) (int, error) { return 0, nil })
	require.NoError(t, err)
	return *out.Count
}
