package api_test

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestFindingsOfPolicies(t *testing.T) {
	const (
		arn    = findingsARN + "HHH"
		get    = `{"ResourceArn":"` + arn + `"}`
		bad    = wrongValues + "Invalid policy document: "
		json   = bad + "This policy contains invalid Json"
		large  = wrongValues + "Maximum policy size of 20480 bytes exceeded"
		access = "Resource-based policy grants unbounded access in one or more elements. Please revise the policy " +
			"to ensure " +
			"least-privilege form of access"
		locked = "AccessDeniedException: The new resource policy will not allow you to update the resource policy " +
			"in the future."
		none = "PolicyNotFoundException: Resource-based policy not found for the provided ResourceArn: "
		root = "arn:aws:iam::000000000000:root"
		id   = `{"AWS":"000000000000"}`
	)
	put := func(policy, rest string) string {
		return `{"ResourceArn":"` + arn + `","Policy":` + strconv.Quote(policy) + rest + `}`
	}
	statement := func(principal, rest string) string {
		return `{"Version":"2012-10-17","Statement":[{"Sid":"a","Effect":"Allow","Principal":` + principal +
			`,"Action":"dynamodb:GetItem","Resource":"` + arn + `"` + rest + `}]}`
	}
	kept := func(statement string) string {
		return `{"Policy":` + strconv.Quote(`{"Version":"2012-10-17","Statement":[`+statement+`]}`) + `}`
	}
	deny := func(action string) string {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"` + action +
			`","Resource":"*"}]}`
	}
	of := func(arn string) string { return `{"ResourceArn":"` + arn + `"}` }
	onStream := func(stream string) string {
		policy := strings.NewReplacer(`"`+arn+`"`, `"`+stream+`"`, "GetItem", "GetRecords").Replace(statement(id, ""))
		return `{"ResourceArn":"` + stream + `","Policy":` + strconv.Quote(policy) + `}`
	}
	e := newEndpoint(t, with(tableH, `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}`))
	stream := arn + "/stream/2026-11-21T12:00:00.000"
	e.findings([]finding{
		{"TABLE-205", "GetResourcePolicy", get, none + arn},
		{"TABLE-205", "DeleteResourcePolicy", get, `{"RevisionId":null}`},
		{"TABLE-205", "DeleteResourcePolicy", of(arn)[:len(of(arn))-1] + `,"ExpectedRevisionId":"123456789"}`,
			none + "Requested update for policy with revision id 123456789, but table HHH has no associated policy."},
		{"TABLE-457", "PutResourcePolicy", put(`{}`, ""), bad + "Syntax error at position (1,3)"},
		{"TABLE-457 TABLE-211", "PutResourcePolicy", put(``, ""), json},
		{"TABLE-457", "PutResourcePolicy", put(`[]`, ""), json},
		{"TABLE-211", "PutResourcePolicy", put(`{not json`, ""), json},
		{"TABLE-457", "PutResourcePolicy", put(`null`, ""), bad + "This text appears not to be a policy"},
		{"TABLE-457", "PutResourcePolicy", put(`{"Statement":[{}]}`, ""), bad + "Missing required field Effect"},
		{"TABLE-457 TABLE-211", "PutResourcePolicy", put(`{"Statement":[]}`, ""),
			bad + "Could not parse the policy: Statement is empty!"},
		{"TABLE-211", "PutResourcePolicy", put(statement(id, "")+strings.Repeat(" ", 20480), ""), large},
		{"TABLE-352 TABLE-356", "PutResourcePolicy", put(statement(`"*"`, ""), ""), access},
		{"TABLE-352 TABLE-356", "PutResourcePolicy", put(statement(`{"AWS":"*"}`, ""), ""), access},
		{"TABLE-352 TABLE-356", "PutResourcePolicy", put(statement(`"000000000000"`, ""), ""),
			bad + "Syntax error at position (1,78)"},
		{"TABLE-356", "PutResourcePolicy", put(strings.Replace(statement(id, ""), `}]}`, `},`+statement(id,
			"")[len(`{"Version":"2012-10-17","Statement":[`):], 1), ""),
			bad + "The Statement Ids in the policy are not unique"},
		{"TABLE-211", "PutResourcePolicy", put(strings.Replace(statement(id, ""), `"dynamodb:GetItem"`,
			`["dynamodb:DescribeStream","dynamodb:GetRecords"]`, 1), ""),
			bad + `The following action names are invalid: "dynamodb:GetRecords", "dynamodb:DescribeStream"`},
		{"TABLE-211", "PutResourcePolicy", put(strings.Replace(statement(id, ""), arn, stream, 1), ""),
			bad + `The relative-id "table/HHH/stream/2026-11-21T12:00:00.000" is invalid for ARN "` + stream + `"`},
		{"TABLE-210", "PutResourcePolicy", put(deny("dynamodb:PutResourcePolicy"), ""), locked},
		{"TABLE-210", "PutResourcePolicy", put(deny("dynamodb:*"), `,"ConfirmRemoveSelfResourceAccess":false`), locked},
		{"TABLE-210 TABLE-270", "PutResourcePolicy", put(deny("dynamodb:DeleteResourcePolicy"), ""), ""},
		{"TABLE-210", "PutResourcePolicy", put(deny("dynamodb:PutResourcePolicy"),
			`,"ConfirmRemoveSelfResourceAccess":true`), ""},
		{"TABLE-352 TABLE-208 TABLE-207", "PutResourcePolicy", put(statement(id, ""), ""), ""},
		{"TABLE-352 TABLE-208 TABLE-351", "GetResourcePolicy", get,
			kept(`{"Sid":"a","Effect":"Allow","Principal":{"AWS":"` + root +
				`"},"Action":"dynamodb:GetItem","Resource":"` + arn + `"}`)},
		{"TABLE-207", "PutResourcePolicy", put(statement(`{"AWS":["`+root+`"]}`, ""), ""), `{"RevisionId":"$RevisionId"}`},
		{"TABLE-352", "PutResourcePolicy", put(statement(`{"AWS":["000000000000","`+root+`"]}`, ""), ""),
			`{"RevisionId":"$RevisionId"}`},
		{"TABLE-207", "PutResourcePolicy", put(strings.ReplaceAll(statement(id, ""), `,"`, `,  "`), ""),
			`{"RevisionId":"$RevisionId"}`},
		{"TABLE-353", "PutResourcePolicy", put(statement(id,
			`,"Condition":{"StringEquals":{"aws:PrincipalAccount":["000000000000"]}}`), ""), ""},
		{"TABLE-353", "GetResourcePolicy", get, kept(`{"Sid":"a","Effect":"Allow","Principal":{"AWS":"` + root +
			`"},"Action":"dynamodb:GetItem","Resource":"` + arn +
			`","Condition":{"StringEquals":{"aws:PrincipalAccount":"000000000000"}}}`)},
		{"TABLE-353", "PutResourcePolicy", put(strings.Replace(statement(id, ""), `"dynamodb:GetItem"`,
			`["dynamodb:Query","dynamodb:getitem","dynamodb:getitem"]`, 1), ""), ""},
		{"TABLE-353", "GetResourcePolicy", get, kept(`{"Sid":"a","Effect":"Allow","Principal":{"AWS":"` + root +
			`"},"Action":["dynamodb:Query","dynamodb:getitem","dynamodb:getitem"],"Resource":"` + arn + `"}`)},
		{"TABLE-355", "PutResourcePolicy", put(strings.Replace(statement(id, ""), "Allow", "allow", 1), ""), ""},
		{"TABLE-354", "PutResourcePolicy", put(strings.Replace(statement(id, ""), `"Version":"2012-10-17",`, "",
			1), ""), ""},
		{"TABLE-354", "GetResourcePolicy", get, `{"RevisionId":"$RevisionId"}`},
		{"TABLE-354", "PutResourcePolicy", put(strings.Replace(statement(id, ""), `"Version":"2012-10-17",`, "",
			1), ""), `{"RevisionId":"$RevisionId"}`},
		{"TABLE-209", "PutResourcePolicy", put(statement(id, ""), `,"ExpectedRevisionId":"$RevisionId"`), ""},
		{"TABLE-209", "DeleteResourcePolicy", of(arn)[:len(of(arn))-1] + `,"ExpectedRevisionId":"1"}`,
			none + "Requested update for policy with revision id 1, but the policy associated to target table HHH has " +
				"revision id $RevisionId."},
		{"TABLE-457", "DeleteResourcePolicy", of(arn)[:len(of(arn))-1] + `,"ExpectedRevisionId":""}`,
			"1 validation error detected: Value '' at 'expectedRevisionId' failed to satisfy constraint: Member must have " +
				"length greater than or equal to 1"},
		{"TABLE-209", "DeleteResourcePolicy", get, `{"RevisionId":"$RevisionId"}`},
		{"TABLE-212", "GetResourcePolicy", of("HHH"), wrongValues + "ARNs must start with 'arn:': HHH"},
		{"TABLE-212", "GetResourcePolicy", of(strings.Replace(arn, "HHH", "hhh", 1)),
			"ResourceNotFoundException: Requested resource not found: Table: hhh not found"},
		{"TABLE-212", "GetResourcePolicy", of(strings.Replace(arn, "000000000000", "123456789012", 1)),
			"This action is only supported by accounts that match the resource owner’s account."},
		{"TABLE-212", "GetResourcePolicy", of(strings.Replace(arn, "us-east-1", "eu-west-1", 1)),
			wrongValues + "Invalid resource Arn: " + strings.Replace(arn, "us-east-1", "eu-west-1", 1)},
		{"TABLE-212", "GetResourcePolicy", of(strings.Replace(arn, "arn:aws", "arn:aws-cn", 1)),
			wrongValues + "Invalid resource Arn: " + strings.Replace(arn, "arn:aws", "arn:aws-cn", 1)},
		{"TABLE-212", "GetResourcePolicy", of(arn + "/index/some"),
			wrongValues + "Invalid resource arn provided, only table or stream is accepted. Provided resource arn: " +
				arn + "/index/some"},
		{"TABLE-212", "GetResourcePolicy", of(arn + "/backup/01795262400000-00000000"),
			wrongValues + "Provided Arn is not a DynamoDB resource arn: " + arn + "/backup/01795262400000-00000000"},
		{"TABLE-212", "GetResourcePolicy", of(arn + "/stream/2000-01-01T00:00:00.000"),
			"ResourceNotFoundException: Requested resource not found: Stream: 2000-01-01T00:00:00.000 not found for " +
				"Table: HHH"},
		{"TABLE-212", "GetResourcePolicy", of(stream), none + stream},
		{"TABLE-213", "PutResourcePolicy", onStream(stream), ""},
		{"TABLE-213", "GetResourcePolicy", of(arn), none + arn},
		{"TABLE-213", "GetResourcePolicy", of(stream), `{"RevisionId":"$RevisionId"}`},
		{"TABLE-213", "DeleteResourcePolicy", of(stream), `{"RevisionId":"$RevisionId"}`},
		{"TABLE-213", "PutResourcePolicy", put(statement(id, ""), ""), ""},
		{"TABLE-213", "GetResourcePolicy", of(stream), none + stream},
		{"TABLE-213", "GetResourcePolicy", of(arn), `{"RevisionId":"$RevisionId"}`},
		{"TABLE-213", "DeleteResourcePolicy", of(arn), `{"RevisionId":"$RevisionId"}`},
		{"TABLE-373", "TagResource", `{"ResourceArn":"` + stream + `","Tags":[{"Key":"of","Value":"stream"}]}`, ""},
		{"TABLE-373", "ListTagsOfResource", of(stream), `{"Tags":[{"Key":"of","Value":"stream"}]}`},
		{"TABLE-373", "ListTagsOfResource", of(arn), `{"Tags":[]}`},
		{"TABLE-071", "ListTagsOfResource", of(arn + "/stream/2000-01-01T00:00:00.000"),
			"ResourceNotFoundException: Requested resource not found: ResourceArn: " + arn +
				"/stream/2000-01-01T00:00:00.000 not found"},
	})
}

// TestFindingsOfBusyPolicies sets policies and Kinesis destinations of a table that is CREATING, both while the
// service still reports the table as missing and later, and of a table that is UPDATING.
func TestFindingsOfBusyPolicies(t *testing.T) {
	const (
		arn    = findingsARN + "HHH"
		of     = `{"ResourceArn":"` + arn + `"}`
		hhh    = `{"TableName":"HHH"`
		unseen = "ResourceNotFoundException: Requested resource not found: Table: HHH not found"
		none   = "PolicyNotFoundException: Resource-based policy not found for the provided ResourceArn: " + arn
		stream = hhh + `,"StreamArn":"arn:aws:kinesis:us-east-1:000000000000:stream/one"`
		to     = stream + `}`
		micros = stream + `,"UpdateKinesisStreamingConfiguration":{
			"ApproximateCreationDateTimePrecision":"MICROSECOND"}}`
		invalid = "Table is not in a valid state to enable Kinesis Streaming Destination: "
	)
	policy := strconv.Quote(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":` +
		`"000000000000"},"Action":"dynamodb:GetItem","Resource":"` + arn + `"}]}`)
	put := `{"ResourceArn":"` + arn + `","Policy":` + policy + `}`
	e := newEndpoint(t)
	e.db.Delay = time.Minute
	e.findings([]finding{
		{"TABLE-233", "CreateTable", with(tableH, `"ResourcePolicy":`+policy),
			`{"TableDescription":{"TableStatus":"CREATING","ResourcePolicy":null,"RevisionId":null}}`},
		{"TABLE-233 TABLE-234", "GetResourcePolicy", of, unseen},
		{"TABLE-234", "PutResourcePolicy", put, unseen},
		{"TABLE-234", "DeleteResourcePolicy", of, unseen},
		{"TABLE-233 TABLE-234", "DescribeKinesisStreamingDestination", hhh + `}`, unseen},
		{"TABLE-234", "EnableKinesisStreamingDestination", to, unseen},
		{"TABLE-234", "UpdateKinesisStreamingDestination", micros, unseen},
		{"TABLE-234", "DisableKinesisStreamingDestination", to, unseen},
		{"TABLE-233", "DescribeTable", hhh + `}`, `{"Table":{"TableStatus":"CREATING"}}`},
		{"", "sleep", "3s", ""},
		{"TABLE-233", "DescribeTable", hhh + `}`, `{"Table":{"TableStatus":"CREATING"}}`},
		{"TABLE-233", "GetResourcePolicy", of, `{"RevisionId":"1795262400000"}`},
		{"TABLE-233", "DescribeKinesisStreamingDestination", hhh + `}`, `{"KinesisDataStreamDestinations":[]}`},
		{"", "sleep", "1m", ""},
		{"TABLE-234", "DeleteResourcePolicy", of, ""},
		{"TABLE-234", "UpdateTable", hhh + `,"BillingMode":"PROVISIONED","ProvisionedThroughput":{
			"ReadCapacityUnits":1,"WriteCapacityUnits":1}}`, `{"TableDescription":{"TableStatus":"UPDATING"}}`},
		{"TABLE-234", "GetResourcePolicy", of, none},
		{"TABLE-234", "DescribeKinesisStreamingDestination", hhh + `}`, `{"KinesisDataStreamDestinations":[]}`},
		{"TABLE-234", "PutResourcePolicy", put, ""},
		{"TABLE-234", "EnableKinesisStreamingDestination", to, `{"DestinationStatus":"ENABLING"}`},
		{"TABLE-234", "UpdateKinesisStreamingDestination", micros, invalid + "Kinesis streaming is not in ACTIVE " +
			"state. Updates are only allowed in ACTIVE state. TableName: HHH, kdsArn: " +
			"arn:aws:kinesis:us-east-1:000000000000:stream/one"},
		{"TABLE-234", "DisableKinesisStreamingDestination", to, invalid + "KinesisStreamingDestination must be " +
			"ACTIVE to perform DISABLE operation."},
		{"TABLE-234", "DescribeTable", hhh + `}`, `{"Table":{"TableStatus":"UPDATING"}}`},
		{"", "sleep", "1m", ""},
		{"TABLE-234", "GetResourcePolicy", of, `{"RevisionId":"$RevisionId"}`},
	})
}

// TestFindingsOfKinesis checks destinations whose streams do not exist, such as deleted streams.
func TestFindingsOfKinesis(t *testing.T) {
	const (
		one   = "arn:aws:kinesis:us-east-1:000000000000:stream/one"
		two   = "arn:aws:kinesis:us-east-1:000000000000:stream/two"
		wrong = "Table is not in a valid state to enable Kinesis Streaming Destination: "
		live  = wrong + "EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform ENABLE operation."
		idle  = wrong + "KinesisStreamingDestination must be ACTIVE to perform DISABLE operation."
		null  = "Streaming destination cannot be updated with given parameters: UpdateKinesisStreamingConfiguration " +
			"cannot be " +
			"null or contain only null values"
		off = wrong + "Kinesis streaming is not in ACTIVE state. Updates are only allowed in ACTIVE state. " +
			"TableName: HHH, kdsArn: "
	)
	to := func(arn, members string) string {
		return `{"TableName":"HHH","StreamArn":"` + arn + `"` + members + `}`
	}
	micro := `,"UpdateKinesisStreamingConfiguration":{"ApproximateCreationDateTimePrecision":"MICROSECOND"}`
	e := newEndpoint(t, tableH)
	e.findings([]finding{
		{"TABLE-299", "DescribeKinesisStreamingDestination", `{"TableName":"HHH"}`, `{"KinesisDataStreamDestinations":[]}`},
		{"TABLE-302", "DisableKinesisStreamingDestination", to(one, ""), idle},
		{"TABLE-299", "EnableKinesisStreamingDestination", to(one, ""),
			`{"DestinationStatus":"ENABLING","EnableKinesisStreamingConfiguration":{}}`},
		{"TABLE-299 TABLE-300 TABLE-319", "DescribeKinesisStreamingDestination", `{"TableName":"HHH"}`,
			`{"KinesisDataStreamDestinations":[{"DestinationStatus":"ACTIVE",
			"ApproximateCreationDateTimePrecision":null,"DestinationStatusDescription":null}]}`},
		{"TABLE-299", "EnableKinesisStreamingDestination", to(one, ""), live},
		{"TABLE-299", "EnableKinesisStreamingDestination", to(two, ""), live},
		{"TABLE-300", "UpdateKinesisStreamingDestination", to(one, ""), null},
		{"TABLE-300", "UpdateKinesisStreamingDestination", to(one, `,"UpdateKinesisStreamingConfiguration":{}`), null},
		{"TABLE-269", "UpdateKinesisStreamingDestination", to(two, micro),
			wrong + "No streaming destination with streamArn: " + two + " found for table with tableName: HHH"},
		{"TABLE-300 TABLE-319", "UpdateKinesisStreamingDestination", to(one, micro), `{"DestinationStatus":"UPDATING",
			"UpdateKinesisStreamingConfiguration":{"ApproximateCreationDateTimePrecision":"MICROSECOND"}}`},
		{"TABLE-319", "DescribeKinesisStreamingDestination", `{"TableName":"HHH"}`,
			`{"KinesisDataStreamDestinations":[{"DestinationStatus":"ACTIVE",
			"ApproximateCreationDateTimePrecision":"MICROSECOND","DestinationStatusDescription":null}]}`},
		{"TABLE-300", "DescribeTable", `{"TableName":"HHH"}`, ""},
		{"TABLE-300", "UpdateKinesisStreamingDestination", to(one, micro),
			"Invalid Request: Precision is already set to the desired value of MICROSECOND for tableId: $TableId, " +
				"kdsArn: " + one},
		{"TABLE-301", "DisableKinesisStreamingDestination", to(one,
			`,"EnableKinesisStreamingConfiguration":{"ApproximateCreationDateTimePrecision":"MICROSECOND"}`),
			"Stream cannot be disabled using EnableKinesisStreamingConfiguration parameters"},
		{"TABLE-301 TABLE-319", "DisableKinesisStreamingDestination", to(one, ""), `{"DestinationStatus":"DISABLING"}`},
		{"TABLE-268 TABLE-442", "UpdateKinesisStreamingDestination", to(one, micro), off + one},
		{"TABLE-302", "DisableKinesisStreamingDestination", to(one, ""), idle},
		{"TABLE-300 TABLE-319", "EnableKinesisStreamingDestination", to(one, ""), ""},
		{"TABLE-300 TABLE-319", "DescribeKinesisStreamingDestination", `{"TableName":"HHH"}`,
			`{"KinesisDataStreamDestinations":[{"DestinationStatus":"ACTIVE","ApproximateCreationDateTimePrecision":null}]}`},
		{"TABLE-301", "DisableKinesisStreamingDestination", to(one, ""), ""},
		{"TABLE-318", "EnableKinesisStreamingDestination", to(strings.Replace(two, "us-east-1", "eu-west-1", 1),
			""), `{"DestinationStatus":"ENABLING"}`},
		{"TABLE-318 TABLE-268", "DescribeKinesisStreamingDestination", `{"TableName":"HHH"}`,
			`{"KinesisDataStreamDestinations":[
			{"DestinationStatus":"ENABLE_FAILED",` +
				`"DestinationStatusDescription":"The kinesis Arn used to enable kinesis replication belongs to a stream ` +
				`which is not in the current region"},
			{"DestinationStatus":"DISABLED"}]}`},
		{"TABLE-457", "EnableKinesisStreamingDestination", to("", ""),
			"1 validation error detected: Value '' at 'streamArn' failed " +
				"to satisfy constraint: Member must have length greater than or equal to 37"},
	})
}
