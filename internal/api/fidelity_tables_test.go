package api_test

import (
	"strings"
	"testing"
)

// TestFidelityOfTables has differences from the service in operations on tables,
// streams and tags, by their numbers in the list of 2026-11-22.
//
// ACK is ack-api-quirks, whose authors ran their requests against the service in
// us-east-1 and us-west-2 on 2026-10-08 and 09; its number is that of a finding.
func TestFidelityOfTables(t *testing.T) {
	const (
		hashA = `{"AttributeName":"a","KeyType":"HASH"}`
		hashC = `{"AttributeName":"c","KeyType":"HASH"}`
		hashN = `{"AttributeName":"n","KeyType":"HASH"}`
		defA  = `{"AttributeName":"a","AttributeType":"S"}`
		defN  = `{"AttributeName":"n","AttributeType":"S"}`
		defZ  = `{"AttributeName":"z","AttributeType":"S"}`
		ok    = "" // answered
	)
	change := func(table, definitions, update string) string {
		if definitions != "" {
			definitions = `"AttributeDefinitions":[` + definitions + `],`
		}
		return `{"TableName":"` + table + `",` + definitions + `"GlobalSecondaryIndexUpdates":[` + update + `]}`
	}
	create := func(key string) string {
		return `{"Create":{"IndexName":"new","KeySchema":[` + key + `],"Projection":{"ProjectionType":"ALL"}}}`
	}
	streamed := func(body, stream string) string {
		return strings.Replace(body, "{", `{"StreamSpecification":`+stream+`,`, 1)
	}
	for _, tt := range []struct {
		name, op, body string
		want           string // the text of the ValidationException, or exception and text
		source         string
	}{
		{"1 key of the table", "UpdateTable", change("HHH", "", create(hashA)), wrongValues + "AttributeDefinitions is not specified for index: new", "ACK 162"},
		{"1 key of an index", "UpdateTable", change("RRR", "", create(hashC)), wrongValues + "AttributeDefinitions is not specified for index: new", "ACK 162"},
		{
			"1 other definitions", "UpdateTable", change("HHH", defN, create(hashA)),
			wrongValues + "Some index key attributes are not defined in AttributeDefinitions. Keys: [a], AttributeDefinitions: [n]", "dynoxide, eu-west-2, 2026-07-12",
		},
		{
			"1 fewer definitions", "UpdateTable", change("HHH", defN, create(hashN+`,{"AttributeName":"a","KeyType":"RANGE"}`)),
			"Invalid KeySchema: Some index key attribute have no definition", "dynoxide, eu-west-2 and us-east-1, 2026-10-09; dynamodbguide.com issue 16",
		},
		{"1 defined", "UpdateTable", change("HHH", defA, create(hashA)), ok, "ACK 162"},
		{"2 CreateTable", "CreateTable", streamed(strings.Replace(tableH, "HHH", "New", 1), `{"StreamEnabled":true}`), wrongValues + "Table is being created with a stream enabled, UpdateViewType is required", "ACK 035"},
		{"2 UpdateTable", "UpdateTable", `{"TableName":"HHH","StreamSpecification":{"StreamEnabled":true}}`, wrongValues + "If stream is being enabled then UpdateViewType is required", "ACK 050"},
		{
			"3 CreateTable", "CreateTable", streamed(strings.Replace(tableH, "HHH", "New", 1), `{"StreamEnabled":false,"StreamViewType":"NEW_IMAGE"}`),
			wrongValues + "Table is being created with a stream disabled, UpdateViewType should not be specified", "ACK 035, dynoxide",
		},
		{
			"3 UpdateTable", "UpdateTable", `{"TableName":"HHH","StreamSpecification":{"StreamEnabled":false,"StreamViewType":"KEYS_ONLY"}}`,
			wrongValues + "If stream is being disabled, then UpdateViewType must not be specified", "ACK 050, terraform-provider-aws issue 1134",
		},
		{"22 new index", "UpdateTable", change("HHH", defA+","+defN+","+defZ, create(hashN)), ok, "ACK 162"},
		{"22 deleted index", "UpdateTable", change("RRR", defA+","+defZ, `{"Delete":{"IndexName":"index4"}}`), ok, "ACK 162"},
		{"22 other type", "UpdateTable", change("RRR", `{"AttributeName":"a","AttributeType":"N"}`, `{"Delete":{"IndexName":"index4"}}`), ok, "ACK 162"},
	} {
		t.Run(tt.name, func(t *testing.T) { newEndpoint(t, tableH, tableR, tableP).witness(tt.op, tt.body, tt.want) })
	}
}

// TestSurplusDefinitions sends all definitions with each change of an index, as
// Terraform does. Source: ACK 162.
func TestSurplusDefinitions(t *testing.T) {
	const (
		definitions = `"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"},{"AttributeName":"m","AttributeType":"S"}],`
		index       = `{"TableName":"HHH",` + definitions + `"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"NAME","KeySchema":[{"AttributeName":"KEY","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`
	)
	e := newEndpoint(t, tableH)
	create := func(name, key string) {
		e.answer("UpdateTable", strings.NewReplacer("NAME", name, "KEY", key).Replace(index))
	}

	create("byN", "n")
	e.describes("HHH", `{"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"}]}`, "AttributeDefinitions")
	create("byM", "m")
	e.answer("UpdateTable", `{"TableName":"HHH",`+definitions+`"GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"byN"}}]}`)
	e.describes("HHH", `{"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"m","AttributeType":"S"}]}`, "AttributeDefinitions")
}

// witness sends a request of the list. It is answered, if want is empty, or refused
// with a text, after the name of the exception if it is another than
// ValidationException.
func (e *endpoint) witness(op, body, want string) {
	e.t.Helper()
	switch before, _, named := strings.Cut(want, "Exception"); {
	case want == "":
		e.answer(op, body)
	case named && !strings.Contains(before, " "):
		e.refuse(op, body, want)
	default:
		e.invalid(op, body, want)
	}
}
