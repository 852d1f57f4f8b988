package api

import (
	"context"
	"sync"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// A pageRead is the state of a query or a scan, with its output: one allocation
// for both. The outputs of Query and Scan have the same members.
type pageRead struct {
	readParams
	out            wire.QueryOutput
	count, scanned int64
}

// finish makes the output of a page that was read.
func (p *pageRead) finish(ctx context.Context, t *table.Table, page *table.Page) {
	p.count, p.scanned = int64(page.Returned), int64(page.Examined)
	p.out.Count, p.out.ScannedCount = &p.count, &p.scanned
	p.out.LastEvaluatedKey = page.Last
	consume(ctx, t.Name(), false, &page.Capacity)
	p.out.ConsumedCapacity = consumed(p.mode, value(p.table), &page.Capacity)
}

// A pageEncoder holds the input of one query or scan whose answer becomes JSON,
// straight from the stored rows. It is pooled; nothing keeps a part of it.
type pageEncoder[I any] struct {
	in    I
	dst   []byte
	count int
	visit func(attr.Item) error // the method add, bound once
}

// add appends an item to the list of Items.
func (e *pageEncoder[I]) add(it attr.Item) error {
	if e.count++; e.count > 1 {
		e.dst = append(e.dst, ',')
	}
	e.dst = it.AppendJSON(e.dst)
	return nil
}

// page returns the handler of an operation that visits items.
func page[I any, P decodable[I], O appender](sel func(P) *string, method func(*Service, context.Context, P, func(attr.Item) error) (O, error)) handler {
	pool := &sync.Pool{New: func() any {
		e := new(pageEncoder[I])
		e.visit = e.add
		return e
	}}
	return func(s *Service, ctx context.Context, body, dst []byte) ([]byte, error) {
		e := pool.Get().(*pageEncoder[I])
		defer func() {
			*e = pageEncoder[I]{visit: e.visit}
			pool.Put(e)
		}()
		in := P(&e.in)
		if err := in.DecodeJSON(body); err != nil {
			return nil, err
		}
		e.dst = append(dst, `{"Items":[`...)
		out, err := method(s, ctx, in, e.visit)
		switch {
		case err != nil:
			return nil, err
		case value(sel(in)) == selectCount:
			return out.AppendJSON(dst), nil
		}
		return appendMembers(append(e.dst, ']'), out), nil
	}
}

// appendMembers appends the members of an output, and the closing brace, to an
// object that has a member already. The output must have been made without that
// member.
func appendMembers[O appender](dst []byte, out O) []byte {
	at := len(dst)
	dst = out.AppendJSON(dst)
	if dst[at+1] == '}' { // the rest of the answer is empty
		return append(dst[:at], '}')
	}
	dst[at] = ',' // instead of the opening brace
	return dst
}
