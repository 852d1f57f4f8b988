package api

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"time"

	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/wire"
)

// Sources of this file: API_StartBulkPutItems, DG/BulkPutItems.Requesting.html, BulkPutItems.Format.html and
// BulkPutItems.Output.html. They do not show the form of the ARN, so that form is Sortkey's own.

var bulks = jobKind[bulkRecord]{bulkJobs, func(r *bulkRecord) *string { return r.Description.BulkOperationArn }}

// bulkTokenLife is how long a client token identifies a bulk operation: a request with the token during that time is
// a repetition.
const bulkTokenLife = 8 * time.Hour

// A bulkRecord is the record of a bulk operation in the catalogue: its description, the text of its request, and its
// progress.
type bulkRecord struct {
	Description wire.BulkOperationDescription
	Request     string
	Progress    progress
}

// advance records the progress of the operation.
func (r *bulkRecord) advance(to progress) {
	r.Progress = to
	d := &r.Description
	d.ProcessedItemCount, d.FailedItemCount, d.ProcessedInputBytes = &to.Processed, &to.Refused, &to.At.Total
}

// startBulkPutItems puts the items in the files of a bucket into a table. Like [Service.importTable], it starts a job
// and waits for the first 1,000 items, or 4 MB of the input. The response says IN_PROGRESS, as the service's does.
// The job does not need its client, and continues after a restart.
func (s *Service) startBulkPutItems(
	ctx context.Context, in *wire.StartBulkPutItemsInput,
) (*wire.StartBulkPutItemsOutput, error) {
	const op = wire.OpStartBulkPutItems
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
	t, err := s.lookup(s.defined(ctx), in.TableName)
	if err != nil {
		return nil, err
	}

	// Requests with the same token must be equal in everything but the token.
	request := *in
	request.ClientToken = nil
	digest, err := digestOf(&request)
	if err != nil {
		return nil, err
	}

	now := s.now()
	def := t.Definition()
	arn, err := bulks.newARN(s, def.Name)
	if err != nil {
		return nil, err
	}
	d := wire.BulkOperationDescription{
		BulkOperationArn: arn, BulkOperationStatus: new("IN_PROGRESS"),
		StartTime: seconds(now), ClientToken: in.ClientToken,
		InputS3Configuration: from, OutputS3Configuration: in.OutputS3Configuration,
		MaxWriteRequestUnits: in.MaxWriteRequestUnits,
		PerformanceTier:      new(cmp.Or(value(in.PerformanceTier), "STANDARD")),
		TableDetails:         []wire.BulkOperationTableDetail{{TableName: new(def.Name), TableId: new(def.ID)}},
		ProcessedItemCount:   new(int64(0)), FailedItemCount: new(int64(0)),
		ProcessedInputBytes: new(int64(0)), TotalInputBytes: new(int64(0)),
	}

	r, err := bulks.start(ctx, s, newJob[bulkRecord]{
		record:  bulkRecord{Description: d, Request: digest},
		missing: cmp.Or(s.checkBucket(*from.S3Bucket), s.checkBucket(outputBucket(&d))),
		token: jobToken[bulkRecord]{
			token: in.ClientToken,
			of: func(r *bulkRecord) (*string, bool) {
				if now.Sub(timeOf(*r.Description.StartTime)) >= bulkTokenLife {
					return nil, false
				}
				return r.Description.ClientToken, r.Request == digest
			},
			conflict: wire.NewError(
				"IdempotentParameterMismatchException",
				"The ClientToken was used by another bulk operation in the last 8 hours.",
			),
		},
	})
	if err != nil {
		return nil, err
	}
	return &wire.StartBulkPutItemsOutput{BulkOperationDescription: &r.Description}, nil
}

func outputBucket(d *wire.BulkOperationDescription) string {
	return cmp.Or(value(d.OutputS3Configuration.S3Bucket), *d.InputS3Configuration.S3Bucket)
}

// A bulkTask runs a bulk operation. It counts the lines that it cannot write, but writes no reports about them, even
// if the request asks for reports with OutputS3Configuration.
type bulkTask struct{ record bulkRecord }

func (b *bulkTask) run(ctx context.Context, r *run) error {
	in := b.record.Description.InputS3Configuration
	root, err := r.service.bucket(*in.S3Bucket)
	if err != nil {
		return err
	}
	defer root.Close()
	of := b.record.Description.TableDetails[0]
	l := &loading{
		source: source{root: root, prefix: value(in.S3KeyPrefix), gzip: value(in.InputCompressionType) == "GZIP"},
		table:  func(tx *table.Tx) (*table.Table, error) { return jobTable(tx.Table, *of.TableName, *of.TableId) },
		read:   readBulkItem,
		record: func(p progress) any {
			next := b.record
			next.advance(p)
			return next
		},
	}
	return l.run(ctx, r, &b.record.Progress)
}

// readBulkItem decodes a line. It has an item and may have the condition of its put, both as in the JSON of PutItem.
func readBulkItem(text []byte) (x line, err error) {
	in := new(wire.PutItemInput)
	if err := wire.Decode(text, in); err != nil {
		return x, err
	}
	switch {
	case in.Item == nil:
		return x, wire.Validation("A line needs an Item")
	case in.Item.Size() > table.MaxItemBytes: // not kept in the batch
		return x, wire.Validation(msgItemSize)
	}

	if err := wire.OpStartBulkPutItems.FaultError(in.Faults, ""); err != nil {
		return x, err
	}
	e := expressions{
		op: wire.OpStartBulkPutItems, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
	}
	if err := e.open(); err != nil {
		return x, err
	}
	x.item, x.bytes = in.Item, len(text)+len(in.Item)
	if x.cond, err = e.condition(expr.ConditionExpression, in.ConditionExpression); err == nil {
		err = e.close()
	}
	return x, err
}

func (b *bulkTask) end(s *Service, failed *failure) (any, *life.JobTable) {
	d, p := &b.record.Description, b.record.Progress
	b.record.advance(p)
	d.TotalInputBytes = &p.At.Total
	d.BulkOperationUsage = []wire.BulkOperationUsage{{
		TableName: d.TableDetails[0].TableName, BulkPutBytes: &p.Bytes,
		Table: &wire.BulkOperationBytes{BulkPutBytes: &p.Bytes},
	}}
	s.ended(failed, &d.BulkOperationStatus, &d.EndTime, &d.FailureCode, &d.FailureMessage)
	if failed == nil && p.Refused > 0 {
		d.BulkOperationStatus = new("COMPLETED_WITH_ERRORS")
	}
	return b.record, nil
}

func (s *Service) findBulk(ctx context.Context, arn *string) (*wire.BulkOperationDescription, error) {
	r, err := bulks.find(ctx, s, arn)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, wire.NewError(
			"ResourceNotFoundException", "Requested resource not found: Bulk operation: "+*arn+" not found",
		)
	}
	return &r.Description, nil
}

// describeBulkOperation describes a bulk operation.
func (s *Service) describeBulkOperation(
	ctx context.Context, in *wire.DescribeBulkOperationInput,
) (*wire.DescribeBulkOperationOutput, error) {
	d, err := s.findBulk(ctx, in.BulkOperationArn)
	if err != nil {
		return nil, err
	}
	return &wire.DescribeBulkOperationOutput{BulkOperationDescription: d}, nil
}

// cancelBulkOperation ends a bulk operation in progress. The items that it has written stay in the table. The
// response has the status of the operation. If the operation has already ended, that is the status with which it
// ended.
func (s *Service) cancelBulkOperation(
	ctx context.Context, in *wire.CancelBulkOperationInput,
) (*wire.CancelBulkOperationOutput, error) {
	err := s.db.ChangeJob(ctx, bulkJobs, path.Base(*in.BulkOperationArn), func(job life.Job) (life.Job, error) {
		var b bulkTask
		err := json.Unmarshal(job.Value, &b.record)
		if err != nil || value(b.record.Description.BulkOperationArn) != *in.BulkOperationArn {
			return job, err
		}
		b.end(s, nil)
		b.record.Description.BulkOperationStatus = new("CANCELLED")
		job.Ended = true
		job.Value, err = json.Marshal(b.record)
		return job, err
	})
	if err != nil {
		return nil, err
	}

	d, err := s.findBulk(ctx, in.BulkOperationArn)
	if err != nil {
		return nil, err
	}
	return &wire.CancelBulkOperationOutput{
		BulkOperationArn: d.BulkOperationArn, BulkOperationStatus: d.BulkOperationStatus,
	}, nil
}

// listBulkOperations lists bulk operations, the newest first.
func (s *Service) listBulkOperations(
	ctx context.Context, in *wire.ListBulkOperationsInput,
) (*wire.ListBulkOperationsOutput, error) {
	list, next, err := bulks.page(ctx, s, in.MaxResults, in.NextToken, func(*bulkRecord) bool { return true })
	if err != nil {
		return nil, err
	}
	out := &wire.ListBulkOperationsOutput{
		BulkOperationsSummaryList: []wire.BulkOperationSummary{}, NextToken: next,
	}
	for _, r := range list {
		d := r.Description
		out.BulkOperationsSummaryList = append(out.BulkOperationsSummaryList, wire.BulkOperationSummary{
			BulkOperationArn: d.BulkOperationArn, BulkOperationStatus: d.BulkOperationStatus, StartTime: d.StartTime,
			EndTime: d.EndTime,
		})
	}
	return out, nil
}
