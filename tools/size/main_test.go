package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBudget fails if a part has more tokens than budget.txt allows.
func TestBudget(t *testing.T) {
	sums, err := count("../..")
	require.NoError(t, err)
	text, err := os.ReadFile("budget.txt")
	require.NoError(t, err)

	var granted []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var budget int
		_, err := fmt.Sscanf(line, "%d", &budget)
		require.NoError(t, err, line)
		_, part, _ := strings.Cut(strings.TrimSpace(line), " ")
		granted = append(granted, part)
		if sums[part] > budget*1000 {
			t.Errorf("%s has %d tokens, want at most %d thousand: remove what is not needed", part, sums[part], budget)
		}
	}
	require.Equal(t, parts, granted, "the parts of budget.txt")
}

// TestTokens tests which tokens count.
func TestTokens(t *testing.T) {
	require.Equal(t, 3, tokens([]byte("package a // a comment\n\nvar")))
	require.Equal(t, 8, tokens([]byte("package a; var x = 1 +\n")))
}
