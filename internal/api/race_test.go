//go:build race

package api_test

// raceEnabled says that pools drop at random, so that allocations are not
// counted.
const raceEnabled = true
