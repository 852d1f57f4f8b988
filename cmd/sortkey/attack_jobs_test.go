//go:build attack && linux

package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ask sends a request that must succeed, and returns the response.
func (p *process) ask(t *testing.T, operation, body string) []byte {
	t.Helper()
	status, answer := p.post(operation, body)
	require.Equal(t, 200, status, "%s: %s", operation, answer)
	return []byte(answer)
}

// bulkPut compresses a file with many copies of line, puts its lines in one job, and waits for the end of the job. It
// returns the size of the job's report in MB.
func (p *process) bulkPut(t *testing.T, root string, lines int, line string) int {
	t.Helper()
	dir := filepath.Join(root, "bucket")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	f, err := os.Create(filepath.Join(dir, "input.gz"))
	require.NoError(t, err)
	w := gzip.NewWriter(f)
	for range lines {
		_, err := io.WriteString(w, line+"\n")
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	const from = `"InputS3Configuration":{"S3Bucket":"bucket","S3KeyPrefix":"input","InputFormat":"DYNAMODB_JSON","InputCompressionType":"GZIP"}`
	var out struct {
		BulkOperationDescription struct {
			BulkOperationArn, BulkOperationStatus string
			FailedItemCount                       int
		}
	}
	d := &out.BulkOperationDescription
	require.NoError(t, json.Unmarshal(p.ask(t, "StartBulkPutItems", `{"TableName":"bulk",`+from+`,"OutputS3Configuration":{"OutputType":["ERROR"]}}`), &out))
	for d.BulkOperationStatus == "IN_PROGRESS" {
		time.Sleep(50 * time.Millisecond)
		require.NoError(t, json.Unmarshal(p.ask(t, "DescribeBulkOperation", `{"BulkOperationArn":"`+d.BulkOperationArn+`"}`), &out))
	}
	require.Equal(t, lines, d.FailedItemCount)
	report, err := os.Stat(filepath.Join(dir, "AWSDynamoDB", filepath.Base(d.BulkOperationArn), "error.json"))
	require.NoError(t, err)
	return int(report.Size() >> 20)
}

// TestAttackBulkPut puts files that contain no valid line.
func TestAttackBulkPut(t *testing.T) {
	root := t.TempDir()
	p := serve(t, "--s3-root", root)
	p.ask(t, "CreateTable", `{"TableName":"bulk","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}],"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}]}`)
	for _, tt := range []struct {
		name, line   string
		lines, bound int
	}{
		{"150 items of 15 MB", `{"Item":{"a":{"S":"` + strings.Repeat("x", 15<<20) + `"}}}`, 150, 256},
		{"30 lines of 15 MB that are no JSON", strings.Repeat("x", 15<<20), 30, 256},
		{"40 MB of broken lines", `{"Item"`, 40 << 20 / 8, 64},
	} {
		report := 0
		bounded(t, fmt.Sprintf("a bulk put of %s", tt.name), p.peak(t, func() { report = p.bulkPut(t, root, tt.lines, tt.line) }), tt.bound, "MB")
		bounded(t, "the report of that", report, 64, "MB")
	}
	p.alive(t)
}
