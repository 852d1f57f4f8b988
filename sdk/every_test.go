package sdk_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/server"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// every has one valid request of each operation, in an order in which all of them succeed. $NAME stands for a value
// that keep has saved from an earlier answer.
var every = []struct{ op, body, keep string }{
	{
		"CreateTable", `{"TableName":"Orders","BillingMode":"PAY_PER_REQUEST",` +
			`"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id",` +
			`"KeyType":"HASH"}],"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"}}`, "",
	},
	{"DescribeTable", `{"TableName":"Orders"}`, "TableArn LatestStreamArn"},
	{"ListTables", `{}`, ""},
	{"UpdateTable", `{"TableName":"Orders","DeletionProtectionEnabled":false}`, ""},
	{"DescribeLimits", `{}`, ""},
	{"DescribeEndpoints", `{}`, ""},
	{"PutItem", `{"TableName":"Orders","Item":{"id":{"S":"1"}}}`, ""},
	{
		"UpdateItem", `{"TableName":"Orders","Key":{"id":{"S":"1"}},"UpdateExpression":"SET n = ` +
			`:n","ExpressionAttributeValues":{":n":{"N":"1"}}}`, "",
	},
	{"GetItem", `{"TableName":"Orders","Key":{"id":{"S":"1"}}}`, ""},
	{
		"Query",
		`{"TableName":"Orders","KeyConditionExpression":"id = :id","ExpressionAttributeValues":{":id":{"S":"1"}}}`, "",
	},
	{"Scan", `{"TableName":"Orders"}`, ""},
	{"BatchWriteItem", `{"RequestItems":{"Orders":[{"PutRequest":{"Item":{"id":{"S":"2"}}}}]}}`, ""},
	{"BatchGetItem", `{"RequestItems":{"Orders":{"Keys":[{"id":{"S":"2"}}]}}}`, ""},
	{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"Orders","Item":{"id":{"S":"3"}}}}]}`, ""},
	{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"Orders","Key":{"id":{"S":"3"}}}}]}`, ""},
	{"DeleteItem", `{"TableName":"Orders","Key":{"id":{"S":"3"}}}`, ""},
	{"ExecuteStatement", `{"Statement":"SELECT * FROM Orders WHERE id = '1'"}`, ""},
	{"BatchExecuteStatement", `{"Statements":[{"Statement":"SELECT * FROM Orders WHERE id = '1'"}]}`, ""},
	{"ExecuteTransaction", `{"TransactStatements":[{"Statement":"INSERT INTO Orders VALUE {'id': '4'}"}]}`, ""},
	{
		"UpdateTimeToLive",
		`{"TableName":"Orders","TimeToLiveSpecification":{"AttributeName":"ends","Enabled":true}}`, "",
	},
	{"DescribeTimeToLive", `{"TableName":"Orders"}`, ""},
	{"TagResource", `{"ResourceArn":"$TableArn","Tags":[{"Key":"a","Value":"b"}]}`, ""},
	{"ListTagsOfResource", `{"ResourceArn":"$TableArn"}`, ""},
	{"UntagResource", `{"ResourceArn":"$TableArn","TagKeys":["a"]}`, ""},
	{"ListStreams", `{"TableName":"Orders"}`, ""},
	{"DescribeStream", `{"StreamArn":"$LatestStreamArn"}`, "ShardId"},
	{
		"GetShardIterator", `{"StreamArn":"$LatestStreamArn","ShardId":"$ShardId","ShardIteratorType":"TRIM_HORIZON"}`,
		"ShardIterator",
	},
	{"GetRecords", `{"ShardIterator":"$ShardIterator"}`, ""},
	{
		"EnableKinesisStreamingDestination",
		`{"TableName":"Orders","StreamArn":"arn:aws:kinesis:us-east-1:000000000000:stream/changes"}`, "",
	},
	{"DescribeKinesisStreamingDestination", `{"TableName":"Orders"}`, ""},
	{
		"UpdateKinesisStreamingDestination", `{"TableName":"Orders","StreamArn":"arn:aws:kinesis:us-east-1:0000000000` +
			`00:stream/changes","UpdateKinesisStreamingConfiguration":{"ApproximateCreationDateTi` +
			`mePrecision":"MICROSECOND"}}`, "",
	},
	{
		"DisableKinesisStreamingDestination",
		`{"TableName":"Orders","StreamArn":"arn:aws:kinesis:us-east-1:000000000000:stream/changes"}`, "",
	},
	{
		"PutResourcePolicy", `{"ResourceArn":"$TableArn","Policy":"{\"Version\":\"2012-10-17\",` +
			`\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":\"*\",` +
			`\"Action\":\"dynamodb:GetItem\",\"Resource\":\"*\"}]}"}`, "",
	},
	{"GetResourcePolicy", `{"ResourceArn":"$TableArn"}`, ""},
	{"DeleteResourcePolicy", `{"ResourceArn":"$TableArn"}`, ""},
	{"UpdateContributorInsights", `{"TableName":"Orders","ContributorInsightsAction":"ENABLE"}`, ""},
	{"DescribeContributorInsights", `{"TableName":"Orders"}`, ""},
	{"ListContributorInsights", `{}`, ""},
	{
		"UpdateContinuousBackups",
		`{"TableName":"Orders","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`, "",
	},
	{"DescribeContinuousBackups", `{"TableName":"Orders"}`, ""},
	{"CreateBackup", `{"TableName":"Orders","BackupName":"first"}`, "BackupArn"},
	{"DescribeBackup", `{"BackupArn":"$BackupArn"}`, ""},
	{"ListBackups", `{}`, ""},
	{"RestoreTableFromBackup", `{"BackupArn":"$BackupArn","TargetTableName":"Restored"}`, ""},
	{
		"RestoreTableToPointInTime",
		`{"SourceTableName":"Orders","TargetTableName":"Again","UseLatestRestorableTime":true}`, "",
	},
	{"DeleteBackup", `{"BackupArn":"$BackupArn"}`, ""},
	{"ExportTableToPointInTime", `{"TableArn":"$TableArn","S3Bucket":"exports"}`, "ExportArn"},
	{"DescribeExport", `{"ExportArn":"$ExportArn"}`, ""},
	{"ListExports", `{}`, ""},
	{
		"ImportTable", `{"ClientToken":"t","S3BucketSource":{"S3Bucket":"exports"},"InputFormat":"DYNAMODB_JSON",` +
			`"TableCreationParameters":{"TableName":"Imported","AttributeDefinitions":[{"AttributeName":"id",` +
			`"AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],` +
			`"BillingMode":"PAY_PER_REQUEST"}}`, "ImportArn",
	},
	{"DescribeImport", `{"ImportArn":"$ImportArn"}`, ""},
	{"ListImports", `{}`, ""},
	{
		"StartBulkPutItems", `{"TableName":"Orders","InputS3Configuration":{"S3Bucket":"items",` +
			`"InputFormat":"DYNAMODB_JSON"},"OutputS3Configuration":{"OutputType":["ERROR"]}}`, "BulkOperationArn",
	},
	{"DescribeBulkOperation", `{"BulkOperationArn":"$BulkOperationArn"}`, ""},
	{"ListBulkOperations", `{}`, ""},
	{"CancelBulkOperation", `{"BulkOperationArn":"$BulkOperationArn"}`, ""},
	{"CreateGlobalTable", `{"GlobalTableName":"Orders","ReplicationGroup":[{"RegionName":"us-east-1"}]}`, ""},
	{"DescribeGlobalTable", `{"GlobalTableName":"Orders"}`, ""},
	{"ListGlobalTables", `{}`, ""},
	{"UpdateGlobalTable", `{"GlobalTableName":"Orders","ReplicaUpdates":[]}`, ""},
	{"DescribeGlobalTableSettings", `{"GlobalTableName":"Orders"}`, ""},
	{"UpdateGlobalTableSettings", `{"GlobalTableName":"Orders"}`, ""},
	{"DescribeTableReplicaAutoScaling", `{"TableName":"Orders"}`, ""},
	{"UpdateTableReplicaAutoScaling", `{"TableName":"Orders"}`, ""},
	{
		"UpdateTable", `{"TableName":"Orders","VectorIndexUpdates":[{"Create":{"IndexName":"near",` +
			`"VectorAttribute":{"AttributeName":"v"},"Dimensions":2,"DistanceFunction":"COSINE",` +
			`"Projection":{"ProjectionType":"ALL"}}}]}`, "",
	},
	{"SearchVectors", `{"TableName":"Orders","IndexName":"near","SearchVector":[{"N":"1"},{"N":"0"}],"TopK":1}`, ""},
	{"DeleteTable", `{"TableName":"Orders"}`, ""},
}

// TestEach sends one request of each operation over HTTP. It logs the status and the error code, which go test -v
// prints. The database must know every operation, and docs/fidelity.md must name it.
func TestEach(t *testing.T) {
	names := map[string]bool{}
	targets := map[string]string{}
	for file, prefix := range map[string]string{
		"dynamodb.json": "DynamoDB_20120810", "dynamodbstreams.json": "DynamoDBStreams_20120810",
	} {
		data, err := os.ReadFile(filepath.Join("..", "internal", "apigen", "model", file))
		require.NoError(t, err)
		var model struct {
			Operations map[string]any
		}
		require.NoError(t, json.Unmarshal(data, &model))
		for name := range model.Operations {
			names[name], targets[name] = true, prefix
		}
	}
	page, err := os.ReadFile("../docs/fidelity.md")
	require.NoError(t, err)
	db := sortkeytest.New(t)
	server := httptest.NewServer(server.New(db.DB, server.Options{}))
	defer server.Close()
	known := map[string]string{}
	unknown := 0
	for _, r := range every {
		delete(names, r.op)
		body := r.body
		for name, value := range known {
			body = strings.ReplaceAll(body, `"$`+name+`"`, `"`+value+`"`)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(body))
		require.NoError(t, err)
		prefix := targets[r.op]
		if prefix == "" {
			prefix = "DynamoDB_20120810"
		}
		req.Header.Set("X-Amz-Target", prefix+"."+r.op)
		req.Header.Set("Content-Type", "application/x-amz-json-1.0")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		for name := range strings.FieldsSeq(r.keep) {
			if _, after, ok := strings.Cut(string(text), `"`+name+`":"`); ok {
				known[name], _, _ = strings.Cut(after, `"`)
			}
		}
		var fault struct {
			Type string `json:"__type"`
		}
		require.NoError(t, json.Unmarshal(append([]byte{}, orEmpty(text)...), &fault), r.op)
		_, code, _ := strings.Cut(fault.Type, "#")
		t.Logf("%-37s %d %s", r.op, res.StatusCode, code)
		require.Less(t, res.StatusCode, 500, r.op)
		if code == "UnknownOperationException" {
			unknown++
			t.Errorf("%s is unknown", r.op)
		}
		if !mentions(string(page), r.op) {
			t.Errorf("docs/fidelity.md does not name %s", r.op)
		}
	}
	require.Empty(t, names, "operations without a request here")
	t.Logf("%d operations, %d unknown", len(every), unknown)
}

func orEmpty(text []byte) []byte {
	if len(text) == 0 {
		return []byte("{}")
	}
	return text
}

// mentions reports whether a text has the name of an operation, also in the abbreviated form of the page: "Enable-,
// Disable-, Update- and DescribeKinesisStreamingDestination".
func mentions(text, op string) bool {
	name := regexp.MustCompile(`[^A-Za-z]` + op + `[^A-Za-z]`)
	return name.MatchString(text) ||
		strings.HasSuffix(op, "KinesisStreamingDestination") &&
			strings.Contains(text, strings.TrimSuffix(op, "KinesisStreamingDestination")+"-")
}
