package api

import (
	"cmp"
	"context"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/wire"
)

// Source of this file: quirks, findings DDB-BACKUP-001 to 021.

// timeForm is the layout of times in messages.
const timeForm = "2006-01-02T15:04:05Z"

const maxBackups = 100

// invalidRequest is a prefix of error messages about backups, exports and imports.
const invalidRequest = "Invalid Request: "

func badRequest(text string) error { return wire.Validation(invalidRequest + text) }

func noTable(name string) error {
	return wire.NewError("TableNotFoundException", "Table not found: "+name)
}

func noBackup(arn string) error {
	return wire.NewError("BackupNotFoundException", "Backup not found: "+arn)
}

// backedUp returns the table that an operation on backups names. It treats a table that is being restored as missing.
func (s *Service) backedUp(ctx context.Context, name *string) (*table.Table, error) {
	t, err := s.described(ctx, name)
	if isCode(err, codeNotFound) {
		err = noTable(nameOf(value(name)))
	}
	return t, err
}

// backupID returns the id in the ARN of a backup. Like the service, it does not check whether the table exists, and
// accepts each region that looks like the name of a region.
func (s *Service) backupID(arn *string) (string, error) {
	parts := strings.SplitN(value(arn), ":", 6)
	if len(parts) != 6 || parts[0] != "arn" {
		return "", wire.Validation("Invalid Backup ARN")
	}
	name, id, ok := strings.Cut(parts[5], "/backup/")
	switch {
	case !ok || id == "" || strings.Contains(id, "/") || !strings.HasPrefix(name, "table/"):
		return "", wire.Validation("Invalid Backup ARN")
	case parts[1] != "aws" || parts[2] != "dynamodb" || parts[3] != "" && !isRegion(parts[3]):
		return "", badRequest("BackupArn is not valid")
	case parts[3] == "" || parts[4] != s.opts.Account:
		return "", wire.AccessDenied("Access is denied")
	}
	return id, nil
}

// findBackup returns the backup with an ARN.
func (s *Service) findBackup(ctx context.Context, arn *string) (*life.Backup, error) {
	id, err := s.backupID(arn)
	if err != nil {
		return nil, err
	}
	b, err := s.db.Backup(ctx, id)
	if err == nil && b == nil {
		err = noBackup(value(arn))
	}
	return b, err
}

// isRegion reports whether name has the form of a region in the partition aws.
func isRegion(name string) bool {
	i := strings.IndexByte(name, '-')
	if i < 0 || !slices.Contains(continents, name[:i]) {
		return false
	}
	part, n, ok := strings.Cut(name[i+1:], "-")
	return ok && part != "" && len(n) == 1 && n >= "1" && n <= "9"
}

// continents are the first parts of the names of regions.
var continents = []string{"af", "ap", "ca", "eu", "il", "me", "mx", "sa", "us"}

// inUse returns an error if a table is being restored from the backup. The message is text followed by the ARN of the
// backup. Source: ack-api-quirks, DDB-BACKUP-010.
func (s *Service) inUse(ctx context.Context, b *life.Backup, text string) error {
	names, err := s.db.Names(ctx)
	if err != nil {
		return err
	}
	arn := s.backupARN(b)
	for _, name := range names {
		t, err := s.db.Describe(ctx, name)
		if err != nil {
			continue // deleted meanwhile
		}
		if r := t.Definition().Restoring(s.now()); r != nil && r.Backup == arn {
			return wire.NewError("BackupInUseException", text+arn)
		}
	}
	return nil
}

func (s *Service) backupARN(b *life.Backup) string {
	return s.arns.Table(b.Table.Name) + "/backup/" + b.ID
}

func backupType(b *life.Backup) string {
	if b.System {
		return "SYSTEM"
	}
	return "USER"
}

func (s *Service) backupDetails(b *life.Backup, status string) *wire.BackupDetails {
	return &wire.BackupDetails{
		BackupArn: new(s.backupARN(b)), BackupName: new(b.Name), BackupCreationDateTime: seconds(b.Created),
		BackupExpiryDateTime: seconds(b.Expires),
		BackupSizeBytes:      new(b.Bytes), BackupStatus: &status, BackupType: new(backupType(b)),
	}
}

func (s *Service) describeBackupAs(b *life.Backup, status string) *wire.BackupDescription {
	def := b.Table
	t := s.describe(table.Compile(def, nil))
	source := wire.As[wire.SourceTableDetails](t)
	source.ItemCount, source.TableSizeBytes = new(b.Items), new(b.Bytes)
	source.TableCreationDateTime, source.BillingMode = t.CreationDateTime, new(cmp.Or(def.BillingMode, "PROVISIONED"))
	source.ProvisionedThroughput = provisioned(def.Throughput)
	f := new(wire.SourceTableFeatureDetails)
	d := &wire.BackupDescription{
		BackupDetails: s.backupDetails(b, status), SourceTableDetails: source, SourceTableFeatureDetails: f,
	}

	if b.System {
		return d
	}
	f.SSEDescription, f.StreamDescription = t.SSEDescription, t.StreamSpecification
	if def.Expiry != "" {
		f.TimeToLiveDescription = describeExpiry(def)
	}
	for _, ix := range def.Global {
		f.GlobalSecondaryIndexes = append(f.GlobalSecondaryIndexes, wire.GlobalSecondaryIndexInfo{
			IndexName: new(ix.Name), KeySchema: keySchema(ix.Key), Projection: projection(ix.Projection),
			ProvisionedThroughput: provisioned(ix.Throughput),
		})
	}
	for _, ix := range t.LocalSecondaryIndexes {
		f.LocalSecondaryIndexes = append(f.LocalSecondaryIndexes, *wire.As[wire.LocalSecondaryIndexInfo](ix))
	}
	return d
}

// newTimeID returns a new id for a backup or a job that begins at the given time. Ids sort by time.
func (s *Service) newTimeID(at time.Time) (string, error) {
	var suffix [4]byte
	_, err := io.ReadFull(s.opts.Rand, suffix[:])
	return life.TimeID(at, hex.EncodeToString(suffix[:])), err
}

func provisioned(t table.Throughput) *wire.ProvisionedThroughput {
	return &wire.ProvisionedThroughput{ReadCapacityUnits: new(t.Read), WriteCapacityUnits: new(t.Write)}
}

// createBackup copies a table. The backup is complete when the call returns. The response says CREATING all the same,
// as the service's does.
func (s *Service) createBackup(ctx context.Context, in *wire.CreateBackupInput) (*wire.CreateBackupOutput, error) {
	t, err := s.backedUp(ctx, in.TableName)
	if err != nil {
		return nil, err
	}
	b := &life.Backup{Name: *in.BackupName, Created: s.now()}
	if b.ID, err = s.newTimeID(b.Created); err != nil {
		return nil, err
	}
	name := t.Definition().Name
	if err := s.db.CreateBackup(ctx, name, b); isNotFound(err) {
		return nil, noTable(name)
	} else if err != nil {
		return nil, err
	}
	return &wire.CreateBackupOutput{BackupDetails: s.backupDetails(b, "CREATING")}, nil
}

// describeBackup describes a backup, and its table as of the time of the backup.
func (s *Service) describeBackup(
	ctx context.Context, in *wire.DescribeBackupInput,
) (*wire.DescribeBackupOutput, error) {
	b, err := s.findBackup(ctx, in.BackupArn)
	if err != nil {
		return nil, err
	}
	d := s.describeBackupAs(b, "AVAILABLE")
	d.BackupDetails.BackupArn = in.BackupArn // the ARN as the client sent it: ack-api-quirks, DDB-BACKUP-012
	return &wire.DescribeBackupOutput{BackupDescription: d}, nil
}

// deleteBackup deletes a backup. It refuses to delete system backups and backups in use.
func (s *Service) deleteBackup(ctx context.Context, in *wire.DeleteBackupInput) (*wire.DeleteBackupOutput, error) {
	b, err := s.findBackup(ctx, in.BackupArn)
	if err != nil {
		return nil, err
	}
	if b.System {
		return nil, badRequest("User is not allowed to delete the system backup with arn " +
			s.backupARN(b) + ". It will automatically expire on " + b.Expires.Format(timeForm))
	}
	if err := s.inUse(ctx, b, "Backup is being used to restore table: "); err != nil {
		return nil, err
	}
	if err := s.db.DeleteBackup(ctx, b.ID); err != nil {
		return nil, err
	}
	d := s.describeBackupAs(b, "DELETED")
	d.BackupDetails.BackupArn = in.BackupArn
	return &wire.DeleteBackupOutput{BackupDescription: d}, nil
}

// listBackups lists backups, the oldest first. For a table name, it lists the backups of all tables that have or had
// this name. If the request has no type, it lists user backups.
func (s *Service) listBackups(ctx context.Context, in *wire.ListBackupsInput) (*wire.ListBackupsOutput, error) {
	if lower, upper := in.TimeRangeLowerBound, in.TimeRangeUpperBound; lower != nil && upper != nil && *lower > *upper {
		return nil, wire.OpListBackups.Invalid(wrongParameter +
			"Time range lower bound must be less than or equal to upper bound")
	}
	name, err := s.tableName(in.TableName)
	if err != nil {
		return nil, err
	}
	after := ""
	if in.ExclusiveStartBackupArn != nil {
		if after, err = s.backupID(in.ExclusiveStartBackupArn); err != nil {
			return nil, err
		}
		if strings.Split(*in.ExclusiveStartBackupArn, ":")[3] != s.opts.Region { // ack-api-quirks, DDB-BACKUP-012
			return nil, badRequest(
				"The supplied ExclusiveStartBackupArn does not match the region")
		}
	}
	list, err := s.db.Backups(ctx)
	if err != nil {
		return nil, err
	}
	kind := cmp.Or(value(in.BackupType), "USER")
	list = slices.DeleteFunc(list, func(b *life.Backup) bool {
		return b.ID <= after || name != "" && b.Table.Name != name || kind != "ALL" && backupType(b) != kind ||
			in.TimeRangeLowerBound != nil && b.Created.Before(timeOf(*in.TimeRangeLowerBound)) ||
			in.TimeRangeUpperBound != nil && !b.Created.Before(timeOf(*in.TimeRangeUpperBound))
	})
	limit := maxBackups
	if in.Limit != nil {
		limit = int(*in.Limit)
	}
	out := &wire.ListBackupsOutput{BackupSummaries: []wire.BackupSummary{}}
	for _, b := range list[:min(limit, len(list))] {
		x := wire.As[wire.BackupSummary](s.backupDetails(b, "AVAILABLE"))
		x.TableName, x.TableId, x.TableArn = &b.Table.Name, &b.Table.ID, new(s.arns.Table(b.Table.Name))
		out.BackupSummaries = append(out.BackupSummaries, *x)
	}

	if len(list) > limit {
		out.LastEvaluatedBackupArn = out.BackupSummaries[limit-1].BackupArn
	}
	return out, nil
}
