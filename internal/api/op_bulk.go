package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// Sources of this file: API_StartBulkPutItems, DG/BulkPutItems.Requesting.html,
// BulkPutItems.Format.html and BulkPutItems.Output.html. The form of the ARN and the
// names of report files are ours.

// bulkJobs is the kind of the jobs, and a part of their ARNs.
const bulkJobs = "bulk-operation"

// bulkTokenLife is how long a token means the same operation.
const bulkTokenLife = 8 * time.Hour

// A bulkRecord is what the catalogue keeps of a bulk operation: its description, and
// the request of its token.
type bulkRecord struct {
	Description wire.BulkOperationDescription
	Request     string
}

// StartBulkPutItems puts the items in the files of a bucket into a table. It is
// complete when the call returns; the response says IN_PROGRESS, as the service's
// does.
func (s *Service) StartBulkPutItems(ctx context.Context, in *wire.StartBulkPutItemsInput) (*wire.StartBulkPutItemsOutput, error) {
	return call(ctx, s, wire.OpStartBulkPutItems, in, s.startBulkPut)
}

func (s *Service) startBulkPut(ctx context.Context, in *wire.StartBulkPutItemsInput) (*wire.StartBulkPutItemsOutput, error) {
	const op = wire.OpStartBulkPutItems
	if err := in.Validate(); err != nil {
		return nil, err
	}
	from := in.InputS3Configuration
	switch {
	case *from.InputFormat != "DYNAMODB_JSON":
		return nil, op.Invalid("Sortkey reads DynamoDB JSON only. Use 'sortkey import' for other formats.")
	case value(from.InputCompressionType) == "ZSTD":
		return nil, op.Invalid("Sortkey reads files without compression or with GZIP only.")
	}
	if err := s.db.Refresh(ctx); err != nil {
		return nil, err
	}
	t, err := s.lookup(s.db.Describe, in.TableName)
	if err != nil {
		return nil, err
	}
	request := *in
	request.ClientToken = nil
	digest, err := json.Marshal(&request)
	if err != nil {
		return nil, err
	}
	now := s.now()
	if in.ClientToken != nil {
		list, err := loadJobs[bulkRecord](ctx, s, bulkJobs)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			switch {
			case value(r.Description.ClientToken) != *in.ClientToken || now.Sub(timeOf(*r.Description.StartTime)) >= bulkTokenLife:
			case r.Request != string(digest):
				return nil, wire.NewError("IdempotentParameterMismatchException", "The ClientToken was used by another bulk operation in the last 8 hours.")
			default:
				return &wire.StartBulkPutItemsOutput{BulkOperationDescription: &r.Description}, nil
			}
		}
	}
	id, err := s.newTimeID(now)
	if err != nil {
		return nil, err
	}
	def := t.Definition()
	d := wire.BulkOperationDescription{
		BulkOperationArn: new(s.arns.Table(def.Name) + "/" + bulkJobs + "/" + id), BulkOperationStatus: new("IN_PROGRESS"), ClientToken: in.ClientToken,
		InputS3Configuration: from, OutputS3Configuration: in.OutputS3Configuration, MaxWriteRequestUnits: in.MaxWriteRequestUnits,
		PerformanceTier: new(cmp.Or(value(in.PerformanceTier), "STANDARD")), StartTime: seconds(now),
		TableDetails:       []wire.BulkOperationTableDetail{{TableName: new(def.Name), TableId: new(def.ID)}},
		ProcessedItemCount: new(int64(0)), FailedItemCount: new(int64(0)), ProcessedInputBytes: new(int64(0)), TotalInputBytes: new(int64(0)),
	}
	answer := d
	b := &bulkPut{service: s, table: def.Name}
	failed := b.run(ctx, &d)
	d.BulkOperationStatus, d.EndTime = new("COMPLETED"), seconds(s.now())
	d.ProcessedItemCount, d.FailedItemCount, d.ProcessedInputBytes, d.TotalInputBytes = &b.processed, &b.failed, &b.read, &b.read
	d.BulkOperationUsage = []wire.BulkOperationUsage{{TableName: new(def.Name), BulkPutBytes: &b.written, Table: &wire.BulkOperationBytes{BulkPutBytes: &b.written}}}
	switch {
	case failed != nil && ctx.Err() != nil:
		return nil, failed
	case failed != nil:
		d.BulkOperationStatus = new("FAILED")
		d.FailureCode, d.FailureMessage = failureOf(failed)
	case b.failed > 0:
		d.BulkOperationStatus = new("COMPLETED_WITH_ERRORS")
	}
	if err := s.keepJob(ctx, bulkJobs, *d.BulkOperationArn, bulkRecord{d, string(digest)}); err != nil {
		return nil, err
	}
	return &wire.StartBulkPutItemsOutput{BulkOperationDescription: &answer}, nil
}

// A bulkPut is a bulk operation that runs.
type bulkPut struct {
	service                          *Service
	table                            string
	processed, failed, read, written int64
	batch                            []bulkItem

	to      *os.Root            // of the reports
	dir     string              // in to
	kinds   []string            // of the reports that the client wants
	reports map[string]*os.File // by type, once there is something to report
}

// A bulkItem is one line of the input.
type bulkItem struct {
	line []byte
	item attr.Item
	cond *expr.Condition
	err  error // why the item is not written
}

// The types of reports. Source: API_OutputS3Configuration.
const (
	reportErrors     = "ERROR"
	reportConditions = "CONDITION_CHECK_FAILURE"
)

// run reads the files of the input and writes the items and the reports.
func (b *bulkPut) run(ctx context.Context, d *wire.BulkOperationDescription) error {
	in, out := d.InputS3Configuration, d.OutputS3Configuration
	from, err := b.service.bucket(*in.S3Bucket)
	if err != nil {
		return err
	}
	defer from.Close()
	if b.to, err = b.service.bucket(cmp.Or(value(out.S3Bucket), *in.S3Bucket)); err != nil {
		return err
	}
	defer b.to.Close()
	b.dir = path.Join(strings.Trim(value(out.S3KeyPrefix), "/"), "AWSDynamoDB", path.Base(*d.BulkOperationArn))
	b.kinds, b.reports = out.OutputType, map[string]*os.File{}
	err = readLines(from, value(in.S3KeyPrefix), value(in.InputCompressionType), func(line []byte, err error) error {
		b.batch = append(b.batch, readBulkItem(line, err))
		b.read += int64(len(line))
		if len(b.batch) < importItems {
			return nil
		}
		return b.flush(ctx)
	})
	if err == nil {
		err = b.flush(ctx)
	}
	for _, f := range b.reports {
		err = cmp.Or(err, f.Close())
	}
	return err
}

// readBulkItem reads a line: an item, and the condition under which it is written as
// PutItem has it.
func readBulkItem(line []byte, err error) bulkItem {
	x := bulkItem{line: bytes.Clone(line), err: err}
	if err != nil {
		return x
	}
	in := new(wire.PutItemInput)
	if x.err = in.DecodeJSON(line); x.err != nil {
		return x
	}
	x.item = in.Item
	if in.Item == nil {
		x.err = wire.Validation("A line needs an Item")
		return x
	}
	if x.err = wire.OpStartBulkPutItems.FaultError(in.Faults, ""); x.err != nil {
		return x
	}
	e := expressions{op: wire.OpStartBulkPutItems, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues}
	if x.err = e.open(); x.err != nil {
		return x
	}
	if x.cond, x.err = e.condition(expr.ConditionExpression, in.ConditionExpression); x.err == nil {
		x.err = e.close()
	}
	return x
}

// flush writes the items that were read, and reports those that cannot be written.
func (b *bulkPut) flush(ctx context.Context) error {
	var written int64
	err := b.service.db.Update(ctx, func(tx *table.Tx) error {
		written = 0
		t, err := tx.Table(b.table)
		if err != nil {
			return err
		}
		for i := range b.batch {
			x := &b.batch[i]
			if x.item == nil || x.err != nil && !isRefused(x.err) {
				continue
			}
			if _, x.err = tx.Put(t, x.item, x.cond); x.err == nil {
				written += int64(x.item.Size())
			} else if !isRefused(x.err) {
				return x.err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.written += written
	for i := range b.batch {
		if err := b.report(&b.batch[i]); err != nil {
			return err
		}
	}
	b.batch = b.batch[:0]
	return nil
}

// isRefused reports whether the table refused an item. It may take the item in
// another run of the same update.
func isRefused(err error) bool {
	return isKind(err, table.Validation) || isKind(err, table.ConditionFailed)
}

// report counts an item and, if it was not written and the client wants to know,
// adds a line to a report.
func (b *bulkPut) report(x *bulkItem) error {
	b.processed++
	if x.err == nil {
		return nil
	}
	b.failed++
	kind := reportErrors
	if isKind(x.err, table.ConditionFailed) {
		kind = reportConditions
	}
	if !slices.Contains(b.kinds, kind) {
		return nil
	}
	f := b.reports[kind]
	if f == nil {
		if err := b.to.MkdirAll(b.dir, 0o755); err != nil {
			return err
		}
		var err error
		if f, err = b.to.Create(b.dir + "/" + strings.ToLower(kind) + ".json"); err != nil {
			return err
		}
		b.reports[kind] = f
	}
	e := b.service.wireError(x.err)
	var line any = string(x.line)
	if json.Valid(x.line) {
		line = json.RawMessage(x.line)
	}
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false)
	return enc.Encode(map[string]any{"Input": line, "ErrorCode": e.Code, "ErrorMessage": e.Message})
}

func (s *Service) findBulk(ctx context.Context, arn string) (*wire.BulkOperationDescription, error) {
	list, err := loadJobs[bulkRecord](ctx, s, bulkJobs)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if value(r.Description.BulkOperationArn) == arn {
			return &r.Description, nil
		}
	}
	return nil, wire.NewError("ResourceNotFoundException", "Requested resource not found: Bulk operation: "+arn+" not found")
}

// DescribeBulkOperation describes a bulk operation.
func (s *Service) DescribeBulkOperation(ctx context.Context, in *wire.DescribeBulkOperationInput) (*wire.DescribeBulkOperationOutput, error) {
	return call(ctx, s, wire.OpDescribeBulkOperation, in, s.describeBulk)
}

func (s *Service) describeBulk(ctx context.Context, in *wire.DescribeBulkOperationInput) (*wire.DescribeBulkOperationOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	d, err := s.findBulk(ctx, *in.BulkOperationArn)
	if err != nil {
		return nil, err
	}
	return &wire.DescribeBulkOperationOutput{BulkOperationDescription: d}, nil
}

// CancelBulkOperation answers with the status of a bulk operation, which has always
// ended.
func (s *Service) CancelBulkOperation(ctx context.Context, in *wire.CancelBulkOperationInput) (*wire.CancelBulkOperationOutput, error) {
	return call(ctx, s, wire.OpCancelBulkOperation, in, s.cancelBulk)
}

func (s *Service) cancelBulk(ctx context.Context, in *wire.CancelBulkOperationInput) (*wire.CancelBulkOperationOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	d, err := s.findBulk(ctx, *in.BulkOperationArn)
	if err != nil {
		return nil, err
	}
	return &wire.CancelBulkOperationOutput{BulkOperationArn: d.BulkOperationArn, BulkOperationStatus: d.BulkOperationStatus}, nil
}

// ListBulkOperations lists bulk operations, the newest first.
func (s *Service) ListBulkOperations(ctx context.Context, in *wire.ListBulkOperationsInput) (*wire.ListBulkOperationsOutput, error) {
	return call(ctx, s, wire.OpListBulkOperations, in, s.listBulk)
}

func (s *Service) listBulk(ctx context.Context, in *wire.ListBulkOperationsInput) (*wire.ListBulkOperationsOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	list, err := loadJobs[bulkRecord](ctx, s, bulkJobs)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(r bulkRecord) bool {
		return in.NextToken != nil && importToken(path.Base(*r.Description.BulkOperationArn)) >= *in.NextToken
	})
	limit := jobsPage
	if in.MaxResults != nil {
		limit = int(*in.MaxResults)
	}
	out := &wire.ListBulkOperationsOutput{BulkOperationsSummaryList: []wire.BulkOperationSummary{}}
	for _, r := range list[:min(limit, len(list))] {
		d := r.Description
		out.BulkOperationsSummaryList = append(out.BulkOperationsSummaryList, wire.BulkOperationSummary{
			BulkOperationArn: d.BulkOperationArn, BulkOperationStatus: d.BulkOperationStatus, StartTime: d.StartTime, EndTime: d.EndTime,
		})
	}
	if len(list) > limit {
		out.NextToken = new(importToken(path.Base(*out.BulkOperationsSummaryList[limit-1].BulkOperationArn)))
	}
	return out, nil
}
