package api

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/keycond"
)

// This file converts between wire shapes and table definitions.

func attributesOf(defs []wire.AttributeDefinition) []keycond.Attribute {
	out := make([]keycond.Attribute, len(defs))
	for i, d := range defs {
		kind, _ := attr.ParseKind(value(d.AttributeType))
		out[i] = keycond.Attribute{Name: value(d.AttributeName), Kind: kind}
	}
	return out
}

func keyOf(schema []wire.KeySchemaElement) []table.KeyElement {
	out := make([]table.KeyElement, len(schema))
	for i, e := range schema {
		out[i] = table.KeyElement{Name: value(e.AttributeName), Hash: value(e.KeyType) == "HASH"}
	}
	return out
}

func keySchema(key []table.KeyElement) []wire.KeySchemaElement {
	out := make([]wire.KeySchemaElement, len(key))
	for i, e := range key {
		role := "RANGE"
		if e.Hash {
			role = "HASH"
		}
		out[i] = wire.KeySchemaElement{AttributeName: new(e.Name), KeyType: new(role)}
	}
	return out
}

func projectionOf(p *wire.Projection) table.Projection {
	if p == nil {
		return table.Projection{}
	}
	return table.Projection{Type: value(p.ProjectionType), Include: p.NonKeyAttributes}
}

func indexOf(name *string, key []wire.KeySchemaElement, p *wire.Projection) table.IndexDefinition {
	return table.IndexDefinition{Name: value(name), Key: keyOf(key), Projection: projectionOf(p)}
}

// sortedAttributes returns the attribute definitions of a table sorted by name, as descriptions list them. Source:
// ack-api-quirks, DDB-TABLE-125.
func sortedAttributes(def *table.Definition) []keycond.Attribute {
	return slices.SortedFunc(slices.Values(def.Attributes), func(a, b keycond.Attribute) int {
		return strings.Compare(a.Name, b.Name)
	})
}

func projection(p table.Projection) *wire.Projection {
	return &wire.Projection{ // with sorted attributes: ack-api-quirks, DDB-TABLE-125
		ProjectionType: new(p.Type), NonKeyAttributes: slices.Sorted(slices.Values(p.Include)),
	}
}

func (s *Service) streamOf(st *wire.StreamSpecification) *table.Stream {
	if st == nil || !value(st.StreamEnabled) {
		return nil
	}
	return &table.Stream{View: value(st.StreamViewType), Created: s.now(), Shards: s.opts.StreamShards}
}

// checkStream returns an error for an enabled stream without a view type, with the text without. It also returns an
// error for a disabled stream with a view type, with the text with. The texts depend on the operation. Source:
// ack-api-quirks, DDB-TABLE-035 and 050, us-west-2, 2026-10-08.
func checkStream(st *wire.StreamSpecification, without, with string) error {
	if st == nil {
		return nil
	}
	switch on := value(st.StreamEnabled); {
	case on && st.StreamViewType == nil:
		return wrongValue(without)
	case !on && st.StreamViewType != nil:
		return wrongValue(with)
	}
	return nil
}

// seconds returns a time as the service sends it, in seconds since 1970. It returns nil for the zero time.
func seconds(t time.Time) *float64 {
	if t.IsZero() {
		return nil
	}
	return new(float64(t.UnixMilli()) / 1000)
}

// timeOf returns the time that a client sent as seconds since 1970.
func timeOf(seconds float64) time.Time {
	return time.UnixMilli(int64(math.Round(min(max(seconds, -1e11), 1e11) * 1000))).UTC()
}

func (s *Service) throughput(t table.Throughput) *wire.ProvisionedThroughputDescription {
	out := &wire.ProvisionedThroughputDescription{
		ReadCapacityUnits: new(t.Read), WriteCapacityUnits: new(t.Write), NumberOfDecreasesToday: new(int64(0)),
		LastIncreaseDateTime: seconds(t.Increased), LastDecreaseDateTime: seconds(t.Decreased),
	}
	if t.DecreasesWereCountedOn == s.now().Format("2006-01-02") {
		out.NumberOfDecreasesToday = new(t.DecreasesOnThatDay)
	}
	return out
}

// Warm throughput of a new on-demand table, in units per second. Source: DG/warm-throughput.html.
const (
	warmReads  = 12_000
	warmWrites = 4_000
)

// warm returns the description of the warm throughput of a table or index. w is nil if no request has set a warm
// throughput.
func warm(
	def *table.Definition, w *table.Warm, t table.Throughput,
) *wire.GlobalSecondaryIndexWarmThroughputDescription {
	now := warmOf(def, w, t)
	return &wire.GlobalSecondaryIndexWarmThroughputDescription{
		ReadUnitsPerSecond: &now.Read, WriteUnitsPerSecond: &now.Write, Status: new(table.StatusActive),
	}
}

func tableWarm(def *table.Definition) *wire.TableWarmThroughputDescription {
	return (*wire.TableWarmThroughputDescription)(warm(def, def.Warm, def.Throughput))
}

// describe returns the description of a table, as DescribeTable responds with it.
func (s *Service) describe(t *table.Table) *wire.TableDescription {
	def := t.Definition()
	items, bytes := t.Items()
	now := s.opts.Clock()
	d := &wire.TableDescription{
		TableName: new(def.Name), TableArn: new(s.arns.Table(def.Name)), TableId: new(def.ID),
		TableStatus:      new(def.Status(now)),
		CreationDateTime: seconds(def.Created), KeySchema: keySchema(def.Key), ItemCount: new(items),
		TableSizeBytes:        new(bytes),
		ProvisionedThroughput: s.throughput(def.Throughput), OnDemandThroughput: onDemand(def.OnDemand),
		DeletionProtectionEnabled: new(def.Protected), WarmThroughput: tableWarm(def),
	}

	for _, a := range sortedAttributes(def) {
		d.AttributeDefinitions = append(
			d.AttributeDefinitions,
			wire.AttributeDefinition{AttributeName: new(a.Name), AttributeType: new(a.Kind.String())},
		)
	}

	if !def.BillingChanged.IsZero() {
		d.BillingModeSummary = &wire.BillingModeSummary{
			BillingMode:                       new(cmp.Or(def.BillingMode, "PROVISIONED")),
			LastUpdateToPayPerRequestDateTime: seconds(def.BillingChanged),
		}
	}

	d.TableClassSummary = classSummary(def)
	if def.Stream != nil {
		d.StreamSpecification = &wire.StreamSpecification{
			StreamEnabled: new(true), StreamViewType: new(def.Stream.View),
		}
	}
	if def.LastStream != "" {
		d.LatestStreamLabel, d.LatestStreamArn = new(def.LastStream), new(s.arns.Stream(def.Name, def.LastStream))
	}
	d.SSEDescription = s.encryption(def.Encryption)
	if def.GlobalSettings != "" {
		d.GlobalTableSettingsReplicationMode = new(def.GlobalSettings)
	}
	if def.Undissociable {
		d.DisassociationProtectionEnabled = new(true)
	}
	for _, ix := range t.Indexes() {
		s.describeIndex(d, def, ix, now)
	}
	switch *d.TableStatus {
	case table.StatusCreating:
		describeNew(d, def)
		if r := def.States.Restored; r != nil {
			describeRestored(d, r)
		}
	case table.StatusUpdating:
		if before := def.Before(now); before != nil {
			s.describeBefore(d, before, change(def.States.Change))
			for _, name := range def.States.Leaving {
				s.describeLeaving(d, before, name)
			}
		}
	}

	return d
}

// classSummary describes the table class, or returns nil if no request ever set it.
func classSummary(def *table.Definition) *wire.TableClassSummary {
	if def.Class == "" {
		return nil
	}
	return &wire.TableClassSummary{TableClass: new(def.Class), LastUpdateDateTime: seconds(def.ClassChanged)}
}

// describeNew changes the description of a table to the one that CreateTable returns. Sources: dynoxide; for warm
// throughput, recordings of the service of 2025.
func describeNew(d *wire.TableDescription, def *table.Definition) {
	d.TableStatus = new(table.StatusCreating)
	d.ItemCount, d.TableSizeBytes = new(int64(0)), new(int64(0))
	if def.OnDemandBilling() && d.BillingModeSummary != nil {
		d.BillingModeSummary.LastUpdateToPayPerRequestDateTime = nil
		d.TableThroughputModeSummary = &wire.TableThroughputModeSummary{TableThroughputMode: &def.BillingMode}
	}
	if def.Warm == nil {
		d.WarmThroughput = nil
	} else {
		d.WarmThroughput.Status = new(table.StatusUpdating)
	}
	for i := range d.GlobalSecondaryIndexes {
		ix := &d.GlobalSecondaryIndexes[i]
		ix.IndexStatus = new(table.StatusCreating)
		if globalIndex(def, *ix.IndexName).Warm != nil {
			ix.WarmThroughput.Status = new(table.StatusUpdating)
		} else {
			ix.WarmThroughput = nil
		}
	}

	for i := range d.VectorIndexes {
		d.VectorIndexes[i].IndexStatus = new(table.StatusCreating)
	}
}

// describeLeaving adds an index that is being deleted to the description d. before is the definition that still has
// the index.
func (s *Service) describeLeaving(d *wire.TableDescription, before *table.Definition, name string) {
	g := wire.GlobalSecondaryIndexDescription{
		IndexName: &name, IndexStatus: new(table.StatusDeleting), IndexArn: new(s.arns.Index(*d.TableName, name)),
	}
	if indexNamed(before.Vectors, name) != nil {
		d.VectorIndexes = append(d.VectorIndexes, *wire.As[wire.VectorIndexDescription](g))
	} else {
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, g)
	}
}

func (s *Service) encryption(e *table.Encryption) *wire.SSEDescription {
	if e == nil {
		return nil
	}
	d := &wire.SSEDescription{Status: new("ENABLED"), SSEType: new(e.Type)}
	if e.Type == "KMS" {
		d.KMSMasterKeyArn = new(s.arns.Key(e.KeyID))
	}
	return d
}

func (s *Service) describeIndex(d *wire.TableDescription, def *table.Definition, ix *table.Index, now time.Time) {
	items, bytes := ix.Items()
	x := ix.Definition()
	g := wire.GlobalSecondaryIndexDescription{
		IndexName: new(x.Name), IndexArn: new(s.arns.Index(def.Name, x.Name)), KeySchema: keySchema(x.Key),
		Projection: projection(x.Projection), ItemCount: new(items), IndexSizeBytes: new(bytes),
	}
	if ix.Local() {
		d.LocalSecondaryIndexes = append(
			d.LocalSecondaryIndexes, *wire.As[wire.LocalSecondaryIndexDescription](g),
		)
		return
	}

	g.IndexStatus = new(x.Status(now))
	if *g.IndexStatus == table.StatusCreating && *d.TableStatus != table.StatusCreating {
		g.Backfilling = new(*d.TableStatus == table.StatusActive)
	}
	if x.Vector != nil {
		v := wire.As[wire.VectorIndexDescription](g)
		v.VectorAttribute = &wire.VectorAttributeDefinition{AttributeName: new(x.Vector.Attribute)}
		v.Dimensions, v.DistanceFunction = new(x.Vector.Dimensions), new(x.Vector.Function)
		v.SearchSchema = searchSchema(x.Vector.Schema)
		d.VectorIndexes = append(d.VectorIndexes, *v)
		return
	}
	g.ProvisionedThroughput, g.OnDemandThroughput = s.throughput(x.Throughput), onDemand(x.OnDemand)
	g.WarmThroughput = warm(def, x.Warm, x.Throughput)
	d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, g)
}

func searchSchema(schema []table.KeyElement) []wire.SearchSchemaElement {
	var out []wire.SearchSchemaElement
	for _, e := range schema {
		kind := "INLINE_FILTER"
		if e.Hash {
			kind = "HASH"
		}
		out = append(out, wire.SearchSchemaElement{AttributeName: new(e.Name), SearchSchemaElementType: new(kind)})
	}
	return out
}
