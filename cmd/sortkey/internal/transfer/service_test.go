package transfer_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestServiceExport compares an export of the command with one of the service's ExportTableToPointInTime. They must
// have the same files with the same contents, and each of the two must be able to import the export of the other.
func TestServiceExport(t *testing.T) {
	root := t.TempDir()
	bucket := filepath.Join(root, "bucket")
	now := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	clock := func() time.Time { return now }
	db := sortkeytest.New(t, func(o *sortkey.Options) { o.S3Root, o.Clock = root, clock })
	db.Table("Rows", "pk")
	for _, pk := range []string{"a", "b<&>", "c"} {
		db.Put("Rows", map[string]any{"pk": pk, "n": 1})
	}
	require.NoError(t, os.Mkdir(bucket, 0o700))
	_, err := db.Direct.UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{
		TableName: aws.String("Rows"), PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: aws.Bool(true),
		},
	})
	require.NoError(t, err)

	out, err := db.Direct.ExportTableToPointInTime(t.Context(), &dynamodb.ExportTableToPointInTimeInput{
		TableArn: aws.String("arn:aws:dynamodb:us-east-1:000000000000:table/Rows"),
		S3Bucket: aws.String("bucket"), S3Prefix: aws.String("/some/where"),
	})
	require.NoError(t, err)
	done, err := db.Direct.DescribeExport(t.Context(), &dynamodb.DescribeExportInput{
		ExportArn: out.ExportDescription.ExportArn,
	})
	require.NoError(t, err)
	require.Equal(t, types.ExportStatusCompleted, done.ExportDescription.ExportStatus)
	service := filepath.Join(bucket, filepath.Dir(aws.ToString(done.ExportDescription.ExportManifest)))
	command := filepath.Join(bucket, "command")
	o := transfer.ExportOptions{Segments: 1, Clock: clock}
	_, err = transfer.Export(t.Context(), db.Direct, []string{"Rows"}, command, false, o)
	require.NoError(t, err)

	require.Equal(t, `{"dataFileS3Key":"some/where/AWSDynamoDB/ID/data/NAME.json.gz","etag":"SUM-1","itemCount":3,"md5Checksum":"SUM=="}
`, manifest(t, service, "manifest-files"))
	require.Equal(t, `{"billedSizeBytes":21,"endTime":"2026-01-02T03:04:05.006Z","exportArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Rows/export/ID","exportTime":"2026-01-02T03:04:05.006Z","exportType":"FULL_EXPORT","itemCount":3,"manifestFilesS3Key":"some/where/AWSDynamoDB/ID/manifest-files.json","outputFormat":"DYNAMODB_JSON","s3Bucket":"bucket","s3Prefix":"/some/where","s3SseAlgorithm":"AES256","s3SseKmsKeyId":null,"startTime":"2026-01-02T03:04:05.006Z","tableArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Rows","tableId":"UUID","version":"2020-06-30"}`,
		manifest(t, service, "manifest-summary"))
	require.Equal(t, `{"itemCount":3,"md5Checksum":"SUM==","etag":"SUM-1","dataFileS3Key":"data/00000.json.gz"}
`, manifest(t, command, "manifest-files"))
	require.Equal(t, `{
  "version": "2020-06-30",
  "exportArn": "arn:aws:dynamodb:us-east-1:000000000000:table/Rows/export/ID",
  "startTime": "2026-01-02T03:04:05.006Z",
  "endTime": "2026-01-02T03:04:05.006Z",
  "tableArn": "arn:aws:dynamodb:us-east-1:000000000000:table/Rows",
  "tableId": "UUID",
  "exportTime": "2026-01-02T03:04:05.006Z",
  "s3Bucket": null,
  "s3Prefix": null,
  "s3SseAlgorithm": null,
  "s3SseKmsKeyId": null,
  "manifestFilesS3Key": "manifest-files.json",
  "billedSizeBytes": 321,
  "itemCount": 3,
  "outputFormat": "DYNAMODB_JSON",
  "exportType": "FULL_EXPORT",
  "pointInTime": false
}
`, manifest(t, command, "manifest-summary"))

	type dataFile struct {
		MD5Checksum, ETag string
		lines             string
	}
	read := func(dir string) (f dataFile) {
		text, err := os.ReadFile(filepath.Join(dir, "manifest-files.json"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &f))
		names, err := filepath.Glob(filepath.Join(dir, "data", "*"))
		require.NoError(t, err)
		require.Len(t, names, 1)
		file, err := os.Open(names[0])
		require.NoError(t, err)
		defer file.Close()
		zip, err := gzip.NewReader(file)
		require.NoError(t, err)
		lines, err := io.ReadAll(zip)
		require.NoError(t, err)
		f.lines = string(lines)
		return f
	}
	require.Equal(t, read(service), read(command))
	require.Contains(t, read(command).lines, `{"Item":{"n":{"N":"1"},"pk":{"S":"b<&>"}}}`+"\n")

	to := sortkeytest.New(t)
	to.Table("Rows", "pk")
	_, err = importFiles(t, t.Context(), to.Direct, transfer.ImportOptions{}, service)
	require.NoError(t, err)
	require.Equal(t, itemsOf(t, db.Direct, "Rows"), itemsOf(t, to.Direct, "Rows"))

	pk := aws.String("pk")
	imported, err := db.Direct.ImportTable(t.Context(), &dynamodb.ImportTableInput{
		InputFormat: types.InputFormatDynamodbJson, InputCompressionType: types.InputCompressionTypeGzip,
		S3BucketSource: &types.S3BucketSource{S3Bucket: aws.String("bucket"), S3KeyPrefix: aws.String("command/data/")},
		TableCreationParameters: &types.TableCreationParameters{
			TableName: aws.String("Copy"), BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{
				{AttributeName: pk, AttributeType: types.ScalarAttributeTypeS},
			},
			KeySchema: []types.KeySchemaElement{{AttributeName: pk, KeyType: types.KeyTypeHash}},
		},
	})
	require.NoError(t, err)
	ended, err := db.Direct.DescribeImport(t.Context(), &dynamodb.DescribeImportInput{
		ImportArn: imported.ImportTableDescription.ImportArn,
	})
	require.NoError(t, err)
	require.Equal(t, types.ImportStatusCompleted, ended.ImportTableDescription.ImportStatus)
	require.Equal(t, itemsOf(t, db.Direct, "Rows"), itemsOf(t, db.Direct, "Copy"))
}

// manifest returns a manifest, which must match its checksum, with words in place of IDs and checksums.
func manifest(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name+".json"))
	require.NoError(t, err)
	_, err = transfer.Discover([]string{dir}, "", "") // compares checksums
	require.NoError(t, err)
	text := string(data)
	for pattern, word := range map[string]string{
		`\d{14}-[0-9a-f]{8}`: "ID", `\d{14}[0-9a-f]{8}`: "NAME", `[0-9a-f]{32}-1`: "SUM-1",
		`[0-9A-Za-z+/]{22}==`: "SUM==", `[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`: "UUID",
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, word)
	}
	return text
}
