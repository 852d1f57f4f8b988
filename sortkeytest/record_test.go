package sortkeytest_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// reports counts the errors of a test that should fail.
type reports struct {
	testing.TB
	errors []string
}

func (r *reports) Errorf(format string, args ...any) {
	r.errors = append(r.errors, format)
	_ = args
}

func TestRecord(t *testing.T) {
	r := &reports{TB: t}
	db := sortkeytest.New(r)
	db.Table("Orders", "id / at")
	db.Table("Other", "id")
	rec := db.Record()
	db.Forbid("Scan")
	for _, c := range []*dynamodb.Client{db.Client, db.Direct} {
		_, err := c.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String("Orders"),
			KeyConditionExpression: aws.String("id = :id"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":id": &types.AttributeValueMemberS{Value: "1"},
			}})
		require.NoError(t, err)
	}
	rec.Never("Scan", "PutItem")
	rec.Only("Orders")
	rec.AtMost(1)
	require.Empty(t, r.errors)
	require.Len(t, rec.Calls(), 2)
	require.Contains(t, rec.String(), `Query Orders [`)
	require.Contains(t, rec.String(), `id = "1"`)

	_, err := db.Client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("Other")})
	require.NoError(t, err)
	require.Len(t, r.errors, 1, "forbidden")
	rec.Never("Scan")
	rec.Only("Orders")
	rec.AtMost(1)
	require.Len(t, r.errors, 4)
	rec.Stop()
	_, err = db.Client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("None")})
	require.Error(t, err)
	require.Len(t, rec.Calls(), 3)
}

// TestOperationNames tests that misspelled operations are refused: otherwise every call would pass.
func TestOperationNames(t *testing.T) {
	for _, name := range []func(*sortkeytest.DB){
		func(db *sortkeytest.DB) { db.Forbid("GetRecords", "Scans") },
		func(db *sortkeytest.DB) { db.Record().Never("Scans") },
		func(db *sortkeytest.DB) { db.Fail(sortkeytest.Fault{Operation: "Scans", Hang: true}) },
	} {
		got := failure(t, func(tb testing.TB) { name(sortkeytest.New(tb)) })
		require.Equal(t, `sortkeytest: unknown operation "Scans": did you mean Scan?`, got)
	}
}

func TestRecordText(t *testing.T) {
	f := &failed{TB: t}
	db := sortkeytest.New(f)
	db.Table("Orders", "id")
	db.Put("Orders", map[string]any{"id": "1"})
	db.Record()
	for _, fn := range f.cleanups[1:] {
		fn()
	}
	require.Equal(t, "sortkeytest: there were no calls", f.logged)
	rec := db.Record()
	_, err := db.Client.Scan(t.Context(), &dynamodb.ScanInput{
		TableName: aws.String("Orders"), ConsistentRead: aws.Bool(true),
	})
	require.NoError(t, err)
	_, err = db.Client.ListTables(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, "Scan Orders [all partitions], 1 of 1 row returned, 1 unit\nListTables\n", rec.String())
}

func TestOnlyOfADamagedIterator(t *testing.T) {
	r := &reports{TB: t}
	db := sortkeytest.New(r)
	rec := db.Record()
	_, err := db.Streams().GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String("damaged")})
	require.Error(t, err)
	rec.Only("Orders")
	require.Len(t, rec.Calls(), 1)
	require.Empty(t, r.errors)
}
