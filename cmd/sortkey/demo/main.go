// Command demo runs the example designs in memory, as sortkey demo does. It links neither the engines for disk and
// PostgreSQL nor the server, so a fresh clone builds it in half the time that sortkey takes.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/demo"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
)

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "demo: it takes no arguments; go run ./cmd/sortkey demo NAME runs one design")
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	right, err := run(context.Background(), out)
	err = errors.Join(err, out.Flush())
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	case !right:
		os.Exit(1)
	}
}

func run(ctx context.Context, out *bufio.Writer) (right bool, err error) {
	designs, err := models.Examples()
	if err != nil {
		return false, err
	}
	style := show.StyleFor(show.Width(os.Stdout), os.Getenv)
	_, right, err = demo.All(ctx, out, designs, style)
	return right, err
}
