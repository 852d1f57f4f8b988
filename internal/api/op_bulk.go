package api

import (
	"cmp"
	"context"
	"path"

	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/wire"
)

// Sources of this file: API_StartBulkPutItems, DG/BulkPutItems.Requesting.html, BulkPutItems.Format.html and
// BulkPutItems.Output.html. They do not show the form of the ARN, so that form is Sortkey's own.

var bulks = &jobKind[wire.BulkOperationDescription]{
	name: bulkJobs,
	members: func(d *wire.BulkOperationDescription) jobMembers {
		return jobMembers{
			&d.BulkOperationArn, &d.BulkOperationStatus, &d.StartTime, &d.EndTime, &d.FailureCode, &d.FailureMessage,
			d.ClientToken,
		}
	},
	conflict: &wire.Error{
		Code: "IdempotentParameterMismatchException", Status: 400,
		Message: "The ClientToken was used by another bulk operation in the last 8 hours.",
	},
	run: runBulk,
	end: endBulk,
}

// advance records the progress of a bulk operation.
func advance(r *jobRecord[wire.BulkOperationDescription], to progress) {
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

	r, err := bulks.newJob(in)
	if err != nil {
		return nil, err
	}
	def := t.Definition()
	advance(r, progress{})
	d := &r.Description
	d.PerformanceTier = new(cmp.Or(value(in.PerformanceTier), "STANDARD"))
	d.TableDetails = []wire.BulkOperationTableDetail{{TableName: new(def.Name), TableId: new(def.ID)}}
	d.TotalInputBytes = new(int64(0))
	missing := cmp.Or(s.checkBucket(*from.S3Bucket), s.checkBucket(outputBucket(d)))
	d, err = bulks.start(ctx, s, r, def.Name, nil, missing)
	return &wire.StartBulkPutItemsOutput{BulkOperationDescription: d}, err
}

func outputBucket(d *wire.BulkOperationDescription) string {
	return cmp.Or(value(d.OutputS3Configuration.S3Bucket), *d.InputS3Configuration.S3Bucket)
}

// runBulk runs a bulk operation. It counts the lines that it cannot write, but writes no reports about them, even if
// the request asks for reports with OutputS3Configuration.
func runBulk(ctx context.Context, r *run, record *jobRecord[wire.BulkOperationDescription]) error {
	in := record.Description.InputS3Configuration
	root, err := r.service.bucket(*in.S3Bucket)
	if err != nil {
		return err
	}
	defer root.Close()
	of := record.Description.TableDetails[0]
	l := &loading{
		source: source{root: root, prefix: value(in.S3KeyPrefix), gzip: value(in.InputCompressionType) == "GZIP"},
		table:  func(tx *table.Tx) (*table.Table, error) { return jobTable(tx.Table, *of.TableName, *of.TableId) },
		read:   readBulkItem,
		record: func(p progress) any {
			next := *record
			advance(&next, p)
			return next
		},
	}
	return l.run(ctx, r, &record.Progress)
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

func endBulk(r *jobRecord[wire.BulkOperationDescription], failed *failure) *life.JobTable {
	advance(r, r.Progress)
	d, p := &r.Description, r.Progress
	d.TotalInputBytes = &p.At.Total
	d.BulkOperationUsage = []wire.BulkOperationUsage{{
		TableName: d.TableDetails[0].TableName, BulkPutBytes: &p.Bytes,
		Table: &wire.BulkOperationBytes{BulkPutBytes: &p.Bytes},
	}}
	if failed == nil && p.Refused > 0 {
		d.BulkOperationStatus = new("COMPLETED_WITH_ERRORS")
	}
	return nil
}

func (s *Service) findBulk(ctx context.Context, arn *string) (*wire.BulkOperationDescription, error) {
	d, err := bulks.find(ctx, s, arn)
	if d == nil && err == nil {
		err = wire.NewError(
			"ResourceNotFoundException", "Requested resource not found: Bulk operation: "+*arn+" not found",
		)
	}
	return d, err
}

// describeBulkOperation describes a bulk operation.
func (s *Service) describeBulkOperation(
	ctx context.Context, in *wire.DescribeBulkOperationInput,
) (*wire.DescribeBulkOperationOutput, error) {
	d, err := s.findBulk(ctx, in.BulkOperationArn)
	return &wire.DescribeBulkOperationOutput{BulkOperationDescription: d}, err
}

// cancelBulkOperation ends a bulk operation in progress. The items that it has written stay in the table. The
// response has the status of the operation. If the operation has already ended, that is the status with which it
// ended.
func (s *Service) cancelBulkOperation(
	ctx context.Context, in *wire.CancelBulkOperationInput,
) (*wire.CancelBulkOperationOutput, error) {
	err := s.db.ChangeJob(ctx, bulkJobs, path.Base(*in.BulkOperationArn), func(job life.Job) (life.Job, error) {
		r, err := bulks.decode(job)
		if err != nil || *r.Description.BulkOperationArn != *in.BulkOperationArn {
			return job, err
		}
		bulks.finish(s, r, nil)
		r.Description.BulkOperationStatus = new("CANCELLED")
		job.Ended = true
		return jobOf(job, r)
	})
	if err != nil {
		return nil, err
	}

	d, err := s.findBulk(ctx, in.BulkOperationArn)
	if err != nil {
		return nil, err
	}
	return wire.As[wire.CancelBulkOperationOutput](d), nil
}

// listBulkOperations lists bulk operations, the newest first.
func (s *Service) listBulkOperations(
	ctx context.Context, in *wire.ListBulkOperationsInput,
) (*wire.ListBulkOperationsOutput, error) {
	list, next, err := listJobs[wire.BulkOperationSummary](ctx, s, bulks, in.MaxResults, in.NextToken,
		func(*wire.BulkOperationDescription) bool { return true })
	return &wire.ListBulkOperationsOutput{BulkOperationsSummaryList: list, NextToken: next}, err
}
