package api

import (
	"context"
	"fmt"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/internal/table"
)

// updateTimeToLive enables or disables time to live. The next sweep deletes items that have expired; see
// [life.DB.Sweep].
func (s *Service) updateTimeToLive(
	ctx context.Context, in *wire.UpdateTimeToLiveInput,
) (*wire.UpdateTimeToLiveOutput, error) {
	name, err := s.tableName(in.TableName)
	if err != nil {
		return nil, err
	}
	spec := in.TimeToLiveSpecification
	change := func(def *table.Definition) error { return changeExpiry(def, *spec.Enabled, value(spec.AttributeName)) }
	t, err := s.found(ctx, in.TableName)
	if err == nil && t.Definition().Status(s.now()) == table.StatusDeleting { // ack-api-quirks, DDB-TABLE-118
		err = change(t.Definition().Clone())
	} else if err == nil {
		_, err = s.db.Alter(ctx, name, change)
	}
	if isKind(err, table.InUse) { // ack-api-quirks, DDB-TABLE-444
		return nil, noSuchTable(name)
	}
	return &wire.UpdateTimeToLiveOutput{TimeToLiveSpecification: spec}, err
}

// changeExpiry enables or disables time to live with the given attribute.
func changeExpiry(def *table.Definition, enable bool, attribute string) error {
	switch {
	case def.Expiry != "" && def.Expiry != attribute:
		return wire.Validation(
			"TimeToLive is active on a different AttributeName: current AttributeName is " + def.Expiry,
		)
	case enable && def.Expiry != "":
		return wire.Validation("TimeToLive is already enabled")
	case enable:
		def.Expiry = attribute
	case def.Expiry == "":
		return wire.Validation("TimeToLive is already disabled")
	default:
		def.Expiry = ""
	}
	return nil
}

// describeTimeToLive returns whether time to live is enabled, and on which
// attribute.
func (s *Service) describeTimeToLive(
	ctx context.Context, in *wire.DescribeTimeToLiveInput,
) (*wire.DescribeTimeToLiveOutput, error) {
	t, err := s.described(ctx, in.TableName)
	if err != nil {
		return nil, err
	}
	switch status := t.Definition().Status(s.now()); status {
	case table.StatusCreating, table.StatusDeleting: // ack-api-quirks, DDB-TABLE-118 and 442
		return nil, wire.Validation(fmt.Sprintf(
			"Cannot describe time to live while table is in %s state: Current table state is %[1]s", status))
	}
	return &wire.DescribeTimeToLiveOutput{TimeToLiveDescription: describeExpiry(t.Definition())}, nil
}

func describeExpiry(def *table.Definition) *wire.TimeToLiveDescription {
	d := &wire.TimeToLiveDescription{TimeToLiveStatus: enabled(def.Expiry != "")}
	if def.Expiry != "" {
		d.AttributeName = new(def.Expiry)
	}
	return d
}
