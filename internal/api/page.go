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
	in          I
	dst         []byte
	count       int
	reservation event.Reservation // nil: nothing limits the answer
	visit       Visit             // the method add, bound once
}

// largeItem is the size of stored items whose JSON is measured before it is appended,
// so that its memory is allocated at once.
const largeItem = 16 << 10

// add appends an item to the list of Items.
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

// grow allocates memory for n bytes more. Capacity is doubled, which costs less memory than
// what append does with long slices, and it is reserved before it is allocated.
func (e *pageEncoder[I]) grow(n int) error {
	want := cap(e.dst)
	if need := len(e.dst) + n + largeItem; need > want && need > uncounted {
		want = max(2*want, need)
	}
	if want <= uncounted {
		return nil // a page this short is not counted, and append makes it as long as it needs
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

// page returns the handler of an operation that visits items.
func page[I any, P interface {
	*I
	wire.Input
}, O wire.Output](sel func(P) *string, method func(*Service, context.Context, P, Visit) (O, error)) handler {
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
		e.dst, e.reservation = append(dst, `{"Items":[`...), event.CallOf(ctx).Reservation
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
func appendMembers(dst []byte, out wire.Output) []byte {
	at := len(dst)
	dst = out.AppendJSON(dst)
	if dst[at+1] == '}' { // the rest of the answer is empty
		return append(dst[:at], '}')
	}
	dst[at] = ',' // instead of the opening brace
	return dst
}
