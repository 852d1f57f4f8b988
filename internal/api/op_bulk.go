package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/s3files"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/wire"
)

// Sources of this file: API_StartBulkPutItems, DG/BulkPutItems.Requesting.html,
// BulkPutItems.Format.html and BulkPutItems.Output.html. The form of the ARN and the
// names of report files are ours.

var bulks = jobKind[bulkRecord]{bulkJobs, func(r *bulkRecord) *string { return r.Description.BulkOperationArn }}

// bulkTokenLife is how long a token means the same operation.
const bulkTokenLife = 8 * time.Hour

// A bulkRecord is the entry of a bulk operation in the catalogue: its description, the
// request of its token, and its progress.
type bulkRecord struct {
	Description wire.BulkOperationDescription
	Request     string
	Progress    bulkProgress
}

type bulkProgress struct {
	At                         place
	Processed, Failed, Written int64
	Reports                    map[string]reportState `json:",omitempty"` // by type
}

// startBulkPut puts the items in the files of a bucket into a table. It is a job, as
// an import is ([Service.ImportTable]): the response says IN_PROGRESS, as the service's
// does, the job continues without its client and after a restart, and the call waits for its
// first 1,000 items, or 4 MB of the input.
func (s *Service) startBulkPut(
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

	// A token stands for the rest of the request, which is compared by its digest.
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

// A bulkTask is a bulk operation that runs.
type bulkTask struct {
	record  bulkRecord
	now     bulkProgress // how far lines are read; the record says how far items are written
	batch   []bulkItem
	size    table.Batch
	reports map[string]*report // by type; those that the client wants
}

// A bulkItem is one line of the input.
type bulkItem struct {
	line []byte // nil if the client wants no reports
	item attr.Item
	cond *expr.Condition
}

// The types of reports. Source: API_OutputS3Configuration.
const (
	reportErrors     = "ERROR"
	reportConditions = "CONDITION_CHECK_FAILURE"
)

// run reads the files of the input and writes the items and the reports.
func (b *bulkTask) run(ctx context.Context, r *run) (err error) {
	d := &b.record.Description
	in, out := d.InputS3Configuration, d.OutputS3Configuration
	from, err := r.service.bucket(*in.S3Bucket)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := r.service.bucket(outputBucket(d))
	if err != nil {
		return err
	}
	defer to.Close()

	// A run goes on where the record says that items are written: what was read behind that place
	// is read again.
	b.now, b.reports = b.record.Progress, map[string]*report{}
	if !r.forked { // the reports belong to the origin
		dir := s3files.Folder(value(out.S3KeyPrefix), *d.BulkOperationArn)
		for _, kind := range out.OutputType {
			name := dir + "/" + strings.ToLower(kind) + ".json"
			b.reports[kind] = &report{root: to, name: name, reportState: b.now.Reports[kind]}
		}
	}
	defer func() {
		for _, rep := range b.reports {
			if closed := rep.close(); err == nil {
				err = closed
			}
		}
	}()

	// Lines are collected until the batch is full or the input has gone on far enough, and each
	// flush stores the progress with the items.
	src := &source{root: from, prefix: value(in.S3KeyPrefix), gzip: value(in.InputCompressionType) == "GZIP"}
	first := true
	err = src.each(ctx, b.now.At, func(line []byte, at place, err error) error {
		b.now.At = at
		full := false
		if len(line) > 0 || err != nil {
			if !first {
				r.begin()
			}
			if full, err = b.read(r.service, line, err); err != nil {
				return err
			}
		}
		if full || at.Total-b.record.Progress.At.Total >= jobBytes {
			first = false
			return b.flush(ctx, r)
		}
		return nil
	})
	if err == nil {
		err = b.flush(ctx, r)
	}

	// Reports have a limit, so their last line counts what they leave out.
	for _, rep := range b.reports {
		if err == nil && rep.Unreported > 0 {
			const text = "%d more lines were not written. A report has at most %d MiB of them."
			err = rep.add(nil, "ReportTooLarge", fmt.Sprintf(text, rep.Unreported, reportBytes>>20))
		}
		if err == nil {
			err = rep.sync()
		}
	}

	return err
}

// read adds a line to the batch, or reports why it cannot be written.
func (b *bulkTask) read(s *Service, line []byte, err error) (full bool, _ error) {
	b.now.Processed++
	var x bulkItem
	if err == nil {
		x, err = readBulkItem(line)
	}
	if err != nil {
		return false, b.refuse(s, line, err)
	}
	if len(b.reports) > 0 {
		x.line = bytes.Clone(line)
	}
	b.batch = append(b.batch, x)
	return b.size.Add(len(line) + len(x.item)), nil
}

// readBulkItem reads a line: an item, and the condition under which it is written as
// PutItem has it.
func readBulkItem(line []byte) (x bulkItem, err error) {
	in := new(wire.PutItemInput)
	if err := in.DecodeJSON(line); err != nil {
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
	x.item = in.Item
	if x.cond, err = e.condition(expr.ConditionExpression, in.ConditionExpression); err == nil {
		err = e.close()
	}
	return x, err
}

// flush writes the batch in one update, with the progress after it.
func (b *bulkTask) flush(ctx context.Context, r *run) error {
	if err := b.writeReports(); err != nil {
		return err
	}
	read := b.now
	read.Reports = b.states()
	d := &b.record.Description
	err := r.update(ctx, func(tx *table.Tx) (any, error) {
		b.now = read
		for kind, rep := range b.reports {
			rep.rewind(read.Reports[kind])
		}
		if err := b.write(tx, r.service); err != nil {
			return nil, err
		}
		b.now.Reports = b.states()
		next := b.record
		next.Progress = b.now
		next.Description.ProcessedItemCount, next.Description.FailedItemCount = &b.now.Processed, &b.now.Failed
		next.Description.ProcessedInputBytes = &b.now.At.Total
		return next, nil
	})
	if err != nil {
		return err
	}

	b.record.Progress = b.now
	d.ProcessedItemCount, d.FailedItemCount = new(b.now.Processed), new(b.now.Failed)
	d.ProcessedInputBytes = new(b.now.At.Total)
	clear(b.batch)
	b.batch = b.batch[:0]
	b.size.Reset()
	return nil
}

// states returns the states of the reports for the record of the job.
func (b *bulkTask) states() map[string]reportState {
	states := map[string]reportState{}
	for kind, rep := range b.reports {
		states[kind] = rep.reportState
	}
	return states
}

// write writes the batch, and the reports of what the table refuses: they must be in the
// files before the record says so, and another run of the update overwrites them.
func (b *bulkTask) write(tx *table.Tx, s *Service) error {
	of := b.record.Description.TableDetails[0]
	t, err := jobTable(tx.Table, *of.TableName, *of.TableId)
	if err != nil {
		return err
	}
	items := make([]attr.Item, len(b.batch))
	for i := range b.batch {
		items[i] = b.batch[i].item
	}
	if err := tx.Prefetch(itemKeys(t, items)); err != nil {
		return err
	}
	for i := range b.batch {
		x := &b.batch[i]
		_, err := tx.Put(t, x.item, x.cond)
		switch {
		case err == nil:
			b.now.Written += int64(x.item.Size())
		case isKind(err, table.Validation) || isKind(err, table.ConditionFailed):
			err = b.refuse(s, x.line, err)
		}
		if err != nil {
			return err
		}
	}

	return b.writeReports()
}

func (b *bulkTask) writeReports() error {
	for _, rep := range b.reports {
		if err := rep.write(); err != nil {
			return err
		}
	}
	return nil
}

// refuse counts a line that is not written and, if the client wants to know, adds it to a
// report.
func (b *bulkTask) refuse(s *Service, line []byte, err error) error {
	b.now.Failed++
	kind := reportErrors
	if isKind(err, table.ConditionFailed) {
		kind = reportConditions
	}
	rep := b.reports[kind]
	if rep == nil {
		return nil
	}
	e := s.wireError(err)
	return rep.add(line, e.Code, e.Message)
}

func (b *bulkTask) end(s *Service, failed *failure) (any, *life.JobTable) {
	d, p := &b.record.Description, b.record.Progress
	d.BulkOperationStatus, d.EndTime = new("COMPLETED"), seconds(s.now())
	d.ProcessedItemCount, d.FailedItemCount = &p.Processed, &p.Failed
	d.ProcessedInputBytes, d.TotalInputBytes = &p.At.Total, &p.At.Total
	d.BulkOperationUsage = []wire.BulkOperationUsage{{
		TableName: d.TableDetails[0].TableName, BulkPutBytes: &p.Written,
		Table: &wire.BulkOperationBytes{BulkPutBytes: &p.Written},
	}}
	switch {
	case failed != nil:
		d.BulkOperationStatus = new("FAILED")
		d.FailureCode, d.FailureMessage = &failed.code, &failed.message
	case p.Failed > 0:
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

// describeBulk describes a bulk operation.
func (s *Service) describeBulk(
	ctx context.Context, in *wire.DescribeBulkOperationInput,
) (*wire.DescribeBulkOperationOutput, error) {
	d, err := s.findBulk(ctx, in.BulkOperationArn)
	if err != nil {
		return nil, err
	}
	return &wire.DescribeBulkOperationOutput{BulkOperationDescription: d}, nil
}

// cancelBulk ends a bulk operation that is in progress: what it has written
// stays, and nothing more is written. It answers with the status of the operation.
func (s *Service) cancelBulk(
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

// listBulk lists bulk operations, the newest first.
func (s *Service) listBulk(
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
