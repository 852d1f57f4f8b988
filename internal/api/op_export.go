package api

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/md5" //nolint:gosec // the checksum of the service's manifests
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// Source of this file: quirks, findings DDB-EXPORT-001 to 022; the files are those
// of DG/S3DataExport.Output.html.

// An exportRecord is the entry of an export in the catalogue: its description, the
// request of its token, and whether a server has begun to write its files.
type exportRecord struct {
	Description wire.ExportDescription
	Request     string
	Begun       bool `json:",omitempty"`
}

// exportTable writes the items of a table, as they are now, to the folder of
// a bucket. It is a job, as an import is ([Service.ImportTable]): the response says
// IN_PROGRESS, as the service's does, and the job continues without its client. The call
// waits for the first 1,000 items, or 4 MB of them. An export is one moment of the table,
// so that one that a restart interrupts fails, and its files are removed.
func (s *Service) exportTable(
	ctx context.Context, in *wire.ExportTableToPointInTimeInput,
) (*wire.ExportTableToPointInTimeOutput, error) {
	t, err := s.exported(ctx, in)
	if err != nil {
		return nil, err
	}
	def := t.Definition()
	request := *in
	request.ClientToken = nil
	digest, err := json.Marshal(&request)
	if err != nil {
		return nil, err
	}
	now := s.now()
	id, err := s.newTimeID(now)
	if err != nil {
		return nil, err
	}
	d := wire.ExportDescription{
		ExportArn: new(s.arns.Table(def.Name) + "/" + exportJobs + "/" + id), ExportStatus: new("IN_PROGRESS"),
		ExportFormat: new("DYNAMODB_JSON"), ExportType: in.ExportType, ExportTime: seconds(now),
		StartTime: seconds(now),
		TableArn:  new(s.arns.Table(def.Name)), TableId: new(def.ID),
		ClientToken: in.ClientToken, S3Bucket: in.S3Bucket, S3BucketOwner: in.S3BucketOwner, S3Prefix: in.S3Prefix,
		S3SseAlgorithm: new(cmp.Or(value(in.S3SseAlgorithm), "AES256")), S3SseKmsKeyId: in.S3SseKmsKeyId,
	}
	answer := d
	task := &exportTask{record: exportRecord{Description: d, Request: string(digest)}}
	record := any(task.record)
	missing := s.checkBucket(*d.S3Bucket)
	if missing != nil {
		record, _ = task.end(s, missing)
	}
	err = s.startJob(ctx, exportJobs, *d.ExportArn, record, missing != nil, nil, func(jobs []table.Job) error {
		known, err := findExportToken(jobs, in.ClientToken, string(digest))
		if known != nil {
			answer, err = *known, errKnown
		}
		return err
	})
	if err != nil && !errors.Is(err, errKnown) {
		return nil, err
	}
	return &wire.ExportTableToPointInTimeOutput{ExportDescription: &answer}, nil
}

// findExportToken returns the export that a token stands for, or nil.
func findExportToken(jobs []table.Job, token *string, digest string) (*wire.ExportDescription, error) {
	if token == nil {
		return nil, nil
	}
	list, err := decodeJobs[exportRecord](jobs)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		switch {
		case value(r.Description.ClientToken) != *token:
		case r.Request != digest:
			const text = "Export conflict: Duplicate request detected with conflicting parameters"
			return nil, wire.NewError("ExportConflictException", text)
		default:
			return &r.Description, nil
		}
	}
	return nil, nil
}

// An exportTask is an export that runs.
type exportTask struct{ record exportRecord }

// run writes the files of the export. What it has written is removed if it does not come
// to its end, since another view of the table would not be of the same moment.
func (x *exportTask) run(ctx context.Context, r *run) error {
	const text = "The server was stopped before the export was complete. Export the table again."
	interrupted := &failure{failedInternal, text}
	if r.forked {
		return interrupted // the files belong to the origin
	}
	d := &x.record.Description
	root, err := r.service.bucket(*d.S3Bucket)
	if err != nil {
		return err
	}
	defer root.Close()
	dir := path.Join(strings.Trim(value(d.S3Prefix), "/"), "AWSDynamoDB", path.Base(*d.ExportArn))
	if err = interrupted; !x.record.Begun {
		x.record.Begun = true
		err = r.update(ctx, func(*table.Tx) (any, error) { return x.record, nil })
		if err == nil {
			err = x.write(ctx, r, root, dir)
		}
		if err != nil && ctx.Err() != nil {
			err = interrupted
		}
	}
	if err != nil && !errors.Is(err, table.ErrJobMoved) {
		if removed := root.RemoveAll(dir); removed != nil {
			r.service.opts.Logger.Warn("cannot remove the files of an export that failed",
				"folder", dir, "error", removed)
		}
	}
	return err
}

func (x *exportTask) end(s *Service, failed *failure) (any, *table.JobTable) {
	d := &x.record.Description
	d.ExportStatus, d.EndTime = new("COMPLETED"), seconds(s.now())
	if failed != nil {
		d.ExportStatus = new("FAILED")
		d.FailureCode, d.FailureMessage = &failed.code, &failed.message
		d.ExportManifest, d.ItemCount, d.BilledSizeBytes = nil, nil, nil
	}
	return x.record, nil
}

// exported finds the table of an export and refuses what cannot be exported.
func (s *Service) exported(ctx context.Context, in *wire.ExportTableToPointInTimeInput) (*table.Table, error) {
	const op = wire.OpExportTableToPointInTime
	if ref, err := ParseARN(*in.TableArn); err != nil || ref.Index != "" || ref.Stream != "" {
		return nil, op.Invalid(wrongParameter + "tableArn is not a valid ARN")
	}
	switch {
	case value(in.ExportFormat) == "ION":
		return nil, op.Invalid("Sortkey exports DynamoDB JSON only. Leave out ExportFormat.")
	case in.FilterSpecification != nil:
		return nil, op.Invalid("Sortkey exports whole tables. Leave out FilterSpecification.")
	}
	t, err := s.backedUp(ctx, in.TableArn)
	if _, refused := errors.AsType[*wire.Error](err); err != nil && !refused {
		return nil, err
	}
	if err != nil {
		return nil, noTable(*in.TableArn)
	}
	invalid := func(text string) (*table.Table, error) { return nil, wire.NewError("InvalidExportTimeException", text) }
	switch {
	case t.Definition().Recovery == nil:
		return nil, notRecoverable(t.Definition().Name)
	case value(in.ExportType) == "INCREMENTAL_EXPORT":
		return invalid("Point in Time Recovery is not available for specified export time")
	case in.ExportTime != nil:
		at := timeOf(*in.ExportTime).Truncate(time.Second)
		_, now := s.restorable(t.Definition())
		if at.After(now) {
			return invalid("Export Time is invalid")
		}
		if at.Before(now) {
			return invalid("Point in Time Recovery is not available for specified export time")
		}
	}
	return t, nil
}

// write writes the files of the export to a folder and completes its description.
func (x *exportTask) write(ctx context.Context, r *run, root *os.Root, dir string) error {
	d := &x.record.Description
	id := path.Base(*d.ExportArn)
	if err := root.MkdirAll(dir+"/data", 0o755); err != nil {
		return inBucket(err)
	}
	key := dir + "/data/" + strings.ReplaceAll(id, "-", "") + ".json.gz"
	items, size, sum, err := x.writeItems(ctx, r, root, key)
	if err != nil {
		return err
	}
	whole := md5.Sum(sum) //nolint:gosec // as above
	files, err := json.Marshal(map[string]any{
		"itemCount": items, "md5Checksum": base64.StdEncoding.EncodeToString(sum),
		"etag": hex.EncodeToString(whole[:]) + "-1", "dataFileS3Key": key,
	})
	if err != nil {
		return err
	}
	d.ExportManifest, d.ItemCount, d.BilledSizeBytes = new(dir+"/manifest-summary.json"), &items, &size
	at := func(t *float64) string { return timeOf(*t).Format("2006-01-02T15:04:05.000Z") }
	summary, err := json.Marshal(map[string]any{
		"version": "2020-06-30", "exportArn": d.ExportArn, "startTime": at(d.StartTime),
		"endTime": at(seconds(r.service.now())), "tableArn": d.TableArn, "tableId": d.TableId,
		"exportTime": at(d.ExportTime), "s3Bucket": d.S3Bucket, "s3Prefix": d.S3Prefix,
		"s3SseAlgorithm": d.S3SseAlgorithm, "s3SseKmsKeyId": d.S3SseKmsKeyId,
		"manifestFilesS3Key": dir + "/manifest-files.json", "billedSizeBytes": size, "itemCount": items,
		"outputFormat": "DYNAMODB_JSON", "exportType": "FULL_EXPORT",
	})
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{"_started", nil}, {"manifest-files", append(files, '\n')}, {"manifest-summary", summary}} {
		name := dir + "/" + f.name
		if f.data != nil {
			sum := md5.Sum(f.data) //nolint:gosec // as above
			if err := root.WriteFile(name+".checksum", []byte(base64.StdEncoding.EncodeToString(sum[:])), 0o644); err != nil {
				return inBucket(err)
			}
			name += ".json"
		}
		if err := root.WriteFile(name, f.data, 0o644); err != nil {
			return inBucket(err)
		}
	}
	return nil
}

// writeItems writes the items of the table to a file and returns their number, their
// bytes in storage and the checksum of the file.
func (x *exportTask) writeItems(
	ctx context.Context, r *run, root *os.Root, key string,
) (items, size int64, sum []byte, err error) {
	f, err := root.Create(key)
	if err != nil {
		return 0, 0, nil, inBucket(err)
	}
	defer f.Close()
	hash := md5.New() //nolint:gosec // as above
	zip := gzip.NewWriter(io.MultiWriter(f, hash))
	var line bytes.Buffer
	var batch table.Batch
	full := false
	name, id := path.Base(*x.record.Description.TableArn), *x.record.Description.TableId
	err = r.service.db.Walk(ctx, name, id, func(it attr.Item) error {
		items++
		size += int64(it.Size())
		if full {
			r.begin()
		}
		full = batch.Add(len(it))
		line.Reset()
		line.WriteString(`{"Item":`)
		line.Write(it.AppendJSON(line.AvailableBuffer()))
		line.WriteString("}\n")
		_, err := zip.Write(line.Bytes())
		return inBucket(err)
	})
	switch {
	case isNotFound(err):
		err = &failure{failedTable, "The table was deleted before the export began."}
	case err == nil:
		if err = zip.Close(); err == nil {
			err = f.Close()
		}
		err = inBucket(err)
	}
	return items, size, hash.Sum(nil), err
}

// checkJobARN refuses an ARN that cannot name a job.
func (s *Service) checkJobARN(arn, kind string) error {
	parts := strings.SplitN(arn, ":", 6)
	what := strings.ToUpper(kind[:1]) + kind[1:]
	if len(parts) != 6 || parts[0] != "arn" || !strings.Contains(parts[5], "/"+kind+"/") {
		return wire.Validation("Invalid " + what + " ARN")
	}
	if parts[4] != cmp.Or(s.arns.Account, DefaultAccount) {
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
	list, err := loadJobs[exportRecord](ctx, s, exportJobs)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if value(r.Description.ExportArn) == *in.ExportArn {
			return &wire.DescribeExportOutput{ExportDescription: &r.Description}, nil
		}
	}
	return nil, wire.NewError("ExportNotFoundException", "Export not found: "+*in.ExportArn)
}

// listExports lists exports, the newest first; with a table, only the exports of the
// table that exists now.
func (s *Service) listExports(ctx context.Context, in *wire.ListExportsInput) (*wire.ListExportsOutput, error) {
	list, err := loadJobs[exportRecord](ctx, s, exportJobs)
	if err != nil {
		return nil, err
	}
	id, err := s.currentID(ctx, in.TableArn)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(r exportRecord) bool {
		return in.TableArn != nil && value(r.Description.TableId) != id ||
			in.NextToken != nil && path.Base(value(r.Description.ExportArn)) >= *in.NextToken
	})
	limit := jobsPage
	if in.MaxResults != nil {
		limit = int(*in.MaxResults)
	}
	out := &wire.ListExportsOutput{ExportSummaries: []wire.ExportSummary{}}
	for _, r := range list[:min(limit, len(list))] {
		out.ExportSummaries = append(out.ExportSummaries, wire.ExportSummary{
			ExportArn: r.Description.ExportArn, ExportStatus: r.Description.ExportStatus,
			ExportType: new(cmp.Or(value(r.Description.ExportType), "FULL_EXPORT")),
		})
	}
	if len(list) > limit {
		out.NextToken = new(path.Base(*out.ExportSummaries[limit-1].ExportArn))
	}
	return out, nil
}

// currentID returns the id of the table with an ARN, or "" without such a table.
func (s *Service) currentID(ctx context.Context, arn *string) (string, error) {
	if arn == nil {
		return "", nil
	}
	name, err := s.tableName(*arn)
	if err != nil {
		return "", err
	}
	if err := s.db.Refresh(ctx); err != nil {
		return "", err
	}
	t, err := s.db.Describe(name)
	if err != nil {
		return "", nil //nolint:nilerr // a deleted table has no jobs
	}
	return t.Definition().ID, nil
}
