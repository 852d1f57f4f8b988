package api

import (
	"cmp"
	"context"
	"errors"

	"github.com/sortkey/sortkey/internal/api/s3files"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/wire"
)

// Source of this file: quirks, findings DDB-IMPORT-001 to 020.

// An importRecord is the record of an import in the catalogue: its description and its progress. As in the service,
// the counts in the description stay zero until the import ends (Scylla, alternator/test_import.py, a run against the
// service in September 2026).
type importRecord struct {
	wire.ImportTableDescription
	Progress progress
}

var imports = jobKind[importRecord]{importJobs, func(r *importRecord) *string { return r.ImportArn }}

// importTable creates a table from the files of a bucket. It starts a job and waits for the first 1,000 items, or 4
// MB, so smaller imports are complete when the call returns. The response says IN_PROGRESS, as the service's does,
// and the table is CREATING until the job ends. The job does not need its client and continues after a restart. A
// client that repeats the request with the same token gets the same job.
//
// If the import fails, the table is removed, unless the only failure is that the table refused some items.
func (s *Service) importTable(ctx context.Context, in *wire.ImportTableInput) (*wire.ImportTableOutput, error) {
	const op = wire.OpImportTable
	switch {
	case in.InputFormatOptions != nil && in.InputFormatOptions.Csv != nil && *in.InputFormat != "CSV":
		return nil, badRequest(
			"Unsupported InputFormatOptions for the given input format: " + *in.InputFormat + ".")
	case *in.InputFormat == "ION":
		return nil, op.Invalid("Sortkey imports DynamoDB JSON and CSV only. Convert the files to one of them.")
	case value(in.InputCompressionType) == "ZSTD":
		return nil, op.Invalid("Sortkey imports files without compression or with GZIP only.")
	}

	// Like the service, check the throughput before looking up the table. Source: ack-api-quirks, DDB-TABLE-442,
	// 2026-10-09.
	creation := in.TableCreationParameters
	billing := &table.Definition{BillingMode: value(creation.BillingMode)}
	if _, err := throughputOf(billing, creation.ProvisionedThroughput, ""); err != nil {
		return nil, err
	}
	token := jobToken[importRecord]{
		token: in.ClientToken,
		of: func(r *importRecord) (*string, bool) {
			return r.ClientToken, value(r.TableCreationParameters.TableName) == *creation.TableName
		},
		conflict: wire.NewError(
			"ImportConflictException", "Import conflict: Duplicate request detected with conflicting parameters",
		),
	}

	known, err := imports.lookUp(ctx, s, token)
	if known != nil && *known.ImportStatus != "IN_PROGRESS" && s.exists(ctx, *creation.TableName) {
		// Sources: ack-api-quirks, DDB-IMPORT-017; alternator, test_import.py.
		return nil, tableExists(*creation.TableName)
	}
	if known == nil && err == nil {
		known, err = s.startImport(ctx, in, token)
	}
	if isKind(err, table.InUse) { // a concurrent request with the same token may have created the table
		if other, lost := imports.lookUp(ctx, s, token); other != nil || lost != nil {
			known, err = other, lost
		}
	}
	if err != nil {
		return nil, err
	}
	return &wire.ImportTableOutput{ImportTableDescription: &known.ImportTableDescription}, nil
}

func (s *Service) exists(ctx context.Context, name string) bool {
	_, err := s.db.Describe(ctx, name)
	return err == nil
}

func tableExists(name string) error {
	return &table.Error{Kind: table.InUse, Msg: "Table already exists: " + name}
}

// startImport starts an import and returns its record. If an earlier import has the same token, it returns the record
// of that import instead.
func (s *Service) startImport(
	ctx context.Context, in *wire.ImportTableInput, token jobToken[importRecord],
) (*importRecord, error) {
	p := in.TableCreationParameters
	name := *p.TableName
	if err := s.db.Refresh(ctx); err != nil {
		return nil, err
	}
	if s.exists(ctx, name) {
		return nil, tableExists(name)
	}
	def, err := s.definition(&wire.CreateTableInput{
		TableName: p.TableName, AttributeDefinitions: p.AttributeDefinitions, KeySchema: p.KeySchema,
		BillingMode: p.BillingMode, ProvisionedThroughput: p.ProvisionedThroughput,
		OnDemandThroughput: p.OnDemandThroughput, SSESpecification: p.SSESpecification,
		GlobalSecondaryIndexes: p.GlobalSecondaryIndexes, VectorIndexes: p.VectorIndexes,
	})
	if err == nil {
		err = def.Check()
	}
	if err != nil {
		return nil, err
	}

	arn, err := imports.newARN(s, name)
	if err != nil {
		return nil, err
	}
	source := *in.S3BucketSource
	source.S3BucketOwner = new(cmp.Or(value(source.S3BucketOwner), s.account()))
	d := wire.ImportTableDescription{
		ImportArn: arn, ImportStatus: new("IN_PROGRESS"),
		TableArn: new(s.arns.Table(name)), TableId: new(def.ID), ClientToken: in.ClientToken,
		S3BucketSource: &source, InputFormat: in.InputFormat, InputFormatOptions: in.InputFormatOptions,
		InputCompressionType: new(cmp.Or(value(in.InputCompressionType), "NONE")), TableCreationParameters: p,
		StartTime:  seconds(s.now()),
		ErrorCount: new(int64(0)), ImportedItemCount: new(int64(0)), ProcessedItemCount: new(int64(0)),
		CloudWatchLogGroupArn: new(s.arns.of("logs") + "log-group:/aws-dynamodb/imports:*"),
	}

	return imports.start(ctx, s, newJob[importRecord]{
		record: importRecord{ImportTableDescription: d}, def: def, token: token,
		missing: s.checkBucket(*in.S3BucketSource.S3Bucket),
	})
}

// An importTask puts the items of all files whose names have a prefix into a table. If the table refuses items, the
// task counts them and writes the others, and the import fails at the end. If a line is not an item, the task counts
// the line as refused and skips the rest of the file. A file that disappears during the import also counts as one
// refused item. Source: alternator, test_import.py; ack-api-quirks, DDB-IMPORT-007 and 013.
type importTask struct{ record importRecord }

func (x *importTask) run(ctx context.Context, r *run) error {
	d := &x.record.ImportTableDescription
	root, err := r.service.bucket(*d.S3BucketSource.S3Bucket)
	if err != nil {
		return err
	}
	defer root.Close()
	l := &loading{
		source: source{
			root: root, prefix: value(d.S3BucketSource.S3KeyPrefix), gzip: *d.InputCompressionType == "GZIP",
		},
		table: func(tx *table.Tx) (*table.Table, error) { // it is CREATING
			return jobTable(tx.Defined, *d.TableCreationParameters.TableName, *d.TableId)
		},
		read: func(text []byte) (line, error) {
			it, ok := s3files.ParseItem(text)
			if !ok {
				return line{}, errors.New("not an item")
			}
			return line{item: it, bytes: len(it)}, nil
		},
		leaves: true,
		record: func(p progress) any { return importRecord{ImportTableDescription: *d, Progress: p} },
	}
	if *d.InputFormat == "CSV" {
		l.csv = csvOf(d)
	}
	err = l.run(ctx, r, &x.record.Progress)
	if err == nil && x.record.Progress.Refused > 0 {
		const text = "Some of the items failed validation checks and were not imported. " +
			"Please check CloudWatch error logs for more details."
		err = &failure{failedItems, text}
	}
	return err
}

func (x *importTask) end(s *Service, failed *failure) (any, *life.JobTable) {
	d, p := &x.record.ImportTableDescription, x.record.Progress
	d.ProcessedItemCount, d.ImportedItemCount, d.ErrorCount = &p.Processed, &p.Written, &p.Refused
	d.ProcessedSizeBytes = &p.At.Total
	s.ended(failed, &d.ImportStatus, &d.EndTime, &d.FailureCode, &d.FailureMessage)
	return x.record, &life.JobTable{
		Name: *d.TableCreationParameters.TableName, ID: *d.TableId, Remove: failed != nil && failed.code != failedItems,
	}
}

// describeImport describes an import.
func (s *Service) describeImport(
	ctx context.Context, in *wire.DescribeImportInput,
) (*wire.DescribeImportOutput, error) {
	if err := s.checkJobARN(*in.ImportArn, importJobs); err != nil {
		return nil, err
	}
	r, err := imports.find(ctx, s, in.ImportArn)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, wire.NewError("ImportNotFoundException", "Import not found: "+*in.ImportArn)
	}
	return &wire.DescribeImportOutput{ImportTableDescription: &r.ImportTableDescription}, nil
}

// listImports lists imports, the newest first.
func (s *Service) listImports(ctx context.Context, in *wire.ListImportsInput) (*wire.ListImportsOutput, error) {
	list, next, err := imports.page(ctx, s, in.PageSize, in.NextToken, func(d *importRecord) bool {
		return in.TableArn == nil || value(d.TableArn) == *in.TableArn
	})
	if err != nil {
		return nil, err
	}
	out := &wire.ListImportsOutput{ImportSummaryList: []wire.ImportSummary{}, NextToken: next}
	for _, d := range list {
		out.ImportSummaryList = append(out.ImportSummaryList, wire.ImportSummary{
			ImportArn: d.ImportArn, ImportStatus: d.ImportStatus, InputFormat: d.InputFormat,
			S3BucketSource: d.S3BucketSource, TableArn: d.TableArn,
			StartTime: d.StartTime, EndTime: d.EndTime, CloudWatchLogGroupArn: d.CloudWatchLogGroupArn,
		})
	}
	return out, nil
}
