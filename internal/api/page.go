package api

import (
	"context"
	"sync"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// A pageRead holds the state and the output of a query or a scan, so that both take one allocation. The output of a
// scan has the same members as the output of a query.
type pageRead struct {
	readParams
	service        *Service
	out            wire.QueryOutput
	count, scanned int64
}

// begin begins a query, or a scan with the same parameters as in.
func (p *pageRead) begin(s *Service, op wire.Op, in *wire.QueryInput, visit Visit) {
	*p = pageRead{service: s, readParams: readParams{
		expressions: expressions{op: op, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues},
		table:       in.TableName, index: in.IndexName, sel: in.Select, attributes: in.AttributesToGet,
		projected: in.ProjectionExpression, mode: in.ReturnConsumedCapacity,
		consistent: value(in.ConsistentRead), limit: value(in.Limit), start: in.ExclusiveStartKey, visit: visit,
	}}
}

// page calls read to read a page, and fills the output. The budget must admit the page before it is read, although the
// consumed capacity is known only afterwards. partition is nil for a scan.
func (p *pageRead) page(
	ctx context.Context, of *table.Read, partition []byte, read func() (table.Page, error),
) error {
	b := p.service.budget(ctx, false)
	if err := b.page(of, partition); err != nil {
		return err
	}
	p.answer = answer{}
	page, err := read()
	if err != nil {
		return err
	}
	b.spent(of, partition, &page.Capacity)
	p.count, p.scanned = int64(page.Returned), int64(page.Examined)
	p.out.Count, p.out.ScannedCount = &p.count, &p.scanned
	p.out.LastEvaluatedKey = page.Last
	consume(ctx, of.Table.Name(), false, &page.Capacity)
	p.out.ConsumedCapacity = consumed(p.mode, value(p.table), &page.Capacity)
	return nil
}

// A pageEncoder encodes the items of one query or scan to JSON directly from the stored rows. It is pooled, so
// nothing may refer to it after the request.
type pageEncoder[I any] struct {
	in          I
	dst         []byte
	count       int
	reservation event.Reservation // memory for the response; if it is nil, the size of the response is not limited
	visit       Visit             // the method add, bound once
}

// largeItem is the stored size in bytes from which an item is large. The encoder measures the JSON of a large item
// before it encodes the item, so that it allocates the memory only once.
const largeItem = 16 << 10

// add appends an item to Items in the response.
func (e *pageEncoder[I]) add(it attr.Item) (int, error) {
	if e.count++; e.count > 1 {
		e.dst = append(e.dst, ',')
	}
	if len(it) >= largeItem {
		if err := e.grow(item.JSONLen(it)); err != nil {
			return 0, err
		}
	}

	before := len(e.dst)
	e.dst = it.AppendJSON(e.dst)
	return len(e.dst) - before, e.grow(0)
}

// grow makes sure that dst has capacity for n more bytes. It reserves the memory first. It doubles the capacity, so
// for long slices it allocates less in total than append does.
func (e *pageEncoder[I]) grow(n int) error {
	want := cap(e.dst)
	if need := len(e.dst) + n + largeItem; need > want && need > uncounted {
		want = max(2*want, need)
	}
	if want <= uncounted {
		return nil // too short to be counted, so let append allocate
	}
	if e.reservation != nil && want > e.reservation.Reserved() {
		if err := reserve(e.reservation, want); err != nil {
			return err
		}
	}
	if want > cap(e.dst) {
		e.dst = append(make([]byte, 0, want), e.dst...)
	}
	return nil
}

// page returns the handler of an operation whose method passes items to a [Visit]: Query or Scan.
func page[I any, P interface{ *I }, O wire.Output](
	sel func(P) *string, method func(*Service, context.Context, P, Visit) (O, error),
) handler {
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
		if err := wire.Decode(body, in); err != nil {
			return nil, err
		}
		e.dst, e.reservation = append(dst, `{"Items":[`...), event.CallOf(ctx).Reservation
		out, err := method(s, ctx, in, e.visit)
		switch {
		case err != nil:
			return nil, err
		case value(sel(in)) == selectCount:
			return wire.AppendJSON(dst, out), nil
		}
		return appendMembers(append(e.dst, ']'), out), nil
	}
}

// appendMembers completes a JSON object at the end of dst. The object has exactly one member so far. appendMembers
// appends the members of out and the closing brace. out must not have the member that is in dst already.
func appendMembers(dst []byte, out wire.Output) []byte {
	at := len(dst)
	dst = wire.AppendJSON(dst, out)
	if dst[at+1] == '}' { // out has no members
		return append(dst[:at], '}')
	}
	dst[at] = ',' // instead of the opening brace
	return dst
}
