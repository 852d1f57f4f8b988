package sortkeytest

import (
	"time"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/text"
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

// Fail puts a fault in force until the test ends, or until it is lifted. The test
// fails if fewer calls meet the fault than Times or Nth say, or none, because then it
// has not tested what it set out to. Code must be an exception that the operation may
// have. If several faults match a call, the first takes effect, and the others count the call as one that
// passed. Forks do not inherit faults.
//
// After the end of its test, Fail returns nil for a fault that it refuses: its methods do nothing.
func (db *DB) Fail(f Fault) *ActiveFault {
	db.t.Helper()
	if f.Operation != "" {
		checkNames(db.t, []string{f.Operation})
	}
	if problem := api.FaultProblem(fault.Fault(f)); problem != "" {
		db.t.Fatalf("sortkeytest: %s", problem)
	}
	rule, lift := engine.Of(db.DB).Fail(fault.Fault(f))
	failure, set := &ActiveFault{rule, lift}, caller()
	db.t.Cleanup(func() {
		switch met, want := failure.Count(), wanted(f); {
		case met == 0:
			db.t.Errorf("sortkeytest: no call met the fault set at %s for %v", set, rule.Describe())
		case met < want:
			db.t.Errorf("sortkeytest: %s met the fault set at %s for %v, want %d",
				text.Count(met, "call"), set, rule.Describe(), want)
		}
		failure.Lift()
	})

	return failure
}

// wanted returns how many calls must meet a fault.
func wanted(f Fault) int {
	n := f.Times
	if f.Nth != nil && (n == 0 || len(f.Nth) < n) {
		n = len(f.Nth)
	}
	return max(n, 1)
}

// An ActiveFault is a [Fault] in force, which [DB.Fail] returns. Nil is one that could not be set; its methods do
// nothing.
type ActiveFault struct {
	rule *fault.Rule
	lift func()
}

// Lift ends the fault before the test does. It may be called more than once.
func (f *ActiveFault) Lift() {
	if f != nil {
		f.lift()
	}
}

// Count returns how many calls the fault has made fail, to check how often code tried again.
func (f *ActiveFault) Count() int {
	if f == nil {
		return 0
	}
	return f.rule.Met()
}
