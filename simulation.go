package sortkey

import (
	"errors"
	"time"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
)

// A Simulation says which trouble of the service a database simulates, for tests of code that has to cope with it.
// Forks have the same.
type Simulation struct {
	// TableDelay is how long tables and global indexes are CREATING, UPDATING and
	// DELETING, on the clock of the database, so that programs that do not wait for
	// them fail. Default: 0, so they can be used at once.
	TableDelay time.Duration
	// StaleReads make eventually consistent reads miss recent changes. Default:
	// they see every change.
	StaleReads StaleReads
	// EnforceThroughput throttles requests as the service does, on the clock of the
	// database: by the provisioned throughput, or the maximum of on-demand
	// throughput, of tables and global indexes, of which 300 seconds can be saved
	// up; and by what one partition key value can take, 3,000 read units and 1,000
	// write units a second. Default: any request is answered.
	EnforceThroughput bool
	// TransactionDelay is how long a transaction that writes holds its items before
	// it is applied, in real time or in the time of a testing/synctest bubble.
	// Meanwhile other writes of the items, and transactions with them, fail as in the
	// service. Default: 0, so transactions never conflict.
	TransactionDelay time.Duration
}

// StaleReads make eventually consistent reads miss recent changes: those without
// ConsistentRead, and all of global indexes. Each sees the rows of a table or an
// index as they were at one moment.
//
// Earlier versions are kept in memory: at most 512, each with the rows that were
// replaced since. With more changes in the window, reads see only some of the states
// between. A change of a table's definition ends the window of the changes before it.
//
// Stores of package store/memory can keep them; for others the error of [Open] and [DB.Fork] is
// [errors.ErrUnsupported].
type StaleReads struct {
	// Window is how long after a change reads may miss it, on the clock of the
	// database. 0 means that they see every change.
	Window time.Duration
	// Seed chooses among the versions that a read may see. A program that makes
	// the same calls at the same times gets the same answers.
	Seed uint64
	// Oldest makes every read see the oldest version in the window instead.
	Oldest bool
}

// apply sets how stale the answers of tables are.
func (s StaleReads) apply(tables *life.DB) error {
	if s.Window <= 0 {
		return nil
	}
	return staleError(tables.SetStaleness(table.Staleness(s)))
}

func staleError(err error) error {
	if errors.Is(err, table.ErrNoVersions) {
		return unsupported("stale reads", "package store/memory")
	}
	return err
}
