package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestPartitions tests that Partitions visits each partition, and only the beginning of a large one.
func TestPartitions(t *testing.T) {
	t.Parallel()
	db := sortkeytest.New(t)
	db.Table("Tab", "PK / SK:N", sortkeytest.Global("ByBytes", "hash:B / PK"))
	for i := range 700 {
		db.Put("Tab", map[string]any{"PK": "large", "SK": i, "hash": []byte{1}})
	}
	for i := range 130 {
		db.Put("Tab", map[string]any{"PK": fmt.Sprint("small", i/2), "SK": i, "hash": []byte{2, byte(i)}, "more": "x"})
	}
	target := explain.InProcess(db.DB)
	table, err := explain.Describe(t.Context(), target, "Tab")
	require.NoError(t, err)

	for _, tt := range []struct {
		index      string
		inProcess  bool
		partitions int
		most       int // rows
		whole      bool
	}{
		{"", true, 66, 260, true}, {"ByBytes", true, 131, 260, true}, {"", false, 1, 250, false},
	} {
		keys := ask.Keys{Target: target, InProcess: tt.inProcess, Table: table, Index: tt.index}
		found, rows := map[string]bool{}, 0
		whole := keys.Partitions(t.Context(), func(row attr.Item) bool {
			rows++
			require.True(t, row.Get("more").IsZero(), "only keys are read")
			require.False(t, row.Get("PK").IsZero())
			found[row.Get(keys.Schema().Partition()[0].Name).String()] = true
			return true
		})
		require.Equal(t, tt.whole, whole, "%+v", tt)
		require.GreaterOrEqual(t, len(found), tt.partitions, "%+v", tt)
		require.LessOrEqual(t, rows, tt.most, "%+v", tt)

		rows = 0
		require.False(t, keys.Partitions(t.Context(), func(attr.Item) bool { rows++; return rows < 3 }))
		require.Equal(t, 3, rows)
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	keys := ask.Keys{Target: target, InProcess: true, Table: table}
	require.False(t, keys.Partitions(ended, func(attr.Item) bool { return true }))

	all, more := keys.Rows(t.Context(), ask.Query{Partition: []string{"large"}, Sort: []string{">= 600"}, Limit: 7})
	require.Len(t, all, 7)
	require.True(t, more)
	all, _ = keys.Rows(t.Context(), ask.Query{Partition: []string{"large"}, Sort: []string{"not a number"}})
	require.Empty(t, all)
}
