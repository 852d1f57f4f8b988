package keycond_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// The whole way: items at their places in a store, a slice of one partition, and its pages.
func Example() {
	ctx, space := context.Background(), store.Space(7) // a space is one table or one index
	orders, err := keycond.ParseSchema("customer / placed")
	if err != nil {
		log.Fatal(err)
	}
	rows := memory.Open()
	defer rows.Close()
	err = rows.Update(ctx, func(w store.Writer) error {
		for _, placed := range []string{"2025-12-30", "2026-01-04", "2026-01-31", "2026-02-02"} {
			it, err := attr.ParseItem([]byte(`{"customer": {"S": "ann"}, "placed": {"S": "` + placed + `"}}`))
			if err != nil {
				return err
			}
			partition, sort, err := orders.Place(it)
			if err != nil {
				return err
			}
			if err := w.Put(space, partition, sort, it); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}

	january, err := keycond.Of(orders,
		keycond.Clause{Attribute: "customer", Op: ast.Equal, Values: []attr.Value{attr.NewString("ann")}},
		keycond.Clause{Attribute: "placed", Op: ast.OpBeginsWith, Values: []attr.Value{attr.NewString("2026-01")}},
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s is [%q, %q)\n", january, january.Range.Lo, january.Range.Hi)
	_ = rows.View(ctx, func(r store.Reader) error {
		page, err := january.Page(r, space, keycond.PageOptions{Limit: 1}, func(it attr.Item) error {
			fmt.Println(it.Get("placed"))
			return nil
		})
		fmt.Println(page.Examined, page.Stop, page.Last.Get("placed"), err)
		return err
	})
	// Output:
	// customer = "ann" AND begins_with(placed, "2026-01") is ["2026-01", "2026-02")
	// {S:2026-01-04}
	// 1 Limit {S:2026-01-04} <nil>
}

// A begins_with on a composite sort key is one range of bytes: from the prefix
// to the prefix with its last byte one higher.
func ExampleCompile() {
	orders, err := keycond.ParseSchema("PK / SK")
	if err != nil {
		log.Fatal(err)
	}
	values, err := attr.ParseItem([]byte(`{":c": {"S": "CUSTOMER#1"}, ":o": {"S": "ORDER#2024-"}}`))
	if err != nil {
		log.Fatal(err)
	}
	for _, src := range []string{"PK = :c AND begins_with(SK, :o)", "begins_with(PK, :c) AND SK = :o"} {
		condition, err := expr.ParseCondition(src, expr.Params{Values: values})
		if err != nil {
			log.Fatal(err)
		}
		slice, err := keycond.Compile(orders, condition)
		if refused, ok := errors.AsType[*keycond.Error](err); ok {
			fmt.Println(refused.Message)
			continue
		}
		fmt.Printf("%s: [%s, %s)\n", slice.Partition, slice.Range.Lo, slice.Range.Hi)
	}
	// Output:
	// CUSTOMER#1: [ORDER#2024-, ORDER#2024.)
	// Query key condition not supported
}

func ExampleSchema_Index() {
	table, err := keycond.ParseSchema("id")
	if err != nil {
		log.Fatal(err)
	}
	byPlace, err := table.Index("ByPlace", "country, state / city, opened:N")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(byPlace, byPlace.Attributes())
	// Output: country, state / city, opened:N [{country S} {state S} {city S} {opened N} {id S}]
}

func ExampleSlice_Ends() {
	readings, err := keycond.ParseSchema("sensor / second:N")
	if err != nil {
		log.Fatal(err)
	}
	number := func(s string) attr.Value {
		v, err := attr.NewNumber(s)
		if err != nil {
			log.Fatal(err)
		}
		return v
	}
	slice, err := keycond.Of(readings,
		keycond.Clause{Attribute: "sensor", Op: ast.Equal, Values: []attr.Value{attr.NewString("a")}},
		keycond.Clause{Attribute: "second", Op: ast.OpBetween, Values: []attr.Value{number("-1.5"), number("42")}},
	)
	if err != nil {
		log.Fatal(err)
	}
	low, high := slice.Ends()
	names := readings.SortNames()
	fmt.Println(low.Words(names, false), high.Words(names, true))
	// Output: from -1.5 up to 42
}
