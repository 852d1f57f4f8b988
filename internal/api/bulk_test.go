package api_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/stretchr/testify/require"
)

// Sources: API_StartBulkPutItems, DG/BulkPutItems.Format.html, BulkPutItems.Output.html.
func TestBulkPut(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "inputs", "day"), 0o755))
	lines := []string{
		`{"Item":{"a":{"S":"1"},"n":{"N":"1"}}}`,
		`{"Item":{"a":{"S":"2"}},"ConditionExpression":"attribute_not_exists(#a)",` +
			`"ExpressionAttributeNames":{"#a":"a"}}`,
		`{"Item":{"a":{"S":"old"},"n":{"N":"9"}},"ConditionExpression":"n < ` +
			`:n","ExpressionAttributeValues":{":n":{"N":"5"}}}`,
		`{"Item":{"b":{"S":"no key"}}}`,
		`{"Item":`,
		`{"Item":{"a":{"S":"3"}},"ConditionExpression":"n <"}`,
	}
	require.NoError(t,
		os.WriteFile(filepath.Join(root, "inputs", "day", "a.json"), []byte(strings.Join(lines, "\n")), 0o600))
	e := newEndpoint(t, tableH)
	e.svc = api.New(e.db, api.Options{Clock: e.db.Clock, S3Root: root})
	e.answer("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"old"},"n":{"N":"7"}}}`)
	start := func(rest string) string {
		return `{"TableName":"HHH","InputS3Configuration":{"S3Bucket":"inputs","S3KeyPrefix":"day/",` +
			`"InputFormat":"DYNAMODB_JSON"},` +
			`"OutputS3Configuration":{"OutputType":["ERROR","CONDITION_CHECK_FAILURE"]}` + rest + `}`
	}
	arn := func(body string) string {
		var out struct {
			BulkOperationDescription struct{ BulkOperationArn, BulkOperationStatus string }
		}
		require.NoError(t, json.Unmarshal([]byte(body), &out))
		require.Equal(t, "IN_PROGRESS", out.BulkOperationDescription.BulkOperationStatus)
		return out.BulkOperationDescription.BulkOperationArn
	}
	first := arn(e.answer("StartBulkPutItems", start(`,"ClientToken":"t"`)))
	described := e.answer("DescribeBulkOperation", `{"BulkOperationArn":"`+first+`"}`)
	for _, want := range []string{
		`"BulkOperationStatus":"COMPLETED_WITH_ERRORS"`, `"ProcessedItemCount":6`, `"FailedItemCount":4`,
		`"BulkPutBytes":7`,
	} {
		if !strings.Contains(described, want) {
			t.Errorf("no %s in %s", want, described)
		}
	}
	e.want("Scan", `{"TableName":"HHH","Select":"COUNT"}`, `{"Count":3,"ScannedCount":3}`)
	e.want("GetItem", `{"TableName":"HHH","Key":{"a":{"S":"old"}}}`, `{"Item":{"a":{"S":"old"},"n":{"N":"7"}}}`)
	// For 8 hours a token stands for the same operation.
	e.answer("StartBulkPutItems", start(`,"ClientToken":"t"`))
	e.refuse("StartBulkPutItems", start(`,"ClientToken":"t","PerformanceTier":"ACCELERATED"`),
		"IdempotentParameterMismatchException: The ClientToken was used by another bulk operation in the last 8 hours.")
	e.sleep(8 * 60 * 60 * 1e9)
	second := arn(e.answer("StartBulkPutItems", start(`,"ClientToken":"t"`)))
	require.NotEqual(t, first, second)
	next := ""
	for _, want := range []string{second, first} { // the newest first
		page := e.answer("ListBulkOperations", `{"MaxResults":1`+next+`}`)
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
		_, after, _ := strings.Cut(page, `"NextToken":"`)
		token, _, _ := strings.Cut(after, `"`)
		next = `,"NextToken":"` + token + `"`
	}
	e.want("CancelBulkOperation", `{"BulkOperationArn":"`+first+`"}`,
		`{"BulkOperationArn":"`+first+`","BulkOperationStatus":"COMPLETED_WITH_ERRORS"}`)
	none := strings.Repeat("x", 40)
	for _, op := range []string{"DescribeBulkOperation", "CancelBulkOperation"} {
		e.refuse(op, `{"BulkOperationArn":"`+none+`"}`,
			"ResourceNotFoundException: Requested resource not found: Bulk operation: "+none+" not found")
	}
	e.refuse("StartBulkPutItems", strings.Replace(start(""), "HHH", "None", 1),
		"ResourceNotFoundException: Requested resource not found")
	failed := arn(e.answer("StartBulkPutItems", strings.Replace(start(""), `"inputs"`, `"nobody"`, 1)))
	if d := e.answer(
		"DescribeBulkOperation", `{"BulkOperationArn":"`+failed+`"}`,
	); !strings.Contains(d, `"BulkOperationStatus":"FAILED"`) ||
		!strings.Contains(d, `"FailureCode":"S3NoSuchBucket"`) {
		t.Error(d)
	}
}
