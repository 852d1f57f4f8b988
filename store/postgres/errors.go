package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

var (
	// ErrSchema is returned by [Open] for a database without the tables, or with tables
	// of another version.
	ErrSchema = errors.New("postgres: no tables of this version")

	// ErrUnknown is returned by an Update whose commit got no answer, if the database also does not answer when the
	// Update asks for the outcome. The Update happened completely or not at all.
	ErrUnknown = errors.New("postgres: unknown whether the update was applied")

	errPresumed = errors.New("postgres: a row exists that was taken for absent") // the reason to try again

	errTooLarge = errors.New("postgres: an update of more than a gigabyte")
)

// Codes of errors. Source: PostgreSQL, errcodes-appendix; CockroachDB,
// transaction-retry-error-reference and common-errors (40003).
const (
	codeSerialization = "40001"
	codeDeadlock      = "40P01"
	codeUnknown       = "40003" // statement_completion_unknown
	codeTooMany       = "53300" // too_many_connections
	codeNoTable       = "42P01"
	codeNoColumn      = "42703"

	codeDuplicateTable  = "42P07"
	codeDuplicateObject = "42710"
	codeDuplicateRow    = "23505" // a table of PostgreSQL's catalogue may report it too
)

// A refusal says why a transaction failed and whether another try may succeed.
type refusal int

const (
	final    refusal = iota // trying again is useless
	conflict                // a conflict with another transaction; try again
	broken                  // a broken connection; try again on another
	queued                  // others queue for a row that it reads; try again with the exclusive lock
	presumed                // a row that was presumed not to exist exists; try again and read it
)

// refusalOf classifies the error of a statement before the commit.
func refusalOf(err error) refusal {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		if errors.Is(err, errQueued) {
			return queued
		}
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
			errors.Is(err, store.ErrClosed) || errors.Is(err, capability.ErrChanged) {
			return final
		}
		return broken
	}
	switch {
	case e.Code == codeSerialization || e.Code == codeDeadlock:
		return conflict
	case e.Severity == "FATAL" || e.Severity == "PANIC" || e.Code == codeUnknown:
		return broken
	}
	switch e.Code[:min(2, len(e.Code))] {
	case "08", "57", "53": // connection, operator intervention, insufficient resources
		return broken
	}
	return final
}

// refusalAt classifies the error of one statement of a commit, like [refusalOf].
func refusalAt(err error, one *step) refusal {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == codeDuplicateRow && one.statement == insertRow {
		return presumed
	}
	return refusalOf(err)
}

// aborted reports whether an error proves that a commit did not happen. The error occurred at the statement with the
// index at in a pipeline of n statements, the last of which is the commit.
func aborted(err error, at, n int) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok || e.Severity == "FATAL" || e.Severity == "PANIC":
		return false
	case e.Code == codeSerialization || e.Code == codeDeadlock:
		return true
	}
	// The server skips the rest of a pipeline after an error. Source: PostgreSQL,
	// protocol-flow, Pipelining.
	return at < n-1 && e.Code != codeUnknown
}

// wrap adds the name of the engine to an error of the database. If the connection was to blame, it also marks the
// error as [store.ErrUnavailable].
func wrap(err error) error {
	if refusalOf(err) == broken {
		return fmt.Errorf("postgres: %w: %w", store.ErrUnavailable, err)
	}
	return fmt.Errorf("postgres: %w", err)
}

// crowded reports whether the database has refused a connection because it already has as many as it may have.
func crowded(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == codeTooMany
}
