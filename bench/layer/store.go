package layer

import (
	"context"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/store"
)

// storeRows reads and writes rows through store.Store.
type storeRows struct{ store.Store }

func (e storeRows) read(ctx context.Context, p *plan, s *measure.Scratch) (rows, size int, err error) {
	err = e.View(ctx, func(r store.Reader) error {
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
			s.Sum ^= touch(row.Value)
			if rows == p.examined {
				break
			}
		}
		return nil
	})
	return rows, size, err
}

func (e storeRows) get(ctx context.Context, p *plan, s *measure.Scratch) (size int, err error) {
	err = e.View(ctx, func(r store.Reader) error {
		for i := range p.gets {
			k := &p.gets[i]
			value, ok, err := r.Get(k.space, k.partition, k.sort)
			if err != nil {
				return err
			}
			if !ok {
				return errMissing
			}
			size += len(value)
			s.Sum ^= touch(value)
		}
		return nil
	})
	return size, err
}

func (e storeRows) write(ctx context.Context, p *plan, s *measure.Scratch) (size int, err error) {
	err = e.Update(ctx, func(w store.Writer) error {
		size = 0
		if p.call.Op == work.Update { // an update reads the row that it changes
			value, _, err := w.Get(p.puts[0].space, p.puts[0].partition, p.puts[0].sort)
			if err != nil {
				return err
			}
			s.Sum ^= touch(value)
		}
		if err := p.drop(w); err != nil {
			return err
		}
		for i := range p.puts {
			r := &p.puts[i]
			if err := w.Put(r.space, r.partition, r.sort, r.value); err != nil {
				return err
			}
			size += len(r.value)
		}
		return nil
	})
	return size, err
}

// drop deletes the old index rows of items whose place in an index a put changes.
func (p *plan) drop(w store.Writer) error {
	for i := range p.drops {
		if err := w.Delete(p.drops[i].space, p.drops[i].partition, p.drops[i].sort); err != nil {
			return err
		}
	}
	return nil
}

// tableItems reads and writes items through life.DB. Conditions and expressions are compiled in advance.
type tableItems struct{ *life.DB }

func (e tableItems) read(ctx context.Context, p *plan, s *measure.Scratch) (rows, size int, err error) {
	page, err := p.run(ctx, e.DB, func(it attr.Item) error {
		size += len(it)
		s.Sum ^= touch(it)
		return nil
	})
	if err == nil {
		err = checkRows(p.call, page.Returned)
	}
	return page.Examined, size, err
}

func (e tableItems) get(ctx context.Context, p *plan, s *measure.Scratch) (size int, err error) {
	err = e.View(ctx, func(sn *table.View) error {
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
			s.Sum ^= touch(it)
		}
		return nil
	})
	return size, err
}

func (e tableItems) write(ctx context.Context, p *plan, _ *measure.Scratch) (size int, err error) {
	err = e.Update(ctx, func(tx *table.Tx) error {
		size = 0
		t, err := tx.Table(work.TableName)
		if err != nil {
			return err
		}
		if p.call.Op == work.Update {
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
	return size, err
}
