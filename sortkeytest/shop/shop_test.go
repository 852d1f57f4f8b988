package shop

import (
	"context"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey/sortkeytest"
)

type Order struct{ Customer, Placed, Text string }

func TestPlace(t *testing.T) {
	db := sortkeytest.New(t) // in memory, and gone when the test ends
	db.Table("Orders", "Customer / Placed")
	db.Put("Orders", Order{"7", "2026-01-30", "lamp"}, Order{"8", "2026-02-01", "desk"})

	if err := Place(t.Context(), db.Client, Order{"7", "2026-02-11", "tea"}); err != nil {
		t.Fatal(err)
	}

	want := []Order{{"7", "2026-01-30", "lamp"}, {"7", "2026-02-11", "tea"}}
	if got := sortkeytest.Query[Order](db, "Orders", "7"); !slices.Equal(got, want) {
		t.Errorf("orders of customer 7 are %v, want %v", got, want)
	}
}

// Place is the code under test. It knows the AWS SDK and nothing of Sortkey.
func Place(ctx context.Context, client *dynamodb.Client, o Order) error {
	item, err := attributevalue.MarshalMap(o)
	if err != nil {
		return err
	}
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("Orders"), Item: item})
	return err
}
