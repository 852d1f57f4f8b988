package keycond_test

import (
	"fmt"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/keycond"
)

// A begins_with on a composite sort key is one range of bytes: from the prefix
// to the prefix with its last byte one higher.
func ExampleCompile() {
	orders := &keycond.Schema{
		Hash:  []keycond.Attribute{{Name: "PK", Kind: attr.String}},
		Range: []keycond.Attribute{{Name: "SK", Kind: attr.String}},
	}
	values, err := attr.ParseItem([]byte(`{":c":{"S":"CUSTOMER#1"},":o":{"S":"ORDER#2024-"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	env, err := expr.NewEnv(nil, values)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, src := range []string{"PK = :c AND begins_with(SK, :o)", "begins_with(PK, :c) AND SK = :o"} {
		cond, err := env.Condition(expr.KeyConditionExpression, src)
		if err != nil {
			fmt.Println(err)
			continue
		}
		slice, err := keycond.Compile(orders, cond)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%s: [%s, %s)\n", slice.Partition, slice.Range.Lo, slice.Range.Hi)
	}
	// Output:
	// CUSTOMER#1: [ORDER#2024-, ORDER#2024.)
	// Query key condition not supported
}

func ExampleSlice_String() {
	fmt.Println(&keycond.Slice{Clauses: []keycond.Clause{
		{Attribute: keycond.Attribute{Name: "PK"}, Op: "=", Values: []attr.Value{attr.NewString("a")}},
		{Attribute: keycond.Attribute{Name: "SK"}, Op: "begins_with", Values: []attr.Value{attr.NewString("b")}},
	}})
	// Output: PK = "a" AND begins_with(SK, "b")
}
