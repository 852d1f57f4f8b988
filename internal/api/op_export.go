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
	"fmt"
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

// The kinds of jobs in the catalogue, and how many are on a page by default.
const (
	exportJobs = "export"
	importJobs = "import"
	jobsPage   = 10
)

// An exportRecord is what the catalogue keeps of an export: its description, and
// the request of its token.
type exportRecord struct {
	Description wire.ExportDescription
	Request     string
}

// loadJobs returns the records of a kind, the newest first.
func loadJobs[T any](ctx context.Context, s *Service, kind string) (list []T, err error) {
	jobs, err := s.db.Jobs(ctx, kind)
	if err != nil {
		return nil, err
	}
	for _, job := range slices.Backward(jobs) {
		var x T
		if err := json.Unmarshal(job.Value, &x); err != nil {
			return nil, fmt.Errorf("damaged catalogue: %s %s: %w", kind, job.ID, err)
		}
		list = append(list, x)
	}
	return list, nil
}

func (s *Service) keepJob(ctx context.Context, kind, arn string, record any) error {
	value, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return s.db.PutJob(ctx, kind, table.Job{ID: path.Base(arn), Value: value})
}

// A failure is why a job failed, as its description says.
type failure struct{ code, message string }

func (f *failure) Error() string { return f.code + ": " + f.message }

// bucket opens the folder of a bucket. No path of a root leaves its folder.
func (s *Service) bucket(name string) (*os.Root, error) {
	missing := &failure{"S3NoSuchBucket", "The specified bucket does not exist (Service: Amazon S3; Status Code: 404; Error Code: NoSuchBucket)"}
	if s.opts.S3Root == "" {
		return nil, missing
	}
	root, err := os.OpenRoot(s.opts.S3Root)
	if err != nil {
		return nil, missing
	}
	defer root.Close()
	if strings.ContainsAny(name, `/\`) {
		return nil, missing
	}
	b, err := root.OpenRoot(name)
	if err != nil {
		return nil, missing
	}
	return b, nil
}

// failureOf returns the code and the message of a failed job.
func failureOf(err error) (code, message *string) {
	if f, ok := errors.AsType[*failure](err); ok {
		return &f.code, &f.message
	}
	return new("S3AccessDenied"), new(err.Error())
}

// ExportTableToPointInTime writes the items of a table to the folder of a bucket. It
// is complete when the call returns; the response says IN_PROGRESS, as the
// service's does.
func (s *Service) ExportTableToPointInTime(ctx context.Context, in *wire.ExportTableToPointInTimeInput) (*wire.ExportTableToPointInTimeOutput, error) {
	return call(ctx, s, wire.OpExportTableToPointInTime, in, s.exportTable)
}

func (s *Service) exportTable(ctx context.Context, in *wire.ExportTableToPointInTimeInput) (*wire.ExportTableToPointInTimeOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
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
	if in.ClientToken != nil {
		list, err := loadJobs[exportRecord](ctx, s, exportJobs)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			switch {
			case value(r.Description.ClientToken) != *in.ClientToken:
			case r.Request != string(digest):
				return nil, wire.NewError("ExportConflictException", "Export conflict: Duplicate request detected with conflicting parameters")
			default:
				return &wire.ExportTableToPointInTimeOutput{ExportDescription: &r.Description}, nil
			}
		}
	}
	now := s.now()
	id, err := s.newTimeID(now)
	if err != nil {
		return nil, err
	}
	d := wire.ExportDescription{
		ExportArn: new(s.arns.Table(def.Name) + "/export/" + id), ExportStatus: new("IN_PROGRESS"), ExportFormat: new("DYNAMODB_JSON"), ExportType: in.ExportType,
		ExportTime: seconds(now), StartTime: seconds(now), TableArn: new(s.arns.Table(def.Name)), TableId: new(def.ID), ClientToken: in.ClientToken,
		S3Bucket: in.S3Bucket, S3BucketOwner: in.S3BucketOwner, S3Prefix: in.S3Prefix, S3SseAlgorithm: new(cmp.Or(value(in.S3SseAlgorithm), "AES256")), S3SseKmsKeyId: in.S3SseKmsKeyId,
	}
	answer := d
	d.ExportStatus = new("COMPLETED")
	if err := s.writeExport(ctx, def.Name, id, &d); err != nil {
		if ctx.Err() != nil || isNotFound(err) {
			return nil, err
		}
		d.ExportStatus = new("FAILED")
		d.FailureCode, d.FailureMessage = failureOf(err)
	}
	d.EndTime = seconds(s.now())
	if err := s.keepJob(ctx, exportJobs, *d.ExportArn, exportRecord{d, string(digest)}); err != nil {
		return nil, err
	}
	return &wire.ExportTableToPointInTimeOutput{ExportDescription: &answer}, nil
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

// writeExport writes the files of an export and completes its description.
func (s *Service) writeExport(ctx context.Context, name, id string, d *wire.ExportDescription) error {
	root, err := s.bucket(*d.S3Bucket)
	if err != nil {
		return err
	}
	defer root.Close()
	dir := path.Join(strings.Trim(value(d.S3Prefix), "/"), "AWSDynamoDB", id)
	if err := root.MkdirAll(dir+"/data", 0o755); err != nil {
		return err
	}
	key := dir + "/data/" + strings.ReplaceAll(id, "-", "") + ".json.gz"
	items, size, sum, err := s.writeItems(ctx, root, key, name)
	if err != nil {
		return err
	}
	whole := md5.Sum(sum) //nolint:gosec // as above
	files, err := json.Marshal(map[string]any{
		"itemCount": items, "md5Checksum": base64.StdEncoding.EncodeToString(sum), "etag": hex.EncodeToString(whole[:]) + "-1", "dataFileS3Key": key,
	})
	if err != nil {
		return err
	}
	d.ExportManifest, d.ItemCount, d.BilledSizeBytes = new(dir+"/manifest-summary.json"), &items, &size
	at := func(t *float64) string { return timeOf(*t).Format("2006-01-02T15:04:05.000Z") }
	summary, err := json.Marshal(map[string]any{
		"version": "2020-06-30", "exportArn": d.ExportArn, "startTime": at(d.StartTime), "endTime": at(seconds(s.now())), "tableArn": d.TableArn, "tableId": d.TableId,
		"exportTime": at(d.ExportTime), "s3Bucket": d.S3Bucket, "s3Prefix": d.S3Prefix, "s3SseAlgorithm": d.S3SseAlgorithm, "s3SseKmsKeyId": d.S3SseKmsKeyId,
		"manifestFilesS3Key": dir + "/manifest-files.json", "billedSizeBytes": size, "itemCount": items, "outputFormat": "DYNAMODB_JSON", "exportType": "FULL_EXPORT",
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
				return err
			}
			name += ".json"
		}
		if err := root.WriteFile(name, f.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeItems writes the items of a table to a file and returns their number, their
// bytes in storage and the checksum of the file.
func (s *Service) writeItems(ctx context.Context, root *os.Root, key, name string) (items, size int64, sum []byte, err error) {
	f, err := root.Create(key)
	if err != nil {
		return 0, 0, nil, err
	}
	defer f.Close()
	hash := md5.New() //nolint:gosec // as above
	zip := gzip.NewWriter(io.MultiWriter(f, hash))
	var line bytes.Buffer
	err = s.db.Walk(ctx, name, func(it attr.Item) error {
		items++
		size += int64(it.Size())
		line.Reset()
		line.WriteString(`{"Item":`)
		line.Write(it.AppendJSON(line.AvailableBuffer()))
		line.WriteString("}\n")
		_, err := zip.Write(line.Bytes())
		return err
	})
	if err == nil {
		err = zip.Close()
	}
	if err == nil {
		err = f.Close()
	}
	return items, size, hash.Sum(nil), err
}

// checkJobARN refuses an ARN that cannot be that of a job.
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

// DescribeExport describes an export.
func (s *Service) DescribeExport(ctx context.Context, in *wire.DescribeExportInput) (*wire.DescribeExportOutput, error) {
	return call(ctx, s, wire.OpDescribeExport, in, s.describeExport)
}

func (s *Service) describeExport(ctx context.Context, in *wire.DescribeExportInput) (*wire.DescribeExportOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
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

// ListExports lists exports, the newest first; with a table, those of the table that
// exists.
func (s *Service) ListExports(ctx context.Context, in *wire.ListExportsInput) (*wire.ListExportsOutput, error) {
	return call(ctx, s, wire.OpListExports, in, s.listExports)
}

func (s *Service) listExports(ctx context.Context, in *wire.ListExportsInput) (*wire.ListExportsOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	list, err := loadJobs[exportRecord](ctx, s, exportJobs)
	if err != nil {
		return nil, err
	}
	id, err := s.currentID(ctx, in.TableArn)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(r exportRecord) bool {
		return in.TableArn != nil && value(r.Description.TableId) != id || in.NextToken != nil && path.Base(value(r.Description.ExportArn)) >= *in.NextToken
	})
	limit := jobsPage
	if in.MaxResults != nil {
		limit = int(*in.MaxResults)
	}
	out := &wire.ListExportsOutput{ExportSummaries: []wire.ExportSummary{}}
	for _, r := range list[:min(limit, len(list))] {
		out.ExportSummaries = append(out.ExportSummaries, wire.ExportSummary{
			ExportArn: r.Description.ExportArn, ExportStatus: r.Description.ExportStatus, ExportType: new(cmp.Or(value(r.Description.ExportType), "FULL_EXPORT")),
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
