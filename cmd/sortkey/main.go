// Sortkey serves, shows and asks an ordered key-value store that answers like
// DynamoDB. See sortkey help.
package main

import (
	"os"

	// The linker lays packages out in the order in which it meets them. What a
	// server runs comes first, so that it lies together in the program file and
	// no page of the rest has to be resident for it: see package resident.
	_ "github.com/sortkey/sortkey"
	_ "github.com/sortkey/sortkey/cmd/sortkey/internal/resident"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.System()))
}
