package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/internal/table"
)

// CreateExpiring creates a table. Unless attribute is "", it enables time to live in the same step. With CreateTable
// and UpdateTimeToLive, the table would exist without time to live for a moment.
func (s *Service) CreateExpiring(
	ctx context.Context, in *wire.CreateTableInput, attribute string,
) (*wire.CreateTableOutput, error) {
	create := func(s *Service, ctx context.Context, in *wire.CreateTableInput) (*wire.CreateTableOutput, error) {
		def, err := s.definition(in)
		if err != nil {
			return nil, err
		}
		def.Expiry = attribute
		return s.create(ctx, def)
	}
	return call(ctx, s, wire.OpCreateTable, in, create)
}

// createTable creates a table. The description says CREATING, as the service's does, but the table can be used as
// soon as the call returns. If [life.DB.Delay] is set, it can be used after that time.
func (s *Service) createTable(ctx context.Context, in *wire.CreateTableInput) (*wire.CreateTableOutput, error) {
	def, err := s.definition(in)
	if err != nil {
		return nil, err
	}
	if in.ResourcePolicy != nil {
		if def.Policy, err = s.canonicalPolicy(*in.ResourcePolicy, TableRef{}); err != nil {
			return nil, err
		}
		def.Policy.Revision = s.nextRevision(nil)
	}
	return s.create(ctx, def)
}

func (s *Service) create(ctx context.Context, def *table.Definition) (*wire.CreateTableOutput, error) {
	t, err := s.db.Create(ctx, def)
	if err != nil {
		return nil, err
	}
	d := s.describe(t)
	describeNew(d, def)
	return &wire.CreateTableOutput{TableDescription: d}, nil
}

// definition returns the definition of a table to create, without the resource policy, which createTable adds.
func (s *Service) definition(in *wire.CreateTableInput) (*table.Definition, error) {
	name, err := s.tableName(in.TableName)
	if err != nil {
		return nil, err
	}
	if len(in.KeySchema) == 0 {
		return nil, wire.OpCreateTable.Invalid("One or more parameter values were invalid: " +
			"No defined key schema.  A key schema containing at least a hash key must be defined for all tables")
	}
	if err := checkStream(in.StreamSpecification,
		"Table is being created with a stream enabled, UpdateViewType is required",
		"Table is being created with a stream disabled, UpdateViewType should not be specified"); err != nil {
		return nil, err
	}

	def := &table.Definition{
		Name: name, Created: s.now(), Attributes: attributesOf(in.AttributeDefinitions), Key: keyOf(in.KeySchema),
		BillingMode: value(in.BillingMode), Class: value(in.TableClass), Protected: value(in.DeletionProtectionEnabled),
		Stream:     s.streamOf(in.StreamSpecification),
		Encryption: encryptionOf(in.SSESpecification),
	}

	if def.OnDemandBilling() {
		def.BillingChanged = def.Created
	}
	if def.ID, err = NewUUID(s.opts.Rand); err != nil {
		return nil, err
	}
	if def.Throughput, err = throughputOf(def, in.ProvisionedThroughput, ""); err != nil {
		return nil, err
	}
	given := settings{onDemand: in.OnDemandThroughput, warm: in.WarmThroughput}
	err = cmp.Or(
		given.apply(def, def.Throughput, &def.OnDemand, &def.Warm, false),
		checkClass(in.TableClass), checkEncryption(in.SSESpecification),
	)
	if err != nil {
		return nil, err
	}

	for _, g := range in.GlobalSecondaryIndexes {
		if err := addGlobal(def, &g, false); err != nil {
			return nil, err
		}
	}
	for _, l := range in.LocalSecondaryIndexes {
		def.Local = append(def.Local, indexOf(l.IndexName, l.KeySchema, l.Projection))
	}
	empty := ""
	switch {
	case in.GlobalSecondaryIndexes != nil && def.Global == nil:
		empty = "GlobalSecondaryIndexes"
	case in.LocalSecondaryIndexes != nil && def.Local == nil:
		empty = "LocalSecondaryIndexes"
	case in.VectorIndexes != nil && len(in.VectorIndexes) == 0:
		empty = "VectorIndexes"
	}
	if empty != "" {
		return nil, wire.OpCreateTable.Invalid(wrongParameter + "List of " + empty + " is empty")
	}
	for _, x := range in.VectorIndexes {
		def.Vectors = append(def.Vectors, vectorOf(&x))
	}
	def.Tags, err = tagsOf(in.Tags)
	return def, err
}

// addGlobal adds a global index to a definition. update is true for a table that exists already.
func addGlobal(def *table.Definition, g *wire.GlobalSecondaryIndex, update bool) (err error) {
	ix := indexOf(g.IndexName, g.KeySchema, g.Projection)
	if ix.Throughput, err = throughputOf(def, g.ProvisionedThroughput, ix.Name); err != nil {
		return err
	}
	given := settings{index: ix.Name, update: update, onDemand: g.OnDemandThroughput, warm: g.WarmThroughput}
	if err := given.apply(def, ix.Throughput, &ix.OnDemand, &ix.Warm, false); err != nil {
		return err
	}
	def.Global = append(def.Global, ix)
	return nil
}

// describeTable describes a table.
func (s *Service) describeTable(ctx context.Context, in *wire.DescribeTableInput) (*wire.DescribeTableOutput, error) {
	t, err := s.found(ctx, in.TableName)
	if err != nil {
		return nil, err
	}
	return &wire.DescribeTableOutput{Table: s.describe(t)}, nil
}

// described returns the table for an operation that describes a part of it. A table that is being restored counts as
// missing: ack-api-quirks, DDB-TABLE-217.
func (s *Service) described(ctx context.Context, name *string) (*table.Table, error) {
	t, err := s.found(ctx, name)
	if err == nil && t.Definition().Restoring(s.now()) != nil {
		return nil, noSuchTable(t.Definition().Name)
	}
	return t, err
}

// unseen is how long after its creation a CREATING table counts as missing for operations on policies and Kinesis
// destinations. Source: ack-api-quirks, on the admission by table state: one to two seconds.
const unseen = 2 * time.Second

// seen returns the table for an operation on its policy or its Kinesis destinations. It treats a very new table as
// missing; see [unseen].
func (s *Service) seen(ctx context.Context, name *string) (*table.Table, error) {
	t, err := s.described(ctx, name)
	if err != nil {
		return nil, err
	}
	now, def := s.now(), t.Definition()
	if def.Status(now) == table.StatusCreating && now.Before(def.Created.Add(unseen)) {
		err = noSuchTable(def.Name)
	}
	return t, err
}

// found returns the table with a name or ARN. If there is no such table, the error contains the name.
func (s *Service) found(ctx context.Context, name *string) (*table.Table, error) {
	n, err := s.tableName(name)
	if err != nil {
		return nil, err
	}
	if err := s.db.Refresh(ctx); err != nil {
		return nil, err
	}
	t, err := s.db.Describe(ctx, n)
	if err != nil {
		return nil, noSuchTable(n)
	}
	return t, nil
}

// noSuchTable returns the error that operations on tables return for a missing table.
func noSuchTable(name string) error {
	return wire.NewError("ResourceNotFoundException", "Requested resource not found: Table: "+name+" not found")
}

// deleteTable deletes a table and its items. The description says DELETING, as the service's does, but the table is
// gone when the call returns. If [life.DB.Delay] is set, it is gone after that time.
func (s *Service) deleteTable(ctx context.Context, in *wire.DeleteTableInput) (*wire.DeleteTableOutput, error) {
	name, err := s.tableName(in.TableName)
	if err != nil {
		return nil, err
	}
	t, err := s.db.Delete(ctx, name)
	if err != nil {
		return nil, err
	}
	full := s.describe(t)
	return &wire.DeleteTableOutput{TableDescription: &wire.TableDescription{
		TableName: full.TableName, TableStatus: new(table.StatusDeleting), TableId: full.TableId,
		TableArn:              full.TableArn,
		ProvisionedThroughput: full.ProvisionedThroughput, ItemCount: full.ItemCount,
		TableSizeBytes:            full.TableSizeBytes,
		DeletionProtectionEnabled: full.DeletionProtectionEnabled, BillingModeSummary: full.BillingModeSummary,
	}}, nil
}

// maxListed is the maximum number of names that ListTables returns.
const maxListed = 100

// listTables lists the names of tables in byte order.
func (s *Service) listTables(ctx context.Context, in *wire.ListTablesInput) (*wire.ListTablesOutput, error) {
	if err := s.db.Refresh(ctx); err != nil {
		return nil, err
	}
	names, err := s.db.Names(ctx)
	if err != nil {
		return nil, err
	}
	if in.ExclusiveStartTableName != nil {
		at, found := slices.BinarySearch(names, *in.ExclusiveStartTableName)
		if found {
			at++
		}
		names = names[at:]
	}

	limit := maxListed
	if in.Limit != nil {
		limit = int(*in.Limit)
	}
	out := &wire.ListTablesOutput{TableNames: append([]string{}, names[:min(limit, len(names))]...)}
	if len(names) > limit {
		out.LastEvaluatedTableName = new(names[limit-1])
	}
	return out, nil
}

// A TableSize is the number of items in a table and their size in bytes, as DescribeTable returns them.
type TableSize struct {
	Name         string
	Items, Bytes int64
}

// TableSizes returns the sizes of all tables in the order of their names. It is much cheaper than DescribeTable for
// each table, and observers do not see it. If several servers share the store, the sizes may not include changes of
// the last few seconds.
func (s *Service) TableSizes(ctx context.Context) []TableSize {
	names, err := s.db.Names(ctx)
	if err != nil {
		return nil
	}
	sizes := make([]TableSize, 0, len(names))
	for _, name := range names {
		t, err := s.db.Describe(ctx, name)
		if err != nil {
			continue // deleted meanwhile
		}
		items, bytes := t.Items()
		sizes = append(sizes, TableSize{name, items, bytes})
	}
	return sizes
}

// describeLimits returns the default quotas of an account.
// Source: DG/ServiceQuotas.html.
func (s *Service) describeLimits(_ context.Context, in *wire.DescribeLimitsInput) (*wire.DescribeLimitsOutput, error) {
	return &wire.DescribeLimitsOutput{
		AccountMaxReadCapacityUnits: new(int64(80_000)), AccountMaxWriteCapacityUnits: new(int64(80_000)),
		TableMaxReadCapacityUnits: new(int64(40_000)), TableMaxWriteCapacityUnits: new(int64(40_000)),
	}, nil
}

// describeEndpoints returns the host and port to which the client sent this request, so that a client with endpoint
// discovery continues to use them. Without HTTP it returns the service's host for the region.
func (s *Service) describeEndpoints(
	ctx context.Context, in *wire.DescribeEndpointsRequest,
) (*wire.DescribeEndpointsResponse, error) {
	host := cmp.Or(event.CallOf(ctx).Host, "dynamodb."+s.opts.Region+".amazonaws.com")
	return &wire.DescribeEndpointsResponse{Endpoints: []wire.Endpoint{{
		Address: &host, CachePeriodInMinutes: new(int64(1440)),
	}}}, nil
}

// maxThroughput is the maximum number of capacity units that the service accepts.
const maxThroughput = 1_000_000_000_000

// throughputOf returns the provisioned throughput p of a table, or of an index if index is not "". It returns an
// error if the units do not match the billing mode. Sources of the messages: captures in dynalite
// (test/createTable.js, test/updateTable.js); for an index without units, ack-api-quirks, DDB-TABLE-442.
func throughputOf(
	def *table.Definition, p *wire.ProvisionedThroughput, index string,
) (t table.Throughput, err error) {
	switch onDemand := def.OnDemandBilling(); {
	case onDemand && p != nil && index == "":
		return t, wrongValue(
			"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	case onDemand && p != nil:
		return t, wrongValue("ProvisionedThroughput should not be specified for index: " +
			index + " when BillingMode is PAY_PER_REQUEST")
	case onDemand:
		return t, nil
	case p == nil && index == "":
		return t, wrongValue(
			"ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	case p == nil:
		return t, wrongValue("ProvisionedThroughput is not specified for index: " + index)
	}
	return table.Throughput{Read: value(p.ReadCapacityUnits), Write: value(p.WriteCapacityUnits)}, checkBounds(p, index)
}

// checkBounds returns an error for more capacity units than [maxThroughput]. Like the service, UpdateTable calls it
// before it looks up the table.
func checkBounds(p *wire.ProvisionedThroughput, index string) error {
	if p == nil {
		return nil
	}
	what := ""
	if index != "" {
		what = " for index " + index
	}
	for _, u := range []struct {
		name  string
		units *int64
	}{{"ReadCapacityUnits", p.ReadCapacityUnits}, {"WriteCapacityUnits", p.WriteCapacityUnits}} {
		if value(u.units) > maxThroughput {
			return wire.Validation(fmt.Sprintf("Given value %d for %s is out of bounds%s", *u.units, u.name, what))
		}
	}
	return nil
}
