//go:build !race

package attr_test

const raceEnabled = false
