package capability

import (
	"bytes"
	"iter"

	"github.com/sortkey/sortkey/store"
)

// A Change is a row that differs between two states. Before is nil if only the new state has the row, and Now is nil
// if only the old state has it. Otherwise the values differ. The caller must not change the bytes of the rows. They
// are valid until the next iteration, unless the engine promises more.
type Change struct {
	Before, Now *store.Row
}

// A Differ is a [store.Reader] of an engine whose states share common rows, such as a store and its fork. A Differ
// finds the differences of two states without reading the rows that they share.
type Differ interface {
	store.Reader

	// Since returns the [Changes] since before, or false if before is not a state of the same engine. It compares
	// states without a common ancestor row by row.
	Since(before store.Reader, space store.Space) (changes iter.Seq2[Change, error], ok bool)
}

// Changes yields the rows of a space that differ between two states, in scan order. An error comes last, with a zero
// Change. If now is a [Differ], the time depends only on the rows that the states do not share. Otherwise Changes
// reads all rows of the space in both states.
func Changes(before, now store.Reader, space store.Space) iter.Seq2[Change, error] {
	if d, ok := now.(Differ); ok {
		if changes, ok := d.Since(before, space); ok {
			return changes
		}
	}
	return func(yield func(Change, error) bool) {
		compareAll(before.Scan(space, store.Everything()), now.Scan(space, store.Everything()), yield)
	}
}

// compareAll yields the differences of two row sequences that are in scan order.
func compareAll(before, now iter.Seq2[store.Row, error], yield func(Change, error) bool) {
	nextOld, stop := iter.Pull2(before)
	defer stop()
	old, err, more := nextOld()
	if err != nil {
		yield(Change{}, err)
		return
	}
	for row, err := range now {
		if err != nil {
			yield(Change{}, err)
			return
		}
		at := store.Position{Partition: row.Partition, Sort: row.Sort}
		order := 1
		for more {
			if order = (store.Position{Partition: old.Partition, Sort: old.Sort}).Compare(at); order >= 0 {
				break
			}
			if !yield(Change{Before: &old}, nil) {
				return
			}
			if old, err, more = nextOld(); err != nil {
				yield(Change{}, err)
				return
			}
		}

		if !more || order > 0 {
			if !yield(Change{Now: &row}, nil) {
				return
			}
			continue
		}

		if !bytes.Equal(old.Value, row.Value) && !yield(Change{&old, &row}, nil) {
			return
		}
		if old, err, more = nextOld(); err != nil {
			yield(Change{}, err)
			return
		}
	}

	for ; more; old, err, more = nextOld() {
		if err != nil {
			yield(Change{}, err)
			return
		}
		if !yield(Change{Before: &old}, nil) {
			return
		}
	}
}
