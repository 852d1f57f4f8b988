package sortkeytest

import "github.com/sortkey/sortkey"

// Fail puts a fault in force until the test ends, or until it is lifted. The test
// fails if no call meets the fault, because then it has not tested what it says.
func (db *DB) Fail(f sortkey.Fault) *sortkey.Failure {
	failure := db.DB.Fail(f)
	db.t.Cleanup(func() {
		if failure.Met() == 0 {
			db.t.Errorf("sortkeytest: no call met the fault for %v", failure)
		}
		failure.Lift()
	})
	return failure
}
