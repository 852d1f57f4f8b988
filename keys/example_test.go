package keys_test

import (
	"fmt"
	"time"

	"github.com/sortkey/sortkey/keys"
)

var order = keys.MustParse("CUSTOMER#{customer}#ORDER#{placed:date}#{number:int(6)}")

// Build a key from Go values, and read the values back.
func Example() {
	placed := time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC)
	key, err := order.Format("ann", placed, 42)
	fmt.Println(key, err)

	var customer string
	var number int
	err = order.Scan(key, &customer, &placed, &number)
	fmt.Println(customer, placed.Format(time.DateOnly), number, err)
	// Output:
	// CUSTOMER#ann#ORDER#2026-01-05#000042 <nil>
	// ann 2026-01-05 42 <nil>
}

// Templates and values whose keys could not be parsed back are refused.
func ExampleParse() {
	_, err := keys.Parse("{year}{month}")
	fmt.Println(err)
	_, err = keys.MustParse("USER#{id}#{item}").Format("ann#bob", 42)
	fmt.Println(err)
	// Output:
	// template "{year}{month}": component year: its length differs from value to value and month follows at once, so the key could not be parsed back; put a delimiter between them, as {year}#{month}, or give year a type of fixed width, as int(8)
	// template "USER#{id}#{item}": component id: "ann#bob" contains "#", the text that follows the component, so the key could not be parsed back; remove it from the value, or use a delimiter that no value contains
}

// The prefix includes the delimiter, so it matches USER#1 only, not USER#10.
func ExampleTemplate_Prefix() {
	prefix, err := keys.MustParse("USER#{id}#{item}").Prefix(1)
	fmt.Println(prefix, err)
	// Output:
	// USER#1# <nil>
}

// Ranges at each level of a key.
func ExampleTemplate_Between() {
	fmt.Println(order.Under("ann"))
	fmt.Println(order.BeginsWith("2026-01", "ann"))
	fmt.Println(order.Between("2026-01-05", "2026-01-09", "ann"))
	fmt.Println(order.Between(keys.Excluding("2026-01-05"), nil, "ann"))
	fmt.Println(order.Between(10, 20, "ann", "2026-01-05"))
	// Output:
	// begins_with "CUSTOMER#ann#ORDER#" <nil>
	// begins_with "CUSTOMER#ann#ORDER#2026-01" <nil>
	// BETWEEN "CUSTOMER#ann#ORDER#2026-01-05#" AND "CUSTOMER#ann#ORDER#2026-01-09$" <nil>
	// BETWEEN "CUSTOMER#ann#ORDER#2026-01-05$" AND "CUSTOMER#ann#ORDER$" <nil>
	// BETWEEN "CUSTOMER#ann#ORDER#2026-01-05#000010" AND "CUSTOMER#ann#ORDER#2026-01-05#000020" <nil>
}

// The highest score sorts first and, among equal scores, the earliest.
func ExampleType_reversed() {
	score := keys.MustParse("{score:int(6):desc}#{at:time}")
	fmt.Println(score.Format(1200, "2026-01-05T10:00:00Z"))
	fmt.Println(score.Format(900, "2026-01-04T10:00:00Z"))
	// Output:
	// 998799#2026-01-05T10:00:00Z <nil>
	// 999099#2026-01-04T10:00:00Z <nil>
}

func ExampleType_Encode() {
	for _, text := range []string{"signed(4)", "decimal(4,2)", "epoch", "date:desc"} {
		typ, err := keys.ParseType(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		value := "-7"
		if typ.Name == "epoch" || typ.Name == "date" {
			value = "2026-01-05T11:00:00+01:00"
		}
		part, err := typ.Encode(value)
		fmt.Println(typ, part, err)
	}
	// Output:
	// signed(4) 09992 <nil>
	// decimal(4,2) 09992.99 <nil>
	// epoch 1767607200 <nil>
	// date:desc 7973-98-94 <nil>
}

func ExampleSuccessor() {
	fmt.Println(keys.Successor("CUSTOMER#7#"))
	// Output:
	// CUSTOMER#7$ true
}
