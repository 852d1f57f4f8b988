package sortkeytest

import (
	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/text"
)

// Fail puts a fault in force until the test ends, or until it is lifted. The test
// fails if fewer calls meet the fault than Times or Nth say, or none, because then it
// has not tested what it set out to. Code must be an exception that the operation may
// have; db.DB.Fail accepts any.
//
// After the end of its test, Fail returns nil for a fault that it refuses: its methods do nothing.
//
// A fault of db.DB.Fail is in force until it is lifted or the test of the database ends,
// even after the test of [DB.With] has ended.
func (db *DB) Fail(f sortkey.Fault) *sortkey.ActiveFault {
	defer resume()
	db.t.Helper()
	if f.Operation != "" {
		checkNames(db.t, []string{f.Operation})
	}
	if problem := inside.FaultProblem(fault.Fault(f)); problem != "" {
		db.t.Fatalf("sortkeytest: %s", problem)
	}
	failure, set := db.DB.Fail(f), caller()
	db.t.Cleanup(func() {
		switch met, want := failure.Count(), wanted(f); {
		case met == 0:
			db.t.Errorf("sortkeytest: no call met the fault set at %s for %v", set, failure)
		case met < want:
			db.t.Errorf("sortkeytest: %s met the fault set at %s for %v, want %d",
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
