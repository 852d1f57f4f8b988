package attr_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/sortkey/sortkey/attr"
)

func ExampleItem() {
	it, err := attr.ParseItem([]byte(`{"SK":{"S":"ORDER#2"},"total":{"N":"12.50"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(it.Size(), "bytes")
	fmt.Println(it.Get("total"))
	fmt.Println(string(it.AppendJSON(nil)))
	// Output:
	// 17 bytes
	// {N:12.5}
	// {"SK":{"S":"ORDER#2"},"total":{"N":"12.5"}}
}

func ExampleItem_All() {
	it, _ := attr.ParseItem([]byte(`{"b":{"BOOL":true},"a":{"L":[{"S":"x"},{"NULL":true}]}}`))
	for name, v := range it.All() {
		fmt.Printf("%s %v %d bytes\n", name, v, v.Size())
	}
	// Output:
	// a {L:[{S:x}, {NULL:true}]} 7 bytes
	// b {BOOL:true} 1 bytes
}

func ExampleBuilder() {
	var b attr.Builder
	b.Add("qty", attr.NewNull())
	b.Add("id", attr.NewString("A-100"))
	if n, err := attr.NewNumber("2"); err == nil {
		b.Add("qty", n) // replaces the null
	}
	fmt.Println(string(b.Item().AppendJSON(nil)))
	// Output: {"id":{"S":"A-100"},"qty":{"N":"2"}}
}

func ExampleNewSet() {
	set, err := attr.NewSet(attr.StringSet, attr.NewString("b"), attr.NewString("a"))
	fmt.Println(set, err, set.Has(attr.NewString("b")))
	_, err = attr.NewSet(attr.NumberSet)
	fmt.Println(err)
	// Output:
	// {SS:[a, b]} <nil> true
	// One or more parameter values were invalid: An number set  may not be empty
}

func ExampleParseValue() {
	_, err := attr.ParseValue([]byte(`{"N":"1e126"}`))
	if e, ok := errors.AsType[*attr.Error](err); ok {
		fmt.Println(e.Syntax, e.Msg)
	}
	_, err = attr.ParseValue([]byte(`{"N":1}`))
	if e, ok := errors.AsType[*attr.Error](err); ok {
		fmt.Println(e.Syntax, e.Msg)
	}
	// Output:
	// false Number overflow. Attempting to store a number with magnitude larger than supported range
	// true NUMBER_VALUE cannot be converted to String
}

func ExampleCompare() {
	a, _ := attr.NewNumber("1e2")
	b, _ := attr.NewNumber("99.5")
	fmt.Println(attr.Compare(a, b))
	fmt.Println(attr.Compare(a, attr.NewString("99.5")))
	fmt.Println(bytes.Compare(a.Raw(), b.Raw()))
	// Output:
	// 1 true
	// 0 false
	// 1
}

func ExampleMarshalItem() {
	type Order struct {
		Customer string   `dynamodbav:"pk"`
		Number   int      `dynamodbav:"sk"`
		Tags     []string `dynamodbav:"tags,stringset,omitempty"`
		Note     string   `dynamodbav:",omitempty"`
	}
	it, err := attr.MarshalItem(Order{Customer: "alice", Number: 7, Tags: []string{"gift"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(it.AppendJSON(nil)))

	var order Order
	fmt.Println(attr.UnmarshalItem(it, &order), order.Customer, order.Number, order.Tags)
	// Output:
	// {"pk":{"S":"alice"},"sk":{"N":"7"},"tags":{"SS":["gift"]}}
	// <nil> alice 7 [gift]
}

func ExampleConvertError() {
	it, _ := attr.ParseItem([]byte(`{"lines":{"L":[{"M":{"quantity":{"N":"300"}}}]}}`))
	var order struct {
		Lines []struct{ Quantity int8 }
	}
	err := attr.UnmarshalItem(it, &order)
	fmt.Println(err)
	if e, ok := errors.AsType[*attr.ConvertError](err); ok {
		fmt.Println(e.Path)
	}
	// Output:
	// lines[0].quantity: cannot decode N into int8: "300" does not fit; use a type that holds it, such as float64 or string
	// lines[0].quantity
}
