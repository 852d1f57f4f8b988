package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Init creates the tables in a database, in the first schema of search_path. Call it once, before the first [Open].
// Init does not change tables that exist already, and several programs can call it at the same time. The user needs
// the right to create tables; Open needs only the rights to read and write them.
func Init(ctx context.Context, url string) error {
	config, err := parse(url)
	if err != nil {
		return err
	}

	c, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return wrap(err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	d, err := askDialect(ctx, c)
	if err != nil {
		return err
	}

	found, err := readVersion(ctx, c)
	switch {
	case err != nil:
		return err
	case found != 0 && found != version: // do not change the tables of another version
		return errVersion(found)
	}

	for i, sql := range tables {
		if i == 0 {
			sql = fmt.Sprintf(sql, d.rowsKey)
		}
		if err := define(ctx, c, sql); err != nil {
			return err
		}
	}

	if err := define(ctx, c, insertVersion, version); err != nil {
		return err
	}
	return checkTables(ctx, c, d)
}

// define runs a statement of Init. Such a statement can fail if another Init runs at the same time, because IF NOT
// EXISTS first looks and then creates. So define runs it again; the second time, the statement finds the table and
// does nothing.
func define(ctx context.Context, c *pgx.Conn, sql string, args ...any) error {
	for tries := 1; ; tries++ {
		_, err := c.Exec(ctx, sql, args...)
		if err == nil {
			return nil
		}
		e, ok := errors.AsType[*pgconn.PgError](err)
		again := ok &&
			(e.Code == codeDuplicateTable || e.Code == codeDuplicateObject || e.Code == codeDuplicateRow ||
				refusalOf(err) == conflict)
		if !again || tries == connTries {
			return wrap(err)
		}
		if err := backoff(ctx, tries); err != nil {
			return err
		}
	}
}

// checkSchema checks the tables, removes the old ids that a crash left, and returns the dialect of the database.
func checkSchema(ctx context.Context, config *pgx.ConnConfig) (dialect, error) {
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return dialect{}, wrap(err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	d, err := askDialect(ctx, c)
	if err != nil {
		return d, err
	}
	if err := checkTables(ctx, c, d); err != nil {
		return d, err
	}
	_, err = c.Exec(ctx, sweepCommits)
	if err != nil {
		return d, wrap(err)
	}
	return d, nil
}

func askDialect(ctx context.Context, c *pgx.Conn) (dialect, error) {
	var server string
	if err := c.QueryRow(ctx, selectServer).Scan(&server); err != nil {
		return dialect{}, wrap(err)
	}
	return dialectOf(server), nil
}

// checkTables returns [ErrSchema] unless the tables have this program's version and the columns that its statements
// use.
func checkTables(ctx context.Context, c *pgx.Conn, d dialect) error {
	found, err := readVersion(ctx, c)
	switch {
	case err != nil:
		return err
	case found == 0:
		return fmt.Errorf("%w: the database has none in search_path", ErrSchema)
	case found != version:
		return errVersion(found)
	}

	err = prepare(ctx, c, d)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && (e.Code == codeNoTable || e.Code == codeNoColumn) {
		return fmt.Errorf(
			"%w: a table has the name of one of Sortkey's, which can be in another schema with search_path: %w",
			ErrSchema, err,
		)
	}
	if err != nil {
		return wrap(err)
	}
	return nil
}

// readVersion returns the version of the tables, or 0 if there are none.
func readVersion(ctx context.Context, c *pgx.Conn) (found int, err error) {
	err = c.QueryRow(ctx, selectVersion).Scan(&found)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == codeNoTable || errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, wrap(err)
	}
	return found, nil
}

func errVersion(found int) error {
	return fmt.Errorf("%w: the database has version %d, this program uses %d; export its tables with the program "+
		"that wrote them, and import them into another schema", ErrSchema, found, version)
}

// isURL reports whether text is an address for [Open].
func isURL(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// parse reads a URL. Its errors do not contain the password.
func parse(text string) (*pgxpool.Config, error) {
	if !isURL(text) {
		return nil, errors.New("postgres: the address of a database begins with postgres://")
	}
	config, err := pgxpool.ParseConfig(text)
	if err != nil {
		return nil, wrap(err)
	}
	// A standby rejects writes, and its rows may be slightly old. So refuse a connection to a standby even if the URL
	// allows it: reads must see all writes.
	config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	if params := config.ConnConfig.RuntimeParams; params["application_name"] == "" {
		params["application_name"] = "sortkey"
	}
	return config, nil
}

// sets reports whether a URL contains a parameter.
func sets(text, parameter string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Query().Has(parameter)
}
