package store

import (
	"bytes"
	"iter"
)

// A Change is a row that is not the same in two states: it is in one of them only, or
// its values differ. At most one of the two is nil. Nobody may change their bytes, which
// are valid until the next iteration of the loop, unless the engine promises more.
type Change struct {
	Before, Now *Row
}

// A Differ is a [Reader] of an engine whose states share what is the same in both, such
// as those of a store and its fork. It finds where they differ without reading the rest.
type Differ interface {
	Reader

	// Since is [Changes] for one space of two states of this engine. It reports false
	// if before is a state of another engine. States with no common ancestor are
	// compared row by row.
	Since(before Reader, space Space) (changes iter.Seq2[Change, error], ok bool)
}

// Changes yields the rows of a space that differ between two states, in scan order. It
// yields an error last, with a zero Change. If the engine is a [Differ], the time depends
// on what the states do not share; otherwise Changes reads all rows of the space in both.
func Changes(before, now Reader, space Space) iter.Seq2[Change, error] {
	if d, ok := now.(Differ); ok {
		if changes, ok := d.Since(before, space); ok {
			return changes
		}
	}
	return func(yield func(Change, error) bool) {
		compareAll(before.Scan(space, Everything()), now.Scan(space, Everything()), yield)
	}
}

// compareAll yields the differences of two sequences of rows in scan order.
func compareAll(before, now iter.Seq2[Row, error], yield func(Change, error) bool) {
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
		at := Position{row.Partition, row.Sort}
		order := 1
		for more {
			if order = (Position{old.Partition, old.Sort}).Compare(at); order >= 0 {
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
