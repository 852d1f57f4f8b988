package expr_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
)

func itemOf(text string) attr.Item {
	it, err := attr.ParseItem([]byte(text))
	if err != nil {
		log.Fatal(err)
	}
	return it
}

func Example() {
	params := expr.Params{
		Names:  map[string]string{"#s": "status"},
		Values: itemOf(`{":open": {"S": "open"}, ":n": {"N": "3"}}`),
	}
	filter, err := expr.ParseCondition("#s = :open AND size(parts) >= :n OR urgent = :open", params)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(filter)
	fmt.Println(filter.Match(itemOf(`{"status": {"S": "open"}, "parts": {"L": [{"S": "a"}, {"S": "b"}, {"S": "c"}]}}`)))
	fmt.Println(filter.Match(itemOf(`{"status": {"S": "closed"}}`)))
	// Output:
	// (((#s = :open) AND (size(parts) >= :n)) OR (urgent = :open))
	// true
	// false
}

func ExampleParseProjection() {
	some, err := expr.ParseProjection("parts[2], parts[0], holder.city", expr.Params{})
	if err != nil {
		log.Fatal(err)
	}
	whole := itemOf(`{"id": {"N": "1"}, "parts": {"L": [{"S": "a"}, {"S": "b"}, {"S": "c"}]}}`)
	fmt.Printf("%s\n", attr.Item(some.Append(nil, whole)).AppendJSON(nil))
	// Output:
	// {"parts":{"L":[{"S":"a"},{"S":"c"}]}}
}

func ExampleParseUpdate() {
	values := itemOf(`{":one": {"N": "1"}, ":note": {"L": [{"S": "shipped"}]}, ":none": {"L": []}}`)
	u, err := expr.ParseUpdate(
		"SET visits = visits + :one, notes = list_append(if_not_exists(notes, :none), :note) REMOVE cart",
		expr.Params{Values: values},
	)
	if err != nil {
		log.Fatal(err)
	}
	old := itemOf(`{"id": {"S": "x"}, "visits": {"N": "41"}, "cart": {"SS": ["a", "b"]}}`)
	after, err := u.Apply(old, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", after.AppendJSON(nil))
	fmt.Printf("%s\n", u.Project(old).AppendJSON(nil)) // UPDATED_OLD

	_, err = u.Apply(itemOf(`{"id": {"S": "y"}}`), nil) // it has no visits
	fmt.Println(errors.Is(err, expr.ErrMissing), err)
	// Output:
	// {"id":{"S":"x"},"notes":{"L":[{"S":"shipped"}]},"visits":{"N":"42"}}
	// {"cart":{"SS":["a","b"]},"visits":{"N":"41"}}
	// true The provided expression refers to an attribute that does not exist in the item
}

func ExampleError() {
	_, err := expr.ParseCondition("price = = cost", expr.Params{})
	fmt.Println(err)
	if refused, ok := errors.AsType[*expr.Error](err); ok {
		fmt.Println(refused.Offset, refused.Near)
	}
	// Output:
	// Invalid ConditionExpression: Syntax error; token: "=", near: "= = cost"
	// 8 = = cost
}
