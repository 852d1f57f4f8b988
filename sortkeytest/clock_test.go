package sortkeytest

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// The stack trace distinguishes a bubble from a computer whose clock is wrong.
func TestBubbleInTrace(t *testing.T) {
	require.False(t, bubbleInTrace())
	require.False(t, inBubble())
	synctest.Test(t, func(t *testing.T) {
		require.True(t, bubbleInTrace())
		require.True(t, inBubble())
		done := make(chan bool)
		go func() { done <- inBubble() }()
		require.True(t, <-done)
	})
}
