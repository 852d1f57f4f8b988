package sortkey

import (
	"context"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// A TableOf reads and writes the items of a table, or reads the items of an index, as values of type T. T is
// [attr.Item] or a struct with the tags of the AWS SDK's attributevalue package; see [attr.Marshal]. A TableOf is
// safe for concurrent use.
//
// Get and Delete take the values of the key, in the order of its attributes, one by one or as a [Key]. Values of type
// [Option] come after them. An operation takes part in the transaction of its context; see [DB.Update].
type TableOf[T any] struct {
	db          *DB
	itemType    *itemType[T]
	name, index string
}

// Table returns an API for a table whose items have the Go type T. It makes no request, so a program can call it to
// initialize variables and before the table exists.
func Table[T any](db *DB, name string) *TableOf[T] {
	return &TableOf[T]{db: db, itemType: itemTypeOf[T](), name: name}
}

// Index returns an API for an index of the table. It supports Query, Scan, their pages and Count; other operations
// return [ErrUsage].
func (t *TableOf[T]) Index(name string) *TableOf[T] {
	return &TableOf[T]{t.db, t.itemType, t.name, name}
}

// definition returns the current definition of the table.
func (t *TableOf[T]) definition(ctx context.Context) (*table.Table, error) {
	def, err := t.db.tables.Describe(ctx, t.name)
	if err != nil { // in a shared store, another program may have created the table
		if err := t.db.tables.Refresh(ctx); err != nil {
			return nil, failed(err)
		}
		if def, err = t.db.tables.Describe(ctx, t.name); err != nil {
			return nil, noTable()
		}
	}
	return def, nil
}

// schema returns the key schema of the table or index.
func (t *TableOf[T]) schema(ctx context.Context) (*keycond.Schema, error) {
	def, err := t.definition(ctx)
	if err != nil {
		return nil, err
	}
	if t.index == "" {
		return def.Key(), nil
	}
	ix, err := def.Index(t.index)
	if err != nil {
		return nil, failed(wire.Validation(err.Error()))
	}
	return ix.Key(), nil
}

// notIndex returns an error if t is an index. Operations that only a table supports call it.
func (t *TableOf[T]) notIndex() error {
	if t.index == "" {
		return nil
	}
	return misuse("index %s of table %s is for Query and Scan: use the table", t.index, t.name)
}

// tableKey returns the key schema of the table. It returns an error if t is an index.
func (t *TableOf[T]) tableKey(ctx context.Context) (*keycond.Schema, error) {
	if err := t.notIndex(); err != nil {
		return nil, err
	}
	return t.schema(ctx)
}

func (t *TableOf[T]) indexName() *string {
	if t.index == "" {
		return nil
	}
	return &t.index
}
