package keyexpr_test

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/sortkey/sortkey/keys/keyexpr"
)

// The key condition for a customer's orders in January.
func Example() {
	partition, err := keyexpr.Partition("PK", customer, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	january, err := order.Between("2026-01-01", "2026-01-31")
	if err != nil {
		fmt.Println(err)
		return
	}
	expr, err := expression.NewBuilder().WithKeyCondition(keyexpr.And(partition, "SK", january)).Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*expr.KeyCondition())
	fmt.Println(expr.Names()["#0"], expr.Names()["#1"])
	fmt.Println(january)
	// Output:
	// (#0 = :0) AND (#1 BETWEEN :1 AND :2)
	// PK SK
	// BETWEEN "ORDER#2026-01-01#" AND "ORDER#2026-01-31$"
}
