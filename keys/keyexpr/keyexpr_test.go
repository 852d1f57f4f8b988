package keyexpr_test

import (
	"errors"
	"slices"
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

var (
	customer = keys.MustParse("CUSTOMER#{customer}")
	order    = keys.MustParse("ORDER#{placed:date}#{id}")
)

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }

// shop contains the orders of customers 7 and 70, and other rows directly before and after these orders.
func shop(t *testing.T) *sortkeytest.DB {
	db := sortkeytest.New(t)
	db.Table("Shop", "PK / SK")
	for _, c := range []int{7, 70} {
		pk, err := customer.Format(c)
		require.NoError(t, err)
		sks := []string{"INVOICE#1", "PROFILE"}
		for _, row := range [][2]string{
			{"2025-12-31", "z"}, {"2026-01-05", "a"}, {"2026-01-05", "b"}, {"2026-01-31", "a"}, {"2026-02-01", "a"},
		} {
			sk, err := order.Format(row[0], row[1])
			require.NoError(t, err)
			sks = append(sks, sk)
		}
		for _, sk := range sks {
			db.Put("Shop", map[string]string{"PK": pk, "SK": sk})
		}
	}
	return db
}

// TestConditions sends the conditions that the SDK builds and compares the sort
// keys of the results.
func TestConditions(t *testing.T) {
	db := shop(t)
	for _, tt := range []struct {
		name string
		r    func() (keys.Range, error)
		want []string
	}{
		{
			"orders", func() (keys.Range, error) { return order.Under() },
			[]string{
				"ORDER#2025-12-31#z", "ORDER#2026-01-05#a", "ORDER#2026-01-05#b", "ORDER#2026-01-31#a",
				"ORDER#2026-02-01#a",
			},
		},
		{
			"day", func() (keys.Range, error) { return order.Under("2026-01-05") },
			[]string{"ORDER#2026-01-05#a", "ORDER#2026-01-05#b"},
		},
		{"order", func() (keys.Range, error) { return order.Under("2026-01-05", "b") }, []string{"ORDER#2026-01-05#b"}},
		{
			"month", func() (keys.Range, error) { return order.BeginsWith("2026-01") },
			[]string{"ORDER#2026-01-05#a", "ORDER#2026-01-05#b", "ORDER#2026-01-31#a"},
		},
		{
			"days", func() (keys.Range, error) { return order.Between("2026-01-05", "2026-01-31") },
			[]string{"ORDER#2026-01-05#a", "ORDER#2026-01-05#b", "ORDER#2026-01-31#a"},
		},
		{
			"before", func() (keys.Range, error) { return order.Between(nil, keys.Excluding("2026-01-05")) },
			[]string{"ORDER#2025-12-31#z"},
		},
		{
			"after", func() (keys.Range, error) { return order.Between(keys.Excluding("2026-01-31"), nil) },
			[]string{"ORDER#2026-02-01#a"},
		},
		{
			"above", func() (keys.Range, error) { return keys.Range{Low: "ORDER#2026-02"}, nil },
			[]string{"ORDER#2026-02-01#a", "PROFILE"},
		},
		{
			"below", func() (keys.Range, error) { return keys.Range{High: "ORDER#2025-12-31#z"}, nil },
			[]string{"INVOICE#1", "ORDER#2025-12-31#z"},
		},
		{
			"all", func() (keys.Range, error) { return keys.Range{}, nil },
			[]string{
				"INVOICE#1", "ORDER#2025-12-31#z", "ORDER#2026-01-05#a", "ORDER#2026-01-05#b", "ORDER#2026-01-31#a",
				"ORDER#2026-02-01#a", "PROFILE",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			partition, err := keyexpr.Partition("PK", customer, 7)
			require.NoError(t, err)
			r, err := tt.r()
			require.NoError(t, err)
			expr, err := expression.NewBuilder().WithKeyCondition(keyexpr.And(partition, "SK", r)).Build()
			require.NoError(t, err)
			out, err := db.Client.Query(t.Context(), &dynamodb.QueryInput{
				TableName: aws.String("Shop"), KeyConditionExpression: expr.KeyCondition(),
				ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
			})
			require.NoError(t, err)
			var got []string
			for _, item := range out.Items {
				require.Equal(t, s("CUSTOMER#7"), item["PK"])
				got = append(got, item["SK"].(*types.AttributeValueMemberS).Value)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v returns %q, want %q", r, got, tt.want)
			}
		})
	}
}

func TestPartitionError(t *testing.T) {
	_, err := keyexpr.Partition("PK", customer)
	if _, ok := errors.AsType[*keys.Error](err); !ok {
		t.Errorf("Partition without values = %v, want a *keys.Error", err)
	}
}
