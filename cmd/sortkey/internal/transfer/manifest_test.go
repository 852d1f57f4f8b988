package transfer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
)

// FuzzManifest: the manifests of an export are rejected, or they name only data files of the export.
func FuzzManifest(f *testing.F) {
	const summary = `{"tableArn":"arn:aws:dynamodb:us-east-1:1:table/Rows","outputFormat":"DYNAMODB_JSON","itemCount":1}`
	const table = `{"TableName":"Rows","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]}`
	f.Add(summary, `{"itemCount":1,"md5Checksum":"","dataFileS3Key":"data/x.json"}`, table, `{"a":"B"}`)
	f.Add(summary, `{"dataFileS3Key":"p/AWSDynamoDB/1-2/data/x.json"}`+"\n\n"+`{"dataFileS3Key":"x.json"}`, `{"Table":`+table+`}`, `{}`)
	f.Add(summary, `{"dataFileS3Key":"../x.json"}`, `{"Table":{"Table":`+table+`}}`, `null`)
	f.Add(`{"outputFormat":"CSV","exportType":"INCREMENTAL_EXPORT"}`, `{"dataFileS3Key":"../../secret"}`, `{`, `{"a":"X"}`)
	f.Add(`{"outputFormat":"ION"}`, ``, ``, ``)
	root := f.TempDir()
	dir := filepath.Join(root, "a", "export")
	require.NoError(f, os.MkdirAll(filepath.Join(dir, "data"), 0o700))
	for _, name := range []string{"secret", "x.json", "a/secret", "a/x.json", "a/export/data/x.json"} {
		require.NoError(f, os.WriteFile(filepath.Join(root, name), nil, 0o600))
	}
	f.Fuzz(func(t *testing.T, summary, files, table, types string) {
		for name, text := range map[string]string{"manifest-summary.json": summary, "manifest-files.json": files, "table.json": table, "types.json": types} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		sources, err := transfer.Discover([]string{dir}, "", "")
		if err != nil {
			return
		}
		require.Len(t, sources, 1)
		for _, file := range sources[0].Files {
			rel, err := filepath.Rel(dir, file.Path)
			require.NoError(t, err)
			require.True(t, filepath.IsLocal(rel) || strings.HasPrefix(rel, filepath.FromSlash("../data/")), file.Path)
		}
	})
}

// TestDataNames holds that the case of a file's name does not matter, as on Windows.
func TestDataNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.JSON", "b.Csv.GZ", "c.jsonl", "d.txt", "e.rejected.JSONL"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	sources, err := transfer.Discover([]string{dir}, "", "")
	require.NoError(t, err)
	require.Len(t, sources, 1)
	require.Len(t, sources[0].Files, 3)
}
