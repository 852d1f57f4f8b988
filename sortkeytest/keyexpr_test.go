package sortkeytest_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/keys"
	"github.com/sortkey/sortkey/keys/keyexpr"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestKeyConditions queries with the conditions of package keyexpr, one for each operator and one for a range without
// bounds. The partition of customer 7 lies beside that of customer 70.
func TestKeyConditions(t *testing.T) {
	customer := keys.MustParse("CUSTOMER#{customer}")
	order := keys.MustParse("ORDER#{placed:date}#{id}")
	all := []string{"INVOICE#1", "ORDER#2025-12-31#z", "ORDER#2026-01-05#a", "ORDER#2026-01-31#a", "ORDER#2026-02-01#a", "PROFILE"}
	db := sortkeytest.New(t)
	db.Table("Shop", "PK / SK")
	for _, c := range []string{"CUSTOMER#7", "CUSTOMER#70"} {
		for _, sort := range all {
			db.Put("Shop", map[string]string{"PK": c, "SK": sort})
		}
	}
	valid := func(r keys.Range, err error) keys.Range {
		require.NoError(t, err)
		return r
	}
	for _, tt := range []struct {
		r    keys.Range
		want []string
	}{
		{valid(order.Under("2026-01-05", "a")), all[2:3]},
		{valid(order.Under()), all[1:5]},
		{valid(order.Between("2026-01-05", "2026-01-31")), all[2:4]},
		{keys.Range{Low: "ORDER#2026-02"}, all[4:]},
		{keys.Range{High: "ORDER#2025-12-31#z"}, all[:2]},
		{keys.Range{}, all},
	} {
		partition, err := keyexpr.Partition("PK", customer, 7)
		require.NoError(t, err)
		expr, err := expression.NewBuilder().WithKeyCondition(keyexpr.And(partition, "SK", tt.r)).Build()
		require.NoError(t, err)
		out, err := db.Client.Query(t.Context(), &dynamodb.QueryInput{
			TableName: aws.String("Shop"), KeyConditionExpression: expr.KeyCondition(),
			ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
		})
		require.NoError(t, err)
		var got []string
		for _, item := range out.Items {
			require.Equal(t, &types.AttributeValueMemberS{Value: "CUSTOMER#7"}, item["PK"])
			got = append(got, item["SK"].(*types.AttributeValueMemberS).Value)
		}
		require.Equal(t, tt.want, got, tt.r)
	}

	_, err := keyexpr.Partition("PK", customer)
	_, ok := errors.AsType[*keys.Error](err)
	require.True(t, ok, "Partition without values: %v", err)
}
