package layer

import (
	"context"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// A storeLayer reads and writes rows through store.Store.
type storeLayer struct{ data *Data }

// Close implements [Layer].
func (*storeLayer) Close() error { return nil }

// Prepare implements [Layer].
func (l *storeLayer) Prepare(ctx context.Context, c *work.Call) (measure.Op, error) {
	p, err := l.data.plan(ctx, c)
	if err != nil {
		return nil, err
	}
	st := l.data.Store
	switch c.Op {
	case work.Query, work.Scan:
		return func(ctx context.Context, s *measure.Scratch) (rows, size int, err error) {
			err = st.View(ctx, func(r store.Reader) error {
				seq := r.Scan(p.space, p.span)
				if p.query != nil {
					seq = r.Query(p.space, p.query.Slice.Partition, p.rng, p.query.Reverse)
				}
				for row, err := range seq {
					if err != nil {
						return err
					}
					rows++
					size += len(row.Value)
					s.Sum ^= Touch(row.Value)
					if rows == p.examined {
						break
					}
				}
				return nil
			})
			if err == nil && rows != p.examined {
				err = errMissing
			}
			return p.returned, size, err
		}, nil
	case work.Get, work.TransactGet:
		keys := p.puts[:len(c.Items)]
		return func(ctx context.Context, s *measure.Scratch) (rows, size int, err error) {
			err = st.View(ctx, func(r store.Reader) error {
				for _, k := range keys {
					value, ok, err := r.Get(k.space, k.partition, k.sort)
					if err != nil {
						return err
					}
					if !ok {
						return errMissing
					}
					size += len(value)
					s.Sum ^= Touch(value)
				}
				return nil
			})
			return c.Want, size, err
		}, nil
	default:
		return func(ctx context.Context, s *measure.Scratch) (rows, size int, err error) {
			err = st.Update(ctx, func(w store.Writer) error {
				size = 0
				if c.Op == work.Update {
					value, _, err := w.Get(p.puts[0].space, p.puts[0].partition, p.puts[0].sort)
					if err != nil {
						return err
					}
					s.Sum ^= Touch(value)
				}
				for _, r := range p.drops {
					if err := w.Delete(r.space, r.partition, r.sort); err != nil {
						return err
					}
				}
				for _, r := range p.puts {
					if err := w.Put(r.space, r.partition, r.sort, r.value); err != nil {
						return err
					}
					size += len(r.value)
				}
				return nil
			})
			return c.Want, size, err
		}, nil
	}
}

// A tableLayer reads and writes items through table.DB, with conditions and
// expressions compiled.
type tableLayer struct{ data *Data }

// Close implements [Layer].
func (*tableLayer) Close() error { return nil }

// Prepare implements [Layer].
func (l *tableLayer) Prepare(ctx context.Context, c *work.Call) (measure.Op, error) {
	p, err := l.data.plan(ctx, c)
	if err != nil {
		return nil, err
	}
	db := l.data.Tables
	switch c.Op {
	case work.Query, work.Scan:
		return func(ctx context.Context, s *measure.Scratch) (rows, size int, err error) {
			page, err := p.run(ctx, db, func(it attr.Item) error {
				size += len(it)
				s.Sum ^= Touch(it)
				return nil
			})
			if err == nil {
				err = checked(c, page.Returned)
			}
			return page.Returned, size, err
		}, nil
	case work.Get, work.TransactGet:
		return func(ctx context.Context, s *measure.Scratch) (rows, size int, err error) {
			err = db.View(ctx, func(sn *table.View) error {
				t, err := sn.Table(work.TableName)
				if err != nil {
					return err
				}
				for _, key := range p.keys {
					it, err := sn.Get(t, key)
					if err != nil {
						return err
					}
					if it == nil {
						return errMissing
					}
					size += len(it)
					s.Sum ^= Touch(it)
				}
				return nil
			})
			return c.Want, size, err
		}, nil
	default:
		return func(ctx context.Context, _ *measure.Scratch) (rows, size int, err error) {
			err = db.Update(ctx, func(tx *table.Tx) error {
				size = 0
				t, err := tx.Table(work.TableName)
				if err != nil {
					return err
				}
				if c.Op == work.Update {
					_, err := tx.Update(t, p.keys[0], p.update, nil)
					return err
				}
				for _, it := range p.items {
					if _, err := tx.Put(t, it, nil); err != nil {
						return err
					}
					size += len(it)
				}
				return nil
			})
			return c.Want, size, err
		}, nil
	}
}
