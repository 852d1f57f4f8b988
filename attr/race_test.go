//go:build race

package attr_test

// raceEnabled skips allocation tests: the race detector makes pools drop
// entries at random.
const raceEnabled = true
