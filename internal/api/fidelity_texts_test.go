package api_test

import (
	"strings"
	"testing"
)

// TestTextsOfTables has texts of operations on tables. Source: rows 8, 9 and 10 of the list of
// 2026-11-26; the numbers are those of ACK, see [TestFidelityOfTables].
func TestTextsOfTables(t *testing.T) {
	const (
		arn   = "arn:aws:dynamodb:us-east-1:000000000000:table/HHH"
		none  = "ResourceNotFoundException: Requested resource not found: "
		one   = "1 validation error detected: Invalid "
		units = `"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`
	)
	change := func(table, kind, index, member string) string {
		return `{"TableName":"` + table + `","AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}],` +
			`"GlobalSecondaryIndexUpdates":[{"` + kind + `":{"IndexName":"` + index + `"` + member + `}}]}`
	}
	keyA := `,"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}`
	named := func(old, new string) string { return `{"TableName":"` + strings.Replace(arn, old, new, 1) + `"}` }
	keys := func(list ...string) string {
		var schema, defined []string
		for _, k := range list {
			name, role, _ := strings.Cut(k, " ")
			schema = append(schema, `{"AttributeName":"`+name+`","KeyType":"`+role+`"}`)
			defined = append(defined, `{"AttributeName":"`+name+`","AttributeType":"S"}`)
		}
		body := strings.Replace(tableNew, `"AttributeDefinitions":[`,
			`"AttributeDefinitions":[`+strings.Join(defined, ",")+`,`, 1)
		return with(body, `"GlobalSecondaryIndexes":[{"IndexName":"many","KeySchema":[`+strings.Join(schema, ",")+
			`],"Projection":{"ProjectionType":"ALL"}}]`)
	}
	for _, tt := range []struct{ name, op, body, want string }{
		{
			"8 ACK 011 region", "DescribeTable", named("us-east-1", "eu-west-1"),
			one + "AWS region in 'arn:aws:dynamodb:eu-west-1:000000000000:table/HHH'",
		},
		{
			"8 ACK 011 account", "DescribeTable", named("000000000000", "123456789012"),
			"AccessDeniedException: Access is denied",
		},
		{
			"8 ACK 442 partition", "DescribeTimeToLive", named("aws:", "aws-cn:"),
			one + "AWS partition in 'arn:aws-cn:dynamodb:us-east-1:000000000000:table/HHH'",
		},
		{
			"8 ACK 011 index", "DescribeTable", named("HHH", "HHH/index/byA"),
			one + "resource type in '" + arn + "/index/byA'",
		},
		{
			"8 ACK 011 stream", "DeleteTable", named("HHH", "HHH/stream/2026-11-21T12:00:00.000"),
			one + "resource type in '" + arn + "/stream/2026-11-21T12:00:00.000'",
		},
		{"8 ACK 011 table", "DescribeTable", named("", ""), ""},
		{
			"10 ACK 442 backup", "DescribeTable", named("HHH", "HHH/backup/01"),
			one + "resource type in '" + arn + "/backup/01'",
		},

		{
			"9 ACK 137 delete", "UpdateTable", change("RRR", "Delete", "index1", ""),
			"Cannot delete an index that is not a GlobalSecondaryIndex: index1",
		},
		{
			"9 ACK 137 update", "UpdateTable", change("RRR", "Update", "index1", `,`+units),
			"Cannot update an index that is not a GlobalSecondaryIndex: index1",
		},

		{
			"10 ACK 161 delete", "UpdateTable", change("HHH", "Delete", "ghost", ""), none + "Index ghost for table HHH",
		},
		{
			"10 ACK 446 update", "UpdateTable", change("PPI", "Update", "ghost", `,`+units),
			none + "Index ghost for table PPI",
		},
		{
			"10 ACK 164", "UpdateTable", change("PPI", "Update", "byN", `,`+units),
			"The provisioned throughput for the index byN will not change. The requested value equals the current " +
				"value. Current ReadCapacityUnits provisioned for index byN: 1. Requested ReadCapacityUnits: 1. " +
				"Current WriteCapacityUnits provisioned for index byN: 1. Requested WriteCapacityUnits: 1. " +
				"Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.",
		},
		{
			"10 ACK 152 request", "UpdateTable", change("RRR", "Update", "index3", `,`+units),
			wrongValues + "The only Updates for index: index3 when TableThroughputMode is PAY_PER_REQUEST can be to " +
				"OnDemandThroughput, WarmThroughput",
		},
		{
			"10 ACK 152 new", "UpdateTable", change("PPI", "Create", "byA", keyA),
			wrongValues + "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: byA",
		},
		{
			"10 ACK 442 new", "UpdateTable", change("HHH", "Create", "byA", keyA+`,`+units),
			wrongValues + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: byA when " +
				"BillingMode is PAY_PER_REQUEST",
		},
		{
			"10 ACK 442 without units", "CreateTable",
			strings.NewReplacer("PPI", "New", `"ProjectionType":"ALL"},`+units, `"ProjectionType":"ALL"}`).Replace(tablePI),
			wrongValues + "ProvisionedThroughput is not specified for index: byN",
		},
		{
			"10 ACK 123 order", "CreateTable", keys("b HASH", "c RANGE", "d HASH"),
			wrongValues + "All HASH key attributes must precede RANGE key attributes in the KeySchema",
		},
		{
			"10 ACK 123 five", "CreateTable", keys("b HASH", "c HASH", "d HASH", "e HASH", "f HASH"),
			wrongValues + "The KeySchema exceeds the maximum allowed number of HASH key attributes",
		},
		{
			"10 ACK 123 five sort keys", "CreateTable",
			keys("b HASH", "c RANGE", "d RANGE", "e RANGE", "f RANGE", "g RANGE"),
			wrongValues + "The KeySchema exceeds the maximum allowed number of RANGE key attributes",
		},
		{
			"10 ACK 442 class", "UpdateTable", `{"TableName":"HHH","TableClass":"NONE"}`,
			"Invalid table-class parameter provided. Please try again with a valid table-class value: " +
				"[STANDARD, STANDARD_INFREQUENT_ACCESS].",
		},
		{
			"10 ACK 442 tags", "ListTagsOfResource", `{"ResourceArn":"arn:aws:s3:::bucket"}`,
			wrongValues + "Provided Arn is not a DynamoDB resource arn: arn:aws:s3:::bucket",
		},
		{
			"10 ACK 437 replica", "UpdateTable", `{"TableName":"HHH","ReplicaUpdates":[{}]}`,
			"There are no actions specified in the Replica Update Action of the request.",
		},
		{
			"10 ACK 442 backups", "ListBackups", `{"TimeRangeLowerBound":2,"TimeRangeUpperBound":1}`,
			wrongValues + "Time range lower bound must be less than or equal to upper bound",
		},
		{
			"10 ACK 442 consistency", "UpdateTable", `{"TableName":"HHH","MultiRegionConsistency":"STRONG"}`,
			"At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, " +
				"SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, " +
				"DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required",
		},
		{
			"10 ACK 446 scaling", "DescribeTableReplicaAutoScaling", `{"TableName":"None"}`,
			"ResourceNotFoundException: Global table with name: 'None' does not exist.",
		},
	} {
		t.Run(tt.name, func(t *testing.T) { newEndpoint(t, tableH, tableR, tablePI).witness(tt.op, tt.body, tt.want) })
	}
}
