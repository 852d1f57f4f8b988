// Command demo runs the example designs in memory, as sortkey demo does. It links nothing else, neither the
// engines on disk and PostgreSQL nor the server, so a fresh clone builds it in half the time.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/demo"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
)

func main() {
	right, err := run(context.Background())
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	case !right:
		os.Exit(1)
	}
}

func run(ctx context.Context) (right bool, err error) {
	designs, err := models.Examples()
	if err != nil {
		return false, err
	}
	style := show.StyleFor(show.Width(os.Stdout), os.Getenv)
	var reports []*demo.Report
	for _, m := range designs {
		r, err := demo.Run(ctx, m)
		if err != nil {
			return false, err
		}
		reports = append(reports, r)
		demo.Print(os.Stdout, r, style)
		fmt.Println()
	}

	paint := style.Paint.Bad
	if right = demo.AllRight(reports); right {
		paint = style.Paint.Good
	}
	fmt.Println(paint(demo.Summary(reports)))
	return right, nil
}
