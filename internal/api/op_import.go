package api

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// Source of this file: quirks, findings DDB-IMPORT-001 to 020.

// ImportTable creates a table from the files of a bucket. It is complete when the
// call returns; the response says IN_PROGRESS, as the service's does.
func (s *Service) ImportTable(ctx context.Context, in *wire.ImportTableInput) (*wire.ImportTableOutput, error) {
	return call(ctx, s, wire.OpImportTable, in, s.importTable)
}

func (s *Service) importTable(ctx context.Context, in *wire.ImportTableInput) (*wire.ImportTableOutput, error) {
	const op = wire.OpImportTable
	if err := in.Validate(); err != nil {
		return nil, err
	}
	switch {
	case *in.InputFormat != "DYNAMODB_JSON":
		return nil, op.Invalid("Sortkey imports DynamoDB JSON only. Use 'sortkey import' for other formats.")
	case value(in.InputCompressionType) == "ZSTD":
		return nil, op.Invalid("Sortkey imports files without compression or with GZIP only.")
	}
	p := in.TableCreationParameters
	name := *p.TableName
	// Source: ack-api-quirks, DDB-TABLE-442, 2026-10-09.
	billing := &table.Definition{BillingMode: value(p.BillingMode)}
	if _, err := throughputOf(billing, p.ProvisionedThroughput, ""); err != nil {
		return nil, err
	}
	if in.ClientToken != nil {
		list, err := loadJobs[wire.ImportTableDescription](ctx, s, importJobs)
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			switch {
			case value(d.ClientToken) != *in.ClientToken:
			case value(d.TableCreationParameters.TableName) != name:
				return nil, wire.NewError("ImportConflictException", "Import conflict: Duplicate request detected with conflicting parameters")
			default:
				return &wire.ImportTableOutput{ImportTableDescription: &d}, nil
			}
		}
	}
	if err := s.db.Refresh(ctx); err != nil {
		return nil, err
	}
	if _, err := s.db.Describe(name); err == nil {
		return nil, wire.NewError("ResourceInUseException", "Table already exists: "+name)
	}
	now := s.now()
	id, err := s.newTimeID(now)
	if err != nil {
		return nil, err
	}
	d := wire.ImportTableDescription{
		ImportArn: new(s.arns.Table(name) + "/import/" + id), ImportStatus: new("IN_PROGRESS"), TableArn: new(s.arns.Table(name)), ClientToken: in.ClientToken,
		S3BucketSource: in.S3BucketSource, InputFormat: in.InputFormat, InputFormatOptions: in.InputFormatOptions,
		InputCompressionType: new(cmp.Or(value(in.InputCompressionType), "NONE")), TableCreationParameters: p, StartTime: seconds(now),
		ErrorCount: new(int64(0)), ImportedItemCount: new(int64(0)), ProcessedItemCount: new(int64(0)), ProcessedSizeBytes: new(int64(0)),
	}
	root, failed := s.bucket(*in.S3BucketSource.S3Bucket)
	if failed == nil {
		defer root.Close()
		made, err := s.createTable(ctx, &wire.CreateTableInput{
			TableName: p.TableName, AttributeDefinitions: p.AttributeDefinitions, KeySchema: p.KeySchema, BillingMode: p.BillingMode, ProvisionedThroughput: p.ProvisionedThroughput,
			OnDemandThroughput: p.OnDemandThroughput, SSESpecification: p.SSESpecification, GlobalSecondaryIndexes: p.GlobalSecondaryIndexes, VectorIndexes: p.VectorIndexes,
		})
		if err != nil {
			return nil, err
		}
		d.TableId = made.TableDescription.TableId
		failed = s.readImport(ctx, root, name, &d)
	}
	answer := d
	answer.ImportStatus = new("IN_PROGRESS")
	d.ImportStatus, d.EndTime = new("COMPLETED"), seconds(s.now())
	if failed != nil {
		if ctx.Err() != nil {
			return nil, failed
		}
		d.ImportStatus = new("FAILED")
		d.FailureCode, d.FailureMessage = failureOf(failed)
	}
	if err := s.keepJob(ctx, importJobs, *d.ImportArn, &d); err != nil {
		return nil, err
	}
	return &wire.ImportTableOutput{ImportTableDescription: &answer}, nil
}

// readImport puts the items of all files with a prefix into a table. Lines that are
// no items are counted, and make the import fail after the others are written.
func (s *Service) readImport(ctx context.Context, root *os.Root, name string, d *wire.ImportTableDescription) error {
	var batch []attr.Item
	err := readLines(root, value(d.S3BucketSource.S3KeyPrefix), *d.InputCompressionType, func(line []byte, err error) error {
		if err != nil {
			*d.ErrorCount++
			return nil
		}
		*d.ProcessedItemCount++
		*d.ProcessedSizeBytes += int64(len(line))
		var x struct{ Item json.RawMessage }
		if err := json.Unmarshal(line, &x); err != nil || x.Item == nil {
			*d.ErrorCount++
			return nil //nolint:nilerr // counted
		}
		it, err := attr.ParseItem(x.Item)
		if err != nil {
			*d.ErrorCount++
			return nil //nolint:nilerr // counted
		}
		if batch = append(batch, it); len(batch) < importItems {
			return nil
		}
		full := batch
		batch = nil
		return s.importBatch(ctx, name, full, d)
	})
	if err == nil {
		err = s.importBatch(ctx, name, batch, d)
	}
	if err == nil && *d.ErrorCount > 0 {
		err = &failure{"ItemValidationError", "Some of the items failed validation checks. Please check CloudWatch error logs for more details."}
	}
	return err
}

// importItems is how many items are written in one update, and maxLine the longest
// line: an item of 400 KB in JSON with every character escaped.
const (
	importItems = 1000
	maxLine     = 16 << 20
)

// readLines calls fn with each line of the files that a bucket has now and whose
// names begin with a prefix, and with an error for what it cannot read of a file. It
// ends with the error of fn. A line is valid until fn returns.
func readLines(root *os.Root, prefix, compression string, fn func(line []byte, err error) error) error {
	prefix = strings.TrimLeft(prefix, "/")
	var keys []string
	err := fs.WalkDir(root.FS(), ".", func(key string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
		return err
	})
	for _, key := range keys {
		if err == nil {
			err = readFile(root, key, compression, fn)
		}
	}
	return err
}

func readFile(root *os.Root, key, compression string, fn func(line []byte, err error) error) error {
	f, err := root.Open(key)
	if err != nil {
		return err
	}
	defer f.Close()
	var from io.Reader = f
	if compression == "GZIP" {
		if from, err = gzip.NewReader(f); err != nil {
			return fn(nil, err)
		}
	}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			if err := fn(line, nil); err != nil {
				return err
			}
		}
	}
	if lines.Err() != nil {
		return fn(nil, lines.Err())
	}
	return nil
}

// importBatch writes items in one update; those that the table refuses are counted.
func (s *Service) importBatch(ctx context.Context, name string, batch []attr.Item, d *wire.ImportTableDescription) error {
	var refused int64
	err := s.db.Update(ctx, func(tx *table.Tx) error {
		refused = 0
		t, err := tx.Defined(name) // it may still be CREATING
		if err != nil {
			return err
		}
		for _, it := range batch {
			_, err := tx.Put(t, it, nil)
			if isKind(err, table.Validation) {
				refused++
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	*d.ErrorCount += refused
	*d.ImportedItemCount += int64(len(batch)) - refused
	return nil
}

// DescribeImport describes an import.
func (s *Service) DescribeImport(ctx context.Context, in *wire.DescribeImportInput) (*wire.DescribeImportOutput, error) {
	return call(ctx, s, wire.OpDescribeImport, in, s.describeImport)
}

func (s *Service) describeImport(ctx context.Context, in *wire.DescribeImportInput) (*wire.DescribeImportOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if err := s.checkJobARN(*in.ImportArn, importJobs); err != nil {
		return nil, err
	}
	list, err := loadJobs[wire.ImportTableDescription](ctx, s, importJobs)
	if err != nil {
		return nil, err
	}
	for _, d := range list {
		if value(d.ImportArn) == *in.ImportArn {
			return &wire.DescribeImportOutput{ImportTableDescription: &d}, nil
		}
	}
	return nil, wire.NewError("ImportNotFoundException", "Import not found: "+*in.ImportArn)
}

// ListImports lists imports, the newest first.
func (s *Service) ListImports(ctx context.Context, in *wire.ListImportsInput) (*wire.ListImportsOutput, error) {
	return call(ctx, s, wire.OpListImports, in, s.listImports)
}

func (s *Service) listImports(ctx context.Context, in *wire.ListImportsInput) (*wire.ListImportsOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	list, err := loadJobs[wire.ImportTableDescription](ctx, s, importJobs)
	if err != nil {
		return nil, err
	}
	last := importToken("")
	if in.NextToken != nil {
		last = *in.NextToken
	}
	list = slices.DeleteFunc(list, func(d wire.ImportTableDescription) bool {
		return in.TableArn != nil && value(d.TableArn) != *in.TableArn || in.NextToken != nil && importToken(path.Base(*d.ImportArn)) >= last
	})
	limit := jobsPage
	if in.PageSize != nil {
		limit = int(*in.PageSize)
	}
	out := &wire.ListImportsOutput{ImportSummaryList: []wire.ImportSummary{}}
	for _, d := range list[:min(limit, len(list))] {
		out.ImportSummaryList = append(out.ImportSummaryList, wire.ImportSummary{
			ImportArn: d.ImportArn, ImportStatus: d.ImportStatus, InputFormat: d.InputFormat, S3BucketSource: d.S3BucketSource, TableArn: d.TableArn,
			StartTime: d.StartTime, EndTime: d.EndTime,
		})
	}
	if len(list) > limit {
		out.NextToken = new(importToken(path.Base(*out.ImportSummaryList[limit-1].ImportArn)))
	}
	return out, nil
}

// importToken returns the token of a page that ends with a job, in the form
// that the service model wants: hexadecimal, in the order of ids.
func importToken(id string) string {
	return fmt.Sprintf("%s%0*d", hex.EncodeToString([]byte(id)), 112-2*len(id), 0)
}
