package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/internal/advice"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

// storeUsage is the help of --store.
const storeUsage = "`URL` of a PostgreSQL database for the rows, prepared by sortkey init"

func (a *App) initCommand() *cobra.Command {
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
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if url == "" {
				return usage("init", "init needs --store, the URL of the database")
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			if err := postgres.Init(ctx, url); err != nil {
				return explainPostgres(err)
			}
			_, err := fmt.Fprintln(a.Stdout, "the database is ready for sortkey serve --store")
			return err
		},
	}
	cmd.Flags().StringVar(&url, "store", "", "`URL` of the database")
	mustComplete(cmd, "store", cobra.NoFileCompletions)
	return cmd
}

// openPostgres opens the store in a database.
func openPostgres(ctx context.Context, url string, opts postgres.Options) (store.Store, error) {
	st, err := postgres.Open(ctx, url, opts)
	if err != nil {
		return nil, explainPostgres(err)
	}
	return st, nil
}

// explainPostgres adds to an error of a database what to do about it.
func explainPostgres(err error) error {
	e := &advice.Error{Msg: "--store: " + err.Error(), Err: err}
	switch {
	case errors.Is(err, postgres.ErrSchema):
		e.Advice = "run sortkey init --store with this URL, or use the version of Sortkey that created the tables"
	default:
		e.Advice = "give a URL such as postgres://user@host:5432/database, and try it with psql: it must reach the database, and its user must be able to use the tables"
	}
	return e
}
