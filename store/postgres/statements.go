package postgres

// This file has every statement that the engine sends, in SQL that three
// databases document. Dialect.go has what differs. Only PostgreSQL has run it.
//
// Sources, by construct: PostgreSQL 15-18 (postgresql.org/docs/current),
// CockroachDB (cockroachlabs.com/docs/stable), YugabyteDB
// (docs.yugabyte.com/stable/api/ysql).
//
//	CREATE TABLE IF NOT EXISTS  sql-createtable | create-table | the-sql-language/statements/ddl_create_table
//	DROP TABLE IF EXISTS        sql-droptable | drop-table | the-sql-language/statements/ddl_drop_table
//	BEGIN ISOLATION LEVEL       sql-begin | begin-transaction, set-transaction | statements/txn_begin
//	COMMIT, ROLLBACK            sql-commit, sql-rollback | commit-transaction, rollback-transaction |
//	                            statements/txn_commit, txn_rollback
//	SET LOCAL idle_in_…timeout  sql-set, runtime-config-client | set-vars, session-variables | statements/cmd_set
//	IN (list of values)         functions-comparisons | scalar-expressions |
//	                            wiki of yugabyte-db, PostgreSQL Compatibility
//	SELECT ORDER BY LIMIT       sql-select | select-clause, limit-offset, order-by | statements/dml_select
//	INSERT ON CONFLICT          sql-insert | insert | statements/dml_insert
//	SELECT FOR SHARE            sql-select, "The Locking Clause" | select-for-update |
//	                            explore/transactions/explicit-locking
//	pg_advisory_xact_lock       functions-admin | functions-and-operators (takes no lock) |
//	                            explore/transactions/explicit-locking
//	UPDATE, DELETE              sql-update, sql-delete | update, delete | statements/dml_update, dml_delete
//	bytea                       datatype-binary | bytes | datatypes/type_binary
//	timestamptz, interval, now  functions-datetime | timestamp, interval, functions-and-operators |
//	                            datatypes/type_datetime
//	SHOW transaction_read_only  sql-show, hot-standby | show-vars | statements/cmd_show (sent by pgx when it connects)
//	pipelined statements        protocol-flow, Pipelining | postgresql-compatibility (wire protocol) |
//	                            drivers-orms/go/yb-pgx
//
// CockroachDB runs REPEATABLE READ as SERIALIZABLE where it is not enabled
// (transactions, isolation levels), which is stricter. YugabyteDB maps it to its
// snapshot isolation (architecture/transactions/isolation-levels).

// version is the version of the schema and of the form of items. Open refuses tables of any other version.
const version = 3

// tables has the statements that create the schema. Running a statement again does nothing. %s stands for the primary
// key of rows, as the dialect writes it.
var tables = []string{
	// One row for each row of the store. Tail is null unless the address is
	// longer than keys.Longest.
	`create table if not exists sortkey_rows ` +
		`(address bytea not null, tail bytea, value bytea not null, primary key (%s))`,

	// One row for each Update that has committed, until its server knows the outcome, and one row for each Update
	// whose commit was prevented.
	`create table if not exists sortkey_commits ` +
		`(id bytea primary key, prevented bool not null, at timestamptz not null default now())`,

	// One row for each lease that a Store holds; see [Store.Lease].
	`create table if not exists sortkey_leases ` +
		`(name text primary key, owner bytea not null, holder text not null, expires timestamptz not null)`,

	// One row: the version.
	`create table if not exists sortkey_schema (id int8 primary key, version int8 not null)`,
}

// Statements of Init and Open, which do not prepare them.
const (
	selectServer  = `select version()`
	insertVersion = `insert into sortkey_schema (id, version) values (1, $1) on conflict (id) do nothing`
	selectVersion = `select version from sortkey_schema where id = 1`

	// sweepCommits removes the ids that a crash left. After a day, no server waits for the outcome of a commit any
	// more.
	sweepCommits = `delete from sortkey_commits where at < now() - interval '24 hours'`
)

// A statement is the number of a statement that each connection of the pool prepares.
type statement int

// beginNothing is the begin statement of a session without a transaction.
const beginNothing statement = -1

const (
	beginView statement = iota
	beginUpdate
	beginAdvisory
	lockAdvisory
	limitIdle
	commit
	rollback
	takeSnapshot
	getRow
	getBoth
	queryForward
	queryReverse
	lockRow
	holdRow
	claimRow
	insertRow
	putRow
	deleteRow
	clearRows
	markCommit
	preventCommit
	wasPrevented
	forgetCommit
	takeLease
	renewLease
	endLease
	statements // their number
)

// prepared has the text of each statement. Parameters and results are in the binary format: bytea unchanged, and int8
// as 8 bytes in big endian.
var prepared = [statements]string{
	beginView:     `begin transaction isolation level repeatable read, read only`,
	beginUpdate:   `begin transaction isolation level serializable, read write`,
	beginAdvisory: `begin transaction isolation level read committed, read only`,
	commit:        `commit`,
	rollback:      `rollback`,

	// limitIdle sets a limit, in milliseconds, after which PostgreSQL ends an idle Update. It ends the Update of a
	// server that has died without closing the connection. While a SERIALIZABLE transaction is open, PostgreSQL keeps
	// the predicate locks of all transactions that overlap with it. When it has no memory for more, no Update of any
	// server succeeds. Source: PostgreSQL, mvcc, transaction-iso.
	limitIdle: `set local idle_in_transaction_session_timeout = 10000`,

	// lockAdvisory returns when the lock is free and all earlier waiters have had it.
	lockAdvisory: `select pg_advisory_xact_lock($1::int8)`,

	takeSnapshot: `select 1`,

	getRow:  `select value from sortkey_rows where address = $1`,
	getBoth: `select address, value from sortkey_rows where address in ($1, $2)`,
	queryForward: `select address, tail, value from sortkey_rows where address >= $1 and address < $2 ` +
		`order by address asc limit $3::int8`,
	queryReverse: `select address, tail, value from sortkey_rows where address >= $1 and address < $2 ` +
		`order by address desc limit $3::int8`,

	lockRow:   `select 1 from sortkey_rows where address = $1 for share`,
	holdRow:   `select 1 from sortkey_rows where address = $1 for update`,
	claimRow:  `insert into sortkey_rows (address, tail, value) values ($1, $2, '') on conflict (address) do nothing`,
	insertRow: `insert into sortkey_rows (address, tail, value) values ($1, $2, $3)`,
	putRow: `insert into sortkey_rows (address, tail, value) values ($1, $2, $3) ` +
		`on conflict (address) do update set value = excluded.value`,
	deleteRow: `delete from sortkey_rows where address = $1`,
	clearRows: `delete from sortkey_rows where address >= $1 and address < $2`,

	markCommit:    `insert into sortkey_commits (id, prevented) values ($1, false)`,
	preventCommit: `insert into sortkey_commits (id, prevented) values ($1, true) on conflict (id) do nothing`,
	wasPrevented:  `select 1 from sortkey_commits where id = $1 and prevented`,
	forgetCommit:  `delete from sortkey_commits where id = $1`,

	// takeLease changes no row while another Store has the lease.
	takeLease: `insert into sortkey_leases (name, owner, holder, expires) ` +
		`values ($1, $2, $3, now() + $4::int8 * interval '1 millisecond')
on conflict (name) do update set owner = excluded.owner, holder = excluded.holder, expires = excluded.expires
where sortkey_leases.expires < now()`,
	renewLease: `update sortkey_leases set expires = now() + $3::int8 * interval '1 millisecond' ` +
		`where name = $1 and owner = $2`,
	endLease: `delete from sortkey_leases where name = $1 and owner = $2`,
}
