package sortkey

import (
	"time"

	"github.com/sortkey/sortkey/internal/api/fault"
)

// A Fault makes calls fail on purpose, so that a test can meet what is rare: a
// throttled request, a lost answer, a conflict. The first group of fields says
// which calls; all that are set must match. The second says what happens to them: a delay, and
// then one of the others. Every client meets a fault, over HTTP or not.
type Fault struct {
	// Operation is the name of an operation, such as "PutItem".
	Operation string
	// Table and Index are names. Batches and transactions match each of their
	// tables; only Query and Scan have an index.
	Table, Index string
	// Key is a pattern for a key attribute of an item that the call names, in
	// which * stands for any text: "ORDER#*". Numbers are written as on the wire.
	// Query, Scan and PartiQL statements name no items.
	Key string
	// Skip is the number of matching calls that pass first, and Times the number
	// that fail after them; 0 means all.
	Skip, Times int
	// Nth are the numbers, from 1, of the matching calls after Skip that fail: with
	// {1, 3} the first and the third fail, and the second and all others pass. Default:
	// all fail.
	Nth []int
	// Chance is the probability with which a matching call fails, and Seed makes
	// it reproducible. 0 means that every one fails.
	Chance float64
	Seed   uint64

	// Code is the error of the service, such as
	// "ProvisionedThroughputExceededException", "ThrottlingException",
	// "RequestLimitExceeded", "InternalServerError", "TransactionConflictException"
	// or "TransactionInProgressException". Message replaces the service's text.
	Code, Message string
	// Reasons cancel a transaction: a code for each action, such as
	// "TransactionConflict". An action with "" or "None", or without a code, is not at
	// fault. Only transactions match.
	Reasons []string
	// Unprocessed is how many requests of a batch to leave unprocessed, the last
	// ones. The others are processed. Only BatchGetItem and BatchWriteItem match.
	Unprocessed int
	// Delay is how long the call waits before anything else.
	Delay time.Duration
	// Hang makes the call wait until its context ends or the database is closed.
	Hang bool
	// Reset closes the connection before anything is done.
	Reset bool
	// LoseAnswer carries the call out and then closes the connection instead of
	// sending the result or the error.
	LoseAnswer bool
}

// An ActiveFault is a [Fault] in force. Nil is one that could not be set, and does nothing.
type ActiveFault struct {
	set  *fault.Set
	rule *fault.Rule
}

// Fail puts a fault in force until [ActiveFault.Lift] is called. If several faults match a
// call, the first takes effect, and the others count the call as one that passed. Forks
// do not inherit faults.
func (db *DB) Fail(f Fault) *ActiveFault {
	rule := &fault.Rule{Fault: fault.Fault(f)}
	set := db.service.Faults()
	set.Add(rule)
	return &ActiveFault{set, rule}
}

// Lift ends the fault. It may be called more than once.
func (f *ActiveFault) Lift() {
	if f != nil {
		f.set.Remove(f.rule)
	}
}

// Count returns how many calls the fault has made fail.
func (f *ActiveFault) Count() int {
	if f == nil {
		return 0
	}
	return f.rule.Met()
}

// String describes the calls that the fault is for and, if it has met none, those
// that came instead.
func (f *ActiveFault) String() string {
	switch {
	case f == nil:
		return "no fault"
	case f.Count() == 0:
		return f.rule.String() + "; " + f.rule.Calls()
	}
	return f.rule.String()
}
