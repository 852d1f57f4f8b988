package design

import (
	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/gen"
)

func genCommand(env *app.Env) *cobra.Command {
	var pkg, out string
	cmd := &cobra.Command{
		Use:   "gen MODEL",
		Short: "Write Go functions for the keys and patterns of a model",
		Long: `Gen writes a Go file with a struct for each entity, methods that build and read its
keys, and a function for each access pattern that returns its request.`,
		Example:           "  sortkey design gen shop.yaml --package shop -o shop/keys.go",
		Args:              app.OneModel,
		ValidArgsFunction: app.Models,
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := app.LoadModel(args[0])
			if err != nil {
				return err
			}
			code, err := gen.Go(m, pkg)
			if err != nil {
				return err
			}
			return output(env, out, code)
		},
	}
	cmd.Flags().StringVar(&pkg, "package", "keys", "`NAME` of the Go package")
	cmd.Flags().StringVarP(&out, "output", "o", "", "output `FILE` (default standard output)")
	app.Complete(cmd, map[string]cobra.CompletionFunc{"output": app.Paths})
	return cmd
}
