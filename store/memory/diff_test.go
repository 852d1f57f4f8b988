package memory_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// plain is a reader without the methods of a [capability.Differ].
type plain struct{ store.Reader }

// changes returns the changes between two states as text.
func changes(before, now store.Reader, space store.Space) (list []string, err error) {
	show := func(r *store.Row) string {
		if r == nil {
			return "none"
		}
		return fmt.Sprintf("%q/%q=%q", r.Partition, r.Sort, r.Value)
	}
	for c, err := range capability.Changes(before, now, space) {
		if err != nil {
			return nil, err
		}
		list = append(list, show(c.Before)+" → "+show(c.Now))
	}
	return list, nil
}

// change makes random changes in a few partitions. Then rows, leaves and whole subtrees differ, and the trees have
// different shapes.
func change(t *proptest.T, s store.Store) {
	require.NoError(t, s.Update(context.Background(), func(w store.Writer) error {
		space := store.Space(t.Between(1, 2))
		if t.Often(3) {
			return w.Clear(space)
		}
		partition, from := []byte(fmt.Sprint(t.IntN(8))), t.IntN(600)
		for i := range t.Between(0, proptest.Pick(t, 3, 60, 600)) {
			at := fmt.Appendf(nil, "order#%04d", from+i)
			var err error
			if t.Often(40) {
				err = w.Delete(space, partition, at)
			} else {
				err = w.Put(space, partition, at, []byte(fmt.Sprint(t.IntN(3))))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// TestChanges compares the changes that Since finds in trees with shared nodes with those found by reading all rows.
// It compares databases, their forks, and the forks of these, after writes to all of them.
func TestChanges(t *testing.T) {
	proptest.Check(t, 60, func(t *proptest.T) {
		all := []store.Forker{memory.Open()}
		for range t.Between(1, 5) {
			change(t, all[0])
		}
		for range t.Between(1, 12) {
			s := proptest.Pick(t, all...)
			if len(all) < 5 && t.Bool() {
				fork, err := s.Fork()
				require.NoError(t, err)
				all = append(all, fork.(store.Forker))
				continue
			}
			change(t, s)
		}
		before, now := proptest.Pick(t, all...), proptest.Pick(t, all...)
		require.NoError(t, before.View(context.Background(), func(was store.Reader) error {
			if t.Bool() {
				change(t, before)
			}
			return now.View(context.Background(), func(is store.Reader) error {
				for space := range store.Space(4) {
					want, err := changes(plain{was}, plain{is}, space)
					require.NoError(t, err)
					got, err := changes(was, is, space)
					require.NoError(t, err)
					require.Equal(t, want, got)
				}
				return nil
			})
		}))
	})
}

// TestChangesEnd checks that a loop over changes ends with its context and its Views, and that it includes changes of
// long values.
func TestChangesEnd(t *testing.T) {
	s := memory.Open()
	require.NoError(t, writeAll(s, 500, strings.Repeat("old", 99)))
	fork, err := s.Fork()
	require.NoError(t, err)
	require.NoError(t, writeAll(s, 500, strings.Repeat("new", 99)))
	ctx, cancel := context.WithCancel(t.Context())
	var was, is store.Reader
	require.NoError(t, fork.View(t.Context(), func(before store.Reader) error {
		was = before
		return s.View(ctx, func(now store.Reader) error {
			is = now
			for range capability.Changes(before, now, 1) {
				break
			}
			all, err := changes(before, now, 1)
			require.NoError(t, err)
			require.Len(t, all, 500, "values outside of the pages")
			cancel()
			_, err = changes(before, now, 1)
			require.ErrorIs(t, err, context.Canceled)
			return nil
		})
	}))
	_, err = changes(was, is, 1)
	require.ErrorIs(t, err, store.ErrClosed)
}
