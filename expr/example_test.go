package expr_test

import (
	"fmt"

	"github.com/sortkey/sortkey/expr/ast"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
)

func Example() {
	values, _ := attr.ParseItem([]byte(`{":open": {"S": "open"}, ":n": {"N": "3"}}`))
	env, err := expr.NewEnv(map[string]string{"#s": "status"}, values)
	if err != nil {
		panic(err)
	}
	filter, err := env.Condition(expr.FilterExpression, "#s = :open AND size(parts) >= :n OR urgent = :open")
	if err != nil {
		panic(err)
	}
	item, _ := attr.ParseItem([]byte(`{"status": {"S": "open"}, "parts": {"L": [{"S": "a"}, {"S": "b"}, {"S": "c"}]}}`))
	fmt.Println(filter)
	fmt.Println(filter.Eval(item))
	// Output:
	// (((#s = :open) AND (size(parts) >= :n)) OR (urgent = :open))
	// true
}

func ExampleEnv_Projection() {
	env, _ := expr.NewEnv(nil, nil)
	p, err := env.Projection("parts[2], parts[0], holder.city")
	if err != nil {
		panic(err)
	}
	item, _ := attr.ParseItem([]byte(`{"id": {"N": "1"}, "parts": {"L": [{"S": "a"}, {"S": "b"}, {"S": "c"}]}}`))
	fmt.Printf("%s\n", attr.Item(p.AppendItem(nil, item)).AppendJSON(nil))
	// Output:
	// {"parts":{"L":[{"S":"a"},{"S":"c"}]}}
}

func ExampleEnv_Unused() {
	env, _ := expr.NewEnv(map[string]string{"#a": "a", "#b": "b"}, nil)
	if _, err := env.Projection("#a"); err != nil {
		panic(err)
	}
	fmt.Println(env.Unused())
	// Output:
	// Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}
}

func ExampleError() {
	env, _ := expr.NewEnv(nil, nil)
	_, err := env.Condition(expr.FilterExpression, "price = = cost")
	fmt.Println(err)
	// Output:
	// Invalid FilterExpression: Syntax error; token: "=", near: "= = cost"
}

func ExampleFromLegacy() {
	c, err := expr.FromLegacy(expr.ScanFilter, map[string]expr.LegacyCondition{
		"status": {Op: "EQ", Values: []attr.Value{attr.NewString("open")}},
		"closed": {Op: "NULL"},
	}, false)
	if err != nil {
		panic(err)
	}
	fmt.Println(c)
	// Output:
	// (attribute_not_exists(closed) AND (status = {S:open}))
}

func ExampleFromExpected() {
	no := false
	c, err := expr.FromExpected(map[string]expr.Expected{
		"id":      {Exists: &no},
		"version": {Value: attr.NewString("7")},
	}, true)
	if err != nil {
		panic(err)
	}
	fmt.Println(c)
	// Output:
	// (attribute_not_exists(id) OR (version = {S:7}))
}

func ExampleAttributes() {
	item, _ := attr.ParseItem([]byte(`{"id": {"N": "1"}, "a": {"S": "x"}, "b": {"S": "y"}}`))
	fmt.Printf("%s\n", attr.Item(expr.Attributes([]string{"b", "id"}).AppendItem(nil, item)).AppendJSON(nil))
	// Output:
	// {"b":{"S":"y"},"id":{"N":"1"}}
}

func ExampleFormat() {
	env, _ := expr.NewEnv(nil, nil)
	c, err := env.Condition(expr.ConditionExpression, "not a = b and c < d")
	if err != nil {
		panic(err)
	}
	fmt.Println(ast.Format(c.Root))
	// Output:
	// ((NOT (a = b)) AND (c < d))
}

func ExampleEnv_Update() {
	values, _ := attr.ParseItem([]byte(`{":one": {"N": "1"}, ":note": {"L": [{"S": "shipped"}]}, ":none": {"L": []}}`))
	env, _ := expr.NewEnv(nil, values)
	u, err := env.Update("SET visits = visits + :one, notes = list_append(if_not_exists(notes, :none), :note) REMOVE cart")
	if err != nil {
		panic(err)
	}
	old, _ := attr.ParseItem([]byte(`{"id": {"S": "x"}, "visits": {"N": "41"}, "cart": {"SS": ["a", "b"]}}`))
	after, err := u.Apply(old, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", after.AppendJSON(nil))
	fmt.Printf("%s\n", u.Project(old).AppendJSON(nil)) // UPDATED_OLD
	// Output:
	// {"id":{"S":"x"},"notes":{"L":[{"S":"shipped"}]},"visits":{"N":"42"}}
	// {"cart":{"SS":["a","b"]},"visits":{"N":"41"}}
}

func ExampleUpdate_Apply() {
	values, _ := attr.ParseItem([]byte(`{":v": {"S": "x"}}`))
	env, _ := expr.NewEnv(nil, values)
	u, _ := env.Update("SET address.city = :v")
	key, _ := attr.ParseItem([]byte(`{"id": {"S": "x"}}`))
	_, err := u.Apply(nil, key) // no item yet
	fmt.Println(err)
	// Output:
	// The document path provided in the update expression is invalid for update
}

func ExampleFromAttributeUpdates() {
	one, _ := attr.NewNumber("1")
	u, err := expr.FromAttributeUpdates(map[string]expr.AttributeUpdate{
		"count":  {Action: "ADD", Value: one},
		"old":    {Action: "DELETE"},
		"status": {Value: attr.NewString("open")},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(u)
	// Output:
	// ADD count {N:1} REMOVE old SET status = {S:open}
}
