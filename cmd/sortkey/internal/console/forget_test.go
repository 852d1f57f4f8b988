package console

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/keycond"
)

// TestForget holds which changes are kept: for some time, and as many as there is room for, the last first.
func TestForget(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	table := &keyschema.Table{Name: "Tab", Key: keycond.NewSchema([]keycond.Attribute{{Name: "id", Kind: attr.String}}, nil)}
	item := func(size int) attr.Item {
		var b attr.Builder
		b.Add("id", attr.NewString("x"))
		b.Add("v", attr.NewBinary(bytes.Repeat([]byte("v"), size)))
		return b.Item()
	}
	kept := func() (numbers []int) {
		for _, row := range s.undoRows(table, nil) {
			numbers = append(numbers, row.N)
		}
		return numbers
	}
	for range 3 {
		s.remember("Tab", "put", step{nil, item(1)})
	}
	require.Equal(t, []int{3, 2, 1}, kept())
	s.undos[0].Since = time.Now().Add(-undoTime - time.Second)
	require.Equal(t, []int{3, 2}, kept())
	require.Equal(t, 4, s.remember("Tab", "put", step{nil, item(20 << 20)}))
	require.Equal(t, []int{4, 3, 2}, kept())
	require.Equal(t, 5, s.remember("Tab", "put", step{nil, item(20 << 20)}))
	require.Equal(t, []int{5}, kept())
	require.Equal(t, tooLarge, s.remember("Tab", "put", step{item(20 << 20), item(20 << 20)}))
	require.Equal(t, []int{5}, kept(), "one that is too large takes no others with it")
	require.Equal(t, 0, s.remember("Tab", "put"), "nothing was changed")

	// One that is taken is in the list again, by its age, if something of it is left.
	for range 2 {
		s.remember("Tab", "put", step{nil, item(1)})
	}
	u := s.takeUndo(6)
	require.Equal(t, []int{7, 5}, kept())
	require.Nil(t, s.takeUndo(6))
	s.putUndo(u)
	require.Equal(t, []int{7, 6, 5}, kept())
	u = s.takeUndo(7)
	u.steps = nil
	s.putUndo(u)
	require.Equal(t, []int{6, 5}, kept())
	require.NoError(t, s.Close())
	require.Empty(t, kept())
}

// TestForgetInTime holds that changes are forgotten also if nobody loads a page.
func TestForgetInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		var b attr.Builder
		b.Add("id", attr.NewString("x"))
		for range 3 {
			s.remember("Tab", "put", step{nil, b.Item()})
			time.Sleep(time.Minute)
		}
		kept := func() int {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.undos)
		}
		time.Sleep(undoTime - 2*time.Minute - time.Second)
		require.Equal(t, 2, kept())
		time.Sleep(2 * time.Minute)
		require.Zero(t, kept())
	})
}
