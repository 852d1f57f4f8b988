// Package storetest checks that store engines behave alike.
//
// An engine's test calls [Run] with a function that opens an empty store:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) store.Store { return memory.Open() })
//	}
package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
)

// Run runs the suite as parallel subtests of t. It calls open for each subtest and
// closes the store afterwards.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Helper()
	for _, tt := range []struct {
		name string
		fn   func(*testing.T, store.Store)
	}{
		{"Get", testGet},
		{"Keys", testKeys},
		{"LongKeys", testLongKeys},
		{"Values", testValues},
		{"Ranges", testRanges},
		{"EmptyRanges", testEmptyRanges},
		{"Partitions", testPartitions},
		{"Spaces", testSpaces},
		{"CopiesKeys", testCopiesKeys},
		{"ScanOrder", testScanOrder},
		{"ScanSegments", testScanSegments},
		{"ScanAfter", testScanAfter},
		{"Clear", testClear},
		{"OwnWrites", testOwnWrites},
		{"WriteWhileIterating", testWriteWhileIterating},
		{"NestedIterators", testNestedIterators},
		{"RollbackOnError", testRollbackOnError},
		{"RollbackOnPanic", testRollbackOnPanic},
		{"SnapshotIsolation", testSnapshotIsolation},
		{"ViewDoesNotBlockUpdate", testViewDoesNotBlockUpdate},
		{"EarlyBreak", testEarlyBreak},
		{"UseAfterReturn", testUseAfterReturn},
		{"Changes", testChanges},
		{"Close", testClose},
		{"Health", testHealth},
		{"Prefetch", testPrefetch},
		{"Presume", testPresume},
		{"Load", testLoad},
		{"Compact", testCompact},
		{"Context", testContext},
		{"ContextWhileWalking", testContextWhileWalking},
		{"ContextWhileWaiting", testContextWhileWaiting},
		{"Serialisable", testSerialisable},
		{"ConcurrentReads", testConcurrentReads},
		{"Commands", testCommands},
		{"Model", testModel},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			tt.fn(t, s)
		})
	}
}

// A row is a row that tests can easily write and compare.
type row struct{ partition, sort, value string }

func (r row) String() string { return fmt.Sprintf("(%q %q %q)", r.partition, r.sort, r.value) }

var (
	errStop = errors.New("storetest: stop")
	edges   = []string{
		"", "\x00", "\x00\x00", "\x00\x01", "\x00\xff", "\x01", "a", "a\x00", "a\x00b", "a\xff", "ab", "b", "\xfe",
		"\xff", "\xff\x00", "\xff\xff",
	}
)

func update(t *testing.T, s store.Store, fn func(w store.Writer)) {
	t.Helper()
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		fn(w)
		return nil
	}))
}

func view(t *testing.T, s store.Store, fn func(r store.Reader)) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		fn(r)
		return nil
	}))
}

func put(t *testing.T, w store.Writer, space store.Space, rows ...row) {
	t.Helper()
	for _, r := range rows {
		require.NoError(t, w.Put(space, []byte(r.partition), []byte(r.sort), []byte(r.value)))
	}
}

func del(t *testing.T, w store.Writer, space store.Space, partition, sort string) {
	t.Helper()
	require.NoError(t, w.Delete(space, []byte(partition), []byte(sort)))
}

// get returns a value, or "-" when there is no row.
func get(t *testing.T, r store.Reader, space store.Space, partition, sort string) string {
	t.Helper()
	v, ok, err := r.Get(space, []byte(partition), []byte(sort))
	require.NoError(t, err)
	if !ok {
		require.Empty(t, v)
		return "-"
	}
	return string(v)
}

// sorts returns the sort positions of a query.
func sorts(t *testing.T, r store.Reader, space store.Space, partition string, rng store.Range, reverse bool) []string {
	t.Helper()
	out := []string{}
	for row, err := range r.Query(space, []byte(partition), rng, reverse) {
		require.NoError(t, err)
		out = append(out, string(row.Sort))
	}
	return out
}

func scan(t *testing.T, r store.Reader, space store.Space, s store.Span) []row {
	t.Helper()
	out, err := collect(r.Scan(space, s))
	require.NoError(t, err)
	return out
}

func collect(seq iter.Seq2[store.Row, error]) ([]row, error) {
	out := []row{}
	for r, err := range seq {
		if err != nil {
			return out, err
		}
		out = append(out, row{string(r.Partition), string(r.Sort), string(r.Value)})
	}
	return out, nil
}

// ordered returns rows in scan order.
func ordered(rows []row) []row {
	out := slices.Clone(rows)
	slices.SortFunc(out, func(a, b row) int { return position(a).Compare(position(b)) })
	return out
}

func position(r row) store.Position {
	return store.Position{Partition: []byte(r.partition), Sort: []byte(r.sort)}
}

// optional returns nil, for no bound, if s is "-".
func optional(s string) []byte {
	if s == "-" {
		return nil
	}
	return []byte(s)
}

func background() context.Context { return context.Background() }
