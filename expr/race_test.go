//go:build race

package expr_test

func init() { raceEnabled = true }
