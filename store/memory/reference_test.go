package memory_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/btree"
	"github.com/sortkey/sortkey/store/memory"
)

// TestReference runs random updates on this engine and on the reference engine
// and compares the answers to all reads, inside the updates too.
func TestReference(t *testing.T) {
	proptest.Check(t, 150, func(t *proptest.T) {
		ours, theirs := memory.Open(), btree.Open()
		defer ours.Close()
		defer theirs.Close()
		for range t.Between(1, 8) {
			script := proptest.SliceOf(t, 1, 60, newStep)
			fails := t.Often(20)
			var logs [2][]string
			for i, s := range []store.Store{ours, theirs} {
				err := s.Update(context.Background(), func(w store.Writer) error {
					logs[i] = nil
					for _, do := range script {
						logs[i] = append(logs[i], do(w))
					}
					if fails {
						return errFails
					}
					return nil
				})
				require.Equal(t, fails, errors.Is(err, errFails), "%v", err)
			}
			require.Equal(t, logs[1], logs[0])
			read := proptest.SliceOf(t, 1, 10, newRead)
			for i, s := range []store.Store{ours, theirs} {
				require.NoError(t, s.View(context.Background(), func(r store.Reader) error {
					logs[i] = nil
					for _, do := range read {
						logs[i] = append(logs[i], do(r))
					}
					return nil
				}))
			}
			require.Equal(t, logs[1], logs[0])
		}
	})
}

var errFails = errors.New("on purpose")

// newBytes returns keys of which many are equal, neighbours or prefixes of each
// other.
func newBytes(t *proptest.T) []byte {
	return []byte(proptest.Pick(t, "", "a", "a\x00", "a\xff", "ab", "b", "\xff", "customer#") +
		t.Text("ab\x00\u00ff", 0, 2))
}

func newSpace(t *proptest.T) store.Space { return store.Space(t.Between(1, 2)) }

// newStep returns a random step of an update; the step returns what it saw.
func newStep(t *proptest.T) func(store.Writer) string {
	space, partition, sort := newSpace(t), newBytes(t), newBytes(t)
	switch n := t.IntN(100); {
	case n < 55:
		value := newBytes(t)
		return func(w store.Writer) string { return fmt.Sprint("put ", w.Put(space, partition, sort, value)) }
	case n < 75:
		return func(w store.Writer) string { return fmt.Sprint("delete ", w.Delete(space, partition, sort)) }
	case n < 77:
		return func(w store.Writer) string { return fmt.Sprint("clear ", w.Clear(space)) }
	case n < 85: // write during a walk
		return func(w store.Writer) string {
			seen := ""
			for row, err := range w.Scan(space, store.Everything()) {
				seen += fmt.Sprintf("%q %v;", row, err)
				if err := w.Put(space, append([]byte("new"), row.Partition...), row.Sort, nil); err != nil {
					return err.Error()
				}
				if err := w.Delete(space, partition, row.Sort); err != nil {
					return err.Error()
				}
			}
			return seen
		}
	}
	read := newRead(t)
	return func(w store.Writer) string { return read(w) }
}

// newRead returns a random read, which returns its results as text.
func newRead(t *proptest.T) func(store.Reader) string {
	space, partition := newSpace(t), newBytes(t)
	switch t.IntN(3) {
	case 0:
		sort := newBytes(t)
		return func(r store.Reader) string {
			value, ok, err := r.Get(space, partition, sort)
			return fmt.Sprintf("%q %v %v", value, ok, err)
		}
	case 1:
		r, reverse, most := store.Range{}, t.Bool(), t.Between(1, 20)
		if t.Bool() {
			r.Lo = newBytes(t)
		}
		if t.Bool() {
			r.Hi = newBytes(t)
		}
		return func(in store.Reader) string {
			seen := ""
			for row, err := range in.Query(space, partition, r, reverse) {
				if seen += fmt.Sprintf("%q=%q %v;", row.Sort, row.Value, err); len(seen) > 20*most {
					break
				}
			}
			return seen
		}
	}
	span := store.Segment(uint32(t.IntN(3)), uint32(t.Between(1, 3)))
	if t.Bool() {
		span.After = &store.Position{Partition: partition, Sort: newBytes(t)}
	}
	return func(r store.Reader) string {
		seen := ""
		for row, err := range r.Scan(space, span) {
			seen += fmt.Sprintf("%q %v;", row, err)
		}
		return seen
	}
}
