package layer

import (
	"context"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// keyedRows reads and writes items like a program that uses package keycond and a store, but no tables. It reads
// pages of compiled slices, and single rows at the addresses that schemas return.
type keyedRows struct{ store.Store }

// A placing is a table or an index: its space, and the schema that gives the addresses of its rows.
type placing struct {
	space  store.Space
	schema *keycond.Schema
}

func (e keyedRows) read(ctx context.Context, p *plan, s *measure.Scratch) (rows, size int, err error) {
	var page keycond.Page
	visit := func(it attr.Item) error {
		size += len(it)
		s.Sum ^= touch(it)
		return nil
	}
	err = e.View(ctx, func(r store.Reader) (err error) {
		if p.scan != nil {
			page, err = p.schema.Page(r.Scan(p.space, p.span), p.options, visit)
		} else {
			page, err = p.query.Slice.Page(r, p.space, p.options, visit)
		}
		return err
	})
	if err == nil {
		err = checkRows(p.call, page.Returned)
	}
	return page.Examined, size, err
}

func (e keyedRows) get(ctx context.Context, p *plan, s *measure.Scratch) (size int, err error) {
	err = e.View(ctx, func(r store.Reader) error {
		for _, key := range p.keys {
			it, err := p.placings[0].get(r, key)
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

func (e keyedRows) write(ctx context.Context, p *plan, s *measure.Scratch) (size int, err error) {
	err = e.Update(ctx, func(w store.Writer) error {
		size = 0
		if p.call.Op == work.Update {
			old, err := p.placings[0].get(w, p.keys[0])
			if err != nil {
				return err
			}
			s.Sum ^= touch(old)
			it, err := p.update.Apply(old, p.keys[0])
			if err != nil {
				return err
			}
			return p.put(w, it)
		}
		if err := p.drop(w); err != nil {
			return err
		}
		for _, it := range p.items {
			if err := p.put(w, it); err != nil {
				return err
			}
			size += len(it)
		}
		return nil
	})
	return size, err
}

func (pl *placing) get(r store.Reader, key attr.Item) (attr.Item, error) {
	partition, sort, err := pl.schema.Place(key)
	if err != nil {
		return nil, err
	}
	value, _, err := r.Get(pl.space, partition, sort)
	return value, err
}

// put writes an item to the table and to its indexes.
func (p *plan) put(w store.Writer, it attr.Item) error {
	for i := range p.placings {
		partition, sort, err := p.placings[i].schema.Place(it)
		if err != nil {
			return err
		}
		if err := w.Put(p.placings[i].space, partition, sort, it); err != nil {
			return err
		}
	}
	return nil
}
