package sortkey

import (
	"errors"
	"time"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
)

// A Simulation says which difficult behaviour of DynamoDB a database simulates, for tests of code that must cope with
// such behaviour. A fork of the database simulates the same.
type Simulation struct {
	// TableDelay is how long tables and global indexes stay CREATING, UPDATING and DELETING, on the clock of the
	// database. Programs that do not wait for these statuses to end then fail. Default: 0, so that tables can be used
	// at once.
	TableDelay time.Duration
	// StaleReads make eventually consistent reads miss recent changes. Default: reads see every change.
	StaleReads StaleReads
	// EnforceThroughput throttles requests as DynamoDB does, on the clock of the database. It enforces the
	// provisioned throughput of tables and global indexes, or their maximum of on-demand throughput; up to 300
	// seconds of unused throughput can be saved up. It also enforces the limit of one partition key value: 3,000 read
	// units and 1,000 write units a second. Default: no request is throttled.
	EnforceThroughput bool
	// TransactionDelay is how long a transaction that writes locks its items before it is applied, in real time or in
	// the time of a testing/synctest bubble. During the delay, other writes of these items and transactions with them
	// fail as in DynamoDB. Default: 0, so transactions never conflict.
	TransactionDelay time.Duration
}

// StaleReads make eventually consistent reads miss recent changes: reads without ConsistentRead, and all reads of
// global indexes. Each read sees the rows of a table or an index as they were at one moment.
//
// The store keeps at most 512 earlier versions in memory, each with the rows that were replaced since. If there were
// more changes in the window, reads see only some of the states in it. A change of a table's definition drops the
// earlier versions, so reads no longer miss any change before it.
//
// Only stores of package store/memory can keep versions. For other stores the error of [Open] and [DB.Fork] is
// [errors.ErrUnsupported].
type StaleReads struct {
	// Window is how long after a change reads may still miss the change, on the clock of the database. 0 means that
	// reads see every change.
	Window time.Duration
	// Seed determines which of the versions in the window a read sees. If a program makes the same calls at the same
	// times again, it gets the same answers.
	Seed uint64
	// Oldest makes every read see the oldest version in the window. Seed then has no effect.
	Oldest bool
}

// apply makes the tables simulate the stale reads. It does nothing without a window.
func (s StaleReads) apply(tables *life.DB) error {
	if s.Window <= 0 {
		return nil
	}
	err := tables.SetStaleness(table.Staleness(s))
	if errors.Is(err, table.ErrNoVersions) {
		return unsupported("stale reads", "package store/memory")
	}
	return err
}
