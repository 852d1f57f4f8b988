package postgres

import "strings"

// A dialect holds the SQL and the settings that differ from database to database.
type dialect struct {
	// rowsKey is the primary key of sortkey_rows.
	rowsKey string

	// settings are run on each new connection.
	settings string
}

// planner makes every read an index scan. For a small table the planner would prefer to read the whole table, and
// then every Update would conflict with every other. Sources: PostgreSQL, runtime-config-query; transaction-iso,
// "sequential scan will always necessitate a relation-level predicate lock".
const planner = `set enable_seqscan = off; set enable_bitmapscan = off; ` +
	`set plan_cache_mode = force_generic_plan; set jit = off`

var (
	onPostgres = dialect{rowsKey: "address", settings: planner}

	// CockroachDB stores a table in the order of its primary key. Its planner does not choose a full scan for a
	// bounded range. Source: its cost-based-optimizer.
	onCockroach = dialect{rowsKey: "address"}

	// YugabyteDB distributes rows by the hash of the primary key, unless the definition of the key states an order.
	// PostgreSQL's grammar does not allow that. Source: its explore/going-beyond-sql/data-sharding.
	onYugabyte = dialect{rowsKey: "address asc", settings: planner}
)

// dialectOf returns the dialect of a server from the server's answer to selectServer.
func dialectOf(server string) dialect {
	switch {
	case strings.Contains(server, "CockroachDB"):
		return onCockroach
	case strings.Contains(server, "-YB-"):
		return onYugabyte
	}
	return onPostgres
}
