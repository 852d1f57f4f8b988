package tests_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/processor"
)

func TestTime(t *testing.T) {
	if runtime.GOOS != "linux" {
		require.Zero(t, processor.Time(os.Getpid()))
		return
	}
	before := processor.Time(os.Getpid())
	for begin, n := time.Now(), 0; time.Since(begin) < 20*time.Millisecond; n++ {
	}
	require.Greater(t, processor.Time(os.Getpid()), before)
	require.Zero(t, processor.Time(-1))
}
