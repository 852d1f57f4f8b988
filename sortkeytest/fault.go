package sortkeytest

import (
	"fmt"
	"slices"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// Fail puts a fault in force until the test ends, or until it is lifted. The test
// fails if fewer calls meet the fault than Times or Nth say, or none, because then it
// has not tested what it set out to. Code must be an exception that the operation may
// have; db.DB.Fail accepts any.
//
// A fault of db.DB.Fail is in force until it is lifted or the test of the database ends,
// even after the test of [DB.With] has ended.
func (db *DB) Fail(f sortkey.Fault) *sortkey.ActiveFault {
	defer resume()
	db.t.Helper()
	if problem := checkFault(db.t, f); problem != "" {
		db.t.Fatalf("sortkeytest: %s", problem)
	}
	failure, set := db.DB.Fail(f), at(place())
	db.t.Cleanup(func() {
		switch met, want := failure.Count(), wanted(f); {
		case met == 0:
			db.t.Errorf("sortkeytest: no call met the fault set%s for %v", set, failure)
		case met < want:
			db.t.Errorf("sortkeytest: %s met the fault set%s for %v, want %d",
				text.Count(met, "call"), set, failure, want)
		}
		failure.Lift()
	})
	return failure
}

// wanted returns how many calls must meet a fault.
func wanted(f sortkey.Fault) int {
	n := f.Times
	if f.Nth != nil && (n == 0 || len(f.Nth) < n) {
		n = len(f.Nth)
	}
	return max(n, 1)
}

// checkFault returns what is wrong with a fault, or "".
func checkFault(t *test, f sortkey.Fault) string {
	t.Helper()
	if f.Operation != "" {
		checkNames(t, []string{f.Operation})
	}
	fails := f.Code != "" || len(f.Reasons) > 0 || f.Unprocessed != 0 || f.Reset || f.LoseAnswer
	if !fails && f.Delay == 0 && !f.Hang {
		return "the fault has no effect: set Code, Reasons, Unprocessed, Delay, Hang, Reset or LoseAnswer"
	}
	if f.Nth != nil && (len(f.Nth) == 0 || slices.Min(f.Nth) < 1) {
		return fmt.Sprintf("Nth of the fault is %v, want the numbers of the calls that fail, from 1", f.Nth)
	}
	if known := codesOf(f.Operation); f.Code != "" && !slices.Contains(known, f.Code) {
		of := f.Operation
		if of == "" {
			of = "any operation"
		}
		return fmt.Sprintf("the Code of the fault is %q, which is not an exception of %s: %s",
			f.Code, of, text.DidYouMean(f.Code, known))
	}
	for _, code := range f.Reasons {
		if code != "" && !slices.Contains(reasons, code) {
			return fmt.Sprintf("the Reasons of the fault have %q, which is not a cancellation reason: %s",
				code, text.DidYouMean(code, reasons))
		}
	}
	return ""
}

// codesOf returns the exceptions of an operation, or of all operations if the name is "".
func codesOf(operation string) (codes []string) {
	for _, op := range wire.Operations() {
		if operation == "" || op.String() == operation {
			codes = append(codes, op.Exceptions()...)
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// reasons are the codes of cancellation reasons. Source: API_TransactWriteItems.
var reasons = []string{
	"AccessDenied", "ConditionalCheckFailed", "DuplicateItem", "ItemCollectionSizeLimitExceeded", "None",
	"ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict", "ValidationError",
}
