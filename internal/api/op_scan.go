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
	scan := func(s *Service, ctx context.Context, in *wire.ScanInput) (*wire.ScanOutput, error) {
		return s.scan(ctx, in, visit)
	}
	return call(ctx, s, wire.OpScan, in, scan)
}

func (s *Service) scan(ctx context.Context, in *wire.ScanInput, visit Visit) (*wire.ScanOutput, error) {
	if err := checkForm(wire.OpScan, in, nil, slices.Contains(in.AttributesToGet, "")); err != nil {
		return nil, err
	}
	r := new(pageRead)
	r.begin(s, wire.OpScan, wire.As[wire.QueryInput](in), visit)
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

	return (*wire.ScanOutput)(&r.out), s.db.View(ctx, func(view *table.View) error {
		read, _, err := r.resolve(s, view)
		if err != nil {
			return err
		}
		if err := r.checkProjected(&read, false); err != nil {
			return err
		}
		scan := table.Scan{Read: read, Segment: uint32(value(in.Segment)), Segments: uint32(value(in.TotalSegments))}
		if err := r.checkPaths(read.Table, nil); err != nil {
			return cmp.Or(scan.CheckStart(), err) // the service reports an error of the start key first
		}
		return r.page(ctx, &scan.Read, nil, func() (table.Page, error) { return view.Scan(&scan, r.take) })
	})
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
