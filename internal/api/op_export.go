package api

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/s3files"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/wire"
)

// Source of this file: quirks, findings DDB-EXPORT-001 to 022. Source of the files that an export writes:
// DG/S3DataExport.Output.html.

var exports = &jobKind[wire.ExportDescription]{
	name: exportJobs,
	members: func(d *wire.ExportDescription) jobMembers {
		return jobMembers{
			&d.ExportArn, &d.ExportStatus, &d.StartTime, &d.EndTime, &d.FailureCode, &d.FailureMessage, d.ClientToken,
		}
	},
	conflict: &wire.Error{
		Code: "ExportConflictException", Status: 400,
		Message: "Export conflict: Duplicate request detected with conflicting parameters",
	},
	run: runExport,
	end: endExport,
}

// exportTableToPointInTime writes the current items of a table to the directory of a bucket. Like
// [Service.importTable], it starts a job and waits for the first 1,000 items, or 4 MB. The response says IN_PROGRESS,
// as the service's does, and the job does not need its client. An export reads one snapshot of the table. A restarted
// server cannot read that snapshot again, so the export then fails, and the server removes its files.
func (s *Service) exportTableToPointInTime(
	ctx context.Context, in *wire.ExportTableToPointInTimeInput,
) (*wire.ExportTableToPointInTimeOutput, error) {
	t, err := s.exported(ctx, in)
	if err != nil {
		return nil, err
	}
	def := t.Definition()
	r, err := exports.newJob(in)
	if err != nil {
		return nil, err
	}
	d := &r.Description
	d.ExportFormat, d.ExportTime, d.DestinationType = new("DYNAMODB_JSON"), seconds(s.now()), new("S3")
	d.TableArn, d.TableId = new(s.arns.Table(def.Name)), new(def.ID)
	d.S3SseAlgorithm = new(cmp.Or(value(in.S3SseAlgorithm), "AES256"))
	d, err = exports.start(ctx, s, r, def.Name, nil, s.checkBucket(*d.S3Bucket))
	return &wire.ExportTableToPointInTimeOutput{ExportDescription: d}, err
}

// runExport writes the files of the export. If the export fails, runExport removes the files, as another run would read
// a different snapshot.
func runExport(ctx context.Context, r *run, record *jobRecord[wire.ExportDescription]) error {
	const text = "The server was stopped before the export was complete. Export the table again."
	interrupted := &failure{failedInternal, text}
	if r.forked {
		return interrupted // the original database of this fork writes the files
	}
	d := &record.Description
	root, err := r.service.bucket(*d.S3Bucket)
	if err != nil {
		return err
	}
	defer root.Close()
	dir := s3files.Folder(value(d.S3Prefix), *d.ExportArn)
	if err = interrupted; !record.Begun {
		record.Begun = true
		err = r.update(ctx, func(*table.Tx) (any, error) { return record, nil })
		if err == nil {
			err = writeExport(ctx, r, d, root, dir)
		}
		if err != nil && ctx.Err() != nil {
			err = interrupted
		}
	}
	if err != nil && !errors.Is(err, life.ErrJobMoved) {
		if removed := root.RemoveAll(dir); removed != nil {
			r.service.opts.Logger.Warn("cannot remove the files of an export that failed",
				"folder", dir, "error", removed)
		}
	}

	return err
}

func endExport(r *jobRecord[wire.ExportDescription], failed *failure) *life.JobTable {
	if d := &r.Description; failed != nil {
		d.ExportManifest, d.ItemCount, d.BilledSizeBytes = nil, nil, nil
	}
	return nil
}

// exported returns the table of an export. It returns an error for exports that the service or Sortkey does not
// support.
func (s *Service) exported(ctx context.Context, in *wire.ExportTableToPointInTimeInput) (*table.Table, error) {
	const op = wire.OpExportTableToPointInTime
	ref, err := ParseARN(*in.TableArn)
	switch {
	case err != nil:
		return nil, op.Invalid(wrongParameter + "tableArn is not a valid ARN")
	case ref.Index != "" || ref.Stream != "":
		return nil, badRequest("Table ARN is invalid.")
	case value(in.ExportFormat) == "ION":
		return nil, op.Invalid("Sortkey exports DynamoDB JSON only. Leave out ExportFormat.")
	}
	if err := checkExport(in); err != nil {
		return nil, err
	}
	if ref.Account != s.opts.Account {
		return nil, wire.AccessDenied("Access is denied")
	}

	t, err := s.backedUp(ctx, in.TableArn)
	if _, refused := errors.AsType[*wire.Error](err); refused {
		err = noTable(*in.TableArn)
	}
	if err != nil {
		return nil, err
	}
	if err := s.checkPeriod(t.Definition(), in.IncrementalExportSpecification); err != nil {
		return nil, err
	}
	switch {
	case t.Definition().Recovery == nil:
		return nil, notRecoverable(t.Definition().Name)
	case in.IncrementalExportSpecification != nil:
		return nil, wrongTime(msgNoExportTime)
	case in.ExportTime != nil:
		at := timeOf(*in.ExportTime).Truncate(time.Second)
		earliest, now := s.restorable(t.Definition())
		switch {
		case at.Before(earliest) || at.After(now):
			return nil, wrongTime("Export Time is invalid")
		case at.Before(now):
			return nil, wrongTime(msgNoExportTime)
		}
	}

	return t, nil
}

const msgNoExportTime = "Point in Time Recovery is not available for specified export time"

func wrongTime(text string) error { return wire.NewError("InvalidExportTimeException", text) }

// checkExport returns an error if members of the input contradict each other. Sources: ack-api-quirks,
// DDB-EXPORT-003, 005 and 008; for an empty prefix, alternator, test_export.py.
func checkExport(in *wire.ExportTableToPointInTimeInput) error {
	spec, kind := in.IncrementalExportSpecification, value(in.ExportType)
	switch {
	case in.S3Prefix != nil && *in.S3Prefix == "":
		return wire.Validation("1 validation error detected: Value '' at 's3Prefix' failed to satisfy constraint: " +
			"Member must have length greater than or equal to 1")
	case in.S3SseKmsKeyId != nil && value(in.S3SseAlgorithm) != "KMS":
		return badRequest("KMS Key Id is not supported for this encryption type")
	case spec != nil && kind == "":
		return badRequest("Export Type expected to be Incremental Export " +
			"when incremental export specification is provided")
	case spec != nil && kind != "INCREMENTAL_EXPORT":
		return badRequest("When Export Type is Full Export , Incremental Export Specification should not be provided")
	case spec == nil && kind == "INCREMENTAL_EXPORT":
		return badRequest("Incremental Export Specification expected when export type is set as Incremental Export")
	case spec != nil && spec.ExportFromTime == nil:
		return badRequest("ExportFromTime must be provided in IncrementalExportSpecification")
	case in.FilterSpecification != nil && in.FilterSpecification.FilterExpression == nil:
		return badRequest("Invalid FilterSpecification: The specification can not be empty")
	case in.FilterSpecification != nil:
		return wire.OpExportTableToPointInTime.Invalid("Sortkey exports whole tables. Leave out FilterSpecification.")
	}
	return nil
}

// checkPeriod returns an error if the period of an incremental export is invalid. spec may be nil. Source:
// ack-api-quirks, DDB-EXPORT-001 and 004.
func (s *Service) checkPeriod(def *table.Definition, spec *wire.IncrementalExportSpecification) error {
	if spec == nil {
		return nil
	}
	now := s.now()
	from, to := timeOf(*spec.ExportFromTime), now
	if spec.ExportToTime != nil {
		to = timeOf(*spec.ExportToTime)
	}
	switch {
	case from.Before(def.Created):
		return wrongTime("Incremental export period from time cannot be less than the table creation time : " +
			from.Format(timeForm))
	case to.After(now):
		return wrongTime("Incremental export period to time cannot be greater than the current time : " +
			to.Format(timeForm))
	case to.Sub(from) < 15*time.Minute:
		return wrongTime("Difference between export period from time and export period to time is less than 15 minutes")
	}
	return nil
}

// writeExport writes the files of an export to a directory and completes the description of the export.
func writeExport(ctx context.Context, r *run, d *wire.ExportDescription, root *os.Root, dir string) error {
	data := path.Join(dir, s3files.DataFolder)
	if err := root.MkdirAll(data, 0o755); err != nil {
		return inBucket(err)
	}
	key := path.Join(data, strings.ReplaceAll(path.Base(*d.ExportArn), "-", "")+".json.gz")
	file, size, err := writeItems(ctx, r, d, root, key)
	if err != nil {
		return err
	}
	files, err := file.Encode(s3files.Sorted)
	if err != nil {
		return err
	}

	d.ExportManifest = new(path.Join(dir, s3files.SummaryFile))
	d.ItemCount, d.BilledSizeBytes = &file.ItemCount, &size
	sum := s3files.Summary{
		Version: s3files.Version, ExportArn: *d.ExportArn, TableArn: *d.TableArn, TableID: *d.TableId,
		StartTime: s3files.Time(timeOf(*d.StartTime)), EndTime: s3files.Time(timeOf(*seconds(r.service.now()))),
		ExportTime: s3files.Time(timeOf(*d.ExportTime)),
		S3Bucket:   d.S3Bucket, S3Prefix: d.S3Prefix,
		S3SseAlgorithm: d.S3SseAlgorithm, S3SseKmsKeyID: d.S3SseKmsKeyId,
		ManifestFilesS3Key: path.Join(dir, s3files.FilesFile), BilledSizeBytes: size, ItemCount: file.ItemCount,
		OutputFormat: s3files.FormatDynamoDB, ExportType: s3files.FullExport,
	}
	summary, err := sum.Encode(s3files.Sorted)
	if err != nil {
		return err
	}

	write := func(name string, data []byte) error {
		return inBucket(root.WriteFile(path.Join(dir, name), data, 0o644))
	}
	if err := write(s3files.StartedFile, nil); err != nil {
		return err
	}
	if err := s3files.WriteManifest(s3files.FilesFile, files, write); err != nil {
		return err
	}
	return s3files.WriteManifest(s3files.SummaryFile, summary, write)
}

// writeItems writes the items of the table to a file. It returns the manifest's entry for that file, and the total
// size of the items in bytes.
func writeItems(
	ctx context.Context, r *run, d *wire.ExportDescription, root *os.Root, key string,
) (_ *s3files.DataFile, size int64, err error) {
	f, err := root.Create(key)
	if err != nil {
		return nil, 0, inBucket(err)
	}
	defer f.Close()
	out := s3files.NewWriter(f, true)
	var batch table.Batch
	full := false
	err = r.service.db.Walk(ctx, path.Base(*d.TableArn), *d.TableId, func(it attr.Item) error {
		size += int64(it.Size())
		if full {
			r.begin()
		}
		full = batch.Add(len(it))
		return inBucket(out.WriteItem(it))
	})

	switch {
	case isNotFound(err):
		err = &failure{failedTable, "The table was deleted before the export began."}
	case err == nil:
		if err = out.Close(); err == nil {
			err = f.Close()
		}
		err = inBucket(err)
	}

	return out.DataFile(key), size, err
}

// checkJobARN refuses an ARN that cannot be the ARN of a job of this kind.
func (s *Service) checkJobARN(arn, kind string) error {
	parts := strings.SplitN(arn, ":", 6)
	what := strings.ToUpper(kind[:1]) + kind[1:]
	if len(parts) != 6 || parts[0] != "arn" {
		return wire.Validation("Invalid " + what + " ARN")
	}
	name, _, ok := strings.Cut(strings.TrimPrefix(parts[5], "table/"), "/"+kind+"/")
	if !ok || !wire.ValidName(name) { // source of the check of the name: alternator, test_import.py
		return wire.Validation("Invalid " + what + " ARN")
	}
	if parts[4] != s.opts.Account {
		return wire.AccessDenied("Access is denied")
	}
	return nil
}

// describeExport describes an export.
func (s *Service) describeExport(
	ctx context.Context, in *wire.DescribeExportInput,
) (*wire.DescribeExportOutput, error) {
	if err := s.checkJobARN(*in.ExportArn, exportJobs); err != nil {
		return nil, err
	}
	d, err := exports.find(ctx, s, in.ExportArn)
	if d == nil && err == nil { // ack-api-quirks, DDB-EXPORT-006
		text := "Export not found: " + *in.ExportArn
		if strings.Split(*in.ExportArn, ":")[3] != s.opts.Region {
			text = "Invalid export arn"
		}
		err = wire.NewError("ExportNotFoundException", "Export not found: "+text)
	}
	return &wire.DescribeExportOutput{ExportDescription: d}, err
}

// listExports lists exports, the newest first. If the request names a table, it lists only exports of the current
// table with this name, not those of deleted tables.
func (s *Service) listExports(ctx context.Context, in *wire.ListExportsInput) (*wire.ListExportsOutput, error) {
	id, err := s.currentID(ctx, in.TableArn)
	if err != nil {
		return nil, err
	}
	keep := func(d *wire.ExportDescription) bool { return in.TableArn == nil || value(d.TableId) == id }
	list, next, err := listJobs[wire.ExportSummary](ctx, s, exports, in.MaxResults, in.NextToken, keep)
	for i := range list {
		list[i].ExportType = cmp.Or(list[i].ExportType, new("FULL_EXPORT"))
	}
	return &wire.ListExportsOutput{ExportSummaries: list, NextToken: next}, err
}

// currentID returns the id of the table that an ARN names now, or "" if there is no such table.
func (s *Service) currentID(ctx context.Context, arn *string) (string, error) {
	if arn == nil {
		return "", nil
	}
	t, err := s.found(ctx, arn)
	if isCode(err, codeNotFound) { // a deleted table has no jobs
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return t.Definition().ID, nil
}
