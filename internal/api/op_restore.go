package api

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/wire"
)

// Source of this file: quirks, findings DDB-TABLE-083 to 086, 100, 215 to 219, 272,
// 273 and 279.

// restored returns the definition of the table that a restore creates. The table has the key of the source. It also
// has the indexes, the billing and the encryption of the source, unless the client overrides them. It has none of the
// other settings of the source.
func (s *Service) restored(
	source *table.Definition, o *wire.RestoreTableFromBackupInput,
) (*table.Definition, error) {
	def := &table.Definition{
		Name: *o.TargetTableName, Created: s.now(), Attributes: slices.Clone(source.Attributes), Key: source.Key,
		BillingMode: source.BillingMode,
		Throughput:  table.Throughput{Read: source.Throughput.Read, Write: source.Throughput.Write},
		OnDemand:    source.OnDemand, Encryption: source.Encryption,
	}

	var err error
	if def.ID, err = NewUUID(s.opts.Rand); err != nil {
		return nil, err
	}
	if o.SSESpecificationOverride != nil {
		def.Encryption = encryptionOf(o.SSESpecificationOverride)
	}
	if o.BillingModeOverride != nil {
		def.BillingMode = *o.BillingModeOverride
	}

	// Check the overrides against the billing mode of the new table, not against that of the source.
	changed := def.OnDemandBilling() != source.OnDemandBilling()
	switch {
	case def.OnDemandBilling() && o.ProvisionedThroughputOverride != nil && o.BillingModeOverride != nil:
		return nil, badRequest(msgOnDemandRestore)
	case def.OnDemandBilling() && o.ProvisionedThroughputOverride != nil:
		return nil, badRequest(
			"Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED")
	case !def.OnDemandBilling() && changed && o.ProvisionedThroughputOverride == nil:
		return nil, badRequest(
			"Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED")
	}
	if err := checkOverride(def, o.OnDemandThroughputOverride); err != nil {
		return nil, err
	}

	switch {
	case o.ProvisionedThroughputOverride != nil:
		if def.Throughput, err = throughputOf(def, o.ProvisionedThroughputOverride, ""); err != nil {
			return nil, err
		}
	case def.OnDemandBilling():
		def.Throughput, def.BillingChanged = table.Throughput{}, def.Created
	}

	if o.OnDemandThroughputOverride != nil {
		def.OnDemand = ceilings(nil, o.OnDemandThroughputOverride)
	} else if !def.OnDemandBilling() {
		def.OnDemand = nil
	}
	if err := restoredIndexes(def, source, o); err != nil {
		return nil, err
	}
	dropAttributes(def)
	return def, nil
}

const msgOnDemandRestore = "Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST"

// checkOverride returns an error for limits of on-demand throughput that the definition cannot have.
func checkOverride(def *table.Definition, o *wire.OnDemandThroughput) error {
	if o == nil {
		return nil
	}
	for _, m := range []struct {
		name  string
		units *int64
	}{{"MaxReadRequestUnits", o.MaxReadRequestUnits}, {"MaxWriteRequestUnits", o.MaxWriteRequestUnits}} {
		switch {
		case m.units == nil:
		case !def.OnDemandBilling():
			return badRequest("Cannot override " + m.name +
				" for OnDemandThroughput unless BillingModeOverride is PAY_PER_REQUEST")
		case *m.units == 0 || *m.units < -1:
			return badRequest("Requested " + m.name +
				" for OnDemandThroughput is outside of valid range")
		}
	}
	return nil
}

// restoredIndexes adds the indexes of the source to def. If the client lists indexes, it adds only those, with the
// names that the client gives them.
func restoredIndexes(def, source *table.Definition, o *wire.RestoreTableFromBackupInput) error {
	def.Global, def.Local = slices.Clone(source.Global), slices.Clone(source.Local)
	if o.GlobalSecondaryIndexOverride != nil {
		def.Global = nil
		for _, g := range o.GlobalSecondaryIndexOverride {
			ix, err := matchIndex(source.Global, indexOf(g.IndexName, g.KeySchema, g.Projection))
			if err != nil {
				return err
			}
			ix.OnDemand = ceilings(nil, g.OnDemandThroughput)
			switch {
			case g.ProvisionedThroughput == nil && !def.OnDemandBilling():
				return badRequest("Must specify provisioned throughput for index " + ix.Name)
			case g.ProvisionedThroughput != nil && def.OnDemandBilling():
				return badRequest(msgOnDemandRestore + " for index " + ix.Name)
			case g.ProvisionedThroughput != nil:
				if ix.Throughput, err = throughputOf(def, g.ProvisionedThroughput, ix.Name); err != nil {
					return err
				}
			}
			def.Global = append(def.Global, ix)
		}
	}

	if o.LocalSecondaryIndexOverride != nil {
		def.Local = nil
		for _, l := range o.LocalSecondaryIndexOverride {
			ix, err := matchIndex(source.Local, indexOf(l.IndexName, l.KeySchema, l.Projection))
			if err != nil {
				return err
			}
			def.Local = append(def.Local, ix)
		}
	}

	def.Vectors = slices.Clone(source.Vectors)
	if o.VectorIndexOverride != nil {
		def.Vectors = nil
		for _, x := range o.VectorIndexOverride {
			ix, err := matchIndex(source.Vectors, vectorOf(&x))
			if err != nil {
				return err
			}
			def.Vectors = append(def.Vectors, ix)
		}
	}

	for i := range def.Vectors {
		def.Vectors[i].Building = false
	}
	for i := range def.Global {
		ix := &def.Global[i]
		ix.Building, ix.Creating, ix.Warm = false, time.Time{}, nil
		ix.Throughput = table.Throughput{Read: ix.Throughput.Read, Write: ix.Throughput.Write}
		switch {
		case def.OnDemandBilling():
			ix.Throughput = table.Throughput{}
		case ix.Throughput.Read == 0: // it was on demand
			ix.Throughput = table.Throughput{Read: def.Throughput.Read, Write: def.Throughput.Write}
		}
	}

	return nil
}

// matchIndex finds the index in list that equals want except for its name. It returns a copy of the index with the name
// of want.
func matchIndex(list []table.IndexDefinition, want table.IndexDefinition) (table.IndexDefinition, error) {
	sorted := func(p table.Projection) []string { return slices.Sorted(slices.Values(p.Include)) }
	for _, ix := range list {
		if slices.Equal(ix.Key, want.Key) && ix.Projection.Type == want.Projection.Type &&
			slices.Equal(sorted(ix.Projection), sorted(want.Projection)) &&
			reflect.DeepEqual(ix.Vector, want.Vector) {
			ix.Name = want.Name
			return ix, nil
		}
	}
	return want, badRequest("Index " + want.Name +
		" does not match a secondary index that existed in the source table and cannot be " +
		"created during the restore operation")
}

// restore creates a table from the backup b. If b is nil, it copies the source table instead, as the table was at the
// time undo, or as it is now if undo is the zero time. o has the name of the table and the overrides. It returns the
// description that the service returns during a restore. at is the RestoreDateTime in that description.
func (s *Service) restore(
	ctx context.Context, source *table.Definition, o *wire.RestoreTableFromBackupInput, b *life.Backup,
	at, undo time.Time,
) (*wire.TableDescription, error) {
	def, err := s.restored(source, o)
	if err != nil {
		return nil, err
	}
	def.States.Restored = &table.Restored{Table: s.arns.Table(source.Name), At: at}
	var t *table.Table
	if b != nil {
		def.States.Restored.Backup = s.backupARN(b)
		if err := s.inUse(ctx, b, "Backup is being used to restore another table: "); err != nil {
			return nil, err
		}
		t, err = s.db.RestoreBackup(ctx, def, b.ID)
	} else {
		t, err = s.db.Copy(ctx, def, source.Name, undo)
	}

	switch {
	case isKind(err, table.InUse):
		return nil, s.taken(ctx, def.Name)
	case isNotFound(err) && b != nil: // deleted meanwhile
		return nil, noBackup(s.backupARN(b))
	case isNotFound(err):
		return nil, noTable(source.Name)
	case err != nil:
		return nil, err
	}

	d := s.describe(t)
	d.TableStatus = new(table.StatusCreating)
	d.ItemCount, d.TableSizeBytes = new(int64(0)), new(int64(0))
	describeRestored(d, def.States.Restored)
	return d, nil
}

// describeRestored changes the description of a table to that of a table being restored from r, which has no status of
// indexes. Source: ack-api-quirks, DDB-TABLE-282.
func describeRestored(d *wire.TableDescription, r *table.Restored) {
	d.RestoreSummary = &wire.RestoreSummary{
		SourceTableArn: &r.Table, RestoreDateTime: seconds(r.At), RestoreInProgress: new(true),
	}
	if r.Backup != "" {
		d.RestoreSummary.SourceBackupArn = &r.Backup
	}
	for i := range d.GlobalSecondaryIndexes {
		d.GlobalSecondaryIndexes[i].IndexStatus = nil
	}
}

// taken returns an error if a restore cannot use the name of the new table because a table has it: ack-api-quirks,
// DDB-TABLE-219 and 275.
func (s *Service) taken(ctx context.Context, name string) error {
	if t, err := s.db.Describe(ctx, name); err == nil {
		if r := t.Definition().Restoring(s.now()); r != nil && r.Backup != "" {
			return wire.NewError(
				"TableInUseException", "Table: "+name+" is already being restored from backup: "+r.Backup,
			)
		}
	}
	return wire.NewError("TableAlreadyExistsException", "Table already exists: "+name)
}

// checkCrossing returns an error if the ARN is of another region and the request does not override the encryption:
// ack-api-quirks, DDB-TABLE-274.
func (s *Service) checkCrossing(arn string, o *wire.SSESpecification) error {
	if parts := strings.SplitN(arn, ":", 6); o == nil && len(parts) == 6 && parts[3] != s.opts.Region {
		return badRequest("sseSpecificationOverride must be provided for cross-region restores")
	}
	return nil
}

// restoreTableFromBackup creates a table from a backup. The table can be used as soon as the call returns. The
// description says CREATING all the same, as the service's does.
func (s *Service) restoreTableFromBackup(
	ctx context.Context, in *wire.RestoreTableFromBackupInput,
) (*wire.RestoreTableFromBackupOutput, error) {
	b, err := s.findBackup(ctx, in.BackupArn)
	if err == nil {
		err = s.checkCrossing(*in.BackupArn, in.SSESpecificationOverride)
	}
	if err != nil {
		return nil, err
	}
	d, err := s.restore(ctx, b.Table, in, b, b.Created, time.Time{})
	return &wire.RestoreTableFromBackupOutput{TableDescription: d}, err
}

// restoreTableToPointInTime creates a table with the items of another table, as they are now or as they were at a
// time in that table's recovery period.
func (s *Service) restoreTableToPointInTime(
	ctx context.Context, in *wire.RestoreTableToPointInTimeInput,
) (*wire.RestoreTableToPointInTimeOutput, error) {
	const op = wire.OpRestoreTableToPointInTime
	latest := value(in.UseLatestRestorableTime)
	switch {
	case in.SourceTableArn != nil && in.SourceTableName != nil:
		return nil, op.Invalid("Must provide exactly one of: sourceTableArn, sourceTableName")
	case in.SourceTableArn == nil && in.SourceTableName == nil:
		return nil, op.Invalid("The parameter 'TableName' is required but was not present in the request")
	case latest && in.RestoreDateTime != nil: // the end of this text is missing in the capture
		return nil, op.Invalid("Invalid Request: Both RestoreDateTime and UseLatestRestorableTime cannot be set for " +
			"point-in-time restore request. Please specify only one of them")
	case !latest && in.RestoreDateTime == nil:
		return nil, op.Invalid(
			"Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both",
		)
	}

	name := in.SourceTableName
	if in.SourceTableArn != nil {
		ref, err := s.sourceTable(*in.SourceTableArn, in.SSESpecificationOverride)
		if err != nil {
			return nil, err
		}
		name = &ref.Name
	}

	t, err := s.backedUp(ctx, name)
	if _, refused := errors.AsType[*wire.Error](err); refused && in.SourceTableArn != nil {
		return nil, wire.NewError("TableNotFoundException", "Table not found") // ack-api-quirks, DDB-TABLE-447
	}
	if err != nil {
		return nil, err
	}
	source := t.Definition()
	if source.Recovery == nil {
		return nil, notRecoverable(source.Name)
	}
	earliest, now := s.restorable(source)
	at, undo := now, time.Time{}
	if in.RestoreDateTime != nil {
		at = timeOf(*in.RestoreDateTime)
		if second := at.Truncate(time.Second); second.Before(earliest) || second.After(now) {
			return nil, wire.NewError("InvalidRestoreTimeException", fmt.Sprintf("RestoreDateTime '%s' must be "+
				"within EarliestRestorableDateTime '%s' and LatestRestorableDateTime '%s'",
				at.Format(timeForm), earliest.Format(timeForm), now.Format(timeForm)))
		}
		undo = at
	}

	d, err := s.restore(ctx, source, wire.As[wire.RestoreTableFromBackupInput](in), nil, at, undo)
	return &wire.RestoreTableToPointInTimeOutput{TableDescription: d}, err
}

// sourceTable parses the ARN of the table to restore from. Source: ack-api-quirks, DDB-TABLE-272, 274 and 442.
func (s *Service) sourceTable(arn string, o *wire.SSESpecification) (TableRef, error) {
	if !strings.HasPrefix(arn, wire.ARNPrefix) {
		return TableRef{}, wrongValue("ARNs must start with 'arn:': " + arn)
	}
	ref, err := ParseARN(arn)
	switch {
	case err != nil || ref.Index != "" || ref.Stream != "":
		return ref, wire.OpRestoreTableToPointInTime.Invalid("sourceTableArn is not a valid ARN")
	case ref.Account != s.opts.Account:
		return ref, wire.Validation(msgOwner)
	}
	if err := s.checkCrossing(arn, o); err != nil {
		return ref, err
	}
	if !s.arns.Local(ref) { // this database has no tables of other regions
		return ref, wire.NewError("TableNotFoundException", "Table not found")
	}
	return ref, nil
}

func notRecoverable(name string) error {
	return wire.NewError(
		"PointInTimeRecoveryUnavailableException", "Point in time recovery is not enabled for table '"+name+"'",
	)
}

// restorable returns the earliest and the latest time to which a table can be restored, in whole seconds. The
// recovery period begins when the client enables recovery. It has at most as many days as the client asks for.
func (s *Service) restorable(def *table.Definition) (earliest, latest time.Time) {
	latest = s.now().Truncate(time.Second)
	earliest = latest
	if r := def.Recovery; r != nil && r.History != nil {
		begin := s.now().AddDate(0, 0, -int(r.Days))
		if r.History.Created.After(begin) {
			begin = r.History.Created
		}
		if begin = begin.Add(time.Second - time.Nanosecond).Truncate(time.Second); begin.Before(latest) {
			earliest = begin
		}
	}
	return earliest, latest
}

// defaultRecovery is the recovery period in days if the client does not set it.
const defaultRecovery = 35

func (s *Service) continuousBackups(def *table.Definition) *wire.ContinuousBackupsDescription {
	d := &wire.PointInTimeRecoveryDescription{PointInTimeRecoveryStatus: enabled(def.Recovery != nil)}
	if r := def.Recovery; r != nil {
		earliest, latest := s.restorable(def)
		d.RecoveryPeriodInDays = new(r.Days)
		d.EarliestRestorableDateTime, d.LatestRestorableDateTime = seconds(earliest), seconds(latest)
	}
	return &wire.ContinuousBackupsDescription{
		ContinuousBackupsStatus: new("ENABLED"), PointInTimeRecoveryDescription: d,
	}
}

// describeContinuousBackups says whether point-in-time recovery is enabled.
func (s *Service) describeContinuousBackups(
	ctx context.Context, in *wire.DescribeContinuousBackupsInput,
) (*wire.DescribeContinuousBackupsOutput, error) {
	t, err := s.backedUp(ctx, in.TableName)
	if err != nil {
		return nil, err
	}
	return &wire.DescribeContinuousBackupsOutput{ContinuousBackupsDescription: s.continuousBackups(t.Definition())}, nil
}

// updateContinuousBackups enables or disables point-in-time recovery.
func (s *Service) updateContinuousBackups(
	ctx context.Context, in *wire.UpdateContinuousBackupsInput,
) (*wire.UpdateContinuousBackupsOutput, error) {
	spec := in.PointInTimeRecoverySpecification
	if !*spec.PointInTimeRecoveryEnabled && spec.RecoveryPeriodInDays != nil {
		return nil, wire.OpUpdateContinuousBackups.Invalid(
			"Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.",
		)
	}
	t, err := s.backedUp(ctx, in.TableName)
	if err != nil {
		return nil, err
	}
	name := t.Definition().Name
	t, err = s.db.Alter(ctx, name, func(def *table.Definition) error {
		switch {
		case !*spec.PointInTimeRecoveryEnabled:
			def.Recovery = nil
			return nil
		case def.Recovery == nil:
			def.Recovery = &table.Recovery{Days: defaultRecovery}
		}
		if spec.RecoveryPeriodInDays != nil {
			def.Recovery.Days = *spec.RecoveryPeriodInDays
		}
		if def.Recovery.History == nil {
			def.Recovery.History = table.NewHistory(s.now())
		}
		return nil
	})

	switch {
	case isNotFound(err):
		return nil, noTable(name)
	case isKind(err, table.InUse):
		return nil, wire.NewError(
			"ContinuousBackupsUnavailableException",
			"Backups are being enabled for the table: "+name+". Please retry later",
		)
	case err != nil:
		return nil, err
	}

	return &wire.UpdateContinuousBackupsOutput{ContinuousBackupsDescription: s.continuousBackups(t.Definition())}, nil
}
