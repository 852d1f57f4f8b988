package console

import (
	"bytes"
	"testing"
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
		s.remember(0, "Tab", "put", step{nil, item(1)})
	}
	require.Equal(t, []int{3, 2, 1}, kept())
	s.undos[0].Since = time.Now().Add(-undoTime - time.Second)
	require.Equal(t, []int{3, 2}, kept())
	require.Equal(t, tooLarge, s.remember(1, "Tab", "put", step{nil, item(1)}), "it was forgotten before it ended")
	require.Equal(t, tooLarge, s.remember(2, "Other", "put", step{nil, item(1)}), "a change is of one table")
	require.Equal(t, 2, s.remember(2, "Tab", "put", step{item(1), nil}))
	require.Equal(t, 4, s.remember(0, "Tab", "put", step{nil, item(20 << 20)}))
	require.Equal(t, []int{4, 3, 2}, kept())
	require.Equal(t, 5, s.remember(0, "Tab", "put", step{nil, item(20 << 20)}))
	require.Equal(t, []int{5}, kept())
	require.Equal(t, 5, s.remember(5, "Tab", "put", step{nil, item(1)}))
	require.Equal(t, 6, s.remember(0, "Tab", "put", step{nil, item(1)}))
	require.Equal(t, tooLarge, s.remember(5, "Tab", "put", step{nil, item(20 << 20)}))
	require.Equal(t, []int{6}, kept(), "one that is too large takes no others with it")
	require.Equal(t, tooLarge, s.remember(tooLarge, "Tab", "put", step{nil, item(1)}))
	require.Equal(t, 0, s.remember(0, "Tab", "put"), "nothing was changed")
	require.True(t, s.forgetting)
	require.NoError(t, s.Close())
}
