package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/store/postgres"
)

func initCommand(env *app.Env) *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use:   "init --store URL",
		Short: "Prepare a PostgreSQL database for Sortkey",
		Long: `Init creates Sortkey's own tables, whose names begin with sortkey_, in a PostgreSQL
database, for serve, import and export with the same --store. Tables that exist
stay as they are, with their rows.

The URL is that of other PostgreSQL programs. The variables PGPASSWORD, PGSSLMODE
and the like, and the file ~/.pgpass complete it, so the password need not be in
the command line. The parameter search_path selects the schema, so one database
can hold several independent Sortkeys.

Init needs the right to create tables. The other commands only read and write
them.`,
		Example: `  sortkey init --store postgres://sortkey@db.example.com/app?sslmode=verify-full
  sortkey init --store 'postgres://sortkey@db.example.com/app?search_path=staging'`,
		Args:              app.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if url == "" {
				return app.Usage("init", "init needs --store, the URL of the database")
			}
			ctx, stop := app.Interruptible(cmd.Context())
			defer stop()
			if err := postgres.Init(ctx, url); err != nil {
				return app.ExplainPostgres(err)
			}
			_, err := fmt.Fprintln(env.Stdout, "the database is ready for sortkey serve --store")
			return err
		},
	}
	cmd.Flags().StringVar(&url, "store", "", "`URL` of the database")
	return cmd
}
