package shop

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/sortkeytest"
)

type Record struct{ Customer, SK, Text string }

func TestNewestOrdersOfACustomer(t *testing.T) {
	db := sortkeytest.New(t) // in memory, and gone when the test ends
	db.Table("Shop", "Customer / SK")
	db.Put("Shop",
		Record{"C#7", "PROFILE", "Ada"},
		Record{"C#7", "ORDER#2026-02-11#1", "tea"},
		Record{"C#7", "ORDER#2026-01-30#1", "lamp"},
		Record{"C#7", "ORDER#2026-02-11#2", "milk"},
		Record{"C#8", "ORDER#2026-02-01#1", "desk"},
	)

	// db.Client is a *dynamodb.Client: give it to the code under test.
	out, err := db.Client.Query(t.Context(), &dynamodb.QueryInput{
		TableName:              aws.String("Shop"),
		KeyConditionExpression: aws.String("Customer = :c AND begins_with(SK, :orders)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":c":      &types.AttributeValueMemberS{Value: "C#7"},
			":orders": &types.AttributeValueMemberS{Value: "ORDER#"},
		},
		ScanIndexForward: aws.Bool(false), // newest first
	})
	var found []Record
	if err == nil {
		err = attributevalue.UnmarshalListOfMaps(out.Items, &found)
	}
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, r := range found {
		texts = append(texts, r.Text)
	}
	if want := []string{"milk", "tea", "lamp"}; !slices.Equal(texts, want) {
		t.Errorf("newest orders are %q, want %q", texts, want)
	}
}
