package postgres

import (
	"bytes"
	"context"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// An expectation is a row and the value that the row must have.
type expectation struct {
	key, addr, value []byte // a nil value for no row
}

// step returns a step that reads the row. When the step has run, met reports whether the row is as expected.
func (e *expectation) step() (read *step, met func() bool) {
	same := false
	read = &step{statement: getRow, params: [][]byte{e.key}, row: func(columns [][]byte) { same = e.meets(columns[0]) }}
	return read, func() bool { return same || read.rows == 0 && e.value == nil }
}

// meets reports whether a value is the expected one; nil means no row.
func (e *expectation) meets(value []byte) bool {
	return (e.value == nil) == (value == nil) && bytes.Equal(e.value, value)
}

// An expecting is the Store that [Store.Expecting] returns. Its calls fail unless a row has the expected value.
type expecting struct {
	*Store
	row *expectation
}

var (
	_ capability.Sharer = (*Store)(nil)
	_ capability.Getter = (*expecting)(nil)
)

// Expecting implements [capability.Sharer]. View and Update of the returned store fail if the row does not have the
// given value.
func (s *Store) Expecting(space store.Space, partition, sort, value []byte) store.Store {
	addr := address.Append(nil, space, partition, sort)
	key, _ := keys.Key(addr)
	return &expecting{s, &expectation{key, addr, value}}
}

func (e *expecting) View(ctx context.Context, fn func(store.Reader) error) error {
	return e.view(ctx, fn, e.row)
}

func (e *expecting) Update(ctx context.Context, fn func(store.Writer) error) error {
	return e.update(ctx, fn, e.row)
}

// Get reads the wanted row and the expected row with one statement.
func (e *expecting) Get(
	ctx context.Context, space store.Space, partition, sort []byte,
) (value []byte, ok bool, err error) {
	if err := e.ready(ctx); err != nil {
		return nil, false, err
	}
	s := &session{ctx: ctx, store: e.Store, begin: beginNothing}
	defer s.finish()
	key, _ := keys.Key(address.Append(nil, space, partition, sort))
	same := e.row.value == nil
	both := &step{statement: getBoth, params: [][]byte{key, e.row.key}, row: func(columns [][]byte) {
		if bytes.Equal(columns[0], key) {
			value, ok = append(make([]byte, 0, len(columns[1])), columns[1]...), true
		}
		if bytes.Equal(columns[0], e.row.key) {
			same = e.row.meets(columns[1])
		}
	}}
	if err := s.run(both); err != nil {
		return nil, false, err
	}
	if !same {
		return nil, false, capability.ErrChanged
	}
	return value, ok, nil
}
