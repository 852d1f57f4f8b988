package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Source: quirks (see op_policy.go); moto, test_dynamodb_resource_policy.py.
func TestResourcePolicies(t *testing.T) {
	e := newEndpoint(t, with(tableH, `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}`))
	const policy = `{ "Statement": {"Action":["dynamodb:GetItem"], "Effect":"allow",` +
		`"Principal":{"AWS":"000000000000"},"Resource":"*"}, "Version":"2012-10-17"}`
	const canonical = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow",` +
		`"Principal":{"AWS":"arn:aws:iam::000000000000:root"},` +
		`"Action":"dynamodb:GetItem","Resource":"*"}]}`
	on := func(arn, policy, rest string) string {
		body := fmt.Sprintf(`{"ResourceArn":%q`, arn)
		if policy != "" {
			body += fmt.Sprintf(`,"Policy":%q`, policy)
		}
		return body + rest + `}`
	}
	const missing = "PolicyNotFoundException: Resource-based policy not found for the provided ResourceArn: "
	stream := arnH + "/stream/2026-11-21T12:00:00.000"
	for _, arn := range []string{arnH, stream} {
		e.refuse("GetResourcePolicy", on(arn, "", ""), missing+arn)
		e.want("DeleteResourcePolicy", on(arn, "", ""), `{}`)
		e.refuse("DeleteResourcePolicy", on(arn, "", `,"ExpectedRevisionId":"1"`),
			missing+"Requested update for policy with revision id 1, but table HHH has no associated policy.")
		first := fmt.Sprintf(`{"RevisionId":"%d"}`, e.now.UnixMilli())
		e.want("PutResourcePolicy", on(arn, policy, `,"ExpectedRevisionId":"NO_POLICY"`), first)
		e.want("GetResourcePolicy", on(arn, "", ""), fmt.Sprintf(`{"Policy":%q,%s`, canonical, first[1:]))
		e.want("PutResourcePolicy", on(arn, canonical, ""), first) // an equal policy is no change
		e.refuse("PutResourcePolicy", on(arn, policy, `,"ExpectedRevisionId":"NO_POLICY"`),
			missing+
				fmt.Sprintf("Requested policy update expecting none to be present for table HHH, but a policy exists "+
					"with revision id %d.", e.now.UnixMilli()))
		second := fmt.Sprintf("%d", e.now.UnixMilli()+1)
		other := strings.Replace(policy, "GetItem", "PutItem", 1)
		e.want("PutResourcePolicy", on(arn, other, fmt.Sprintf(`,"ExpectedRevisionId":"%d"`, e.now.UnixMilli())),
			`{"RevisionId":"`+second+`"}`)
		for _, op := range []string{"PutResourcePolicy", "DeleteResourcePolicy"} {
			text := ""
			if op == "PutResourcePolicy" {
				text = policy
			}
			e.refuse(op, on(arn, text, `,"ExpectedRevisionId":"0"`),
				missing+
					"Requested update for policy with revision id 0, but the policy associated "+
					"to target table HHH has revision id "+second+".")
		}
		e.want("DeleteResourcePolicy", on(arn, "", `,"ExpectedRevisionId":"`+second+`"`), `{"RevisionId":"`+second+`"}`)
		e.refuse("GetResourcePolicy", on(arn, "", ""), missing+arn)
		e.want("DeleteResourcePolicy", on(arn, "", ""), fmt.Sprintf(`{"RevisionId":"%d"}`, e.now.UnixMilli()+2))
	}

	const bad = wrongValues + "Invalid policy document: "
	for text, want := range map[string]string{
		"{not json":        bad + "This policy contains invalid Json",
		`{"Statement":[]}`: bad + "Could not parse the policy: Statement is empty!",
		strings.Replace(policy, `"Resource":"*"`, `"Sid":"x"`, 1): bad + "Missing required field Resource",
		strings.Replace(policy, `"Effect":"allow",`, ``, 1):       bad + "Missing required field Effect",
		`{"Statement":[{"Sid":"a","Effect":"Deny","Principal":"*","Action":"*","Resource":"*"},{"Sid":"a",` +
			`"Effect":"Deny","Principal":"*","Action":"*","Resource":"*"}]}`: bad +
			"The Statement Ids in the policy are not unique",
		policy + strings.Repeat(" ", 20480): wrongValues + "Maximum policy size of 20480 bytes exceeded",
	} {
		e.invalid("PutResourcePolicy", on(arnH, text, ""), want)
	}
	for arn, want := range map[string]string{
		"HHH":          wrongValues + "ARNs must start with 'arn:': HHH",
		arnH + "/b/ck": wrongValues + "Provided Arn is not a DynamoDB resource arn: " + arnH + "/b/ck",
		"arn:aws:dynamodb:us-east-1:123456789012:table/HHH": "This action is only supported by accounts that " +
			"match the resource owner’s account.",
		"arn:aws:dynamodb:eu-north-1:000000000000:table/HHH": wrongValues +
			"Invalid resource Arn: arn:aws:dynamodb:eu-north-1:000000000000:table/HHH",
		"arn:aws-cn:dynamodb:us-east-1:000000000000:table/HHH": wrongValues +
			"Invalid resource Arn: arn:aws-cn:dynamodb:us-east-1:000000000000:table/HHH",
		arnH + "/index/III": wrongValues +
			"Invalid resource arn provided, only table or stream is accepted. Provided resource arn: " + arnH +
			"/index/III",
	} {
		e.invalid("PutResourcePolicy", on(arn, policy, ""), want)
		e.invalid("GetResourcePolicy", on(arn, "", ""), want)
		e.invalid("DeleteResourcePolicy", on(arn, "", ""), want)
	}
	const none = "ResourceNotFoundException: Requested resource not found: Table: None not found"
	gone := strings.Replace(arnH, "HHH", "None", 1)
	e.refuse("PutResourcePolicy", on(gone, policy, ""), none)
	e.refuse("GetResourcePolicy", on(gone, "", ""), none)
	e.refuse("DeleteResourcePolicy", on(gone, "", ""), none)
	e.refuse("GetResourcePolicy", on(arnH+"/stream/2000-01-01T00:00:00.000", "", ""),
		"ResourceNotFoundException: Requested resource not found: Stream: "+
			"2000-01-01T00:00:00.000 not found for Table: HHH")

	e.answer("CreateTable", with(strings.Replace(tableH, "HHH", "Made", 1), fmt.Sprintf(`"ResourcePolicy":%q`, policy)))
	e.want("GetResourcePolicy", on(strings.Replace(arnH, "HHH", "Made", 1), "", ""),
		fmt.Sprintf(`{"Policy":%q,"RevisionId":"%d"}`, canonical, e.now.UnixMilli()))
}

// Source: quirks (see op_insights.go).
func TestContributorInsights(t *testing.T) {
	e := newEndpoint(t, tableH, tableR)
	update := func(table, rest string) string { return `{"TableName":"` + table + `",` + rest + `}` }
	e.want("DescribeContributorInsights", `{"TableName":"HHH"}`,
		`{"TableName":"HHH","ContributorInsightsStatus":"DISABLED"}`)
	e.want("UpdateContributorInsights", update("HHH", `"ContributorInsightsAction":"DISABLE"`),
		`{"TableName":"HHH","ContributorInsightsStatus":"DISABLED"}`)
	e.want("ListContributorInsights", `{}`, `{"ContributorInsightsSummaries":[]}`)

	e.want("UpdateContributorInsights", update("HHH", `"ContributorInsightsAction":"ENABLE"`),
		`{"TableName":"HHH","ContributorInsightsStatus":"ENABLING",`+
			`"ContributorInsightsMode":"ACCESSED_AND_THROTTLED_KEYS"}`)
	e.want("UpdateContributorInsights", update("HHH", `"ContributorInsightsAction":"ENABLE"`),
		`{"TableName":"HHH","ContributorInsightsStatus":"ENABLED"}`)
	at := e.now
	e.sleep(time.Minute)
	e.want("DescribeContributorInsights",
		`{"TableName":"HHH"}`, fmt.Sprintf(`{"TableName":"HHH","ContributorInsightsStatus":"ENABLED",
		"ContributorInsightsMode":"ACCESSED_AND_THROTTLED_KEYS","LastUpdateDateTime":%d,
		"ContributorInsightsRuleList":["DynamoDBContributorInsights-PKC-HHH-%[2]d",
		"DynamoDBContributorInsights-PKT-HHH-%[2]d"]}`, at.Unix(), at.UnixMilli()))
	e.want("UpdateContributorInsights",
		update("RRR",
			`"IndexName":"index4","ContributorInsightsAction":"ENABLE","ContributorInsightsMode":"THROTTLED_KEYS"`),
		`{"TableName":"RRR","IndexName":"index4","ContributorInsightsStatus":"ENABLING",`+
			`"ContributorInsightsMode":"THROTTLED_KEYS"}`)
	e.answer("UpdateContributorInsights", update("RRR", `"ContributorInsightsAction":"ENABLE"`))
	e.want("DescribeContributorInsights",
		`{"TableName":"RRR","IndexName":"index4"}`,
		fmt.Sprintf(`{"TableName":"RRR","IndexName":"index4","ContributorInsightsStatus":"ENABLED",
		"ContributorInsightsMode":"THROTTLED_KEYS","LastUpdateDateTime":%d,
		"ContributorInsightsRuleList":["DynamoDBContributorInsights-PKT-RRR-index4-%[2]d",
		"DynamoDBContributorInsights-SKT-RRR-index4-%[2]d"]}`, e.now.Unix(), e.now.UnixMilli()))

	const all = `"ContributorInsightsStatus":"ENABLED","ContributorInsightsMode":"ACCESSED_AND_THROTTLED_KEYS"}`
	const index = `{"TableName":"RRR","IndexName":"index4","ContributorInsightsStatus":"ENABLED",` +
		`"ContributorInsightsMode":"THROTTLED_KEYS"}`
	e.want("ListContributorInsights", `{"TableName":"RRR"}`,
		`{"ContributorInsightsSummaries":[{"TableName":"RRR",`+all+`,`+index+`]}`)
	e.want("ListContributorInsights", `{"MaxResults":2}`,
		`{"ContributorInsightsSummaries":[{"TableName":"HHH",`+all+`,{"TableName":"RRR",`+all+`],"NextToken":"RRR/"}`)
	e.want("ListContributorInsights", `{"MaxResults":2,"NextToken":"RRR/"}`,
		`{"ContributorInsightsSummaries":[`+index+`]}`)

	e.want("UpdateContributorInsights", update("HHH", `"ContributorInsightsAction":"DISABLE"`),
		`{"TableName":"HHH","ContributorInsightsStatus":"DISABLING",`+
			`"ContributorInsightsMode":"ACCESSED_AND_THROTTLED_KEYS"}`)
	e.want("DescribeContributorInsights", `{"TableName":"HHH"}`,
		fmt.Sprintf(`{"TableName":"HHH","ContributorInsightsStatus":"DISABLED",`+
			`"ContributorInsightsMode":"ACCESSED_AND_THROTTLED_KEYS","LastUpdateDateTime":%d}`, e.now.Unix()))

	const none = "ResourceNotFoundException: Requested resource not found: Table: None not found"
	for _, name := range []string{"index1", "other"} { // index1 is local
		want := "ResourceNotFoundException: Requested resource not found: Index: " + name + " not found for table: RRR"
		e.refuse("UpdateContributorInsights",
			update("RRR", `"IndexName":"`+name+`","ContributorInsightsAction":"ENABLE"`), want)
		e.refuse("DescribeContributorInsights", `{"TableName":"RRR","IndexName":"`+name+`"}`, want)
	}
	e.refuse("UpdateContributorInsights", update("None", `"ContributorInsightsAction":"ENABLE"`), none)
	e.refuse("DescribeContributorInsights", `{"TableName":"None"}`, none)
	e.refuse("ListContributorInsights", `{"TableName":"None"}`, none)
}

// Source: quirks (see op_kinesis.go).
func TestKinesisDestinations(t *testing.T) {
	e := newEndpoint(t, tableH)
	const one, two = "arn:aws:kinesis:us-east-1:000000000000:stream/one",
		"arn:aws:kinesis:us-east-1:000000000000:stream/two"
	on := func(arn, rest string) string { return `{"TableName":"HHH","StreamArn":"` + arn + `"` + rest + `}` }
	precise := func(kind, p string) string {
		return `,"` + kind + `KinesisStreamingConfiguration":{"ApproximateCreationDateTimePrecision":"` + p + `"}`
	}
	const wrong = "Table is not in a valid state to enable Kinesis Streaming Destination: "
	const busy = wrong +
		"EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform ENABLE operation."
	const idle = wrong + "KinesisStreamingDestination must be ACTIVE to perform DISABLE operation."
	described := func(list string) {
		t.Helper()
		e.want("DescribeKinesisStreamingDestination", `{"TableName":"HHH"}`,
			`{"TableName":"HHH","KinesisDataStreamDestinations":[`+list+`]}`)
	}
	described("")
	e.invalid("DisableKinesisStreamingDestination", on(one, ""), idle)
	e.want("EnableKinesisStreamingDestination", on(one, ""),
		// source: recordings of the service of 2025
		on(one, `,"DestinationStatus":"ENABLING","EnableKinesisStreamingConfiguration":{}`))
	described(`{"StreamArn":"` + one + `","DestinationStatus":"ACTIVE"}`)
	e.invalid("EnableKinesisStreamingDestination", on(one, ""), busy)
	e.invalid("EnableKinesisStreamingDestination", on(two, ""), busy)

	e.invalid("UpdateKinesisStreamingDestination", on(two, precise("Update", "MICROSECOND")),
		wrong+"No streaming destination with streamArn: "+two+" found for table with tableName: HHH")
	if out, _ := e.serve(
		"UpdateKinesisStreamingDestination", on(one, precise("Update", "MILLISECOND")),
	); !strings.HasPrefix(
		fault(
			out,
		), "ValidationException: Invalid Request: Precision is already set to the desired value "+
			"of MILLISECOND for tableId: ",
	) {
		t.Error(out)
	}
	e.invalid("UpdateKinesisStreamingDestination",
		on(one,
			""), "Streaming destination cannot be updated with given parameters: "+
			"UpdateKinesisStreamingConfiguration cannot be null or contain only null values")
	e.want("UpdateKinesisStreamingDestination", on(one, precise("Update", "MICROSECOND")),
		on(one, `,"DestinationStatus":"UPDATING"`+precise("Update", "MICROSECOND")))
	described(`{"StreamArn":"` + one +
		`","DestinationStatus":"ACTIVE","ApproximateCreationDateTimePrecision":"MICROSECOND"}`)

	e.invalid("DisableKinesisStreamingDestination", on(one, precise("Enable", "MICROSECOND")),
		"Stream cannot be disabled using EnableKinesisStreamingConfiguration parameters")
	e.want("DisableKinesisStreamingDestination", on(one, ""), on(one, `,"DestinationStatus":"DISABLING"`))
	e.invalid("DisableKinesisStreamingDestination", on(one, ""), idle)
	e.invalid("UpdateKinesisStreamingDestination", on(one, precise("Update", "MILLISECOND")),
		wrong+"Kinesis streaming is not in ACTIVE state. Updates are only allowed in ACTIVE state. TableName: HHH, kdsArn: "+one)

	far, table := strings.Replace(one, "us-east-1", "eu-west-1", 1), arnH
	e.answer("EnableKinesisStreamingDestination", on(far, ""))
	e.answer("EnableKinesisStreamingDestination", on(table, ""))
	e.want("EnableKinesisStreamingDestination", on(two, precise("Enable", "MICROSECOND")),
		on(two, `,"DestinationStatus":"ENABLING"`+precise("Enable", "MICROSECOND")))
	described(`{"StreamArn":"` + two +
		`","DestinationStatus":"ACTIVE","ApproximateCreationDateTimePrecision":"MICROSECOND"},
		{"StreamArn":"` + table +
		`","DestinationStatus":"ENABLE_FAILED",
		"DestinationStatusDescription":"User does not have a permission to use kinesis stream"},
		{"StreamArn":"` + far +
		`","DestinationStatus":"ENABLE_FAILED",
		"DestinationStatusDescription":"The kinesis Arn used to enable kinesis replication belongs ` +
		`to a stream which is not in the current region"},
		{"StreamArn":"` + one +
		`","DestinationStatus":"DISABLED","ApproximateCreationDateTimePrecision":"MICROSECOND"}`)

	none := strings.NewReplacer("HHH", "None").Replace
	for _, op := range []string{
		"EnableKinesisStreamingDestination", "DisableKinesisStreamingDestination", "UpdateKinesisStreamingDestination",
		"DescribeKinesisStreamingDestination",
	} {
		e.refuse(op, none(on(one, precise("Update", "MICROSECOND"))),
			"ResourceNotFoundException: Requested resource not found: Table: None not found")
	}
}

// Source: quirks (see op_global.go).
func TestGlobalTables(t *testing.T) {
	e := newEndpoint(t, tableH)
	const old = wrongValues +
		"DynamoDB global tables version 2017.11.29 is not supported. " +
		"We recommend using DynamoDB global tables version 2019.11.21, instead of version 2017.11.29 (Legacy)."
	const missing = "GlobalTableNotFoundException: Global table with name: 'HHH' does not exist."
	const name = `{"GlobalTableName":"HHH"}`
	e.invalid("CreateGlobalTable", with(name, `"ReplicationGroup":[{"RegionName":"us-east-1"}]`), old)
	e.invalid("UpdateGlobalTable", with(name, `"ReplicaUpdates":[{"Create":{"RegionName":"us-east-1"}}]`), old)
	e.invalid("UpdateGlobalTable", with(name, `"ReplicaUpdates":[]`), "One or more parameter values were invalid")
	e.refuse("UpdateGlobalTable", with(name, `"ReplicaUpdates":[{"Delete":{"RegionName":"us-east-1"}}]`), missing)
	e.refuse("DescribeGlobalTable", name,
		"GlobalTableNotFoundException: Global table not found: Global table with name: 'HHH' does not exist.")
	e.refuse("DescribeGlobalTableSettings", name, missing)
	e.refuse("UpdateGlobalTableSettings", with(name, `"GlobalTableBillingMode":"PAY_PER_REQUEST"`), missing)
	e.want("ListGlobalTables", `{"RegionName":"us-east-1","Limit":1}`, `{"GlobalTables":[]}`)
	for _, op := range []string{"DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling"} {
		e.refuse(op, `{"TableName":"HHH"}`, "ResourceNotFoundException: Global table with name: 'HHH' does not exist.")
		e.refuse(op, `{"TableName":"None"}`, "ResourceNotFoundException: Global table with name: 'None' does not exist.")
	}

	update := func(rest string) string { return `{"TableName":"HHH",` + rest + `}` }
	for body, want := range map[string]string{
		`"ReplicaUpdates":[{"Create":{"RegionName":"eu-west-1"}}]`: "Region eu-west-1 is not supported. " +
			"The latest version of global tables are only supported in the following regions: [us-east-1]",
		`"ReplicaUpdates":[{"Create":{"RegionName":"us-east-1"}}]`: "Cannot add or delete the local region through " +
			"ReplicaUpdates. Use CreateTable, DeleteTable, or UpdateTable as required.",
		`"ReplicaUpdates":[{"Delete":{"RegionName":"eu-west-1"}}]`: "Update global table operation failed because " +
			"one or more replicas were not part of the global table. " +
			"Please retry the request without these replicas: [eu-west-1].",
		`"MultiRegionConsistency":"STRONG","ReplicaUpdates":[{"Create":{"RegionName":"us-west-1"}},` +
			`{"Create":{"RegionName":"us-west-2"}}]`: "Unsupported Region(s) specified for global tables with " +
			"MultiRegionConsistency set to STRONG: [us-west-1, us-west-2].",
		`"ReplicaUpdates":[{"Create":{"RegionName":"eu-west-1"}}],` +
			`"GlobalTableWitnessUpdates":[{"Create":{"RegionName":"eu-west-2"}}]`: "MultiRegionConsistency must be " +
			"set as STRONG when GlobalTableWitnessUpdates parameter is present.",
		`"GlobalTableSettingsReplicationMode":"ENABLED_WITH_OVERRIDES"`: "Value 'ENABLED_WITH_OVERRIDES' at " +
			"'GlobalTableSettingsReplicationMode' failed to satisfy constraint: " +
			"Only ENABLED and DISABLED settings replication are supported for a Regional Table.",
	} {
		e.invalid("UpdateTable", update(body), want)
	}
	e.answer("UpdateTable",
		update(`"GlobalTableSettingsReplicationMode":"DISABLED","DisassociationProtectionEnabled":true`))
	if got, want := e.described(
		"HHH", "GlobalTableSettingsReplicationMode", "DisassociationProtectionEnabled", "Replicas",
	), `{"DisassociationProtectionEnabled":true,"GlobalTableSettingsReplicationMode":"DISABLED"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
