package layer

import (
	"context"
	"fmt"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// A plan is a call compiled for the layers below api.
type plan struct {
	call *work.Call

	// Of a Query or Scan.
	query    *table.Query
	scan     *table.Scan
	schema   *keycond.Schema
	options  keycond.PageOptions
	space    store.Space
	rng      store.Range // sort positions of a Query, after its start key
	span     store.Span  // of a Scan
	lo, hi   []byte      // the same bounds as addresses
	examined int         // rows that the read walks
	returned int         // rows that pass the filter

	// Of other calls.
	placings    []placing // the table, then its indexes
	keys, items []attr.Item
	gets        []row // the rows of the items
	puts        []row // rows that a put writes: first the rows of the items, then index rows
	drops       []row // index rows that the put deletes
	update      *expr.Update
}

// A row is one row of the store.
type row struct {
	space                           store.Space
	partition, sort, value, address []byte
}

func newRow(space store.Space, partition, sort, value []byte) row {
	return row{space, partition, sort, value, address.Append(nil, space, partition, sort)}
}

// plan compiles a call. If the call reads, plan runs it once to count the rows that it walks.
func (d *Data) plan(ctx context.Context, c *work.Call) (*plan, error) {
	t, err := d.Tables.Describe(ctx, work.TableName)
	if err != nil {
		return nil, err
	}
	p := &plan{call: c}
	switch c.Op {
	case work.Query, work.Scan:
		err = p.planRead(ctx, d, t)
	default:
		err = p.planItems(d, t)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Op, err)
	}
	return p, nil
}

func (p *plan) planItems(d *Data, t *table.Table) error {
	c, s := p.call, d.Shape
	version := c.Version
	if c.Op == work.Get || c.Op == work.TransactGet {
		version = 0
	}

	p.placings = []placing{{t.Definition().Space, t.Key()}}
	for _, ix := range t.Indexes() {
		p.placings = append(p.placings, placing{ix.Definition().Space, ix.Key()})
	}

	var entries []row
	for _, i := range c.Items {
		key, item := s.Key(i), s.Item(i, version)
		p.keys, p.items = append(p.keys, key), append(p.items, item)
		partition, sort, err := t.Address(key)
		if err != nil {
			return err
		}
		p.gets = append(p.gets, newRow(t.Definition().Space, partition, sort, item))
		for _, ix := range t.Indexes() {
			at := func(it attr.Item) row {
				partition, _ := ix.Key().AppendPartition(nil, it)
				sort, _ := ix.Key().AppendSort(nil, it)
				return newRow(ix.Definition().Space, partition, sort, it)
			}
			now, before := at(item), at(s.Item(i, version+1))
			entries = append(entries, now)
			if string(now.sort) != string(before.sort) {
				p.drops = append(p.drops, before)
			}
		}
	}

	p.puts = append(p.gets[:len(p.gets):len(p.gets)], entries...)
	if c.Op != work.Update {
		return nil
	}
	env, err := expr.NewEnv(expr.Params{
		Values: work.ItemOf([]work.Bind{{Name: ":note", Kind: "S", Text: s.Note(c.Items[0], version)}}),
	})
	if err != nil {
		return err
	}

	p.update, err = env.Update(work.UpdateExpression)
	return err
}

func (p *plan) planRead(ctx context.Context, d *Data, t *table.Table) error {
	r := &p.call.Range
	read := table.Read{Table: t, Limit: r.Limit}
	p.space = t.Definition().Space
	schema := t.Key()
	if r.Index != "" {
		ix, err := t.Index(r.Index)
		if err != nil {
			return err
		}
		read.Index, p.space, schema = ix, ix.Definition().Space, ix.Key()
	}

	if r.After >= 0 {
		read.Start = d.Shape.Key(r.After)
	}
	env, err := expr.NewEnv(expr.Params{Values: work.ItemOf(r.Values)})
	if err != nil {
		return err
	}
	if r.Filter != "" {
		if read.Filter, err = env.Condition(expr.FilterExpression, r.Filter); err != nil {
			return err
		}
	}

	if p.call.Op == work.Scan {
		p.scan = &table.Scan{
			Read:     read,
			Segment:  uint32(r.Segment),  //nolint:gosec // a small number
			Segments: uint32(r.Segments), //nolint:gosec // a small number
		}
	} else {
		cond, err := env.Condition(expr.KeyConditionExpression, r.Key)
		if err != nil {
			return err
		}
		slice, err := keycond.Compile(schema, cond)
		if err != nil {
			return err
		}
		p.query = &table.Query{Read: read, Slice: slice, Reverse: r.Reverse}
	}

	p.schema = schema
	p.options = keycond.PageOptions{Start: read.Start, Reverse: r.Reverse, Limit: r.Limit}
	p.options.Filter = read.Filter
	ctx = table.WithTrace(ctx, func(tr table.Trace) { p.rng, p.span = tr.Range, tr.Span })
	page, err := p.run(ctx, d.Tables, func(attr.Item) error { return nil })
	if err != nil {
		return err
	}

	p.examined, p.returned = page.Examined, page.Returned
	if p.scan != nil {
		p.lo, p.hi = address.AppendSpan(nil, nil, p.space, p.span)
	} else {
		p.lo, p.hi = address.AppendRange(nil, nil, p.space, p.query.Slice.Partition, p.rng)
	}
	return checkRows(p.call, page.Returned)
}

// run runs the read.
func (p *plan) run(ctx context.Context, db *life.DB, visit func(attr.Item) error) (page table.Page, err error) {
	err = db.View(ctx, func(s *table.View) (err error) {
		if p.scan != nil {
			page, err = s.Scan(p.scan, visit)
		} else {
			page, err = s.Query(p.query, visit)
		}
		return err
	})
	return page, err
}
