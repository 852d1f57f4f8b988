package postgres

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKeyFits checks that the longest key fits into an entry of an index.
func TestKeyFits(t *testing.T) {
	const longest = 2704 - 16 // an entry of the index without its header
	for _, n := range []int{keys.Longest, keys.Longest + 1, 6500} {
		key, _ := keys.Key(bytes.Repeat([]byte{1}, n))
		require.LessOrEqual(t, len(key), longest)
	}
}
