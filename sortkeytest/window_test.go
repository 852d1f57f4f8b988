package sortkeytest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// recorded returns a handler that records the ids of each event.
func recorded(calls *[]string) func(context.Context, event) error {
	return func(_ context.Context, e event) error {
		*calls = append(*calls, e.ids())
		return nil
	}
}

// Batches of a shard take turns, and the changes of each item are in order.
func TestParallelizationFactor(t *testing.T) {
	db := streamed(t)
	var calls []string
	function := db.EventSource("Events", recorded(&calls), func(s *sortkeytest.EventSource) {
		s.ParallelizationFactor, s.BatchSize = 3, 2
	})
	for n := range 3 {
		for _, v := range "abcdefgh" {
			db.Put("Events", map[string]any{"id": string(v), "n": n})
		}
	}
	function.Deliver()
	all := strings.Join(calls, "")
	require.Len(t, all, 24)
	require.NotEqual(t, strings.Repeat("abcdefgh", 3), all)
	lanes := map[rune]string{} // the other items in events with an item
	for _, v := range "abcdefgh" {
		require.Equal(t, 3, strings.Count(all, string(v)))
		for _, ids := range calls {
			if strings.ContainsRune(ids, v) {
				lanes[v] += ids
			}
		}
	}
	for v, ids := range lanes {
		for _, other := range ids {
			together := strings.ContainsRune(lanes[other], v)
			require.True(t, together, "%c and %c are in one lane, or not", v, other)
		}
	}
	db.Put("Events", map[string]any{"id": "a", "n": 9})
	calls = nil
	function.Deliver()
	require.Equal(t, []string{"a"}, calls)

	late := db.EventSource("Events", recorded(&calls), func(s *sortkeytest.EventSource) {
		s.ParallelizationFactor, s.StartingPosition = 10, "LATEST"
	})
	late.Deliver()
	putEach(db, "bc")
	late.Deliver()
	slices.Sort(calls)
	require.Equal(t, []string{"a", "b", "c"}, calls)
}

// Records that were made within the window are in one event.
func TestMaximumBatchingWindow(t *testing.T) {
	db := streamed(t)
	db.Clock.Set(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	var calls []string
	function := db.EventSource("Events", recorded(&calls), func(s *sortkeytest.EventSource) {
		s.MaximumBatchingWindow = 20 * time.Second
	})
	for _, v := range "abcdef" {
		putEach(db, string(v))
		db.Clock.Advance(8 * time.Second)
	}
	function.Deliver()
	require.Equal(t, []string{"abc", "def"}, calls)
}

// A windowEvent is events.DynamoDBTimeWindowEvent.
type windowEvent struct {
	event
	Window  struct{ Start, End time.Time } `json:"window"`
	State   map[string]int                 `json:"state"`
	ShardID string                         `json:"shardId"`
	Final   bool                           `json:"isFinalInvokeForWindow"`
	Early   bool                           `json:"isWindowTerminatedEarly"`
}

type windowResponse struct {
	State any `json:"state,omitempty"`
}

// The state of a window goes from call to call, and the last call has no records.
func TestTumblingWindow(t *testing.T) {
	db := streamed(t)
	db.Clock.Set(time.Date(2026, 11, 1, 12, 0, 50, 0, time.UTC))
	var calls []string
	fails := 1
	function := db.EventSource("Events", func(_ context.Context, e windowEvent) (windowResponse, error) {
		require.NotEmpty(t, e.ShardID)
		require.Equal(t, time.Minute, e.Window.End.Sub(e.Window.Start))
		call := fmt.Sprintf("%s %s of %d", e.Window.Start.Format("04:05"), e.ids(), e.State["sum"])
		if e.Final {
			call += " final"
		}
		calls = append(calls, call)
		if e.ids() == "d" && fails > 0 {
			fails--
			return windowResponse{}, errors.New("retry")
		}
		return windowResponse{map[string]int{"sum": e.State["sum"] + len(e.Records)}}, nil
	}, func(s *sortkeytest.EventSource) {
		s.TumblingWindow, s.BatchSize = time.Minute, 2
	})
	putEach(db, "abc")
	db.Clock.Advance(20 * time.Second)
	putEach(db, "d")
	function.Deliver()
	require.Equal(t,
		[]string{"00:00 ab of 0", "00:00 c of 2", "00:00  of 3 final", "01:00 d of 0", "01:00 d of 0"}, calls)

	calls = nil
	putEach(db, "e")
	function.Deliver()
	db.Clock.Advance(time.Minute)
	function.Deliver()
	function.Deliver()
	require.Equal(t, []string{"01:00 e of 1", "01:00  of 2 final"}, calls)
}

// A response without a state fails the call, and a state that is too large ends the window.
func TestStateOfWindow(t *testing.T) {
	db := streamed(t)
	none := func(context.Context, windowEvent) (windowResponse, error) { return windowResponse{}, nil }
	got := failure(t, func(tb testing.TB) {
		source := db.With(tb).EventSource("Events", none, func(s *sortkeytest.EventSource) {
			s.TumblingWindow = time.Minute
		})
		putEach(db, "a")
		source.Deliver()
	})
	require.Contains(t, got, "its response has no state, which a function with a tumbling window must return")

	var calls []string
	large := func(_ context.Context, e struct {
		event
		Final bool           `json:"isFinalInvokeForWindow"`
		Early bool           `json:"isWindowTerminatedEarly"`
		State map[string]any `json:"state"`
	},
	) (windowResponse, error) {
		calls = append(calls, fmt.Sprintf("%s %d %t %t", e.ids(), len(e.State), e.Final, e.Early))
		return windowResponse{map[string]string{"s": strings.Repeat("x", 1<<20)}}, nil
	}
	db.Clock.Set(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	source := db.EventSource("Events", large, func(s *sortkeytest.EventSource) {
		s.TumblingWindow, s.BatchSize, s.StartingPosition = time.Minute, 1, "LATEST"
	})
	putEach(db, "bc")
	source.Deliver()
	require.Equal(t, []string{"b 0 false false", " 1 true true", "c 0 false false", " 1 true true"}, calls)
}
