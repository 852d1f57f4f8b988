package postgres

import "time"

// WithLease returns o with another duration of leases.
func WithLease(o Options, d time.Duration) Options {
	o.lease = d
	return o
}

// PlannedStatements returns the settings of connections to PostgreSQL, and the
// statements that find rows by a key.
func PlannedStatements() (settings string, sql []string) {
	for _, s := range []statement{getRow, getBoth, queryForward, queryReverse, deleteRow, clearRows} {
		sql = append(sql, prepared[s])
	}
	return onPostgres.settings, sql
}

// Prepared returns the text of a prepared statement.
func Prepared(i int) string { return prepared[i] }

// ExclusiveAfter is the number of conflicts after which an Update queues for the exclusive lock.
const ExclusiveAfter = exclusiveAfter
