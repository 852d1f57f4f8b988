package api_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFidelityOfTables checks operations on tables, streams and tags that once differed from the service. Each row
// has its number in the list of 2026-11-22 (see [TestFidelity]).
//
// ACK is ack-api-quirks, whose authors ran their requests against the service in us-east-1 and us-west-2 on
// 2026-10-08 and 09; the number after ACK is that of a finding.
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
		want           string // text of the ValidationException, or exception and text
		source         string
	}{
		{
			"1 key of the table", "UpdateTable", change("HHH", "", create(hashA)),
			wrongValues + "AttributeDefinitions is not specified for index: new", "ACK 162",
		},
		{
			"1 key of an index", "UpdateTable", change("RRR", "", create(hashC)),
			wrongValues + "AttributeDefinitions is not specified for index: new", "ACK 162",
		},
		{
			"1 other definitions", "UpdateTable", change("HHH", defN, create(hashA)),
			wrongValues +
				"Some index key attributes are not defined in AttributeDefinitions. Keys: " +
				"[a], AttributeDefinitions: [n]", "dynoxide, eu-west-2, 2026-07-12",
		},
		{
			"1 fewer definitions", "UpdateTable",
			change("HHH", defN, create(hashN+`,{"AttributeName":"a","KeyType":"RANGE"}`)),
			"Invalid KeySchema: Some index key attribute have no definition",
			"dynoxide, eu-west-2 and us-east-1, 2026-10-09; dynamodbguide.com issue 16",
		},
		{"1 defined", "UpdateTable", change("HHH", defA, create(hashA)), ok, "ACK 162"},
		{
			"2 CreateTable", "CreateTable",
			streamed(strings.Replace(tableH, "HHH", "New", 1), `{"StreamEnabled":true}`),
			wrongValues + "Table is being created with a stream enabled, UpdateViewType is required", "ACK 035",
		},
		{
			"2 UpdateTable", "UpdateTable", `{"TableName":"HHH","StreamSpecification":{"StreamEnabled":true}}`,
			wrongValues + "If stream is being enabled then UpdateViewType is required", "ACK 050",
		},
		{
			"3 CreateTable", "CreateTable",
			streamed(strings.Replace(tableH, "HHH", "New", 1), `{"StreamEnabled":false,"StreamViewType":"NEW_IMAGE"}`),
			wrongValues + "Table is being created with a stream disabled, UpdateViewType should not be specified",
			"ACK 035, dynoxide",
		},
		{
			"3 UpdateTable", "UpdateTable",
			`{"TableName":"HHH","StreamSpecification":{"StreamEnabled":false,"StreamViewType":"KEYS_ONLY"}}`,
			wrongValues + "If stream is being disabled, then UpdateViewType must not be specified",
			"ACK 050, terraform-provider-aws issue 1134",
		},
		{
			"17 an index that does not exist", "UpdateTable",
			change(
				"PPP",
				"", `{"Update":{"IndexName":"gone","ProvisionedThroughput":{"ReadCapacityUnits":1000000000001,`+
					`"WriteCapacityUnits":1}}}`,
			),
			"Given value 1000000000001 for ReadCapacityUnits is out of bounds for index gone",
			"dynalite test/updateTable.js, dynoxide",
		},
		{
			"21 ImportTable", "ImportTable",
			`{"ClientToken":"t","InputFormat":"DYNAMODB_JSON","S3BucketSource":{"S3Bucket":"none"},"TableCreationParameters":` +
				strings.Replace(strings.Replace(tableH, "HHH", "New", 1), "PAY_PER_REQUEST", "PROVISIONED", 1) + `}`,
			wrongValues +
				"ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
			"ACK 442",
		},
		{"22 new index", "UpdateTable", change("HHH", defA+","+defN+","+defZ, create(hashN)), ok, "ACK 162"},
		{
			"22 deleted index", "UpdateTable", change("RRR", defA+","+defZ, `{"Delete":{"IndexName":"index4"}}`),
			ok, "ACK 162",
		},
		{
			"22 other type", "UpdateTable",
			change("RRR", `{"AttributeName":"a","AttributeType":"N"}`, `{"Delete":{"IndexName":"index4"}}`), ok,
			"ACK 162",
		},
	} {
		t.Run(tt.name, func(t *testing.T) { newEndpoint(t, tableH, tableR, tableP).witness(tt.op, tt.body, tt.want) })
	}
}

// TestSurplusDefinitions sends all definitions with each change of an index, as
// Terraform does. Source: ACK 162.
func TestSurplusDefinitions(t *testing.T) {
	const (
		definitions = `"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"n",` +
			`"AttributeType":"N"},{"AttributeName":"m","AttributeType":"S"}],`
		index = `{"TableName":"HHH",` + definitions +
			`"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"NAME","KeySchema":[{"AttributeName":"KEY",` +
			`"KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`
	)
	e := newEndpoint(t, tableH)
	create := func(name, key string) {
		e.answer("UpdateTable", strings.NewReplacer("NAME", name, "KEY", key).Replace(index))
	}

	create("byN", "n")
	e.describes("HHH", `{"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"n",`+
		`"AttributeType":"N"}]}`, "AttributeDefinitions")
	create("byM", "m")
	e.answer("UpdateTable",
		`{"TableName":"HHH",`+definitions+`"GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"byN"}}]}`)
	e.describes("HHH", `{"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"m",`+
		`"AttributeType":"S"}]}`, "AttributeDefinitions")
}

// TestNamesOfTables checks the texts for table names and ARNs that are invalid or of other accounts: rows 23, 28 and
// 29 of the list.
func TestNamesOfTables(t *testing.T) {
	const (
		one   = "ValidationException: 1 validation error detected: Value "
		least = " at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to "
		most  = " at 'tableName' failed to satisfy constraint: Member must have length less than or equal to 255"
		chars = " at 'tableName' failed to satisfy constraint: " +
			"Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
		arn   = "arn:aws:dynamodb:us-east-1:000000000000:table/None"
		other = "arn:aws:dynamodb:us-east-1:999999999999:table/HHH"
		none  = "ResourceNotFoundException: Requested resource not found: "
	)
	long := strings.Repeat("a", 256)
	e := newEndpoint(t, tableH)
	for _, op := range []string{"DescribeTable", "DeleteTable", "UpdateTable", "DescribeTimeToLive"} {
		for name, want := range map[string]string{
			"":   "ValidationException: 2 validation errors detected: Value ''" + least + "3; Value ''" + chars,
			"ab": one + "'ab'" + least + "3",
			"a;": "ValidationException: 2 validation errors detected: Value 'a;'" + chars + "; Value 'a;'" + least +
				"3",
			long: one + "'" + long + "'" + most,
		} {
			body := `{"TableName":"` + name + `"}`
			e.refuse(op, body, want)
		}
	}
	for op, rest := range map[string]string{
		"TagResource": `,"Tags":[{"Key":"x","Value":"y"}]}`, "UntagResource": `,"TagKeys":["x"]}`,
		"ListTagsOfResource": `}`,
	} {
		missing, theirs := `{"ResourceArn":"`+arn+`"`+rest, `{"ResourceArn":"`+other+`"`+rest
		e.refuse(op, missing, none+"ResourceArn: "+arn+" not found")    // ACK 104
		e.refuse(op, theirs, "AccessDeniedException: Access is denied") // ACK 136
	}
}

// TestFidelityOfDescriptions has the rows of the list that are about descriptions. Its sources are recordings of the
// service of 2025.
func TestFidelityOfDescriptions(t *testing.T) {
	const (
		warm  = `{"ReadUnitsPerSecond":13000,"WriteUnitsPerSecond":5000}`
		index = `"GlobalSecondaryIndexes":[{"IndexName":"byA","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],` +
			`"Projection":{"ProjectionType":"ALL"}}]`
		stream = `{"TableName":"Warm","StreamArn":"arn:aws:kinesis:us-east-1:000000000000:stream/one"`
	)
	type description struct {
		WarmThroughput *struct {
			ReadUnitsPerSecond int
			Status             string
		}
		GlobalSecondaryIndexes []struct{ WarmThroughput *struct{ Status string } }
		SSEDescription         *struct{ Status, SSEType, KMSMasterKeyArn string }
	}
	var out struct{ TableDescription, Table description }
	e := newEndpoint(t)
	send := func(op, body string) description {
		t.Helper()
		out.TableDescription, out.Table = description{}, description{}
		e.call(op, body, &out)
		if op == "DescribeTable" {
			return out.Table
		}
		return out.TableDescription
	}

	// Row 9.
	d := send("CreateTable", with(strings.Replace(tableH, "HHH", "Cold", 1), index))
	require.Nil(t, d.WarmThroughput)
	require.Nil(t, d.GlobalSecondaryIndexes[0].WarmThroughput)
	d = send("DescribeTable", `{"TableName":"Cold"}`)
	require.Equal(t, 12000, d.WarmThroughput.ReadUnitsPerSecond)
	require.NotNil(t, d.GlobalSecondaryIndexes[0].WarmThroughput)
	d = send("CreateTable",
		with(strings.Replace(tableH, "HHH", "Warm", 1),
			`"WarmThroughput":`+warm+`,`+strings.Replace(index, `{`, `{"WarmThroughput":`+warm+`,`, 1)))
	require.Equal(t, "UPDATING", d.WarmThroughput.Status)
	require.Equal(t, 13000, d.WarmThroughput.ReadUnitsPerSecond)
	require.Equal(t, "UPDATING", d.GlobalSecondaryIndexes[0].WarmThroughput.Status)
	require.Equal(t, "ACTIVE", send("DescribeTable", `{"TableName":"Warm"}`).WarmThroughput.Status)

	// Row 13.
	e.answer("CreateTable", with(tableH, `"SSESpecification":{"Enabled":true}`))
	key := send("DescribeTable", `{"TableName":"HHH"}`).SSEDescription.KMSMasterKeyArn
	d = send("UpdateTable", `{"TableName":"HHH","SSESpecification":{"Enabled":false}}`)
	require.Equal(t, "UPDATING", d.SSEDescription.Status)
	require.Equal(t, "KMS", d.SSEDescription.SSEType)
	require.Equal(t, key, d.SSEDescription.KMSMasterKeyArn)
	require.Nil(t, send("DescribeTable", `{"TableName":"HHH"}`).SSEDescription)

	// Row 14.
	require.Contains(t, e.answer("EnableKinesisStreamingDestination", stream+`}`),
		`"EnableKinesisStreamingConfiguration":{}`)
	require.NotContains(t, e.answer("DisableKinesisStreamingDestination", stream+`}`), "Configuration")
}

// witness sends a request of the list. If want is empty, the request must succeed. Else it must fail with want, which
// is the text of a ValidationException, or another exception and its text.
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
