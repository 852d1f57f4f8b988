package main

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestDependencies tests that the command does not link client-go, which only cmd/sortkey/tikv needs.
func TestDependencies(t *testing.T) {
	proptest.NeedLong(t) // go list reads all packages
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "github.com/cockroachdb/pebble")
	require.NotContains(t, string(out), "github.com/tikv/")
}
