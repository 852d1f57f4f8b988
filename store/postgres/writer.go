package postgres

import (
	"bytes"
	"maps"
	"slices"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/internal/remote"
)

// A writer is the transaction of an Update. It sends its changes to the database only when it commits, so the
// database's answers to its reads do not contain them.
type writer struct {
	reader
	presume  bool
	presumed [][]byte // addresses of rows that the Update presumes not to exist
}

// Presume says that the Update is going to add the row at an address, and that such a row hardly ever exists. The
// Update must not clear the space of the row. Get then returns no row without reading it, and the commit fails if the
// row exists. A read would make PostgreSQL lock a whole page of the index, with all keys on it. Without the read, an
// Update that adds a row nearby does not conflict with this one. Presume implements [capability.Presumer].
func (w *writer) Presume(addr []byte) {
	if w.presume && w.Err() == nil {
		w.changes.Presume(addr)
		w.presumed = append(w.presumed, addr)
	}
}

// presumedRight reads the rows that the Update presumed not to exist, and reports whether none exists. An Update that
// does not commit, because its function failed or changed nothing, needs this check; otherwise the commit makes it.
func (w *writer) presumedRight() (bool, error) {
	if len(w.presumed) == 0 {
		return true, nil
	}
	var gets []*step
	for _, addr := range w.presumed {
		key, _ := keys.Key(addr)
		gets = append(gets, &step{statement: getRow, params: [][]byte{key}})
	}
	if err := w.read(gets...); err != nil {
		return false, err
	}
	return !slices.ContainsFunc(gets, func(get *step) bool { return get.rows > 0 }), nil
}

// steps yields the statements that apply the changes to the database. They are in the order of addresses, so that all
// transactions lock rows in the same order. Some of them lock rows that were only read: to lock a row that does not
// exist, one statement inserts the row and the next one deletes it again.
func (w *writer) steps(yield func(*step) bool) {
	cleared := slices.Sorted(maps.Keys(w.changes.Cleared()))
	// clearUpTo yields the statements that clear those spaces that begin at or before an address, or all for nil.
	clearUpTo := func(addr []byte) bool {
		for len(cleared) > 0 {
			lo, hi := address.AppendSpace(nil, nil, cleared[0])
			if addr != nil && bytes.Compare(lo, addr) > 0 {
				break
			}
			if cleared = cleared[1:]; !yield(&step{statement: clearRows, params: [][]byte{lo, keys.High(hi)}}) {
				return false
			}
		}
		return true
	}
	for r := range w.changes.All() {
		if !clearUpTo(r.Addr) {
			return
		}

		key, tail := keys.Key(r.Addr)
		one := &step{statement: putRow, params: [][]byte{key, tail, r.Value}}
		if r.Presumed {
			one.statement = insertRow
		}

		switch {
		case r.Presumed && r.Deleted && !yield(&step{statement: insertRow, params: [][]byte{key, tail, {}}}):
			return
		case r.Presumed && r.Deleted:
			one = &step{statement: deleteRow, params: [][]byte{key}}
		case r.Unchanged && !r.Deleted:
			one = &step{statement: lockRow, params: [][]byte{key}}
		case r.Unchanged && !yield(&step{statement: claimRow, params: [][]byte{key, tail}}):
			return
		case r.Deleted:
			one = &step{statement: deleteRow, params: [][]byte{key}}
		case r.Value == nil:
			one.params[2] = []byte{} // a nil parameter would be null
		}
		if !yield(one) {
			return
		}
	}

	clearUpTo(nil)
}

// check returns an error if size more bytes cannot be written.
func (w *writer) check(size int) error {
	err := w.Err()
	if err == nil && size > maxUpdate-w.changes.Size() {
		err = errTooLarge
	}
	return err
}

// Put implements [store.Writer].
func (w *writer) Put(space store.Space, partition, sort, value []byte) error {
	if err := w.check(len(value)); err != nil {
		return err
	}
	w.changes.Set(remote.Row{Addr: address.Append(nil, space, partition, sort), Value: value})
	return nil
}

// Delete implements [store.Writer].
func (w *writer) Delete(space store.Space, partition, sort []byte) error {
	if err := w.check(0); err != nil {
		return err
	}
	w.changes.Set(remote.Row{Addr: address.Append(nil, space, partition, sort), Deleted: true})
	return nil
}

// Clear implements [store.Writer]. It takes time proportional to the changes in the space. The database deletes the
// rows when the update commits.
func (w *writer) Clear(space store.Space) error {
	if err := w.check(0); err != nil {
		return err
	}
	w.changes.Clear(space)
	return nil
}
