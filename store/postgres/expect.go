package postgres

import (
	"bytes"
	"context"

	"github.com/sortkey/sortkey/store"
)

// An expectation is a row with the value that it must have.
type expectation struct {
	addr, value []byte // a nil value for no row
}

// step returns the step that reads the row, and what says afterwards whether it is as
// expected.
func (e *expectation) step() (read *step, met func() bool) {
	same := false
	key, _ := keyOf(e.addr)
	read = &step{statement: getRow, params: [][]byte{key}, row: func(columns [][]byte) {
		same = e.value != nil && bytes.Equal(columns[0], e.value)
	}}
	return read, func() bool { return same || e.value == nil && read.rows == 0 }
}

// An expecting is a Store of [Store.Expecting].
type expecting struct {
	*Store
	row *expectation
}

var (
	_ store.Sharer = (*Store)(nil)
	_ store.Getter = (*expecting)(nil)
)

// Expecting implements [store.Sharer].
func (s *Store) Expecting(space store.Space, partition, sort, value []byte) store.Store {
	return &expecting{s, &expectation{store.AppendAddress(nil, space, partition, sort), value}}
}

func (e *expecting) View(ctx context.Context, fn func(store.Reader) error) error {
	return e.view(ctx, fn, e.row)
}

func (e *expecting) Update(ctx context.Context, fn func(store.Writer) error) error {
	return e.update(ctx, fn, e.row)
}

func (e *expecting) Get(ctx context.Context, space store.Space, partition, sort []byte) (value []byte, ok bool, err error) {
	return e.get(ctx, e.row, space, partition, sort)
}
