package sortkeytest

import (
	"time"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/text"
)

// A Fault makes calls fail on purpose, so that a test can meet rare failures: a throttled request, a lost answer, a
// conflict. The fields up to Seed select calls. A call must match all of these fields that are set. The other fields
// say what happens to the selected calls: a Delay, and then one of the failures. Faults affect every client, whether
// it uses HTTP or not.
type Fault struct {
	// Operation is the name of an operation, such as "PutItem".
	Operation string
	// Table and Index are names. A batch or a transaction matches if it uses the table. Only Query and Scan can match
	// an index.
	Table, Index string
	// Key is a pattern such as "ORDER#*", in which * stands for any text. A call matches if it names an item with a
	// key attribute that matches the pattern. Numbers are written as on the wire. Query, Scan and PartiQL statements
	// name no items.
	Key string
	// Skip is the number of matching calls that succeed first. Times is the number of calls after these that fail; 0
	// means all.
	Skip, Times int
	// Nth selects by number, from 1, which of the matching calls after Skip fail. With {1, 3} the first and the third
	// fail, and the second and all later ones succeed. Default: all fail.
	Nth []int
	// Chance is the probability that a matching call fails; 0 means that every call fails. Calls with the same Seed
	// give the same choices.
	Chance float64
	Seed   uint64

	// Code is an error code of DynamoDB, such as "ProvisionedThroughputExceededException", "ThrottlingException",
	// "RequestLimitExceeded", "InternalServerError", "TransactionConflictException" or
	// "TransactionInProgressException". Message replaces DynamoDB's text.
	Code, Message string
	// Reasons cancel a transaction. They are the codes of its actions in order, such as "TransactionConflict". An
	// action with "" or "None", or after the last code, is not a reason. Only transactions match.
	Reasons []string
	// Unprocessed is the number of requests at the end of a batch that the call returns unprocessed. It processes the
	// others. Only BatchGetItem and BatchWriteItem match.
	Unprocessed int
	// Delay is how long a call waits before it does anything else.
	Delay time.Duration
	// Hang makes the call wait until its context ends or the database is closed.
	Hang bool
	// Reset closes the connection before the call does anything.
	Reset bool
	// LoseAnswer executes the call and then closes the connection instead of sending the result or the error.
	LoseAnswer bool
}

// Fail puts a fault in force until the test ends or [ActiveFault.Lift] is called. At its end, the test fails if fewer
// calls have met the fault than Times or Nth say, or if none has, as it has then not tested what it should. Code must
// be an exception that the operation can return. If several faults match a call, only the first takes effect. The
// others count the call as a call that succeeded. Forks do not inherit faults.
//
// After the end of its test, Fail may return nil for an invalid fault. The methods of a nil ActiveFault do nothing.
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

// wanted returns how many calls must meet the fault, or else the test fails.
func wanted(f Fault) int {
	n := f.Times
	if f.Nth != nil && (n == 0 || len(f.Nth) < n) {
		n = len(f.Nth)
	}
	return max(n, 1)
}

// An ActiveFault is a [Fault] in force. [DB.Fail] returns it, or nil for a fault that it could not set. The methods
// of a nil ActiveFault do nothing.
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

// Count returns how many calls the fault has made fail, for example to check how often code has retried.
func (f *ActiveFault) Count() int {
	if f == nil {
		return 0
	}
	return f.rule.Met()
}
