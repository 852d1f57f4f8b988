//go:build race

package api_test

// raceEnabled makes tests skip counting allocations: with the race detector, pools drop values at random.
const raceEnabled = true
