package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
)

// TestPanic holds that the caller of a check can recover from a panic in the goroutine of a pattern.
func TestPanic(t *testing.T) {
	w, _ := checkedIn(t, dataset.Options{MaxItems: 100}, loads)
	w.Model.Patterns[0].Where[0].Args = nil // a file cannot make this pattern; it makes a check panic
	require.Panics(t, func() { _, _ = check.Run(t.Context(), w, check.Options{}) })
}
