package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

func initCommand(env *app.Env) *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use:   "init --store URL",
		Short: "Prepare " + env.StoreKinds() + " for Sortkey",
		Long:  env.StoreHelp(),
		Example: `  sortkey init --store postgres://sortkey@db.example.com/app?sslmode=verify-full
  sortkey init --store 'postgres://sortkey@db.example.com/app?search_path=staging'`,
		Args:              app.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if url == "" {
				return app.Usage("init", "init needs --store, the URL of the database")
			}
			if err := env.InitStore(cmd.Context(), url); err != nil {
				return err
			}
			_, err := fmt.Fprintln(env.Stdout, "the database is ready for sortkey serve --store")
			return err
		},
	}
	cmd.Flags().StringVar(&url, "store", "", "`URL` of the database")
	return cmd
}
