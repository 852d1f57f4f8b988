package transfer_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/sdktarget"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/sortkeytest"
)

// fill sets every member of a shape.
func fill(v reflect.Value) {
	item := func() attr.Item {
		var b attr.Builder
		b.Add("a", attr.NewString("b"))
		return b.Item()
	}
	switch v.Type() {
	case reflect.TypeFor[attr.Item]():
		v.Set(reflect.ValueOf(item()))
		return
	case reflect.TypeFor[attr.Value]():
		v.Set(reflect.ValueOf(attr.NewBool(true)))
		return
	case reflect.TypeFor[types.AttributeValue]():
		v.Set(reflect.ValueOf(&types.AttributeValueMemberS{Value: "b"}))
		return
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.UnixMilli(1500)))
		return
	case reflect.TypeFor[wire.Faults]():
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		elem := reflect.New(v.Type().Elem()).Elem()
		fill(elem)
		v.SetMapIndex(reflect.ValueOf("k"), elem)
	case reflect.Struct:
		for field, member := range v.Fields() {
			if field.IsExported() && field.Name != "ResultMetadata" {
				fill(member)
			}
		}
	}
}

// TestCopyInputs converts inputs to those of the SDK and back.
func TestCopyInputs(t *testing.T) {
	for _, tt := range []struct {
		in, back wire.Input
		sdk      any
	}{
		{new(wire.QueryInput), new(wire.QueryInput), new(dynamodb.QueryInput)},
		{new(wire.ScanInput), new(wire.ScanInput), new(dynamodb.ScanInput)},
		{new(wire.GetItemInput), new(wire.GetItemInput), new(dynamodb.GetItemInput)},
		{new(wire.BatchGetItemInput), new(wire.BatchGetItemInput), new(dynamodb.BatchGetItemInput)},
		{new(wire.PutItemInput), new(wire.PutItemInput), new(dynamodb.PutItemInput)},
		{new(wire.UpdateItemInput), new(wire.UpdateItemInput), new(dynamodb.UpdateItemInput)},
		{new(wire.DeleteItemInput), new(wire.DeleteItemInput), new(dynamodb.DeleteItemInput)},
		{new(wire.ExecuteStatementInput), new(wire.ExecuteStatementInput), new(dynamodb.ExecuteStatementInput)},
		{new(wire.DescribeTableInput), new(wire.DescribeTableInput), new(dynamodb.DescribeTableInput)},
		{new(wire.ListTablesInput), new(wire.ListTablesInput), new(dynamodb.ListTablesInput)},
	} {
		for _, full := range []bool{true, false} {
			if full {
				fill(reflect.ValueOf(tt.in).Elem())
			} else {
				reflect.ValueOf(tt.in).Elem().SetZero()
				reflect.ValueOf(tt.sdk).Elem().SetZero()
				reflect.ValueOf(tt.back).Elem().SetZero()
			}
			require.NoError(t, sdktarget.Copy(tt.sdk, tt.in), "%T", tt.in)
			require.NoError(t, sdktarget.Copy(tt.back, tt.sdk), "%T", tt.in)
			require.Equal(t, tt.in, tt.back)
		}
	}
}

// TestCopyOutputs converts outputs, and one with all members that the SDK has.
func TestCopyOutputs(t *testing.T) {
	for _, tt := range []struct {
		sdk  any
		out  wire.Output
		want string
	}{
		{
			&dynamodb.QueryOutput{
				ConsumedCapacity: &types.ConsumedCapacity{CapacityUnits: new(0.5)}, Count: 7, ScannedCount: 8,
				Items: []map[string]types.AttributeValue{{"k": &types.AttributeValueMemberS{Value: "b"}}},
			},
			new(wire.QueryOutput),
			`{"ConsumedCapacity": {"CapacityUnits": 0.5}, "Count": 7, "Items": [{"k": {"S": "b"}}], "ScannedCount": 8}`,
		},
		{&dynamodb.ListTablesOutput{TableNames: []string{"x"}}, new(wire.ListTablesOutput), `{"TableNames": ["x"]}`},
	} {
		require.NoError(t, sdktarget.Copy(tt.out, tt.sdk))
		require.JSONEq(t, tt.want, string(tt.out.AppendJSON(nil)))
	}

	described, out := new(dynamodb.DescribeTableOutput), new(wire.DescribeTableOutput)
	fill(reflect.ValueOf(described).Elem())
	require.NoError(t, sdktarget.Copy(out, described))
	require.Equal(t, 1.5, *out.Table.CreationDateTime)
	require.Equal(t, "x", *out.Table.GlobalSecondaryIndexes[0].KeySchema[0].KeyType)

	bad := &dynamodb.GetItemOutput{Item: map[string]types.AttributeValue{"n": &types.AttributeValueMemberN{Value: "one"}}}
	require.ErrorContains(t, sdktarget.Copy(new(wire.GetItemOutput), bad), "Item: n:")
	require.ErrorContains(t, sdktarget.Copy(new(wire.QueryInput), &struct{ Limit string }{"one"}), "Limit:")
}

// TestExplain explains requests through a client, as in process.
func TestExplain(t *testing.T) {
	db := sortkeytest.New(t)
	db.Table("Things", "PK/SK")
	for _, sk := range []string{"a", "b", "c"} {
		db.Put("Things", map[string]any{"PK": "p", "SK": sk, "x": sk == "b"})
	}
	for _, text := range []string{
		`{"TableName": "Things", "KeyConditionExpression": "PK = :p AND SK > :s", "FilterExpression": "x = :x",
			"ExpressionAttributeValues": {":p": {"S": "p"}, ":s": {"S": "a"}, ":x": {"BOOL": true}}}`,
		`{"TableName": "Things", "KeyConditionExpression": "SK = :s", "ExpressionAttributeValues": {":s": {"S": "a"}}}`,
		`{"TableName": "Thing", "KeyConditionExpression": "SK = :s", "ExpressionAttributeValues": {":s": {"S": "a"}}}`,
		`{"TableName": "Things", "KeyConditionExpression": "PK = :p", "ExpressionAttributeValues": {":p": {"N": "one"}}}`,
	} {
		var reports []string
		for _, to := range []explain.Target{explain.InProcess(db.DB), sdktarget.New(db.Client)} {
			q, err := explain.Parse("Query", []byte(text))
			require.NoError(t, err)
			r, err := explain.Run(t.Context(), to, q, explain.Options{})
			require.NoError(t, err)
			body, err := r.MarshalJSON()
			require.NoError(t, err)
			reports = append(reports, string(body))
		}
		require.JSONEq(t, reports[0], reports[1])
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := sdktarget.New(db.Client).Do(ctx, new(wire.ListTablesInput))
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = sdktarget.New(db.Client).Do(t.Context(), &wire.QueryInput{TableName: new("No"), KeyConditionExpression: new("a = b")})
	refused, ok := errors.AsType[*explain.ServiceError](err)
	require.True(t, ok)
	require.Equal(t, 400, refused.Status)
	_, _, err = sdktarget.New(db.Client).Do(t.Context(), new(wire.ExecuteStatementInput))
	require.Error(t, err)
}
