package bench

import (
	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

// cannedCommand is the yardstick that targets start beside a server.
const cannedCommand = "canned"

func cannedServer(env *app.Env) *cobra.Command {
	return &cobra.Command{
		Use:    cannedCommand,
		Short:  "Serve answers made beforehand from a bare net/http handler",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := app.Interruptible(cmd.Context())
			defer stop()
			return layer.ServeAnswers(ctx, env.Stdin, env.Stdout)
		},
	}
}
