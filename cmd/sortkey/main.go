// Command sortkey serves, shows and queries an ordered key-value store that
// answers like DynamoDB. See sortkey help.
package main

import (
	"os"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], app.System()))
}
