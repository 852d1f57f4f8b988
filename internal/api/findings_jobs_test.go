package api_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/api"
)

// unrandomBuckets is like unrandom, but also adds an empty bucket named "bucket" and returns its path.
func (e *endpoint) unrandomBuckets() string {
	root := e.t.TempDir()
	require.NoError(e.t, os.Mkdir(filepath.Join(root, "bucket"), 0o755))
	e.svc = api.New(e.db, api.Options{Clock: e.db.Clock, Rand: zeros{}, S3Root: root})
	return filepath.Join(root, "bucket")
}

func TestFindingsOfExports(t *testing.T) {
	const (
		hhh   = findingsARN + "HHH"
		op    = "ExportTableToPointInTime"
		begin = "Invalid Request: "
		time  = "InvalidExportTimeException: "
		off   = "PointInTimeRecoveryUnavailableException: Point in time recovery is not enabled for table 'HHH'"
		early = time + "Incremental export period from time cannot be less than the table creation time : " +
			"2026-11-21T11:00:00Z"
		spec   = `,"IncrementalExportSpecification":`
		inc    = `,"ExportType":"INCREMENTAL_EXPORT"` + spec
		denied = "AccessDeniedException: Access is denied"
		noFrom = begin + "ExportFromTime must be provided in IncrementalExportSpecification"
		token  = "6578706f72742f30303030303030303030303030302d3030303030303030" // export/0..0-00000000
	)
	export := func(arn, members string) string {
		return `{"TableArn":"` + arn + `","S3Bucket":"bucket"` + members + `}`
	}
	described := func(id string) string { return `{"ExportArn":"` + findingsARN + id + `"}` }
	value := func(text, member, rule string) string {
		return "1 validation error detected: Value '" + text + "' at '" + member +
			"' failed to satisfy constraint: Member must " + rule
	}
	pad := token + strings.Repeat("0", 112-len(token))
	e := newEndpoint(t, tableH)
	e.unrandomBuckets()
	e.findings([]finding{
		{"EXPORT-001", op, export(hhh, ""), off},
		{"EXPORT-001", op, export(hhh, inc+`{"ExportFromTime":1795258800}`), early},
		{"EXPORT-001 TABLE-447", op, export(findingsARN+"None", ""), "TableNotFoundException: Table not found: " +
			findingsARN + "None"},
		{"EXPORT-001", op, export("HHH", ""), wrongValues + "tableArn is not a valid ARN"},
		{"TABLE-457", op, export("", ""), "Invalid TableArn: Invalid Table ARN"},
		{"EXPORT-002", op, export(strings.Replace(hhh, "000000000000", "123456789012", 1), ""), denied},
		{"EXPORT-002", op, export(strings.Replace(hhh, "us-east-1", "eu-west-1", 1), ""),
			"TableNotFoundException: Table not found: " + strings.Replace(hhh, "us-east-1", "eu-west-1", 1)},
		{"EXPORT-002", op, export(hhh+"/index/some", ""), begin + "Table ARN is invalid."},
		{"EXPORT-002", op, export(hhh, `,"ExportFormat":"CSV"`),
			value("CSV", "exportFormat", "satisfy enum value set: [DYNAMODB_JSON, ION]")},
		{"EXPORT-015 EXPORT-014", "UpdateContinuousBackups",
			`{"TableName":"HHH","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`, ""},
		{"EXPORT-001", op, export(hhh, `,"ExportTime":1795266000`), time + "Export Time is invalid"},
		{"EXPORT-001", op, export(hhh, `,"ExportTime":1795258800`), time + "Export Time is invalid"},
		{"EXPORT-003", op, export(hhh, spec+`{"ExportFromTime":1795262400}`),
			begin + "Export Type expected to be Incremental Export when incremental export specification is provided"},
		{"EXPORT-003", op, export(hhh, `,"ExportType":"FULL_EXPORT"`+spec+`{"ExportFromTime":1795262400}`),
			begin + "When Export Type is Full Export , Incremental Export Specification should not be provided"},
		{"EXPORT-003", op, export(hhh, `,"ExportType":"INCREMENTAL_EXPORT"`),
			begin + "Incremental Export Specification expected when export type is set as Incremental Export"},
		{"EXPORT-003 TABLE-457", op, export(hhh, inc+`{}`), noFrom},
		{"EXPORT-003", op, export(hhh, inc+`{"ExportViewType":"NEW_IMAGE"}`), noFrom},
		{"EXPORT-004", op, export(hhh, inc+`{"ExportFromTime":1795258800}`), early},
		{"EXPORT-004 EXPORT-019", op, export(hhh, inc+`{"ExportFromTime":1795262400}`),
			time + "Difference between export period from time and export period to time is less than 15 minutes"},
		{"EXPORT-004", op, export(hhh, inc+`{"ExportFromTime":1795262400,"ExportToTime":1795266000}`),
			time + "Incremental export period to time cannot be greater than the current time : 2026-11-21T13:00:00Z"},
		{"EXPORT-005", op, export(hhh, `,"S3SseKmsKeyId":"alias/aws/s3"`), begin + "KMS Key Id is not supported for " +
			"this encryption type"},
		{"EXPORT-005", op, export(hhh, `,"S3SseAlgorithm":"AES256","S3SseKmsKeyId":"alias/aws/s3"`),
			begin + "KMS Key Id is not supported for this encryption type"},
		{"EXPORT-008", op, export(hhh, `,"FilterSpecification":{}`),
			begin + "Invalid FilterSpecification: The specification can not be empty"},
		{"row 16", op, export(hhh, `,"S3Prefix":""`), value("", "s3Prefix", "have length greater than or equal to 1")},
		{"EXPORT-010", op, `{"TableArn":"` + hhh + `","S3Bucket":"none","ClientToken":"bad"}`,
			`{"ExportDescription":{"ExportStatus":"IN_PROGRESS"}}`},
		{"EXPORT-010", "DescribeExport", `{"ExportArn":"$ExportArn"}`,
			`{"ExportDescription":{"ExportStatus":"FAILED","FailureCode":"S3NoSuchBucket"}}`},
		{"EXPORT-010", op, `{"TableArn":"` + hhh + `","S3Bucket":"none","ClientToken":"bad"}`,
			`{"ExportDescription":{"ExportArn":"$ExportArn"}}`},
		{"EXPORT-010", op, `{"TableArn":"` + hhh + `","S3Bucket":"bucket","ClientToken":"bad"}`,
			"ExportConflictException: Export conflict: Duplicate request detected with conflicting parameters"},
		{"", "sleep", "1s", ""},
		{"EXPORT-017", op, export(hhh, ""), `{"ExportDescription":{"ExportFormat":"DYNAMODB_JSON","ExportType":null,
			"S3SseAlgorithm":"AES256","S3BucketOwner":null,"S3Prefix":null,"ExportTime":1795262401,"StartTime":1795262401}}`},
		{"EXPORT-017 EXPORT-008", "DescribeExport", `{"ExportArn":"$ExportArn"}`,
			`{"ExportDescription":{"ExportStatus":"COMPLETED","DestinationType":"S3","ItemCount":0}}`},
		{"", "sleep", "1s", ""},
		{"EXPORT-012", op, export(hhh, `,"S3SseAlgorithm":"KMS"`), `{"ExportDescription":{"S3SseAlgorithm":"KMS",
			"S3SseKmsKeyId":null}}`},
		{"", "sleep", "1s", ""},
		{"EXPORT-012", op, export(hhh, `,"S3SseAlgorithm":"KMS","S3SseKmsKeyId":"alias/aws/s3"`),
			`{"ExportDescription":{"S3SseKmsKeyId":"alias/aws/s3"}}`},
		{"", "sleep", "1s", ""},
		{"EXPORT-009 EXPORT-026", op, export(hhh, `,"ClientToken":"t"`), ""},
		{"EXPORT-009 EXPORT-026", op, export(hhh, `,"ClientToken":"t"`),
			`{"ExportDescription":{"ExportArn":"$ExportArn"}}`},
		{"EXPORT-009 EXPORT-026", op, export(hhh, `,"ClientToken":"t","S3Prefix":"x"`),
			"ExportConflictException: Export conflict: Duplicate request detected with conflicting parameters"},
		{"EXPORT-006", "DescribeExport", described("HHH/export/0"), "ExportNotFoundException: Export not found: " +
			"Export not found: " + hhh + "/export/0"},
		{"EXPORT-006", "DescribeExport", strings.Replace(described("HHH/export/0"), "us-east-1", "eu-west-1", 1),
			"ExportNotFoundException: Export not found: Invalid export arn"},
		{"EXPORT-006", "DescribeExport", strings.Replace(described("HHH/export/0"), "000000000000", "123456789012",
			1), denied},
		{"EXPORT-006", "DescribeExport", described("HHH"), "Invalid Export ARN"},
		{"EXPORT-006", "DescribeExport", described("HHH/import/0"), "Invalid Export ARN"},
		{"EXPORT-006", "DescribeExport", `{"ExportArn":"` + strings.Repeat("x", 40) + `"}`, "Invalid Export ARN"},
		{"EXPORT-006 IMPORT-016", "ListExports", `{"MaxResults":1}`,
			`{"ExportSummaries":[{"ExportArn":"$ExportArn"}]}`},
		{"EXPORT-006", "ListImports", `{"NextToken":"$NextToken"}`, begin +
			"Provided nextToken is invalid: $NextToken"},
		{"EXPORT-006", "ListExports", `{"NextToken":"$NextToken","MaxResults":5}`, `{"ExportSummaries":[{},{},{},
			{}],"NextToken":null}`},
		{"EXPORT-006", "ListExports", `{"NextToken":"` + strings.Repeat("0", 112) + `"}`, begin +
			"Provided nextToken is invalid: " + strings.Repeat("0", 112)},
		{"EXPORT-006", "ListExports", `{"NextToken":"` + pad + `"}`, `{"ExportSummaries":[]}`},
		{"EXPORT-020", "DeleteTable", `{"TableName":"HHH"}`, ""},
		{"EXPORT-020", "ListExports", `{"TableArn":"` + hhh + `"}`, `{"ExportSummaries":[]}`},
		{"EXPORT-020 EXPORT-021", "DescribeExport", `{"ExportArn":"$ExportArn"}`,
			`{"ExportDescription":{"TableArn":"` + hhh + `"}}`},
		{"EXPORT-020", "CreateTable", tableH, ""},
	})
}

// TestFindingsOfRoundTrips exports a table of three items, deletes the table, and imports the files. The service
// writes four data files where Sortkey writes one, so the service counts four format errors.
func TestFindingsOfRoundTrips(t *testing.T) {
	const (
		folder   = "foo/AWSDynamoDB/01795262400000-00000000/"
		describe = `{"ExportArn":"$ExportArn"}`
		arn      = `{"ImportArn":"$ImportArn"}`
		zip      = `,"InputCompressionType":"GZIP"`
		plain    = `,"InputCompressionType":"NONE"`
		complete = `{"ExportDescription":{"ExportStatus":"COMPLETED","S3Prefix":"foo/","ItemCount":3,
			"ExportManifest":"` + folder + `manifest-summary.json","TableArn":"` + findingsARN + `HHH"}}`
	)
	put := func(key string) string { return `{"TableName":"HHH","Item":{"a":{"S":"` + key + `"}}}` }
	load := func(name, prefix, compression string) string {
		return `{"ClientToken":"` + name + `","InputFormat":"DYNAMODB_JSON"` + compression + `,
			"S3BucketSource":{"S3Bucket":"bucket","S3KeyPrefix":"` + prefix + `"},
			"TableCreationParameters":` + strings.Replace(tableH, "HHH", name, 1) + `}`
	}
	ended := func(status, processed, imported, errors string) string {
		return `{"ImportTableDescription":{"ImportStatus":"` + status + `","ProcessedItemCount":` + processed +
			`,"ImportedItemCount":` + imported + `,"ErrorCount":` + errors + `}}`
	}
	e := newEndpoint(t, tableH)
	e.unrandomBuckets()
	e.findings([]finding{
		{"EXPORT-014", "UpdateContinuousBackups",
			`{"TableName":"HHH","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`, ""},
		{"EXPORT-022", "PutItem", put("1"), ""},
		{"EXPORT-022", "PutItem", put("2"), ""},
		{"EXPORT-022", "PutItem", put("3"), ""},
		{"EXPORT-018", "ExportTableToPointInTime", `{"TableArn":"` + findingsARN + `HHH","S3Bucket":"bucket",
			"S3Prefix":"foo/"}`, `{"ExportDescription":{"ExportStatus":"IN_PROGRESS","S3Prefix":"foo/"}}`},
		{"", "sleep", "1s", ""},
		{"EXPORT-013", "DeleteTable", `{"TableName":"HHH"}`, `{"TableDescription":{"TableStatus":"DELETING"}}`},
		{"EXPORT-018 EXPORT-022", "DescribeExport", describe, complete},
		{"IMPORT-020", "ImportTable", load("Root", folder, zip), ""},
		{"IMPORT-020", "DescribeImport", arn, ended("FAILED", "7", "3", "4")},
		{"IMPORT-020", "Scan", `{"TableName":"Root","Select":"COUNT"}`, `{"Count":3}`},
		{"", "sleep", "1s", ""},
		{"IMPORT-020", "ImportTable", load("Data", folder+"data/", zip), ""},
		{"IMPORT-020", "DescribeImport", arn, ended("COMPLETED", "3", "3", "0")},
		{"", "sleep", "1s", ""},
		{"IMPORT-020", "ImportTable", load("Plain", folder+"data/", plain), ""},
		{"IMPORT-020", "DescribeImport", arn, ended("FAILED", "1", "0", "1")},
		{"", "sleep", "1s", ""},
		{"IMPORT-020", "ImportTable", load("Auto", folder+"data/", ""), ""},
		{"IMPORT-020", "DescribeImport", arn, ended("FAILED", "1", "0", "1")},
		{"IMPORT-020", "DescribeTable", `{"TableName":"Auto"}`, `{"Table":{"TableStatus":"ACTIVE"}}`},
	})
}

func TestFindingsOfImports(t *testing.T) {
	const (
		begin  = "Invalid Request: "
		failed = `"ImportStatus":"FAILED","FailureCode":"ItemValidationError","FailureMessage":"Some of the items ` +
			`failed validation checks and were not imported. Please check CloudWatch error logs for more details."`
	)
	load := func(name, prefix, members string) string {
		return `{"ClientToken":"` + name + `","S3BucketSource":{"S3Bucket":"bucket","S3KeyPrefix":"` + prefix +
			`"}` + members +
			`,"TableCreationParameters":` + strings.Replace(tableH, "HHH", name, 1) + `}`
	}
	const echo = `"OnDemandThroughput":{"MaxReadRequestUnits":100,"MaxWriteRequestUnits":100},"SSESpecification":{
		"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"alias/aws/dynamodb"}`
	const asJSON, asCSV = `,"InputFormat":"DYNAMODB_JSON"`, `,"InputFormat":"CSV"`
	const semicolon = `,"InputFormatOptions":{"Csv":{"Delimiter":";","HeaderList":["a","val"]}}`
	counts := func(status string, processed, imported, errors string) string {
		return `{"ImportTableDescription":{` + status + `,"ProcessedItemCount":` + processed + `,
			"ImportedItemCount":` + imported +
			`,"ErrorCount":` + errors + `}}`
	}
	const arn, done = `{"ImportArn":"$ImportArn"}`, `"ImportStatus":"COMPLETED"`
	e := newEndpoint(t)
	dir := e.unrandomBuckets()
	item := func(key string) string { return `{"Item":{"a":{"S":"` + key + `"}}}` + "\n" }
	for name, text := range map[string]string{
		"garbage.json": item("1") + item("2") + item("3") + item("4") + item("5") + "nonsense\n" + item("7") +
			item("8") + item("9") + item("10"),
		"missing.json":  item("1") + `{"Item":{"b":{"S":"x"}}}` + "\n" + item("3"),
		"prefix/1.json": item("1"), "prefix2/x.json": "nonsense\n", "prefix.bak": "nonsense\n",
		"plain.csv":   "a,val\n1,x\n2,\"y, with \"\"marks\"\" and a\nline\"\n3,\n",
		"options.csv": "1;x\n2;y\n3;z\n",
		"bad.csv":     "a,val\n1,x\n2,y,z\n3,w\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	e.findings([]finding{
		{"row 14", "ImportTable", strings.Replace(load("New", "", asJSON), `"ClientToken":"New",`, "", 1),
			"1 validation error detected: Value null at 'clientToken' failed to satisfy constraint: Member must not " +
				"be null"},
		{"IMPORT-009", "ImportTable", load("New", "", asJSON+`,"InputFormatOptions":{"Csv":{"Delimiter":","}}`),
			begin + "Unsupported InputFormatOptions for the given input format: DYNAMODB_JSON."},
		{"IMPORT-009", "ImportTable", load("New", "", asJSON+`,"InputCompressionType":"BZIP2"`),
			"1 validation error detected: Value 'BZIP2' at 'inputCompressionType' failed to satisfy constraint: " +
				"Member must " +
				"satisfy enum value set: [ZSTD, NONE, GZIP]"},
		{"IMPORT-009", "ImportTable", load("New", "", asCSV+`,"InputFormatOptions":{"Csv":{"Delimiter":";;"}}`),
			"2 validation errors detected: Value ';;' at 'inputFormatOptions.csv.delimiter' failed to satisfy " +
				"constraint: " +
				"Member must satisfy regular expression pattern: [,;:|\\t ]; Value ';;' at " +
				"'inputFormatOptions.csv.delimiter' " +
				"failed to satisfy constraint: Member must have length less than or equal to 1"},
		{"IMPORT-003 IMPORT-002", "ImportTable", load("Prefix", "prefix/1.json", asJSON),
			`{"ImportTableDescription":{"ImportStatus":"IN_PROGRESS",
			"ProcessedItemCount":0,"ImportedItemCount":0,"ErrorCount":0,
			"S3BucketSource":{"S3BucketOwner":"000000000000"},"InputCompressionType":"NONE","InputFormatOptions":null,
			"CloudWatchLogGroupArn":"arn:aws:logs:us-east-1:000000000000:log-group:/aws-dynamodb/imports:*"}}`},
		{"IMPORT-014 IMPORT-002", "DescribeImport", arn, counts(done, "1", "1", "0")},
		{"IMPORT-017", "ImportTable", load("Prefix", "prefix/1.json", asJSON), "ResourceInUseException: Table " +
			"already exists: Prefix"},
		{"IMPORT-017", "ImportTable", strings.Replace(load("Other", "prefix/1.json", asJSON),
			`"ClientToken":"Other"`, `"ClientToken":"Prefix"`, 1),
			"ImportConflictException: Import conflict: Duplicate request detected with conflicting parameters"},
		{"IMPORT-019", "ImportTable", strings.Replace(load("Prefix", "", asJSON), `"ClientToken":"Prefix"`,
			`"ClientToken":"x"`, 1),
			"ResourceInUseException: Table already exists: Prefix"},
		{"IMPORT-005", "DescribeTable", `{"TableName":"Prefix"}`, `{"Table":{"TableStatus":"ACTIVE",
			"RestoreSummary":null}}`},
		{"IMPORT-005", "TagResource", `{"ResourceArn":"` + findingsARN + `Prefix",
			"Tags":[{"Key":"k","Value":"v"}]}`, ""},
		{"IMPORT-005", "UpdateTimeToLive", `{"TableName":"Prefix","TimeToLiveSpecification":{"Enabled":true,
			"AttributeName":"ttl"}}`, ""},
		{"IMPORT-005", "UpdateContinuousBackups", `{"TableName":"Prefix","PointInTimeRecoverySpecification":{
			"PointInTimeRecoveryEnabled":true}}`, ""},
		{"IMPORT-005", "UpdateTable", `{"TableName":"Prefix","DeletionProtectionEnabled":false}`, ""},
		{"IMPORT-005", "CreateBackup", `{"TableName":"Prefix","BackupName":"one"}`, ""},
		{"IMPORT-005", "ListImports", `{"TableArn":"` + findingsARN + `Prefix"}`,
			`{"ImportSummaryList":[{"ImportStatus":"COMPLETED"}]}`},
		{"IMPORT-008", "DeleteTable", `{"TableName":"Prefix"}`, ""},
		{"IMPORT-017", "ImportTable", load("Prefix", "prefix/1.json", asJSON),
			`{"ImportTableDescription":{"ImportArn":"$ImportArn"}}`},
		{"IMPORT-008", "ListImports", `{"TableArn":"` + findingsARN + `Prefix"}`,
			`{"ImportSummaryList":[{"ImportStatus":"COMPLETED",
			"CloudWatchLogGroupArn":"arn:aws:logs:us-east-1:000000000000:log-group:/aws-dynamodb/imports:*"}]}`},
		{"", "sleep", "1s", ""},
		{"IMPORT-014", "ImportTable", load("Raw", "prefix", asJSON), ""},
		{"IMPORT-014", "DescribeImport", arn, counts(failed, "3", "1", "2")},
		{"", "sleep", "1s", ""},
		{"IMPORT-013", "ImportTable", load("Garbage", "garbage", asJSON), ""},
		{"IMPORT-013", "DescribeImport", arn, counts(failed, "6", "5", "1")},
		{"", "sleep", "1s", ""},
		{"IMPORT-013", "ImportTable", load("Missing", "missing", asJSON), ""},
		{"IMPORT-013", "DescribeImport", arn, counts(failed, "3", "2", "1")},
		{"IMPORT-013", "DescribeTable", `{"TableName":"Missing"}`, `{"Table":{"TableStatus":"ACTIVE"}}`},
		{"", "sleep", "1s", ""},
		{"IMPORT-015", "ImportTable", load("Zip", "plain.csv", asCSV+`,"InputCompressionType":"GZIP"`), ""},
		{"IMPORT-015", "DescribeImport", arn, counts(failed, "1", "0", "1")},
		{"", "sleep", "1s", ""},
		{"IMPORT-015", "ImportTable", load("Plain", "plain.csv", asCSV),
			`{"ImportTableDescription":{"InputFormatOptions":null}}`},
		{"IMPORT-015", "DescribeImport", arn, counts(done, "3", "3", "0")},
		{"IMPORT-015", "GetItem", `{"TableName":"Plain","Key":{"a":{"S":"2"}}}`,
			`{"Item":{"val":{"S":"y, with \"marks\" and a\nline"}}}`},
		{"IMPORT-015", "GetItem", `{"TableName":"Plain","Key":{"a":{"S":"3"}}}`, `{"Item":{"val":null}}`},
		{"", "sleep", "1s", ""},
		{"IMPORT-015", "ImportTable", load("Options", "options.csv", asCSV+semicolon), ""},
		{"IMPORT-015", "DescribeImport", arn, `{"ImportTableDescription":{"ImportStatus":"COMPLETED","ImportedItemCount":3,
			"InputFormatOptions":{"Csv":{"Delimiter":";","HeaderList":["a","val"]}}}}`},
		{"", "sleep", "1s", ""},
		{"row 15", "ImportTable", load("Bad", "bad.csv", asCSV), ""},
		{"row 15", "DescribeImport", arn, counts(failed, "2", "1", "1")},
		{"", "sleep", "1s", ""},
		{"IMPORT-012", "ImportTable", load("Empty", "nothing", asJSON), ""},
		{"IMPORT-012", "DescribeImport", arn, counts(done, "0", "0", "0")},
		{"IMPORT-012", "DescribeTable", `{"TableName":"Empty"}`, `{"Table":{"TableStatus":"ACTIVE"}}`},
		{"", "sleep", "1s", ""},
		{"IMPORT-012", "ImportTable", strings.Replace(load("None", "", asJSON), `"bucket"`, `"none"`, 1), ""},
		{"IMPORT-012", "DescribeImport", arn, `{"ImportTableDescription":{"ImportStatus":"FAILED",` +
			`"FailureCode":"S3NoSuchBucket",
			"TableArn":"` + findingsARN + `None"}}`},
		{"IMPORT-012", "DescribeTable", `{"TableName":"None"}`,
			"ResourceNotFoundException: Requested resource not found: Table: None not found"},
		{"", "sleep", "1s", ""},
		{"IMPORT-004", "ImportTable", strings.Replace(load("Echo", "prefix/1.json", asJSON), `"BillingMode"`, echo+
			`,"BillingMode"`, 1), ""},
		{"IMPORT-004", "DescribeImport", arn, `{"ImportTableDescription":{"ImportStatus":"COMPLETED",
			"TableCreationParameters":{"BillingMode":"PAY_PER_REQUEST",` + echo + `}}}`},
		{"IMPORT-004", "DescribeTable", `{"TableName":"Echo"}`, `{"Table":{
			"OnDemandThroughput":{"MaxReadRequestUnits":100,"MaxWriteRequestUnits":100},
			"SSEDescription":{"Status":"ENABLED","SSEType":"KMS"}}}`},
		{"IMPORT-010", "DescribeImport", `{"ImportArn":"` + findingsARN + `None"}`, "Invalid Import ARN"},
		{"IMPORT-010", "DescribeImport", `{"ImportArn":"` + findingsARN + `None/export/0"}`, "Invalid Import ARN"},
		{"row 14", "DescribeImport", `{"ImportArn":"` + findingsARN + `x/import/01658528578619-c4d4e311"}`,
			"Invalid Import ARN"},
		{"row 14", "ListImports", `{"NextToken":"` + strings.Repeat("0", 112) + `"}`,
			begin + "Provided nextToken is invalid: " + strings.Repeat("0", 112)},
	})

	e.sleep(time.Second)
	e.db.Delay = time.Minute
	e.findings([]finding{
		{"IMPORT-006", "ImportTable", load("Deleted", "prefix/1.json", asJSON),
			`{"ImportTableDescription":{"ImportStatus":"IN_PROGRESS"}}`},
		{"IMPORT-006", "DescribeTable", `{"TableName":"Deleted"}`, `{"Table":{"TableStatus":"CREATING"}}`},
		{"IMPORT-006", "DeleteTable", `{"TableName":"Deleted"}`, "ResourceInUseException: Attempt to change a " +
			"resource which is still in use: Table is being created: Deleted"},
		{"", "sleep", "1m", ""},
		{"IMPORT-006", "DescribeTable", `{"TableName":"Deleted"}`, `{"Table":{"TableStatus":"ACTIVE"}}`},
		{"IMPORT-006", "DeleteTable", `{"TableName":"Deleted"}`, `{"TableDescription":{"TableStatus":"DELETING"}}`},
		{"IMPORT-006", "DescribeImport", arn, counts(done, "1", "1", "0")},
		{"", "sleep", "1m", ""},
		{"IMPORT-006", "DescribeTable", `{"TableName":"Deleted"}`,
			"ResourceNotFoundException: Requested resource not found: Table: Deleted not found"},
	})
}

// TestFindingsOfChangedFiles removes a file and overwrites another while an import runs, before it reads them.
func TestFindingsOfChangedFiles(t *testing.T) {
	st := hooked(t)
	root := bucket(t, map[string]string{
		"1.json": itemLines(1001, 3001), "2.json": itemLines(1, 10),
		"3.json": itemLines(11, 20), "4.json": itemLines(21, 30),
	})
	e := serveBuckets(t, st, root)
	waits, free := st.holdAt(2, nil) // the first records the job
	go func() {
		<-waits
		if err := errors.Join(
			os.Remove(filepath.Join(root, "bucket", "2.json")),
			os.WriteFile(filepath.Join(root, "bucket", "3.json"), []byte("nonsense\n"), 0o600),
		); err != nil {
			t.Error(err)
		}
		close(free)
	}()
	e.findings([]finding{
		{"IMPORT-007", "ImportTable", importRequest(""), `{"ImportTableDescription":{"ImportStatus":"IN_PROGRESS"}}`},
	})
	e.imported()
	e.findings([]finding{
		{"IMPORT-007", "DescribeImport", `{"ImportArn":"` + e.imports()[0].ImportArn + `"}`,
			`{"ImportTableDescription":{"ImportStatus":"FAILED","FailureCode":"ItemValidationError",
			"ProcessedItemCount":2011,"ImportedItemCount":1809,"ErrorCount":202}}`},
		{"IMPORT-007", "DescribeTable", `{"TableName":"HHH"}`, `{"Table":{"TableStatus":"ACTIVE"}}`},
	})
}

// TestCSVKeys imports keys that are numbers and binary data, in several batches.
func TestCSVKeys(t *testing.T) {
	e := newEndpoint(t)
	dir := e.unrandomBuckets()
	var b strings.Builder
	b.WriteString("\ufeffn|b|text\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "%d|AQ==|\"a | b\"\n", i)
	}
	b.WriteString("no number|AQ==|x\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "items.csv"), []byte(b.String()), 0o600))
	e.findings([]finding{
		{"row 15", "ImportTable", `{"ClientToken":"t","S3BucketSource":{"S3Bucket":"bucket"},"InputFormat":"CSV",
			"InputFormatOptions":{"Csv":{"Delimiter":"|"}},"TableCreationParameters":{"TableName":"Keys",
			"BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"n","AttributeType":"N"},
			{"AttributeName":"b","AttributeType":"B"}],"KeySchema":[{"AttributeName":"n","KeyType":"HASH"},
			{"AttributeName":"b","KeyType":"RANGE"}]}}`, ""},
	})
	e.until(func() bool { return e.imports()[0].ImportStatus != "IN_PROGRESS" })
	e.findings([]finding{
		{"row 15", "DescribeImport", `{"ImportArn":"` + e.imports()[0].ImportArn + `"}`,
			`{"ImportTableDescription":{"ImportStatus":"FAILED","ProcessedItemCount":3001,"ImportedItemCount":3000,
				"ErrorCount":1}}`},
		{"row 15", "GetItem", `{"TableName":"Keys","Key":{"n":{"N":"2999"},"b":{"B":"AQ=="}}}`,
			`{"Item":{"text":{"S":"a | b"}}}`},
	})
}
