package keycond_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// Example_core has the code of the section "The core" in README.md; TestReadme compares them.
func Example_core() {
	ctx, space, st := context.Background(), store.Space(1), memory.Open()
	item, err := attr.ParseItem([]byte(`{"PK": {"S": "DRIVE#a91"}, "SK": {"S": ` +
		`"photos/sun.jpg"}, "body": {"B": "AAA="}}`))
	visit := func(it attr.Item) error {
		fmt.Println(it.Get("SK"))
		return nil
	}
	options := keycond.PageOptions{}

	key, err := keycond.ParseSchema("PK / SK")
	partition, sort, err := key.Place(item) // bytes in the order of the values
	err = st.Update(ctx, func(w store.Writer) error { return w.Put(space, partition, sort, item) })

	values, err := attr.ParseItem([]byte(`{":d": {"S": "DRIVE#a91"}, ":p": {"S": "photos/"}, ":n": {"N": "9"}}`))
	params := expr.Params{Values: values}
	condition, err := expr.ParseCondition("PK = :d AND begins_with(SK, :p)", params)
	options.Filter, err = expr.ParseCondition("size(body) < :n", params)
	slice, err := keycond.Compile(key, condition) // one range of one partition, or a refusal
	err = st.View(ctx, func(r store.Reader) error {
		page, err := slice.Page(r, space, options, visit) // up to 1 MB, and no row outside
		options.Start = page.Last                         // begins the next page
		return err
	})

	if err != nil {
		log.Fatal(err)
	}
	// Output: {S:photos/sun.jpg}
}
