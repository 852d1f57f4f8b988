package console

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
)

// TestForgetInTime tests that the console forgets changes after undoTime, when somebody asks for them.
func TestForgetInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		var b attr.Builder
		b.Add("id", attr.NewString("x"))
		for range 3 {
			s.remember("Tab", "", "put", step{nil, b.Item()})
			time.Sleep(time.Minute)
		}
		kept := func() int {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.forget()
			return len(s.undos)
		}
		time.Sleep(undoTime - 2*time.Minute - time.Second)
		require.Equal(t, 2, kept())
		time.Sleep(2 * time.Minute)
		require.Zero(t, kept())
	})
}
