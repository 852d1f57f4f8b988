package api_test

import "testing"

// TestBatchWriteItemIsOneWrite checks that a request with neither a put nor a delete fails with the same text as a
// request with both. Source: dynalite, test/batchWriteItem.js, "empty item in RequestItems".
func TestBatchWriteItemIsOneWrite(t *testing.T) {
	const text = "Supplied AttributeValue has more than one datatypes set, must contain exactly " +
		"one of the supported datatypes"
	e := newEndpoint(t, tableH)
	for _, writes := range []string{
		`{}`,
		`{"PutRequest":{"Item":{"a":{"S":"x"}}}},{}`,
		`{"PutRequest":{"Item":{"a":{"S":"x"}}},"DeleteRequest":{"Key":{"a":{"S":"x"}}}}`,
	} {
		e.invalid("BatchWriteItem", `{"RequestItems":{"HHH":[`+writes+`]}}`, text)
	}
	e.want("Scan", `{"TableName":"HHH"}`, `{"Items":[],"Count":0,"ScannedCount":0}`)
}

// TestBatchNamesTableTwice names a table by its name and by its ARN in one batch. Every operation accepts ARNs
// (DG/access-control-resource-based).
func TestBatchNamesTableTwice(t *testing.T) {
	e := newEndpoint(t, tableH)
	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/HHH"
	put := func(key string) string { return `{"PutRequest":{"Item":{"a":{"S":"` + key + `"}}}}` }
	e.invalid("BatchWriteItem",
		`{"RequestItems":{"HHH":[`+put("x")+`],"`+arn+`":[{"DeleteRequest":{"Key":{"a":{"S":"x"}}}}]}}`,
		"Provided list of item keys contains duplicates")
	e.want("BatchWriteItem", `{"RequestItems":{"HHH":[`+put("x")+`],"`+arn+`":[`+put("y")+`]}}`,
		`{"UnprocessedItems":{}}`)
	e.invalid("BatchGetItem",
		`{"RequestItems":{"HHH":{"Keys":[{"a":{"S":"x"}}]},"`+arn+`":{"Keys":[{"a":{"S":"x"}}]}}}`,
		"Provided list of item keys contains duplicates")
	e.want("BatchGetItem", `{"RequestItems":{"HHH":{"Keys":[{"a":{"S":"x"}}]},"`+arn+`":{"Keys":[{"a":{"S":"y"}}]}}}`,
		`{"Responses":{"HHH":[{"a":{"S":"x"}}],"`+arn+`":[{"a":{"S":"y"}}]},"UnprocessedKeys":{}}`)
	const one = "Transaction request cannot include multiple operations on one item"
	e.invalid("TransactWriteItems",
		`{"TransactItems":[{"Put":{"TableName":"HHH","Item":{"a":{"S":"x"}}}},{"Delete":{"TableName":"`+arn+
			`","Key":{"a":{"S":"x"}}}}]}`, one)
	e.invalid("TransactGetItems",
		`{"TransactItems":[{"Get":{"TableName":"HHH","Key":{"a":{"S":"x"}}}},{"Get":{"TableName":"`+arn+
			`","Key":{"a":{"S":"x"}}}}]}`, one)
}
