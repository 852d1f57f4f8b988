package api_test

import "testing"

// TestBatchWriteItemIsOneWrite: a request with neither a put nor a delete has
// the text of one with both. Source: dynalite, test/batchWriteItem.js, "empty
// item in RequestItems".
func TestBatchWriteItemIsOneWrite(t *testing.T) {
	const text = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
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
