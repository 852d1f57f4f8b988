package api_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/api"
)

// withBucket gives the endpoint a directory of buckets with an empty bucket named "bucket", and returns the path of
// the bucket.
func (e *endpoint) withBucket() string {
	e.t.Helper()
	root := e.t.TempDir()
	dir := filepath.Join(root, "bucket")
	require.NoError(e.t, os.Mkdir(dir, 0o755))
	e.svc = api.New(e.db, api.Options{Clock: e.db.Clock, S3Root: root})
	return dir
}

// A job has the members that tests check in the description of an export or an import.
type job struct {
	ExportArn, ExportStatus, ExportManifest, ImportArn, ImportStatus, FailureCode, FailureMessage string
	ItemCount, ErrorCount, ImportedItemCount, ProcessedItemCount                                  int
}

// run starts a job, waits for its end, and returns its description.
func (e *endpoint) run(op, describe, kind, body string) job {
	e.t.Helper()
	var out map[string]job
	e.call(op, body, &out)
	started := out[kind+"Description"]
	if started.ExportStatus+started.ImportStatus != "IN_PROGRESS" {
		e.t.Errorf("%s %s: %+v", op, body, started)
	}
	arn := `{"ExportArn":"` + started.ExportArn + `"}`
	if started.ImportArn != "" {
		arn = `{"ImportArn":"` + started.ImportArn + `"}`
	}
	out = nil
	e.call(describe, arn, &out)
	return out[kind+"Description"]
}

func (e *endpoint) export(rest string) job {
	e.t.Helper()
	return e.exportOf(arnR, rest)
}

func (e *endpoint) exportOf(arn, rest string) job {
	e.t.Helper()
	return e.run("ExportTableToPointInTime", "DescribeExport", "Export", `{"TableArn":"`+arn+`"`+rest+`}`)
}

func (e *endpoint) load(name, prefix, rest string) job {
	e.t.Helper()
	return e.run("ImportTable", "DescribeImport", "ImportTable", importOf(name, "bucket", prefix, rest))
}

var tokens atomic.Int64

func importOf(name, bucket, prefix, rest string) string {
	table := strings.Replace(tableR, `"RRR"`, `"`+name+`"`, 1)
	i, j := strings.Index(table, `"LocalSecondaryIndexes"`), strings.Index(table, `"GlobalSecondaryIndexes"`)
	if !strings.Contains(rest, "ClientToken") {
		rest += fmt.Sprintf(`,"ClientToken":"%s %s %d"`, name, prefix, tokens.Add(1))
	}
	return fmt.Sprintf(`{"S3BucketSource":{"S3Bucket":%q,"S3KeyPrefix":%q},"InputFormat":"DYNAMODB_JSON",`+
		`"TableCreationParameters":%s%s}`, bucket, prefix, table[:i]+table[j:], rest)
}

// Source: quirks (see op_export.go and op_import.go).
func TestExportAndImport(t *testing.T) {
	e := newEndpoint(t, tableR)
	dir := e.withBucket()
	e.fill(20)
	const bucket = `,"S3Bucket":"bucket"`
	refused := func(body, want string) {
		t.Helper()
		e.refuse("ExportTableToPointInTime", `{"TableArn":"`+arnR+`"`+body+`}`, want)
	}
	refused(bucket, "PointInTimeRecoveryUnavailableException: Point in time recovery is not enabled for table 'RRR'")
	e.answer("UpdateContinuousBackups",
		`{"TableName":"RRR","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`)

	done := e.export(bucket + `,"S3Prefix":"some/where"`)
	require.Equal(t, "COMPLETED", done.ExportStatus, done.FailureMessage)
	require.Equal(t, 27, done.ItemCount)
	require.Regexp(t, `^some/where/AWSDynamoDB/\d{14}-[0-9a-f]{8}/manifest-summary.json$`, done.ExportManifest)
	folder := filepath.Join(dir, filepath.Dir(done.ExportManifest))
	for _, name := range []string{
		"_started", "manifest-files.json", "manifest-files.md5", "manifest-summary.json", "manifest-summary.md5",
	} {
		require.FileExists(t, filepath.Join(folder, name))
	}
	var file struct{ DataFileS3Key string }
	data, err := os.ReadFile(filepath.Join(folder, "manifest-files.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &file))
	f, err := os.Open(filepath.Join(dir, file.DataFileS3Key))
	require.NoError(t, err)
	defer f.Close()
	zip, err := gzip.NewReader(f)
	require.NoError(t, err)
	lines, err := io.ReadAll(zip)
	require.NoError(t, err)
	require.Equal(t, 27, strings.Count(string(lines), `{"Item":{"a":{"S":"`))

	prefix := filepath.ToSlash(filepath.Dir(file.DataFileS3Key)) + "/"
	got := e.load("New", prefix, `,"InputCompressionType":"GZIP"`)
	require.Equal(t, "COMPLETED", got.ImportStatus, got.FailureMessage)
	require.Equal(t, []int{27, 27, 0}, []int{got.ProcessedItemCount, got.ImportedItemCount, got.ErrorCount})
	require.Equal(t, e.contents("RRR", "index3", "index4"), e.contents("New", "index3", "index4"))
	e.refuse("ImportTable", importOf("New", "bucket", prefix, ""), "ResourceInUseException: Table already exists: New")

	// The import counts an item without the key as an error and goes on. After a line that is not an item it skips
	// the rest of the file.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lines.json"), []byte(`{"Item":{"a":{"S":"x"},"b":{"S":"y"}}}

{"Item":{"a":{"S":"x"}}}
{"Item":{"a":{"X":"x"}}}
nonsense
`), 0o600))
	got = e.load("Bad", "lines", "")
	require.Equal(t,
		job{
			ImportArn: got.ImportArn, ImportStatus: "FAILED", FailureCode: "ItemValidationError",
			FailureMessage: got.FailureMessage, ProcessedItemCount: 3, ImportedItemCount: 1, ErrorCount: 2,
		}, got)
	e.want("Scan", `{"TableName":"Bad"}`, `{"Items":[{"a":{"S":"x"},"b":{"S":"y"}}],"Count":1,"ScannedCount":1}`)
	require.Equal(t, "COMPLETED", e.load("Empty", "nothing", "").ImportStatus)

	// Tokens.
	body := `{"TableArn":"` + arnR + `"` + bucket + `,"ClientToken":"t"`
	first := e.export(bucket + `,"ClientToken":"t"`)
	if out := e.answer("ExportTableToPointInTime", body+`}`); !strings.Contains(out, first.ExportArn) {
		t.Error(out)
	}
	e.refuse("ExportTableToPointInTime", body+`,"S3Prefix":"other"}`,
		"ExportConflictException: Export conflict: Duplicate request detected with conflicting parameters")
	e.load("Token", "nothing", `,"ClientToken":"t"`)
	e.refuse("ImportTable", importOf("Token", "bucket", "nothing", `,"ClientToken":"t"`),
		"ResourceInUseException: Table already exists: Token")
	e.refuse("ImportTable", importOf("Token2", "bucket", "nothing", `,"ClientToken":"t"`),
		"ImportConflictException: Import conflict: Duplicate request detected with conflicting parameters")

	// A bucket that does not exist, and a name that must not lead out of the directory.
	for _, name := range []string{"none", "a..b"} {
		done := e.export(`,"S3Bucket":"` + name + `"`)
		require.Equal(t, []string{"FAILED", "S3NoSuchBucket"}, []string{done.ExportStatus, done.FailureCode}, name)
		imported := e.run("ImportTable", "DescribeImport", "ImportTable", importOf("None", name, "", ""))
		require.Equal(t, []string{"FAILED", "S3NoSuchBucket"},
			[]string{imported.ImportStatus, imported.FailureCode}, name)
	}
	e.refuse("DescribeTable", `{"TableName":"None"}`,
		"ResourceNotFoundException: Requested resource not found: Table: None not found")
	for _, name := range []string{"..", "../bucket", "bucket/..", "/etc"} {
		if out, status := e.serve(
			"ExportTableToPointInTime", `{"TableArn":"`+arnR+`","S3Bucket":"`+name+`"}`,
		); status != 400 ||
			!strings.HasPrefix(
				fault(out), "ValidationException: 1 validation error detected: Value '"+name+"' at 's3Bucket'",
			) {
			t.Errorf("bucket %s: %s", name, out)
		}
	}
	outside := filepath.Join(filepath.Dir(filepath.Dir(dir)), "outside")
	for _, prefix := range []string{"../other", "../../outside", "x/../../../outside"} {
		if done := e.export(bucket + `,"S3Prefix":"` + prefix + `"`); done.ExportStatus != "FAILED" {
			t.Errorf("prefix %s: %+v", prefix, done)
		}
	}
	require.NoDirExists(t, outside)
	require.NoDirExists(t, filepath.Join(filepath.Dir(dir), "other"))
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(dir, "link")))
	require.Equal(t, "FAILED", e.export(bucket+`,"S3Prefix":"link"`).ExportStatus)

	// Times, forms, ARNs.
	at := func(seconds int64) string { return fmt.Sprintf(`%s,"ExportTime":%d`, bucket, e.now.Unix()+seconds) }
	require.Equal(t, "COMPLETED", e.export(at(0)).ExportStatus)
	refused(at(5), "InvalidExportTimeException: Export Time is invalid")
	refused(at(-1), "InvalidExportTimeException: Export Time is invalid") // before recovery was enabled
	e.sleep(2 * time.Second)
	refused(at(-1), "InvalidExportTimeException: Point in Time Recovery is not available for specified export time")
	e.sleep(time.Hour)
	refused(bucket+fmt.Sprintf(`,"ExportType":"INCREMENTAL_EXPORT","IncrementalExportSpecification":{"ExportFromTime":%d}`,
		e.now.Unix()-1800), "InvalidExportTimeException: Point in Time Recovery is not available for specified export time")
	refused(bucket+`,"ExportFormat":"ION"`,
		"ValidationException: Sortkey exports DynamoDB JSON only. Leave out ExportFormat.")
	e.invalid("ImportTable", strings.Replace(importOf("Other", "bucket", "", ""), "DYNAMODB_JSON", "ION", 1),
		"Sortkey imports DynamoDB JSON and CSV only. Convert the files to one of them.")
	e.invalid("ExportTableToPointInTime", `{"TableArn":"RRR"`+bucket+`}`, wrongValues+"tableArn is not a valid ARN")
	none := strings.Replace(arnR, "RRR", "None", 1)
	e.refuse("ExportTableToPointInTime", `{"TableArn":"`+none+`"`+bucket+`}`,
		"TableNotFoundException: Table not found: "+none)
	e.invalid("DescribeExport", `{"ExportArn":"`+arnR+`"}`, "Invalid Export ARN")
	e.invalid("DescribeImport", `{"ImportArn":"`+arnR+`"}`, "Invalid Import ARN")
	e.refuse("DescribeExport", `{"ExportArn":"`+arnR+`/export/1"}`,
		"ExportNotFoundException: Export not found: Export not found: "+arnR+"/export/1")
	e.refuse("DescribeImport", `{"ImportArn":"`+arnR+`/import/1"}`,
		"ImportNotFoundException: Import not found: "+arnR+"/import/1")
}

func TestListExportsAndImports(t *testing.T) {
	e := newEndpoint(t, tableR)
	e.withBucket()
	e.answer("UpdateContinuousBackups",
		`{"TableName":"RRR","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`)
	var exports, imports []string
	for i := range 12 {
		e.sleep(time.Second)
		exports = append(exports, e.export(`,"S3Bucket":"bucket"`).ExportArn)
		imports = append(imports, e.load(fmt.Sprintf("New%d", i), "none", "").ImportArn)
	}
	slices.Reverse(exports)
	slices.Reverse(imports)
	pages := func(op, body string) (arns []string, pages int) {
		t.Helper()
		for next := ""; ; pages++ {
			var out struct {
				ExportSummaries, ImportSummaryList []struct{ ExportArn, ImportArn string }
				NextToken                          *string
			}
			e.call(op, `{`+body+next+`}`, &out)
			for _, x := range append(out.ExportSummaries, out.ImportSummaryList...) {
				arns = append(arns, x.ExportArn+x.ImportArn)
			}
			if out.NextToken == nil {
				return arns, pages + 1
			}
			next = `"NextToken":"` + *out.NextToken + `"`
			if body != "" {
				next = "," + next
			}
		}
	}
	for _, tt := range []struct {
		op, body string
		want     []string
		pages    int
	}{
		{"ListExports", "", exports, 2},
		{"ListExports", `"MaxResults":5`, exports, 3},
		{"ListExports", `"TableArn":"` + arnR + `","MaxResults":25`, exports, 1},
		{"ListExports", `"TableArn":"` + arnH + `"`, nil, 1},
		{"ListImports", "", imports, 2},
		{"ListImports", `"PageSize":4`, imports, 3},
		{"ListImports", `"TableArn":"` + strings.Replace(arnR, "RRR", "New3", 1) + `"`, imports[8:9], 1},
	} {
		if got, n := pages(tt.op, tt.body); !slices.Equal(got, tt.want) || n != tt.pages {
			t.Errorf("%s {%s}: %d pages %v\nwant %d %v", tt.op, tt.body, n, got, tt.pages, tt.want)
		}
	}
	e.answer("DeleteTable", `{"TableName":"RRR"}`)
	if got, _ := pages("ListExports", `"TableArn":"`+arnR+`"`); got != nil {
		t.Errorf("exports of a deleted table %v", got)
	}
	e.answer("DescribeExport", `{"ExportArn":"`+exports[0]+`"}`)
}
