package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/keycond"
)

// updateTable changes a table. The description says UPDATING, as the service's does, but a new index can be used as
// soon as the call returns. If [life.DB.Delay] is set, it can be used after that time.
func (s *Service) updateTable(ctx context.Context, in *wire.UpdateTableInput) (*wire.UpdateTableOutput, error) {
	name, err := s.tableName(in.TableName)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(checkTableUpdate(in), s.checkReplicas(in)); err != nil {
		return nil, err
	}

	// As in the service, the description shows a deleted index as DELETING, even if the change is already complete.
	_, _, deleted := changesOf(in)
	var before *table.Definition
	t, err := s.db.Alter(ctx, name, func(def *table.Definition) error {
		before = def.Clone()
		if err := s.startUpdate(def, in); err != nil {
			return err
		}
		if err := s.alterBilling(def, in); err != nil {
			return err
		}
		for _, u := range in.GlobalSecondaryIndexUpdates {
			if err := s.alterIndex(def, &u, in.AttributeDefinitions); err != nil {
				return err
			}
		}
		for _, u := range in.VectorIndexUpdates {
			if err := alterVector(def, &u, attributesOf(in.AttributeDefinitions)); err != nil {
				return err
			}
		}
		if deleted != "" && !def.States.Updating.IsZero() {
			def.States.Leaving = []string{deleted}
		}

		if err := s.alterRest(def, in); err != nil {
			return err
		}
		keepWarm(def, before)
		before = cmp.Or(def.Before(s.opts.Clock()), before)
		return nil
	})
	if err != nil {
		return nil, err
	}

	d := s.describe(t)
	leaving := *d.TableStatus == table.StatusUpdating // d then has the deleted index already
	s.describeUnchanged(d, before, in)
	if deleted != "" && !leaving {
		s.describeLeaving(d, before, deleted)
	}
	return &wire.UpdateTableOutput{TableDescription: d}, nil
}

// quietChanges are the changes during which a table stays ACTIVE. Source: ack-api-quirks, DDB-TABLE-017, 065, 178,
// 179 and 410.
const quietChanges = changeEncryption | changeProtection | changeWarm | changeOnDemand | updateIndex

// describeUnchanged changes the description of an updated table to what the service returns for an update that has
// just begun: the old values, and the status UPDATING for the parts that change. Sources: recordings of the service
// of 2025; ack-api-quirks, DDB-TABLE-065, 079, 177, 179, 183, 370 and 410.
func (s *Service) describeUnchanged(d *wire.TableDescription, before *table.Definition, in *wire.UpdateTableInput) {
	asked, created, _ := changesOf(in)
	if asked&^quietChanges != 0 {
		d.TableStatus = new(table.StatusUpdating)
	}
	s.describeBefore(d, before, asked)
	if asked&changeWarm != 0 {
		d.WarmThroughput.Status = new(table.StatusUpdating)
	}
	if asked&changeOnDemand != 0 {
		describeRemoved(&d.OnDemandThroughput, in.OnDemandThroughput)
	}

	// The old key stays in use until the table has been encrypted with the new one.
	if asked&changeEncryption != 0 {
		if d.SSEDescription = s.encryption(before.Encryption); d.SSEDescription == nil {
			d.SSEDescription = new(wire.SSEDescription)
		}
		d.SSEDescription.Status = new(table.StatusUpdating)
	}

	// A created index is CREATING, even if it is already built.
	for i := range d.VectorIndexes {
		if ix := &d.VectorIndexes[i]; *ix.IndexName == created {
			ix.IndexStatus, ix.Backfilling = new(table.StatusCreating), new(false)
		}
	}
	for i := range d.GlobalSecondaryIndexes {
		ix := &d.GlobalSecondaryIndexes[i]
		if *ix.IndexName == created {
			ix.IndexStatus, ix.Backfilling = new(table.StatusCreating), new(false)
		}

		// If an update changes the throughput, the index is UPDATING and keeps its old capacity units. If it changes
		// the warm throughput, only the warm throughput has the status UPDATING.
		was := globalIndex(before, *ix.IndexName)
		for _, update := range in.GlobalSecondaryIndexUpdates {
			u := update.Update
			if u == nil || was == nil || value(u.IndexName) != *ix.IndexName {
				continue
			}
			if u.ProvisionedThroughput != nil || u.OnDemandThroughput != nil {
				ix.IndexStatus, ix.ProvisionedThroughput = new(table.StatusUpdating), s.throughput(was.Throughput)
			}
			if ix.WarmThroughput != nil && u.WarmThroughput != nil {
				ix.WarmThroughput.Status = new(table.StatusUpdating)
			}
		}
	}
}

// describeBefore sets the capacity units, the warm throughput and the table class in a description to their values
// before the change. These values stay in use until the table is ACTIVE.
func (s *Service) describeBefore(d *wire.TableDescription, before *table.Definition, asked change) {
	if asked&changeThroughput != 0 { // the old units with the new times: ack-api-quirks, DDB-TABLE-060 and 184
		after := d.ProvisionedThroughput
		d.ProvisionedThroughput = s.throughput(before.Throughput)
		d.ProvisionedThroughput.LastIncreaseDateTime = after.LastIncreaseDateTime
		d.ProvisionedThroughput.LastDecreaseDateTime = after.LastDecreaseDateTime
	}
	d.WarmThroughput = tableWarm(before)
	if asked&changeToOnDemand != 0 && !before.OnDemandBilling() { // DDB-TABLE-064 and 183
		if at := d.BillingModeSummary.LastUpdateToPayPerRequestDateTime; at != nil {
			d.ProvisionedThroughput.LastDecreaseDateTime = at
		}
		d.BillingModeSummary.LastUpdateToPayPerRequestDateTime = nil
	}
	if asked&changeClass != 0 {
		d.TableClassSummary = classSummary(before)
	}
	for i := range d.GlobalSecondaryIndexes {
		ix := &d.GlobalSecondaryIndexes[i]
		was := globalIndex(before, *ix.IndexName)
		if was == nil || ix.WarmThroughput == nil { // a new index, or one that is being deleted
			continue
		}
		if asked&changeThroughput != 0 {
			ix.ProvisionedThroughput = s.throughput(was.Throughput)
		}
		ix.WarmThroughput = warm(before, was.Warm, was.Throughput)
	}
}

// describeRemoved sets each on-demand limit in a description to -1 that the request removes with -1.
func describeRemoved(d **wire.OnDemandThroughput, o *wire.OnDemandThroughput) {
	if value(o.MaxReadRequestUnits) >= 0 && value(o.MaxWriteRequestUnits) >= 0 {
		return
	}
	if *d == nil {
		*d = new(wire.OnDemandThroughput)
	}
	if value(o.MaxReadRequestUnits) < 0 {
		(*d).MaxReadRequestUnits = o.MaxReadRequestUnits
	}
	if value(o.MaxWriteRequestUnits) < 0 {
		(*d).MaxWriteRequestUnits = o.MaxWriteRequestUnits
	}
}

// startUpdate returns an error for an update that must wait for a running one. If the update takes time, startUpdate
// gives the table the status UPDATING. Sources: for the limit, API_UpdateTable, LimitExceededException; for the
// updates that take time, see quietChanges; for updates without effect, ack-api-quirks, DDB-TABLE-177 and 383.
func (s *Service) startUpdate(def *table.Definition, in *wire.UpdateTableInput) error {
	now := s.opts.Clock()
	var creating []string
	for _, ix := range slices.Concat(def.Global, def.Vectors) {
		if now.Before(ix.Creating) {
			creating = append(creating, ix.Name)
		}
	}

	asked, _, deleted := changesOf(in)
	takesTime := asked &^ quietChanges
	if def.OnDemandBilling() {
		takesTime &^= changeToOnDemand
	}
	if same := in.TableClass; same != nil && *same == cmp.Or(def.Class, "STANDARD") {
		takesTime &^= changeClass
	}

	running, indexes := change(0), creating
	switch {
	case def.Status(now) == table.StatusUpdating:
		running, indexes = change(def.States.Change), slices.Concat(creating, def.States.Leaving)
	// An index may be deleted while it is backfilled: API_GlobalSecondaryIndexDescription.
	case len(creating) > 0 && deleted == creating[0]:
		indexes = nil
	case len(creating) > 0:
		running = createIndex
	}
	// While the service creates or deletes an index, it does not create or delete another one. The other changes that
	// it refuses then are in the list busy.
	if asked&(createIndex|deleteIndex) != 0 && len(indexes) > 0 {
		return errOneIndex()
	}
	refused := takesTime | asked&(changeClass|changeOnDemand)
	if err := errBusy(def, running, refused, indexes); err != nil {
		return err
	}
	if takesTime == 0 {
		return nil
	}
	if err := s.db.StartUpdate(def, takesTime&createIndex != 0); err != nil {
		return err
	}
	if !def.States.Updating.IsZero() {
		def.States.Change, def.States.Streaming = uint32(takesTime), takesTime&changeStream != 0
	}
	return nil
}

func errOneIndex() error {
	return wire.NewError(
		"LimitExceededException",
		"Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
	)
}

// msgNoUpdate also names parameters that the public service model does not have. Source of this text and of the texts
// of checkTableUpdate: ack-api-quirks, DDB-TABLE-160, 359 and 442, us-east-1 and us-west-2, 2026-10-08 and 09.
const msgNoUpdate = "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, " +
	"GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, " +
	"MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"

// checkTableUpdate returns an error for an update that changes nothing, or that creates or deletes more than one
// index. Source: dynalite, test/updateTable.js.
func checkTableUpdate(in *wire.UpdateTableInput) error {
	asked, _, _ := changesOf(in)
	if asked == 0 && len(in.GlobalSecondaryIndexUpdates) == 0 && len(in.VectorIndexUpdates) == 0 {
		text := msgNoUpdate
		if in.MultiRegionConsistency != nil { // the text names only parameters that the request lacks
			text = strings.Replace(text, "MultiRegionConsistency, ", "", 1)
		}
		return wire.OpUpdateTable.Invalid(text)
	}

	if in.GlobalSecondaryIndexUpdates != nil && len(in.GlobalSecondaryIndexUpdates) == 0 {
		return wire.OpUpdateTable.Invalid(
			"One or more parameter values were invalid: List of GlobalSecondaryIndexUpdates is empty",
		)
	}
	if err := cmp.Or(checkBounds(in.ProvisionedThroughput, ""), checkStream(in.StreamSpecification,
		"If stream is being enabled then UpdateViewType is required",
		"If stream is being disabled, then UpdateViewType must not be specified")); err != nil {
		return err
	}
	if asked&changeReplicas != 0 && asked != changeReplicas && value(in.MultiRegionConsistency) == "STRONG" {
		return wire.Validation( // ack-api-quirks, DDB-TABLE-257
			wrongParameter + "Requests that modify replicas or witnesses must not also modify other fields")
	}
	err := cmp.Or(checkExclusive(asked), checkClass(in.TableClass), checkEncryption(in.SSESpecification))
	if err != nil {
		return err
	}

	changes := 0
	seen := map[string]bool{}
	for _, u := range in.GlobalSecondaryIndexUpdates {
		name := ""
		if u.Create != nil && u.Delete != nil || u.Update != nil && (u.Create != nil || u.Delete != nil) {
			return wire.OpUpdateTable.Invalid("One or more parameter values were invalid: " +
				"Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object")
		}
		switch {
		case u.Create != nil:
			name, changes = value(u.Create.IndexName), changes+1
		case u.Delete != nil:
			name, changes = value(u.Delete.IndexName), changes+1
		case u.Update != nil:
			name = value(u.Update.IndexName)
			if w := u.Update.WarmThroughput; w != nil && *w == (wire.WarmThroughput{}) {
				return wrongValue("WarmThroughput must have at least one of ReadUnitsPerSecond " +
					"or WriteUnitsPerSecond specified for index: " + name)
			}
			if err := checkBounds(u.Update.ProvisionedThroughput, name); err != nil {
				return err
			}
		default:
			return wire.OpUpdateTable.Invalid("One or more parameter values were invalid: " +
				"One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, " +
				"GlobalSecondaryIndexUpdate.Delete must not be null")
		}

		if seen[name] {
			return wire.OpUpdateTable.Invalid("One or more parameter values were invalid: " +
				"Only one global secondary index update per index is allowed simultaneously. Index: " + name)
		}
		seen[name] = true
	}

	for _, u := range in.VectorIndexUpdates {
		switch {
		case u.Create == nil && u.Delete == nil:
			return wire.OpUpdateTable.Invalid("One or more parameter values were invalid: " +
				"One of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must not be null")
		case u.Create != nil && u.Delete != nil:
			return wire.OpUpdateTable.Invalid("One or more parameter values were invalid: " +
				"Only one vector index action is allowed per VectorIndexUpdate object")
		}
		changes++
	}

	if changes > 1 {
		return errOneIndex()
	}
	return nil
}

// alterBilling applies BillingMode and ProvisionedThroughput.
func (s *Service) alterBilling(def *table.Definition, in *wire.UpdateTableInput) error {
	was := def.OnDemandBilling()
	if in.BillingMode != nil {
		def.BillingMode = *in.BillingMode
	}
	switch is := def.OnDemandBilling(); {
	case is && !was && in.ProvisionedThroughput != nil: // ack-api-quirks, DDB-TABLE-056
		return wrongValue(
			"ProvisionedThroughput cannot be specified when BillingMode is PAY_PER_REQUEST")
	case is && !was:
		def.BillingChanged = s.now()
		def.Throughput.Read, def.Throughput.Write = 0, 0 // keep the times of changes: DDB-TABLE-055
		for i := range def.Global {
			def.Global[i].Throughput = table.Throughput{}
		}
	case is && in.ProvisionedThroughput != nil:
		_, err := throughputOf(def, in.ProvisionedThroughput, "")
		return err
	case value(in.BillingMode) == "PROVISIONED" && in.ProvisionedThroughput == nil:
		return wrongValue("ProvisionedThroughput must be specified " +
			"when BillingMode is PROVISIONED")
	case was && !is:
		if err := provisionIndexes(def, in); err != nil {
			return err
		}
	}

	if in.ProvisionedThroughput == nil {
		return nil
	}
	return s.setThroughput(def, &def.Throughput, in.ProvisionedThroughput, "", was)
}

// provisionIndexes removes the on-demand limits of a table that switches to provisioned billing. It returns an error
// if the request does not give units for each global index. Sources: ack-api-quirks, DDB-TABLE-152; for several
// names, dynalite, test/updateTable.js.
func provisionIndexes(def *table.Definition, in *wire.UpdateTableInput) error {
	def.OnDemand = nil
	var without []string
	for i := range def.Global {
		ix := &def.Global[i]
		ix.OnDemand = nil
		if !slices.ContainsFunc(in.GlobalSecondaryIndexUpdates, func(u wire.GlobalSecondaryIndexUpdate) bool {
			return u.Update != nil && value(u.Update.IndexName) == ix.Name && u.Update.ProvisionedThroughput != nil
		}) {
			without = append(without, ix.Name)
		}
	}
	if without == nil {
		return nil
	}
	return wrongValue(
		"ProvisionedThroughput must be specified for index: " + strings.Join(without, ","))
}

// setThroughput sets *t to the throughput in p. It returns an error if the throughput is the same as before, unless
// the table had on-demand billing.
func (s *Service) setThroughput(
	def *table.Definition, t *table.Throughput, p *wire.ProvisionedThroughput, index string, wasOnDemand bool,
) error {
	next, err := throughputOf(def, p, index)
	if err != nil {
		return err
	}
	if next.Read == t.Read && next.Write == t.Write && !wasOnDemand {
		what, of := "the table", "the table"
		if index != "" { // ack-api-quirks, DDB-TABLE-164
			what, of = "the index "+index, "index "+index
		}
		return wire.Validation(fmt.Sprintf("The provisioned throughput for %s will not change. "+
			"The requested value equals the current value. "+
			"Current ReadCapacityUnits provisioned for %s: %d. Requested ReadCapacityUnits: %d. "+
			"Current WriteCapacityUnits provisioned for %[2]s: %[5]d. Requested WriteCapacityUnits: %d. "+
			"Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.",
			what, of, t.Read, next.Read, t.Write, next.Write))
	}

	had := *t
	t.Read, t.Write = next.Read, next.Write
	if !wasOnDemand && (t.Read > had.Read || t.Write > had.Write) { // ack-api-quirks, DDB-TABLE-055
		t.Increased = s.now()
	}
	if t.Read < had.Read || t.Write < had.Write {
		t.Decreased = s.now()
		if day := t.Decreased.Format("2006-01-02"); day != t.DecreasesWereCountedOn {
			t.DecreasesOnThatDay, t.DecreasesWereCountedOn = 0, day
		}
		t.DecreasesOnThatDay++
	}
	return nil
}

// alterIndex applies one change of a global index. defined has the attribute definitions of the request.
func (s *Service) alterIndex(
	def *table.Definition, u *wire.GlobalSecondaryIndexUpdate, defined []wire.AttributeDefinition,
) error {
	switch {
	case u.Create != nil:
		if hasIndex(def, u.Create.IndexName) {
			return wire.Validation("Attempting to create an index which already exists")
		}
		if len(def.Global) == table.MaxGlobalIndexes { // ack-api-quirks, DDB-TABLE-169 and 443
			return wire.NewError("LimitExceededException", fmt.Sprintf("Subscriber limit exceeded: "+
				"Number of global secondary indexes exceeds per-table limit of %d", table.MaxGlobalIndexes))
		}
		g := (*wire.GlobalSecondaryIndex)(u.Create)
		name, key, attributes := value(g.IndexName), keyOf(g.KeySchema), attributesOf(defined)
		return cmp.Or(
			checkNewKey(name, key, attributes), checkRedefined(def, key, attributes),
			checkIndexUnits(def, g.ProvisionedThroughput, name), addGlobal(def, g, true),
		)
	case u.Delete != nil:
		if err := removeIndex(def, &def.Global, u.Delete.IndexName); err != nil {
			return err
		}
		delete(def.Insights, *u.Delete.IndexName) // ack-api-quirks, DDB-TABLE-112
	default:
		ix := globalIndex(def, value(u.Update.IndexName))
		if ix == nil {
			return noGlobalIndex(def, "update", value(u.Update.IndexName))
		}
		if def.OnDemandBilling() && (u.Update.ProvisionedThroughput != nil || !isCeilingOrWarm(u.Update)) {
			return wrongValue("The only Updates for index: " + ix.Name + " when " +
				"TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput")
		}
		given := settings{
			index: ix.Name, update: true, onDemand: u.Update.OnDemandThroughput, warm: u.Update.WarmThroughput,
		}
		if err := given.apply(def, ix.Throughput, &ix.OnDemand, &ix.Warm, true); err != nil {
			return err
		}
		if u.Update.ProvisionedThroughput != nil {
			return s.setThroughput(def, &ix.Throughput, u.Update.ProvisionedThroughput, ix.Name, false)
		}
	}
	return nil
}

// checkIndexUnits returns an error if the units of a new index do not match the billing mode of the table. Source:
// ack-api-quirks, DDB-TABLE-152 and 442.
func checkIndexUnits(def *table.Definition, p *wire.ProvisionedThroughput, index string) error {
	switch onDemand := def.OnDemandBilling(); {
	case onDemand && p != nil:
		return wrongValue("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified " +
			"for index: " + index + " when BillingMode is PAY_PER_REQUEST")
	case !onDemand && p == nil:
		return wrongValue(
			"Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: " + index)
	}
	return nil
}

// isCeilingOrWarm reports whether an update of an index sets on-demand limits or warm throughput. A table with
// on-demand billing allows no other updates. Source: ack-api-quirks, DDB-TABLE-152 and 457.
func isCeilingOrWarm(u *wire.UpdateGlobalSecondaryIndexAction) bool {
	return u.WarmThroughput != nil ||
		u.OnDemandThroughput != nil && *u.OnDemandThroughput != (wire.OnDemandThroughput{})
}

// noGlobalIndex returns the error for changing an index that is local or does not exist. Sources: ack-api-quirks,
// DDB-TABLE-137, 161 and 446.
func noGlobalIndex(def *table.Definition, change, name string) error {
	if indexNamed(def.Local, name) != nil {
		return wire.Validation("Cannot " + change + " an index that is not a GlobalSecondaryIndex: " + name)
	}
	return wire.NewError("ResourceNotFoundException",
		"Requested resource not found: Index "+name+" for table "+def.Name)
}

// checkNewKey returns an error for a new index if the request does not define the key attributes of the index. It
// does so even if the table defines them. Sources: ack-api-quirks, DDB-TABLE-162, for a request without definitions;
// dynoxide, captured in eu-west-2 and us-east-1 on 2026-10-09, for a request that lacks some.
func checkNewKey(index string, key []table.KeyElement, attributes []keycond.Attribute) error {
	if len(attributes) == 0 {
		return wrongValue("AttributeDefinitions is not specified for index: " + index)
	}
	err := (&table.Definition{Attributes: attributes}).CheckDefined(key)
	if err != nil && len(attributes) < len(key) {
		return wire.Validation("Invalid KeySchema: Some index key attribute have no definition")
	}
	return err
}

// checkRedefined returns an error for a new index if the request defines a key attribute of the index with another
// type than the table does. It ignores definitions of other attributes: dynoxide, captured in eu-west-2. Source of
// the text: alternator, test_gsi_updatetable.py.
func checkRedefined(def *table.Definition, key []table.KeyElement, attributes []keycond.Attribute) error {
	differ := slices.ContainsFunc(key, func(e table.KeyElement) bool {
		a, b := attributeOf(def.Attributes, e.Name), attributeOf(attributes, e.Name)
		return a != nil && b != nil && a.Kind != b.Kind
	})
	if !differ {
		return nil
	}
	existing := def.Key
	for _, k := range slices.Concat([]table.IndexDefinition{{Key: def.Key}}, def.Local, def.Global) {
		if slices.ContainsFunc(k.Key, func(e table.KeyElement) bool {
			return slices.ContainsFunc(key, func(n table.KeyElement) bool { return n.Name == e.Name })
		}) {
			existing = k.Key
			break
		}
	}
	return wrongValue("Attributes cannot be redefined. " +
		"Please check that your attribute has the same type as previously defined. " +
		"Existing schema: " + schemaText(existing, def.Attributes) + " New schema: " + schemaText(key, attributes))
}

func attributeOf(list []keycond.Attribute, name string) *keycond.Attribute {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

func schemaText(key []table.KeyElement, attributes []keycond.Attribute) string {
	parts := make([]string, len(key))
	for i, e := range key {
		kind, role := "", "RANGE"
		if a := attributeOf(attributes, e.Name); a != nil {
			kind = a.Kind.String()
		}
		if e.Hash {
			role = "HASH"
		}
		parts[i] = "SchemaElement: key{" + e.Name + ":" + kind + ":" + role + "}"
	}
	return "Schema:[" + strings.Join(parts, ", ") + "]"
}

// alterRest applies the remaining parameters, including AttributeDefinitions. It adds these definitions, and then
// removes all definitions that no key uses, even old ones. So a client such as Terraform can send all definitions
// with each change of an index. Source: ack-api-quirks, DDB-TABLE-162.
func (s *Service) alterRest(def *table.Definition, in *wire.UpdateTableInput) error {
	if in.DeletionProtectionEnabled != nil {
		def.Protected = *in.DeletionProtectionEnabled
	}
	if in.TableClass != nil && (def.Class != "" || *in.TableClass != "STANDARD") { // ack-api-quirks, DDB-TABLE-177
		def.Class, def.ClassChanged = *in.TableClass, s.now()
	}

	given := settings{update: true, onDemand: in.OnDemandThroughput, warm: in.WarmThroughput}
	if err := given.apply(def, def.Throughput, &def.OnDemand, &def.Warm, true); err != nil {
		return err
	}

	if in.StreamSpecification != nil {
		// Source of the texts: ack-api-quirks, DDB-TABLE-442, 2026-10-09.
		if on := value(in.StreamSpecification.StreamEnabled); on == (def.Stream != nil) {
			if on {
				return wire.Validation("Table already has an enabled stream: TableName: " + def.Name)
			}
			return wire.Validation("Table has no stream to disable: TableName: " + def.Name)
		}
		def.Stream = s.streamOf(in.StreamSpecification)
	}

	if in.SSESpecification != nil {
		if err := s.alterEncryption(def, in.SSESpecification); err != nil {
			return err
		}
	}
	if err := alterGlobal(def, in); err != nil {
		return err
	}
	for _, a := range attributesOf(in.AttributeDefinitions) {
		if attributeOf(def.Attributes, a.Name) == nil {
			def.Attributes = append(def.Attributes, a)
		}
	}
	dropAttributes(def)
	return nil
}

// dropAttributes removes the definitions of attributes that no key uses.
func dropAttributes(def *table.Definition) {
	used := def.Keys()
	def.Attributes = slices.DeleteFunc(def.Attributes, func(a keycond.Attribute) bool { return !used[a.Name] })
}

// hasIndex reports whether a table has an index of any kind with this name.
func hasIndex(def *table.Definition, name *string) bool {
	return indexNamed(slices.Concat(def.Local, def.Global, def.Vectors), value(name)) != nil
}

// removeIndex removes an index from list, which must be one of the lists of indexes in def.
func removeIndex(def *table.Definition, list *[]table.IndexDefinition, name *string) error {
	n := len(*list)
	*list = slices.DeleteFunc(*list, func(ix table.IndexDefinition) bool { return ix.Name == value(name) })
	if len(*list) == n {
		return noGlobalIndex(def, "delete", value(name))
	}
	return nil
}

// alterVector applies one change of a vector index. attributes are the attribute definitions in the request.
func alterVector(def *table.Definition, u *wire.VectorIndexUpdate, attributes []keycond.Attribute) error {
	if u.Delete != nil {
		return removeIndex(def, &def.Vectors, u.Delete.IndexName)
	}

	c := u.Create
	if !def.OnDemandBilling() {
		return wrongValue(
			"Vector indexes are only supported for PAY_PER_REQUEST tables",
		)
	}
	if hasIndex(def, c.IndexName) {
		return wire.Validation("Attempting to create an index which already exists")
	}
	ix := vectorOf((*wire.VectorIndex)(c))
	if err := checkRedefined(def, ix.Vector.Schema, attributes); err != nil {
		return err
	}

	def.Vectors = append(def.Vectors, ix)
	return nil
}
