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

// Example_core has the picture and the first code of README.md. TestReadme compares the code with it.
func Example_core() {
	ctx, space, st := context.Background(), store.Space(1), memory.Open()
	file := func(path string) attr.Item {
		item, err := attr.ParseItem(fmt.Appendf(nil, `{"PK": {"S": "DRIVE#a91"}, "SK": {"S": %q}}`, path))
		if err != nil {
			log.Fatal(err)
		}
		return item
	}
	visit := func(it attr.Item) error {
		fmt.Println(it.Get("SK"))
		return nil
	}
	fill(st, space, file("docs/taxes.pdf"), file("photos"), file("photos-old/beach.jpg"), file("photos/2026/beach.jpg"),
		file("photos/zoo.jpg"), file("videos/cat.mp4"))
	item := file("photos/2026/sunset.jpg")
	var next attr.Item

	key, err := keycond.ParseSchema("PK / SK")
	partition, sort, err := key.Place(item) // bytes in the order of the values
	err = st.Update(ctx, func(w store.Writer) error { return w.Put(space, partition, sort, item) })

	values, err := attr.ParseItem([]byte(`{":d": {"S": "DRIVE#a91"}, ":p": {"S": "photos/"}}`))
	params := expr.Params{Values: values}
	condition, err := expr.ParseCondition("PK = :d AND begins_with(SK, :p)", params)
	slice, err := keycond.Compile(key, condition)
	err = st.View(ctx, func(r store.Reader) error {
		page, err := slice.Page(r, space, keycond.PageOptions{Limit: 2}, visit)
		next = page.Last // the Start of the next page
		return err
	})

	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the next page begins after", next.Get("SK"))
	// Output:
	// {S:photos/2026/beach.jpg}
	// {S:photos/2026/sunset.jpg}
	// the next page begins after {S:photos/2026/sunset.jpg}
}

// fill puts items into a space, at their places by the key PK / SK.
func fill(st store.Store, space store.Space, items ...attr.Item) {
	key, err := keycond.ParseSchema("PK / SK")
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range items {
		partition, sort, err := key.Place(item)
		if err != nil {
			log.Fatal(err)
		}
		err = st.Update(context.Background(), func(w store.Writer) error { return w.Put(space, partition, sort, item) })
		if err != nil {
			log.Fatal(err)
		}
	}
}
