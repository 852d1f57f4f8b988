package api

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/keycond"
)

// A sink takes the items of an answer one by one. An item is valid until add
// returns. An error ends the reading.
type sink interface{ add(attr.Item) error }

// collector is the sink of typed answers. Small items share memory.
type collector struct {
	items []attr.Item
	room  []byte
}

const (
	sharedBytes = 512 // the longest item that shares
	roomBytes   = 4096
)

func (c *collector) add(it attr.Item) error {
	if it == nil {
		it = attr.Item{}
	}
	if len(it) > sharedBytes {
		c.items = append(c.items, bytes.Clone(it))
		return nil
	}
	if c.room == nil || cap(c.room)-len(c.room) < len(it) {
		c.room = make([]byte, 0, min(max(2*cap(c.room), 2*sharedBytes), roomBytes))
	}
	from := len(c.room)
	c.room = append(c.room, it...)
	c.items = append(c.items, c.room[from:len(c.room):len(c.room)])
	return nil
}

// jsonSink is the sink of bodies: it writes a JSON list, straight from the
// stored rows.
type jsonSink struct {
	dst   []byte
	count int
}

func (j *jsonSink) add(it attr.Item) error {
	if j.count++; j.count > 1 {
		j.dst = append(j.dst, ',')
	}
	j.dst = it.AppendJSON(j.dst)
	return nil
}

const itemsHead = `{"Items":[`

// finish closes the list of Items and appends the rest of the output's
// members, which must have been written without them.
func (j *jsonSink) finish(out appender) []byte {
	dst := append(j.dst, ']')
	at := len(dst)
	dst = out.AppendJSON(dst)
	dst[at] = ',' // in the place of the brace
	return dst
}

// answering is what an answer in JSON needs that nobody keeps after it.
type answering[I any] struct {
	in   I
	sink jsonSink
}

// items makes a handler of an operation that finds items: they are written as
// they are found, unless only their number is asked for.
func items[I any, P decodable[I], O appender](sel func(P) *string, run func(*Service, context.Context, P, sink) (O, error)) handler {
	pool := &sync.Pool{New: func() any { return new(answering[I]) }}
	return func(s *Service, ctx context.Context, body, dst []byte) ([]byte, error) {
		a := pool.Get().(*answering[I])
		defer func() {
			*a = answering[I]{}
			pool.Put(a)
		}()
		in := P(&a.in)
		if err := in.DecodeJSON(body); err != nil {
			return nil, err
		}
		if value(sel(in)) == selectCount {
			out, err := run(s, ctx, in, nil)
			if err != nil {
				return nil, err
			}
			return out.AppendJSON(dst), nil
		}
		a.sink.dst = append(dst, itemsHead...)
		out, err := run(s, ctx, in, &a.sink)
		if err != nil {
			return nil, err
		}
		return a.sink.finish(out), nil
	}
}

// Query runs one page of a query.
func (s *Service) Query(ctx context.Context, in *wire.QueryInput) (*wire.QueryOutput, error) {
	c := &collector{items: []attr.Item{}}
	out, err := s.query(ctx, in, c)
	if err != nil {
		return nil, err
	}
	if value(in.Select) != selectCount {
		out.Items = c.items
	}
	return out, nil
}

// query runs one page of a query and gives its items to to.
func (s *Service) query(ctx context.Context, in *wire.QueryInput, to sink) (*wire.QueryOutput, error) {
	if s.opts.Observer == nil { // without the closure of the other way
		out, err := s.queryPage(ctx, in, to)
		return out, s.typedError(err)
	}
	return call(ctx, s, wire.OpQuery, in, func(ctx context.Context, in *wire.QueryInput) (*wire.QueryOutput, error) {
		return s.queryPage(ctx, in, to)
	})
}

func (s *Service) queryPage(ctx context.Context, in *wire.QueryInput, to sink) (*wire.QueryOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if err := in.CheckParams(); err != nil {
		return nil, err
	}
	if err := wire.OpQuery.FaultError(in.Faults, ""); err != nil {
		return nil, err
	}
	x := new(querying)
	rd := &x.reading
	*rd = reading{
		request: request{op: wire.OpQuery, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues},
		index:   in.IndexName, sel: in.Select, attributes: in.AttributesToGet, projected: in.ProjectionExpression,
		consistent: value(in.ConsistentRead), mode: in.ReturnConsumedCapacity, limit: value(in.Limit), start: in.ExclusiveStartKey,
	}
	if err := rd.open(); err != nil {
		return nil, err
	}
	if err := rd.openLegacy(in.QueryFilter, in.ConditionalOperator); err != nil {
		return nil, err
	}
	var key *expr.Condition
	var err error
	switch {
	case in.KeyConditionExpression != nil:
		key, err = rd.condition(expr.KeyConditionExpression, in.KeyConditionExpression)
	case in.KeyConditions != nil:
		if len(in.KeyConditions) == 0 || len(in.KeyConditions) > 2*keycond.MaxAttributes {
			return nil, wire.OpQuery.Invalid("Conditions can be of length 1 or 2 only")
		}
		key, err = rd.legacy(expr.KeyConditions, in.KeyConditions, nil)
	default:
		return nil, wire.OpQuery.Invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	if err != nil {
		return nil, err
	}
	if err := rd.finish(in.FilterExpression, expr.QueryFilter, in.QueryFilter, in.ConditionalOperator); err != nil {
		return nil, err
	}
	out := &x.out
	err = s.db.View(ctx, func(snap *table.Snapshot) error {
		read, schema, err := rd.resolve(s, snap, in.TableName)
		if err != nil {
			return cmp.Or(keycond.Check(key), err) // what is wrong with the condition comes first
		}
		if len(in.KeyConditions) > max(2, len(schema.Hash)+len(schema.Range)) {
			return wire.OpQuery.Invalid("Conditions can be of length 1 or 2 only")
		}
		slice, err := keycond.Compile(schema, key)
		if err != nil {
			return cmp.Or(keycond.Check(key), read.CheckStartForm(), err)
		}
		x.query = table.Query{Read: read, Slice: slice, Reverse: in.ScanIndexForward != nil && !*in.ScanIndexForward}
		if err := rd.checkPaths(read.Table, schema); err != nil {
			return cmp.Or(x.query.CheckStart(), err) // which comes first
		}
		page, err := snap.Query(&x.query, rd.visit(to))
		if err != nil {
			return err
		}
		x.count, x.scanned = int64(page.Returned), int64(page.Examined)
		out.Count, out.ScannedCount = &x.count, &x.scanned
		out.LastEvaluatedKey = page.Last
		consume(ctx, read.Table.Name(), false, &page.Capacity)
		out.ConsumedCapacity = consumed(rd.mode, value(in.TableName), &page.Capacity)
		return nil
	})
	return out, err
}

// querying is a query while it runs, and its answer.
type querying struct {
	reading
	query          table.Query
	out            wire.QueryOutput
	count, scanned int64
}

// Scan runs one page of a scan.
func (s *Service) Scan(ctx context.Context, in *wire.ScanInput) (*wire.ScanOutput, error) {
	c := &collector{items: []attr.Item{}}
	out, err := s.scan(ctx, in, c)
	if err != nil {
		return nil, err
	}
	if value(in.Select) != selectCount {
		out.Items = c.items
	}
	return out, nil
}

// scan runs one page of a scan and gives its items to to.
func (s *Service) scan(ctx context.Context, in *wire.ScanInput, to sink) (*wire.ScanOutput, error) {
	if s.opts.Observer == nil { // without the closure of the other way
		out, err := s.scanPage(ctx, in, to)
		return out, s.typedError(err)
	}
	return call(ctx, s, wire.OpScan, in, func(ctx context.Context, in *wire.ScanInput) (*wire.ScanOutput, error) {
		return s.scanPage(ctx, in, to)
	})
}

func (s *Service) scanPage(ctx context.Context, in *wire.ScanInput, to sink) (*wire.ScanOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if err := in.CheckParams(); err != nil {
		return nil, err
	}
	if err := checkSegments(in); err != nil {
		return nil, err
	}
	if err := wire.OpScan.FaultError(in.Faults, ""); err != nil {
		return nil, err
	}
	x := new(scanning)
	rd := &x.reading
	*rd = reading{
		request: request{op: wire.OpScan, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues},
		index:   in.IndexName, sel: in.Select, attributes: in.AttributesToGet, projected: in.ProjectionExpression,
		consistent: value(in.ConsistentRead), mode: in.ReturnConsumedCapacity, limit: value(in.Limit), start: in.ExclusiveStartKey,
	}
	if err := rd.open(); err != nil {
		return nil, err
	}
	if err := rd.finish(in.FilterExpression, expr.ScanFilter, in.ScanFilter, in.ConditionalOperator); err != nil {
		return nil, err
	}
	out := &x.out
	err := s.db.View(ctx, func(snap *table.Snapshot) error {
		read, _, err := rd.resolve(s, snap, in.TableName)
		if err != nil {
			return err
		}
		x.scan = table.Scan{Read: read, Segment: uint32(value(in.Segment)), Segments: uint32(value(in.TotalSegments))}
		if err := rd.checkPaths(read.Table, nil); err != nil {
			return cmp.Or(x.scan.CheckStart(), err) // which comes first
		}
		page, err := snap.Scan(&x.scan, rd.visit(to))
		if err != nil {
			return err
		}
		x.count, x.scanned = int64(page.Returned), int64(page.Examined)
		out.Count, out.ScannedCount = &x.count, &x.scanned
		out.LastEvaluatedKey = page.Last
		consume(ctx, read.Table.Name(), false, &page.Capacity)
		out.ConsumedCapacity = consumed(rd.mode, value(in.TableName), &page.Capacity)
		return nil
	})
	return out, err
}

// scanning is a scan while it runs, and its answer.
type scanning struct {
	reading
	scan           table.Scan
	out            wire.ScanOutput
	count, scanned int64
}

// checkSegments refuses a segment without a total, the reverse, and a segment
// that is none. Source: dynalite, test/scan.js.
func checkSegments(in *wire.ScanInput) error {
	switch {
	case in.Segment != nil && in.TotalSegments == nil:
		return wire.OpScan.Invalid("The TotalSegments parameter is required but was not present in the request when Segment parameter is present")
	case in.Segment == nil && in.TotalSegments != nil:
		return wire.OpScan.Invalid("The Segment parameter is required but was not present in the request when parameter TotalSegments is present")
	case in.Segment != nil && *in.Segment >= *in.TotalSegments:
		return wire.OpScan.Invalid(fmt.Sprintf("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d is not less than TotalSegments: %d",
			*in.Segment, *in.TotalSegments))
	}
	return nil
}
