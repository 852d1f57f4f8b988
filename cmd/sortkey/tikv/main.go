// Command sortkey-tikv is the command sortkey with an additional engine: --store also takes the URL of a TiKV
// cluster. It is a separate module so that sortkey does not link TiKV's client.
package main

import (
	"os"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

func main() {
	env := app.System()
	env.Engines = append(env.Engines, engine(connect))
	os.Exit(cli.Main(os.Args[1:], env))
}
