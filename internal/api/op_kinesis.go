package api

import (
	"context"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// Source of the texts in this file: quirks, findings DDB-TABLE-268, 299 to 304 and
// 318; localstack, provider.py.

// enableKinesisStreamingDestination sets the Kinesis stream for the changes of a table. It only stores the setting;
// Sortkey delivers nothing.
func (s *Service) enableKinesisStreamingDestination(
	ctx context.Context, in *wire.KinesisStreamingDestinationInput,
) (*wire.KinesisStreamingDestinationOutput, error) {
	change := func(def *table.Definition, _ *table.Destination) error {
		if slices.ContainsFunc(def.Kinesis, s.inUseKinesis) {
			return wrongDestination(
				"EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform ENABLE operation.",
			)
		}
		arn := *in.StreamArn
		d := table.Destination{ARN: arn, Status: "ACTIVE", Passing: "ENABLING", Until: s.db.Until()}
		if c := in.EnableKinesisStreamingConfiguration; c != nil {
			d.Precision = value(c.ApproximateCreationDateTimePrecision)
		}
		if d.Reason = s.unreachable(arn); d.Reason != "" {
			d.Status = "ENABLE_FAILED"
		}
		others := slices.DeleteFunc(def.Kinesis, func(d table.Destination) bool { return d.ARN == arn })
		def.Kinesis = slices.Insert(others, 0, d)
		return nil
	}

	out, err := s.switchKinesis(ctx, in, "ENABLING", change)
	if err == nil && out.EnableKinesisStreamingConfiguration == nil {
		// Source: recordings of the service of 2025.
		out.EnableKinesisStreamingConfiguration = new(wire.EnableKinesisStreamingConfiguration)
	}
	return out, err
}

// inUseKinesis reports whether the state of a destination keeps the service from enabling another destination.
func (s *Service) inUseKinesis(d table.Destination) bool {
	status := d.StatusAt(s.now())
	return status != "DISABLED" && status != "ENABLE_FAILED"
}

// unreachable returns why the service could not deliver records to an ARN. It returns "" for the ARN of a stream in
// this region, and does not check whether that stream exists.
func (s *Service) unreachable(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	switch {
	case len(parts) != 6 || parts[2] != "kinesis" || !strings.HasPrefix(parts[5], "stream/") ||
		strings.Count(parts[5], "/") > 1:
		return "User does not have a permission to use kinesis stream"
	case parts[3] != s.opts.Region:
		return "The kinesis Arn used to enable kinesis replication belongs to a stream which is " +
			"not in the current region"
	}
	return ""
}

// disableKinesisStreamingDestination disables the destination of a table.
func (s *Service) disableKinesisStreamingDestination(
	ctx context.Context, in *wire.KinesisStreamingDestinationInput,
) (*wire.KinesisStreamingDestinationOutput, error) {
	return s.switchKinesis(ctx, in, "DISABLING", func(_ *table.Definition, d *table.Destination) error {
		if in.EnableKinesisStreamingConfiguration != nil {
			return wire.Validation(
				"Stream cannot be disabled using EnableKinesisStreamingConfiguration parameters",
			)
		}
		if d == nil || d.StatusAt(s.now()) != "ACTIVE" {
			return wrongDestination("KinesisStreamingDestination must be ACTIVE to perform DISABLE operation.")
		}
		d.Status, d.Passing, d.Until = "DISABLED", "DISABLING", s.db.Until()
		return nil
	})
}

func wrongDestination(why string) error {
	return wire.Validation("Table is not in a valid state to enable Kinesis Streaming Destination: " + why)
}

// switchKinesis calls change to change the destinations in the definition of a table. The response has the given
// status. change also gets a pointer to the destination with the StreamArn of the input, or nil if there is none.
func (s *Service) switchKinesis(ctx context.Context, in *wire.KinesisStreamingDestinationInput, status string,
	change func(*table.Definition, *table.Destination) error,
) (*wire.KinesisStreamingDestinationOutput, error) {
	t, err := s.seen(ctx, in.TableName)
	if err != nil {
		return nil, err
	}
	name := t.Definition().Name
	_, err = s.db.Alter(ctx, name, func(def *table.Definition) error {
		var d *table.Destination
		i := slices.IndexFunc(def.Kinesis, func(d table.Destination) bool { return d.ARN == *in.StreamArn })
		if i >= 0 {
			d = &def.Kinesis[i]
		}
		return change(def, d)
	})
	return &wire.KinesisStreamingDestinationOutput{
		TableName: &name, StreamArn: in.StreamArn, DestinationStatus: &status,
		EnableKinesisStreamingConfiguration: in.EnableKinesisStreamingConfiguration,
	}, err
}

// updateKinesisStreamingDestination changes the precision of the timestamps in stream records.
func (s *Service) updateKinesisStreamingDestination(
	ctx context.Context, in *wire.UpdateKinesisStreamingDestinationInput,
) (*wire.UpdateKinesisStreamingDestinationOutput, error) {
	c := in.UpdateKinesisStreamingConfiguration
	if c == nil || c.ApproximateCreationDateTimePrecision == nil {
		return nil, wire.OpUpdateKinesisStreamingDestination.Invalid("Streaming destination cannot be updated with " +
			"given parameters: UpdateKinesisStreamingConfiguration cannot be null or contain only null values")
	}
	precision := *c.ApproximateCreationDateTimePrecision
	change := func(def *table.Definition, d *table.Destination) error {
		switch {
		case d == nil:
			return wrongDestination("No streaming destination with streamArn: " + *in.StreamArn +
				" found for table with tableName: " + def.Name)
		case d.StatusAt(s.now()) != "ACTIVE":
			return wrongDestination("Kinesis streaming is not in ACTIVE state. " +
				"Updates are only allowed in ACTIVE state. TableName: " + def.Name + ", kdsArn: " + *in.StreamArn)
		case d.Precision == precision || d.Precision == "" && precision == "MILLISECOND":
			return wire.Validation("Invalid Request: Precision is already set to the desired value of " +
				precision + " for tableId: " + def.ID + ", kdsArn: " + *in.StreamArn)
		}
		d.Precision, d.Passing, d.Until = precision, "UPDATING", s.db.Until()
		return nil
	}
	out, err := s.switchKinesis(ctx, wire.As[wire.KinesisStreamingDestinationInput](in), "UPDATING", change)
	if err != nil {
		return nil, err
	}
	updated := wire.As[wire.UpdateKinesisStreamingDestinationOutput](out)
	updated.UpdateKinesisStreamingConfiguration = c
	return updated, nil
}

// describeKinesisStreamingDestination lists the destinations of a table, including disabled ones.
func (s *Service) describeKinesisStreamingDestination(
	ctx context.Context, in *wire.DescribeKinesisStreamingDestinationInput,
) (*wire.DescribeKinesisStreamingDestinationOutput, error) {
	t, err := s.seen(ctx, in.TableName)
	if err != nil {
		return nil, err
	}
	out := &wire.DescribeKinesisStreamingDestinationOutput{
		TableName: new(t.Definition().Name), KinesisDataStreamDestinations: []wire.KinesisDataStreamDestination{},
	}
	for _, d := range t.Definition().Kinesis {
		x := wire.KinesisDataStreamDestination{StreamArn: new(d.ARN), DestinationStatus: new(d.StatusAt(s.now()))}
		if d.Reason != "" {
			x.DestinationStatusDescription = new(d.Reason)
		}
		if d.Precision != "" {
			x.ApproximateCreationDateTimePrecision = new(d.Precision)
		}
		out.KinesisDataStreamDestinations = append(out.KinesisDataStreamDestinations, x)
	}
	return out, nil
}
