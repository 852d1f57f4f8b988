package api_test

import (
	"encoding/json"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/stretchr/testify/require"
)

// Source: DG/kds_gettingstarted.html; the schemas of Powertools for Lambda.
func TestKinesisDelivery(t *testing.T) {
	e := newEndpoint(t, tableH)
	var mu sync.Mutex
	var got []string
	const arn = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"
	e.svc = api.New(e.db, api.Options{Clock: e.db.Clock, Kinesis: func(stream string, record []byte) {
		require.Equal(t, arn, stream)
		mu.Lock()
		defer mu.Unlock()
		require.True(t, json.Valid(record))
		got = append(got,
			regexp.MustCompile(`"eventID":"[-0-9a-f]{36}"`).ReplaceAllString(string(record), `"eventID":""`))
		e.answer("DescribeTable", `{"TableName":"HHH"}`) // the function may use the database
	}})
	put := func(v string) string { return `{"TableName":"HHH","Item":{"a":{"S":"<1>"},"v":{"N":"` + v + `"}}}` }
	e.answer("PutItem", put("0"))
	destination := `{"TableName":"HHH","StreamArn":"` + arn + `"}`
	e.answer("EnableKinesisStreamingDestination", destination)
	e.answer("PutItem", put("1"))
	e.answer("PutItem", put("1")) // changes nothing
	e.refuse("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"<1>"}},"ConditionExpression":"attribute_not_exists(a)"}`,
		"ConditionalCheckFailedException: The conditional request failed")
	e.answer("UpdateKinesisStreamingDestination",
		`{"TableName":"HHH","StreamArn":"`+arn+
			`","UpdateKinesisStreamingConfiguration":{"ApproximateCreationDateTimePrecision":"MICROSECOND"}}`)
	e.sleep(1234 * time.Microsecond)
	e.answer("TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"HHH","Key":{"a":{"S":"<1>"}}}},`+
		`{"Put":{"TableName":"HHH","Item":{"a":{"S":"2"}}}}]}`)
	e.answer("DisableKinesisStreamingDestination", destination)
	e.answer("PutItem", put("3"))
	record := func(event, change string) string {
		return `{"awsRegion":"us-east-1","eventID":"","eventName":"` + event +
			`","userIdentity":null,"recordFormat":"application/json","tableName":"HHH","dynamodb":{` + change +
			`},"eventSource":"aws:dynamodb"}`
	}
	const micro = `"ApproximateCreationDateTime":1795262400001234,"ApproximateCreationDateTimePrecision":"MICROSECOND",`
	require.Equal(t, []string{
		record("MODIFY", `"ApproximateCreationDateTime":1795262400000,"Keys":{"a":{"S":"<1>"}},`+
			`"NewImage":{"a":{"S":"<1>"},"v":{"N":"1"}},"OldImage":{"a":{"S":"<1>"},"v":{"N":"0"}},"SizeBytes":17`),
		record("REMOVE", micro+`"Keys":{"a":{"S":"<1>"}},"OldImage":{"a":{"S":"<1>"},"v":{"N":"1"}},"SizeBytes":11`),
		record("INSERT", micro+`"Keys":{"a":{"S":"2"}},"NewImage":{"a":{"S":"2"}},"SizeBytes":4`),
	}, got)
}
