package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/internal/legacy"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// Scan reads one page of a scan. It calls visit like [Service.Query].
func (s *Service) Scan(ctx context.Context, in *wire.ScanInput, visit Visit) (*wire.ScanOutput, error) {
	ctx, c, err := s.begin(ctx, wire.OpScan, in)
	var out *wire.ScanOutput
	if err == nil {
		out, err = s.scan(ctx, in, visit)
	}
	if err = c.end(ctx, err); err != nil {
		return nil, err
	}
	return out, nil
}

func (s *Service) scan(ctx context.Context, in *wire.ScanInput, visit Visit) (*wire.ScanOutput, error) {
	if err := wire.Validate(wire.OpScan, in); err != nil {
		return nil, err
	}
	if err := checkForm(wire.OpScan, in, nil, slices.Contains(in.AttributesToGet, "")); err != nil {
		return nil, err
	}
	x := new(struct {
		pageRead
		scan table.Scan
	})
	r := &x.readParams
	*r = readParams{
		expressions: expressions{
			op: wire.OpScan, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
		},
		table: in.TableName, index: in.IndexName, sel: in.Select, attributes: in.AttributesToGet,
		projected:  in.ProjectionExpression,
		consistent: value(in.ConsistentRead), mode: in.ReturnConsumedCapacity, limit: value(in.Limit),
		start: in.ExclusiveStartKey, visit: visit,
	}

	if err := r.parseLegacy(legacy.ScanFilter, in.ScanFilter, in.ConditionalOperator, in.Faults); err != nil {
		return nil, err
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	if err := r.parse(in.FilterExpression); err != nil {
		return nil, err
	}
	if err := checkSegments(in); err != nil {
		return nil, err
	}

	err := s.db.View(ctx, func(view *table.View) error {
		read, _, err := r.resolve(s, view)
		if err != nil {
			return err
		}
		if err := r.checkProjected(&read, false); err != nil {
			return err
		}
		x.scan = table.Scan{Read: read, Segment: uint32(value(in.Segment)), Segments: uint32(value(in.TotalSegments))}
		if err := r.checkPaths(read.Table, nil); err != nil {
			return cmp.Or(x.scan.CheckStart(), err) // the service reports an error of the start key first
		}

		b := s.budget(ctx, false)
		if err := b.page(&read, nil); err != nil {
			return err
		}
		r.answer = answer{}
		page, err := view.Scan(&x.scan, r.take)
		if err != nil {
			return err
		}
		b.spent(&read, nil, &page.Capacity)
		x.finish(ctx, read.Table, &page)
		return nil
	})

	return (*wire.ScanOutput)(&x.out), err
}

// checkSegments returns an error for Segment without TotalSegments, for TotalSegments without Segment, and for a
// Segment that is not less than TotalSegments. Source: dynalite, test/scan.js.
func checkSegments(in *wire.ScanInput) error {
	switch {
	case in.Segment != nil && in.TotalSegments == nil:
		return wire.OpScan.Invalid("The TotalSegments parameter is required but was not present in the request when " +
			"Segment parameter is present")
	case in.Segment == nil && in.TotalSegments != nil:
		return wire.OpScan.Invalid("The Segment parameter is required but was not present in the request when " +
			"parameter TotalSegments is present")
	case in.Segment != nil && *in.Segment >= *in.TotalSegments:
		return wire.OpScan.Invalid(fmt.Sprintf("The Segment parameter is zero-based and must be less than parameter "+
			"TotalSegments: Segment: %d is not less than TotalSegments: %d",
			*in.Segment, *in.TotalSegments))
	}
	return nil
}
