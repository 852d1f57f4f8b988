package table_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store/memory"
)

// A table over a store in memory: three items, and a query with its trace.
func ExampleDB() {
	ctx := context.Background()
	db, err := life.Open(ctx, memory.Open())
	if err != nil {
		log.Fatal(err)
	}
	_, err = db.Create(ctx, &table.Definition{
		Name:       "Drive",
		Attributes: []keycond.Attribute{{Name: "PK", Kind: attr.String}, {Name: "SK", Kind: attr.String}},
		Key:        []table.KeyElement{{Name: "PK", Hash: true}, {Name: "SK"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	err = db.Update(ctx, func(tx *table.Tx) error {
		drive, err := tx.Table("Drive")
		if err != nil {
			return err
		}
		for _, path := range []string{"photos/b.jpg", "photos-old/", "photos/a.jpg"} {
			var b attr.Builder
			b.Add("PK", attr.NewString("DRIVE#1"))
			b.Add("SK", attr.NewString(path))
			if _, err := tx.Put(drive, b.Item(), nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}

	values, err := attr.ParseItem([]byte(`{":d":{"S":"DRIVE#1"},":p":{"S":"photos/"}}`))
	if err != nil {
		log.Fatal(err)
	}
	env, err := expr.NewEnv(expr.Params{Values: values})
	if err != nil {
		log.Fatal(err)
	}
	cond, err := env.Condition(expr.KeyConditionExpression, "PK = :d AND begins_with(SK, :p)")
	if err != nil {
		log.Fatal(err)
	}
	ctx = table.WithTrace(ctx, func(tr table.Trace) {
		fmt.Printf("read [%s, %s): %d rows, %g units\n", tr.Range.Lo, tr.Range.Hi, tr.Examined, tr.Units)
	})
	err = db.View(ctx, func(s *table.View) error {
		drive, err := s.Table("Drive")
		if err != nil {
			return err
		}
		slice, err := keycond.Compile(drive.Key(), cond)
		if err != nil {
			return err
		}
		_, err = s.Query(&table.Query{Read: table.Read{Table: drive}, Slice: slice}, func(it attr.Item) error {
			fmt.Println(it.Get("SK"))
			return nil
		})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// {S:photos/a.jpg}
	// {S:photos/b.jpg}
	// read [photos/, photos0): 2 rows, 0.5 units
}
