package app

import (
	"context"
	"errors"
	"log/slog"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

// postgresEngine keeps rows in PostgreSQL.
var postgresEngine = Engine{
	Schemes: []string{"postgres", "postgresql"},
	Kind:    "a PostgreSQL database",
	Example: "postgres://user@host:5432/database",
	Help: `Init creates Sortkey's own tables, whose names begin with sortkey_, in a PostgreSQL
database, for serve, import and export with the same --store. Tables that exist
stay as they are, with their rows.

The URL is that of other PostgreSQL programs. The variables PGPASSWORD, PGSSLMODE
and the like, and the file ~/.pgpass complete it, so the password need not be in
the command line. The parameter search_path selects the schema, so one database
can hold several independent Sortkeys.

Init needs the right to create tables. The other commands only read and write
them.`,

	Open: func(ctx context.Context, url string, log *slog.Logger) (store.Store, error) {
		st, err := postgres.Open(ctx, url, postgres.Options{Logger: log})
		if err != nil {
			return nil, explainPostgres(err)
		}
		return st, nil
	},
	Init: func(ctx context.Context, url string) error {
		if err := postgres.Init(ctx, url); err != nil {
			return explainPostgres(err)
		}
		return nil
	},
}

// explainPostgres adds advice to an error of the database.
func explainPostgres(err error) error {
	e := &advice.Error{
		Msg: "--store: " + err.Error(), Err: err,
		Advice: "give a URL such as postgres://user@host:5432/database, and try it with psql: it must reach the " +
			"database, and its user must be able to use the tables",
	}
	if errors.Is(err, postgres.ErrSchema) {
		e.Advice = "run sortkey init --store with this URL, or use the version of Sortkey that created the tables"
	}
	return e
}
