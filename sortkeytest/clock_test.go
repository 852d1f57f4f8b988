package sortkeytest

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestInBubble(t *testing.T) {
	require.False(t, inBubble())
	synctest.Test(t, func(t *testing.T) {
		require.True(t, inBubble())
		done := make(chan bool)
		go func() { done <- inBubble() }()
		require.True(t, <-done)
	})
}
