//go:build race

package sdk

// raceEnabled says that pools drop at random, so that allocations are not
// counted.
const raceEnabled = true
