// A program whose name of an element is a variable.
package main

import (
	"os"

	"github.com/sortkey/sortkey/internal/markup"
)

func main() {
	var w markup.Writer
	name := "b"
	w.Leaf(name, name)
	_, _ = w.WriteTo(os.Stdout)
}
