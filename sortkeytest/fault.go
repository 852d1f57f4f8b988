package sortkeytest

import (
	"strings"

	"github.com/sortkey/sortkey"
)

// Fail puts a fault in force until the test ends, or until it is lifted. The test
// fails if no call meets the fault, because then it has not tested what it set out to.
func (db *DB) Fail(f sortkey.Fault) *sortkey.Failure {
	db.t.Helper()
	if f.Operation != "" {
		checkNames(db.t, []string{f.Operation})
	}
	if f.Code == "" && len(f.Reasons) == 0 && f.Unprocessed == 0 && f.Delay == 0 && !f.Hang && !f.Reset && !f.LoseAnswer {
		db.t.Fatalf("sortkeytest: the fault has no effect: set Code, Reasons, Unprocessed, Delay, Hang, Reset or LoseAnswer")
	}
	if strings.Trim(f.Script, "x.") != "" {
		db.t.Fatalf("sortkeytest: the Script of the fault is %q, want x for each call that fails and . for each that passes", f.Script)
	}
	failure := db.DB.Fail(f)
	db.t.Cleanup(func() {
		if failure.Met() == 0 {
			db.t.Errorf("sortkeytest: no call met the fault for %v", failure)
		}
		failure.Lift()
	})
	return failure
}
