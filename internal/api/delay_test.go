package api_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDelayOfCopies checks that restored and imported tables, which begin with items, are CREATING at first too.
// Sources: ack-api-quirks, DDB-TABLE-374, for backups; terraform-provider-aws, table.go, for point-in-time recovery.
func TestDelayOfCopies(t *testing.T) {
	e := newEndpoint(t, tableH)
	e.db.Delay = time.Minute
	e.answer("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"x"}}}`)
	const get, none = `,"Key":{"a":{"S":"x"}}}`, "ResourceNotFoundException: Requested resource not found"
	created := func(name, late string) {
		t.Helper()
		e.describes(name, `{"TableStatus":"CREATING","ItemCount":0}`, "TableStatus", "ItemCount")
		e.refuse("GetItem", `{"TableName":"`+name+`"`+get, none)
		e.refuse("CreateBackup", `{"TableName":"`+name+`","BackupName":"copy"}`,
			"TableNotFoundException: Table not found: "+name)
		e.refuse("UpdateContinuousBackups",
			`{"TableName":"`+name+`","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`,
			late)
		e.sleep(time.Minute)
		e.describes(name, `{"TableStatus":"ACTIVE","ItemCount":1}`, "TableStatus", "ItemCount")
		e.want("GetItem", `{"TableName":"`+name+`"`+get, `{"Item":{"a":{"S":"x"}}}`)
	}
	arn := e.backup("HHH")
	e.answer("RestoreTableFromBackup", `{"TargetTableName":"Restored","BackupArn":"`+arn+`"}`)
	created("Restored", "TableNotFoundException: Table not found: Restored") // DDB-TABLE-217

	require.NoError(t,
		os.WriteFile(filepath.Join(e.withBucket(), "items.json"), []byte(`{"Item":{"a":{"S":"x"}}}`), 0o600))
	e.answer("ImportTable",
		`{"ClientToken":"t","S3BucketSource":{"S3Bucket":"bucket"},"InputFormat":"DYNAMODB_JSON",
		"TableCreationParameters":{"TableName":"Imported","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}],"KeySchema":[{"AttributeName":"a",
		"KeyType":"HASH"}]}}`)
	created("Imported",
		"ContinuousBackupsUnavailableException: Backups are being enabled for the table: Imported. Please retry later")
}
