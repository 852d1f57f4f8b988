// Command hello embeds Sortkey and does little else. BenchmarkHello measures what it costs to build.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/sortkey/sortkey"
)

type greeting struct {
	Language string `dynamodbav:"language"`
	Text     string `dynamodbav:"text"`
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	db, err := sortkey.Open(sortkey.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.CreateTable(ctx, "Greetings", "language"); err != nil {
		return err
	}

	greetings := sortkey.Table[greeting](db, "Greetings")
	if err := greetings.Put(ctx, greeting{"en", "Hello"}); err != nil {
		return err
	}
	g, err := greetings.Get(ctx, "en")
	fmt.Println(g.Text)
	return err
}
