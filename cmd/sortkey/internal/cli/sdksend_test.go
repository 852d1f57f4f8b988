package cli_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/sdksend"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/sortkeytest"
)

func numbered(pk, n string) attr.Item {
	number, _ := attr.NewNumber(n)
	var b attr.Builder
	b.Add("PK", attr.NewString(pk))
	b.Add("n", number)
	return b.Item()
}

// TestSend sends requests of each kind, and reads the SDK's errors.
func TestSend(t *testing.T) {
	db := sortkeytest.New(t)
	send := func(in wire.Request, out wire.Output) error {
		return sdksend.Send(t.Context(), sdk.Client(db.DB), in, out)
	}
	name := new("Things")
	created := new(wire.CreateTableOutput)
	require.NoError(t, send(&wire.CreateTableInput{
		TableName: name, BillingMode: new("PAY_PER_REQUEST"),
		KeySchema:            []wire.KeySchemaElement{{AttributeName: new("PK"), KeyType: new("HASH")}},
		AttributeDefinitions: []wire.AttributeDefinition{{AttributeName: new("PK"), AttributeType: new("S")}},
	}, created))
	require.Equal(t, "Things", *created.TableDescription.TableName)
	require.NotZero(t, *created.TableDescription.CreationDateTime)

	want := numbered("a", "12345678901234567890123456789012345678")
	require.NoError(t, send(&wire.PutItemInput{TableName: name, Item: want}, new(wire.PutItemOutput)))
	got := new(wire.GetItemOutput)
	require.NoError(t, send(&wire.GetItemInput{TableName: name, Key: partition("a")}, got))
	require.Equal(t, want, got.Item)
	scanned := new(wire.ScanOutput)
	require.NoError(t, send(&wire.ScanInput{TableName: name, ReturnConsumedCapacity: new("TOTAL")}, scanned))
	require.Equal(t, []attr.Item{want}, scanned.Items)
	require.Equal(t, 0.5, *scanned.ConsumedCapacity.CapacityUnits)
	selected := new(wire.ExecuteStatementOutput)
	require.NoError(t, send(&wire.ExecuteStatementInput{Statement: new(`SELECT * FROM "Things"`)}, selected))
	require.Equal(t, []attr.Item{want}, selected.Items)

	err := send(&wire.DeleteItemInput{
		TableName: name, Key: partition("a"), ConditionExpression: new("attribute_not_exists(PK)"),
		ReturnValuesOnConditionCheckFailure: new("ALL_OLD"),
	}, new(wire.DeleteItemOutput))
	var failed *types.ConditionalCheckFailedException
	require.ErrorAs(t, err, &failed)
	require.Len(t, failed.Item, 2)
	var refused smithy.APIError
	require.ErrorAs(t, send(new(wire.GetItemInput), new(wire.GetItemOutput)), &refused)
	require.Equal(t, "ValidationException", refused.ErrorCode())
	require.Error(t, send(new(wire.ListTablesInput), new(wire.ListTablesOutput)))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = sdksend.Send(ctx, sdk.Client(db.DB), &wire.ScanInput{TableName: name}, scanned)
	require.ErrorIs(t, err, context.Canceled)
}

func partition(pk string) attr.Item {
	var b attr.Builder
	b.Add("PK", attr.NewString(pk))
	return b.Item()
}

// TestSendToOther reads what is no answer of the service.
func TestSendToOther(t *testing.T) {
	for _, body := range []string{"", "hello", `{"Item": 1}`} {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(body))
		}))
		db := sortkeytest.New(t)
		client := sdk.Client(db.DB, func(o *dynamodb.Options) {
			o.BaseEndpoint, o.HTTPClient = &other.URL, other.Client()
		})
		err := sdksend.Send(t.Context(), client, &wire.GetItemInput{TableName: new("T"), Key: partition("a")}, new(wire.GetItemOutput))
		var damaged *smithy.DeserializationError
		require.ErrorAs(t, err, &damaged, "%q", body)
		other.Close()
	}
}
