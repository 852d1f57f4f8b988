package api

import (
	"bytes"
	"context"
	"fmt"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/table"
)

// A sink takes the items of an answer one by one. An item is valid until add
// returns.
type sink interface{ add(attr.Item) }

// collector is the sink of typed answers.
type collector struct{ items []attr.Item }

func (c *collector) add(it attr.Item) {
	if it == nil {
		it = attr.Item{}
	}
	c.items = append(c.items, bytes.Clone(it))
}

// jsonSink is the sink of bodies: it writes a JSON list, straight from the
// stored rows.
type jsonSink struct {
	dst   []byte
	count int
}

func (j *jsonSink) add(it attr.Item) {
	if j.count++; j.count > 1 {
		j.dst = append(j.dst, ',')
	}
	j.dst = it.AppendJSON(j.dst)
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

// items makes a handler of an operation that finds items: they are written as
// they are found, unless only their number is asked for.
func items[I any, P decodable[I], O appender](sel func(P) *string, run func(*Service, context.Context, P, sink) (O, error)) handler {
	return func(s *Service, ctx context.Context, body, dst []byte) ([]byte, error) {
		in := P(new(I))
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
		j := &jsonSink{dst: append(dst, itemsHead...)}
		out, err := run(s, ctx, in, j)
		if err != nil {
			return nil, err
		}
		return j.finish(out), nil
	}
}

// Query runs one page of a query.
func (s *Service) Query(ctx context.Context, in *QueryInput) (*QueryOutput, error) {
	c := &collector{items: []attr.Item{}}
	out, err := s.query(ctx, in, c)
	if err != nil {
		return nil, s.typedError(err)
	}
	if value(in.Select) != selectCount {
		out.Items = c.items
	}
	return out, nil
}

// query runs one page of a query and gives its items to to.
func (s *Service) query(ctx context.Context, in *QueryInput, to sink) (*QueryOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if err := in.CheckParams(); err != nil {
		return nil, err
	}
	if err := OpQuery.FaultError(in.Faults, ""); err != nil {
		return nil, err
	}
	rd := reading{
		request: request{op: OpQuery, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues},
		index:   in.IndexName, sel: in.Select, attributes: in.AttributesToGet, projected: in.ProjectionExpression,
		consistent: value(in.ConsistentRead), mode: in.ReturnConsumedCapacity, limit: value(in.Limit), start: in.ExclusiveStartKey,
	}
	if err := rd.open(); err != nil {
		return nil, err
	}
	var key *expr.Condition
	var err error
	switch {
	case in.KeyConditionExpression != nil:
		key, err = rd.condition(expr.KeyConditionExpression, in.KeyConditionExpression)
	case in.KeyConditions != nil:
		if len(in.KeyConditions) == 0 || len(in.KeyConditions) > 2*keycond.MaxAttributes {
			return nil, OpQuery.Invalid("Conditions can be of length 1 or 2 only")
		}
		key, err = rd.legacy(expr.KeyConditions, in.KeyConditions, nil)
	default:
		return nil, OpQuery.Invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	if err != nil {
		return nil, err
	}
	if err := rd.finish(in.FilterExpression, expr.QueryFilter, in.QueryFilter, in.ConditionalOperator); err != nil {
		return nil, err
	}
	out := new(QueryOutput)
	err = s.db.View(ctx, func(snap *table.Snapshot) error {
		read, schema, err := rd.resolve(s, snap, in.TableName)
		if err != nil {
			return err
		}
		if len(in.KeyConditions) > max(2, len(schema.Hash)+len(schema.Range)) {
			return OpQuery.Invalid("Conditions can be of length 1 or 2 only")
		}
		slice, err := keycond.Compile(schema, key)
		if err != nil {
			return err
		}
		if err := rd.checkFilterKeys(schema); err != nil {
			return err
		}
		q := &table.Query{Read: read, Slice: slice, Reverse: in.ScanIndexForward != nil && !*in.ScanIndexForward}
		page, err := snap.Query(q, rd.visit(to))
		if err != nil {
			return err
		}
		out.Count, out.ScannedCount = new(int64(page.Returned)), new(int64(page.Examined))
		out.LastEvaluatedKey = page.Last
		out.ConsumedCapacity = consumed(rd.mode, value(in.TableName), &page.Capacity)
		return nil
	})
	return out, err
}

// Scan runs one page of a scan.
func (s *Service) Scan(ctx context.Context, in *ScanInput) (*ScanOutput, error) {
	c := &collector{items: []attr.Item{}}
	out, err := s.scan(ctx, in, c)
	if err != nil {
		return nil, s.typedError(err)
	}
	if value(in.Select) != selectCount {
		out.Items = c.items
	}
	return out, nil
}

// scan runs one page of a scan and gives its items to to.
func (s *Service) scan(ctx context.Context, in *ScanInput, to sink) (*ScanOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if err := in.CheckParams(); err != nil {
		return nil, err
	}
	if err := checkSegments(in); err != nil {
		return nil, err
	}
	if err := OpScan.FaultError(in.Faults, ""); err != nil {
		return nil, err
	}
	rd := reading{
		request: request{op: OpScan, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues},
		index:   in.IndexName, sel: in.Select, attributes: in.AttributesToGet, projected: in.ProjectionExpression,
		consistent: value(in.ConsistentRead), mode: in.ReturnConsumedCapacity, limit: value(in.Limit), start: in.ExclusiveStartKey,
	}
	if err := rd.open(); err != nil {
		return nil, err
	}
	if err := rd.finish(in.FilterExpression, expr.ScanFilter, in.ScanFilter, in.ConditionalOperator); err != nil {
		return nil, err
	}
	out := new(ScanOutput)
	err := s.db.View(ctx, func(snap *table.Snapshot) error {
		read, _, err := rd.resolve(s, snap, in.TableName)
		if err != nil {
			return err
		}
		sc := &table.Scan{Read: read, Segment: uint32(value(in.Segment)), Segments: uint32(value(in.TotalSegments))}
		page, err := snap.Scan(sc, rd.visit(to))
		if err != nil {
			return err
		}
		out.Count, out.ScannedCount = new(int64(page.Returned)), new(int64(page.Examined))
		out.LastEvaluatedKey = page.Last
		out.ConsumedCapacity = consumed(rd.mode, value(in.TableName), &page.Capacity)
		return nil
	})
	return out, err
}

// checkSegments refuses a segment without a total, the reverse, and a segment
// that is none. Source: dynalite, test/scan.js.
func checkSegments(in *ScanInput) error {
	switch {
	case in.Segment != nil && in.TotalSegments == nil:
		return OpScan.Invalid("The TotalSegments parameter is required but was not present in the request when Segment parameter is present")
	case in.Segment == nil && in.TotalSegments != nil:
		return OpScan.Invalid("The Segment parameter is required but was not present in the request when parameter TotalSegments is present")
	case in.Segment != nil && *in.Segment >= *in.TotalSegments:
		return OpScan.Invalid(fmt.Sprintf("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d is not less than TotalSegments: %d",
			*in.Segment, *in.TotalSegments))
	}
	return nil
}
