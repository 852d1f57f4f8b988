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

// As in the service, the counts in the description of an import stay zero until the import ends (Scylla,
// alternator/test_import.py, a run against the service in September 2026).
var imports = &jobKind[wire.ImportTableDescription]{
	name: importJobs,
	members: func(d *wire.ImportTableDescription) jobMembers {
		return jobMembers{
			&d.ImportArn, &d.ImportStatus, &d.StartTime, &d.EndTime, &d.FailureCode, &d.FailureMessage, d.ClientToken,
		}
	},
	conflict: &wire.Error{
		Code: "ImportConflictException", Status: 400,
		Message: "Import conflict: Duplicate request detected with conflicting parameters",
	},
	run: runImport,
	end: endImport,
}

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
	if err := s.db.Refresh(ctx); err != nil {
		return nil, err
	}
	r, err := imports.newJob(in)
	if err != nil {
		return nil, err
	}
	r.Request = *creation.TableName // the other members of a repeated request do not matter
	d, err := s.startImport(ctx, r)
	if !isKind(err, table.InUse) {
		return &wire.ImportTableOutput{ImportTableDescription: d}, err
	}

	// A running import with the same token may have created the table. Sources for an import that has ended:
	// ack-api-quirks, DDB-IMPORT-017; alternator, test_import.py.
	jobs, lost := s.db.Jobs(ctx, importJobs)
	if lost == nil {
		d, lost = imports.repeated(s, jobs, r)
	}
	if lost != nil || d != nil && *d.ImportStatus == "IN_PROGRESS" {
		err = lost
	}
	return &wire.ImportTableOutput{ImportTableDescription: d}, err
}

// startImport completes the record of an import and starts the import.
func (s *Service) startImport(
	ctx context.Context, r *jobRecord[wire.ImportTableDescription],
) (*wire.ImportTableDescription, error) {
	d := &r.Description
	name := *d.TableCreationParameters.TableName
	if _, err := s.db.Describe(ctx, name); err == nil {
		return nil, &table.Error{Kind: table.InUse, Msg: "Table already exists: " + name}
	}
	def, err := s.definition(wire.As[wire.CreateTableInput](d.TableCreationParameters))
	if err == nil {
		err = def.Check()
	}
	if err != nil {
		return nil, err
	}

	d.S3BucketSource = new(*d.S3BucketSource)
	d.S3BucketSource.S3BucketOwner = new(cmp.Or(value(d.S3BucketSource.S3BucketOwner), s.opts.Account))
	d.TableArn, d.TableId = new(s.arns.Table(name)), new(def.ID)
	d.InputCompressionType = new(cmp.Or(value(d.InputCompressionType), "NONE"))
	d.ErrorCount, d.ImportedItemCount, d.ProcessedItemCount = new(int64(0)), new(int64(0)), new(int64(0))
	d.CloudWatchLogGroupArn = new(s.arns.of("logs") + "log-group:/aws-dynamodb/imports:*")
	return imports.start(ctx, s, r, name, def, s.checkBucket(*d.S3BucketSource.S3Bucket))
}

// runImport puts the items of all files whose names have a prefix into a table. If the table refuses items, it counts
// them and writes the others, and the import fails at the end. If a line is not an item, it counts the line as refused
// and skips the rest of the file. A file that disappears during the import also counts as one refused item. Source:
// alternator, test_import.py; ack-api-quirks, DDB-IMPORT-007 and 013.
func runImport(ctx context.Context, r *run, record *jobRecord[wire.ImportTableDescription]) error {
	d := &record.Description
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
		record: func(p progress) any {
			next := *record
			next.Progress = p
			return next
		},
	}
	if *d.InputFormat == "CSV" {
		l.csv = csvOf(d)
	}
	err = l.run(ctx, r, &record.Progress)
	if err == nil && record.Progress.Refused > 0 {
		const text = "Some of the items failed validation checks and were not imported. " +
			"Please check CloudWatch error logs for more details."
		err = &failure{failedItems, text}
	}
	return err
}

func endImport(r *jobRecord[wire.ImportTableDescription], failed *failure) *life.JobTable {
	d, p := &r.Description, r.Progress
	d.ProcessedItemCount, d.ImportedItemCount, d.ErrorCount = &p.Processed, &p.Written, &p.Refused
	d.ProcessedSizeBytes = &p.At.Total
	return &life.JobTable{
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
	d, err := imports.find(ctx, s, in.ImportArn)
	if d == nil && err == nil {
		err = wire.NewError("ImportNotFoundException", "Import not found: "+*in.ImportArn)
	}
	return &wire.DescribeImportOutput{ImportTableDescription: d}, err
}

// listImports lists imports, the newest first.
func (s *Service) listImports(ctx context.Context, in *wire.ListImportsInput) (*wire.ListImportsOutput, error) {
	keep := func(d *wire.ImportTableDescription) bool {
		return in.TableArn == nil || value(d.TableArn) == *in.TableArn
	}
	list, next, err := listJobs[wire.ImportSummary](ctx, s, imports, in.PageSize, in.NextToken, keep)
	return &wire.ListImportsOutput{ImportSummaryList: list, NextToken: next}, err
}
