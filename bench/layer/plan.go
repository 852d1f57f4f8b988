package layer

import (
	"context"
	"fmt"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// A plan is a call compiled for the layers below api.
type plan struct {
	call  *work.Call
	query *table.Query // of a Query
	scan  *table.Scan  // of a Scan
	space store.Space
	rng   store.Range // sort positions of a Query, start key included
	span  store.Span  // of a Scan
	// examined is how many rows a read walks, filter or not.
	examined int
	// returned is how many of them it returns.
	returned int

	keys   []attr.Item // of Items
	puts   []row       // rows that a put of the Items writes: theirs, then index rows
	drops  []row       // index rows that it takes away
	items  []attr.Item // new items
	update *expr.Update
}

// A row is one row of the store.
type row struct {
	space                  store.Space
	partition, sort, value []byte
}

func (r row) address() []byte { return store.AppendAddress(nil, r.space, r.partition, r.sort) }

// plan compiles a call and runs its read once, to know how many rows it walks.
func (d *Data) plan(ctx context.Context, c *work.Call) (*plan, error) {
	t, err := d.Tables.Describe(work.TableName)
	if err != nil {
		return nil, err
	}
	p := &plan{call: c}
	switch c.Op {
	case work.Query, work.Scan:
		err = p.read(ctx, d, t)
	default:
		err = p.write(d, t)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Op, err)
	}
	return p, nil
}

func (p *plan) write(d *Data, t *table.Table) error {
	c, s := p.call, d.Shape
	version := c.Version
	if c.Op == work.Get || c.Op == work.TransactGet {
		version = 0
	}
	var entries []row
	for _, i := range c.Items {
		key, item := s.Key(i), s.Item(i, version)
		p.keys, p.items = append(p.keys, key), append(p.items, item)
		partition, sort, err := t.Address(key)
		if err != nil {
			return err
		}
		p.puts = append(p.puts, row{t.Definition().Space, partition, sort, item})
		for _, ix := range t.Indexes() {
			at := func(it attr.Item) row {
				partition, _ := ix.Key().AppendPartition(nil, it)
				sort, _ := ix.Key().AppendSort(nil, it)
				return row{ix.Definition().Space, partition, sort, it}
			}
			now, before := at(item), at(s.Item(i, version+1))
			entries = append(entries, now)
			if string(now.sort) != string(before.sort) {
				p.drops = append(p.drops, before)
			}
		}
	}
	p.puts = append(p.puts, entries...)
	if c.Op != work.Update {
		return nil
	}
	env, err := expr.NewEnv(nil, values([]work.Bind{{Name: ":note", Kind: "S", Text: s.Note(c.Items[0], version)}}))
	if err != nil {
		return err
	}
	p.update, err = env.Update(work.UpdateExpression)
	return err
}

func values(bs []work.Bind) attr.Item {
	if len(bs) == 0 {
		return nil
	}
	var b attr.Builder
	for _, v := range bs {
		b.Add(v.Name, v.Value())
	}
	return b.Item()
}

func (p *plan) read(ctx context.Context, d *Data, t *table.Table) error {
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
	env, err := expr.NewEnv(nil, values(r.Values))
	if err != nil {
		return err
	}
	if r.Filter != "" {
		if read.Filter, err = env.Condition(expr.FilterExpression, r.Filter); err != nil {
			return err
		}
	}
	if p.call.Op == work.Scan {
		p.scan = &table.Scan{Read: read, Segment: uint32(r.Segment), Segments: uint32(r.Segments)} //nolint:gosec // small numbers
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
	ctx = table.WithTrace(ctx, func(tr table.Trace) { p.rng, p.span = tr.Range, tr.Span })
	page, err := p.run(ctx, d.Tables, func(attr.Item) error { return nil })
	p.examined, p.returned = page.Examined, page.Returned
	if err != nil {
		return err
	}
	return checked(p.call, page.Returned)
}

// run does the read.
func (p *plan) run(ctx context.Context, db *table.DB, visit func(attr.Item) error) (page table.Page, err error) {
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

// addresses returns the bounds of a read in the order of addresses.
func (p *plan) addresses() (lo, hi []byte) {
	if p.scan != nil {
		return store.AppendSpan(nil, nil, p.space, p.span)
	}
	return store.AppendRange(nil, nil, p.space, p.query.Slice.Partition, p.rng)
}
