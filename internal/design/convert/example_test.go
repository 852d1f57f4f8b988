package convert_test

import (
	"context"
	"fmt"

	"github.com/sortkey/sortkey/internal/design/convert"
)

// The templates of keys are inferred from the items of a table.
func ExampleImport() {
	table := `{"TableName": "Shop",
		"AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}, {"AttributeName": "SK", "AttributeType": "S"}],
		"KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
		"BillingMode": "PAY_PER_REQUEST"}`
	items := `{"PK": {"S": "CUSTOMER#ann"}, "SK": {"S": "ORDER#2026-01-05#0017"}}
		{"PK": {"S": "CUSTOMER#bob"}, "SK": {"S": "ORDER#2026-02-01#0018"}}
		{"id": {"S": "7"}}`
	m, losses, err := convert.Import(context.Background(), []convert.File{
		{Name: "table.json", Data: []byte(table)},
		{Name: "items.json", Data: []byte(items)},
	}, convert.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range m.Entity("Order").Attributes {
		fmt.Println(t.Name, t.Template)
	}
	for _, p := range m.Patterns {
		fmt.Println(p.Name)
	}
	for _, l := range losses {
		fmt.Println(l)
	}
	// Output:
	// PK CUSTOMER#{customerId}
	// SK ORDER#{orderDate:date}#{orderId:int(4)}
	// Order by customerId
	// items.json:3:3: an item: no table has its keys
}
