package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"

	_ "modernc.org/sqlite" // the driver

	"github.com/sortkey/sortkey/bench/contest"
)

// modernc is SQLite in Go.
var modernc = sqliteContender("sqlite-modernc", "sqlite", "modernc.org/sqlite")

// sqliteContender returns SQLite with a driver of database/sql.
func sqliteContender(name, driver, module string) contender {
	return contender{
		name: name,
		version: func() (version string, err error) {
			db, err := sql.Open(driver, ":memory:")
			if err != nil {
				return "", err
			}
			defer db.Close()
			err = db.QueryRow("SELECT sqlite_version()").Scan(&version)
			return moduleVersion(module) + " (SQLite " + version + ")", err
		},
		open: func(mode contest.Mode, dir string) (store, error) {
			file := ":memory:"
			if mode == contest.Disk {
				file = filepath.Join(dir, "sqlite")
			}
			return openSQLite(driver, file, mode)
		},
	}
}

// moduleVersion returns the version of a module that this program was built with.
func moduleVersion(path string) string {
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return "unknown"
}

// sqliteStore uses one connection. A second connection would open another, empty database in memory, and a single
// caller does not need one.
type sqliteStore struct {
	db *sql.DB
	// The statements are prepared once.
	getOne, byPrefix, byRange, byPlace, byValue, upsert, replace, increase *sql.Stmt
}

const selectReading = "SELECT sensor, at, place, value, note FROM readings "

func openSQLite(driver, file string, mode contest.Mode) (store, error) {
	db, err := sql.Open(driver, file)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	setup := []string{
		"PRAGMA cache_size = -65536", // 64 MB, enough for all items, as in the other stores
		"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
		`CREATE TABLE readings (sensor TEXT NOT NULL, at TEXT NOT NULL, place TEXT NOT NULL, value INTEGER NOT NULL,
			note TEXT NOT NULL, PRIMARY KEY (sensor, at)) WITHOUT ROWID`,
		"CREATE INDEX by_place ON readings (place, at)",
	}
	if mode == contest.Memory {
		setup[1], setup[2] = "PRAGMA journal_mode = MEMORY", "PRAGMA synchronous = OFF"
	}
	for _, statement := range setup {
		if _, err := db.Exec(statement); err != nil {
			return nil, fmt.Errorf("%s: %w", statement, err)
		}
	}

	s := &sqliteStore{db: db}
	for _, p := range []struct {
		dst  **sql.Stmt
		text string
	}{
		{&s.getOne, selectReading + "WHERE sensor = ? AND at = ?"},
		{&s.byPrefix, selectReading + "WHERE sensor = ? AND at >= ? AND at < ? ORDER BY at"},
		{&s.byRange, selectReading + "WHERE sensor = ? AND at BETWEEN ? AND ? ORDER BY at"},
		{&s.byPlace, "SELECT sensor, at, place FROM readings WHERE place = ? AND at >= ? ORDER BY at LIMIT ?"},
		{&s.byValue, selectReading + "WHERE value BETWEEN ? AND ?"},
		{&s.upsert, `INSERT INTO readings (sensor, at, place, value, note) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET place = excluded.place, value = excluded.value, note = excluded.note`},
		{&s.replace, "UPDATE readings SET place = ?, value = ?, note = ? WHERE sensor = ? AND at = ? AND value < ?"},
		{&s.increase, `UPDATE readings SET value = value + ? WHERE sensor = ? AND at = ?
			RETURNING sensor, at, place, value, note`},
	} {
		if *p.dst, err = db.Prepare(p.text); err != nil {
			return nil, fmt.Errorf("%s: %w", p.text, err)
		}
	}
	return s, nil
}

func (s *sqliteStore) close() error { return s.db.Close() }

func (s *sqliteStore) load(ctx context.Context, all []Reading) error { return s.putAll(ctx, all) }

// A row is a sql.Row or sql.Rows.
type row interface{ Scan(dst ...any) error }

func scan(row row) (r Reading, err error) {
	err = row.Scan(&r.Sensor, &r.At, &r.Place, &r.Value, &r.Note)
	if errors.Is(err, sql.ErrNoRows) {
		err = errMissing
	}
	return r, err
}

func (s *sqliteStore) get(ctx context.Context, sensor, at string) (Reading, error) {
	return scan(s.getOne.QueryRowContext(ctx, sensor, at))
}

// scanKeys reads a row that a query on the index returns: the primary key and the place.
func scanKeys(row row) (r Reading, err error) {
	err = row.Scan(&r.Sensor, &r.At, &r.Place)
	return r, err
}

// query reads all rows of a statement.
func query(
	ctx context.Context, statement *sql.Stmt, scan func(row) (Reading, error), see func(Reading), args ...any,
) error {
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scan(rows)
		if err != nil {
			return err
		}
		see(r)
	}
	return rows.Err()
}

// prefix asks for a range, for which SQLite can use the primary key. LIKE or GLOB with a parameter would read the
// whole table.
func (s *sqliteStore) prefix(ctx context.Context, sensor, prefix string, see func(Reading)) error {
	return query(ctx, s.byPrefix, scan, see, sensor, prefix, prefix+"\U0010FFFF")
}

func (s *sqliteStore) between(ctx context.Context, sensor, low, high string, see func(Reading)) error {
	return query(ctx, s.byRange, scan, see, sensor, low, high)
}

func (s *sqliteStore) index(ctx context.Context, place, from string, n int, see func(Reading)) error {
	return query(ctx, s.byPlace, scanKeys, see, place, from, n)
}

func (s *sqliteStore) filter(ctx context.Context, low, high int, see func(Reading)) error {
	return query(ctx, s.byValue, scan, see, low, high)
}

func (s *sqliteStore) put(ctx context.Context, r Reading) error { return put(ctx, s.upsert, r) }

func put(ctx context.Context, statement *sql.Stmt, r Reading) error {
	_, err := statement.ExecContext(ctx, r.Sensor, r.At, r.Place, r.Value, r.Note)
	return err
}

func (s *sqliteStore) putIf(ctx context.Context, r Reading, below int) (bool, error) {
	result, err := s.replace.ExecContext(ctx, r.Place, r.Value, r.Note, r.Sensor, r.At, below)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

func (s *sqliteStore) add(ctx context.Context, sensor, at string, n int) (Reading, error) {
	return scan(s.increase.QueryRowContext(ctx, n, sensor, at))
}

func (s *sqliteStore) putAll(ctx context.Context, all []Reading) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // without effect after Commit
	statement := tx.StmtContext(ctx, s.upsert)
	for _, r := range all {
		if err := put(ctx, statement, r); err != nil {
			return err
		}
	}
	return tx.Commit()
}
