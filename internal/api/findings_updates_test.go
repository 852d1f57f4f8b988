package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFindingsThroughput checks the findings about billing, capacity units and the keys of new tables.
func TestFindingsThroughput(t *testing.T) {
	e := newEndpoint(t)
	const (
		keys = `"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
			"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]`
		demand   = keys + `,"BillingMode":"PAY_PER_REQUEST"`
		minUnits = "ValidationException: 2 validation errors detected: Value '0' at " +
			"'provisionedThroughput.writeCapacityUnits' failed to satisfy constraint: Member must have value " +
			"greater than or equal to 1; Value '0' at 'provisionedThroughput.readCapacityUnits' failed to satisfy " +
			"constraint: Member must have value greater than or equal to 1"
		invalid = "ValidationException: One or more parameter values were invalid: "
		initial = invalid + "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than initial " +
			"throughput for OnDemand. See: " +
			"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/" +
			"on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
		maxRange = invalid + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range"
		neither  = invalid + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is " +
			"PAY_PER_REQUEST"
		units = invalid + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"
		enum  = "ValidationException: 1 validation error detected: Value "
	)
	create := func(members string) string { return `{"TableName":"xxx",` + members + `}` }
	provisioned := func(r, w string) string {
		return `"ProvisionedThroughput":{"ReadCapacityUnits":` + r + `,"WriteCapacityUnits":` + w + `}`
	}
	unchanged := func(n string) string {
		return "ValidationException: The provisioned throughput for the table will not change. The requested value " +
			"equals the current value. Current ReadCapacityUnits provisioned for the table: " + n +
			". Requested ReadCapacityUnits: " + n + ". Current WriteCapacityUnits provisioned for the table: " + n +
			". Requested WriteCapacityUnits: " + n + ". Refer to the Amazon DynamoDB Developer Guide for current " +
			"limits and how to request higher limits."
	}
	e.findings([]finding{
		{"TABLE-024", "CreateTable", create(keys), invalid + "ReadCapacityUnits and WriteCapacityUnits must both be " +
			"specified when BillingMode is PROVISIONED"},
		{"TABLE-038", "CreateTable", create(demand + "," + provisioned("1", "1")), neither},
		{"TABLE-038", "CreateTable", create(demand + "," + provisioned("0", "0")), minUnits},
		{"TABLE-038", "CreateTable", create(keys + "," + provisioned("0", "0")), minUnits},
		{"TABLE-038", "CreateTable", create(keys + `,"ProvisionedThroughput":{}`), "ValidationException: 2 " +
			"validation errors detected: Value null at 'provisionedThroughput.writeCapacityUnits' failed to satisfy " +
			"constraint: Member must not be null; Value null at 'provisionedThroughput.readCapacityUnits' failed to " +
			"satisfy constraint: Member must not be null"},
		{"TABLE-038", "CreateTable", create(keys + "," + provisioned("1", "1") + `,
			"OnDemandThroughput":{"MaxReadRequestUnits":100}`), invalid + "MaxReadRequestUnits for " +
			"OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED."},
		{"TABLE-039", "CreateTable", create(demand + `,"OnDemandThroughput":{"MaxReadRequestUnits":0,
			"MaxWriteRequestUnits":0}`), maxRange},
		{"TABLE-039", "CreateTable", create(demand + `,"OnDemandThroughput":{"MaxReadRequestUnits":-1,
			"MaxWriteRequestUnits":-1}`), maxRange},
		{"TABLE-039", "CreateTable", create(demand + `,"WarmThroughput":{"ReadUnitsPerSecond":1,
			"WriteUnitsPerSecond":1}`), initial},
		{"TABLE-039", "CreateTable", create(demand + `,"WarmThroughput":{"ReadUnitsPerSecond":0,
			"WriteUnitsPerSecond":0}`), initial},
		{"TABLE-039", "CreateTable", create(keys + "," + provisioned("10", "10") + `,
			"WarmThroughput":{"ReadUnitsPerSecond":5,"WriteUnitsPerSecond":5}`), invalid + "Requested " +
			"ReadUnitsPerSecond for WarmThroughput for table is lower than ReadCapacityUnits of " +
			"ProvisionedThroughput"},
		{"TABLE-040", "CreateTable", create(keys + `,"BillingMode":"pay_per_request"`), enum + "'pay_per_request' " +
			"at 'billingMode' failed to satisfy constraint: Member must satisfy enum value set: [PROVISIONED, " +
			"PAY_PER_REQUEST]"},

		{"TABLE-042", "CreateTable", `{"TableName":"xxx","AttributeDefinitions":[{"AttributeName":"pk",
			"AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"sk",
			"KeyType":"RANGE"},{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}`,
			"ValidationException: Invalid KeySchema: The first KeySchemaElement is not a HASH key type"},
		{"TABLE-042", "CreateTable", `{"TableName":"xxx","AttributeDefinitions":[{"AttributeName":"pk",
			"AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk",
			"KeyType":"HASH"},{"AttributeName":"sk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}`,
			"ValidationException: Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"},
		{"TABLE-042", "CreateTable", `{"TableName":"xxx","AttributeDefinitions":[{"AttributeName":"pk",
			"AttributeType":"S"}],"KeySchema":[],"BillingMode":"PAY_PER_REQUEST"}`, enum + "'[]' at 'keySchema' " +
			"failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"TABLE-042", "CreateTable", `{"TableName":"xxx","AttributeDefinitions":[{"AttributeName":"pk",
			"AttributeType":"S"}],"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"}],
			"BillingMode":"PAY_PER_REQUEST"}`, invalid + "Some index key attributes are not defined in " +
			"AttributeDefinitions. Keys: [PK], AttributeDefinitions: [pk]"},
		{"TABLE-042", "CreateTable", `{"TableName":"xxx","AttributeDefinitions":[{"AttributeName":"pk",
			"AttributeType":"S"},{"AttributeName":"pk","AttributeType":"N"}],"KeySchema":[{"AttributeName":"pk",
			"KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}`, "ValidationException: Attribute Name is " +
			"duplicated: pk"},
		{"TABLE-042", "CreateTable", `{"TableName":"xxx","AttributeDefinitions":[{"AttributeName":"pk",
			"AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk",
			"KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}`, invalid + "Number of attributes in KeySchema does " +
			"not exactly match number of attributes defined in AttributeDefinitions"},
		{"TABLE-042", "CreateTable", `{"TableName":"xxx","AttributeDefinitions":[],
			"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}`,
			"ValidationException: Invalid KeySchema: Some index key attribute have no definition"},
		{"TABLE-042", "CreateTable", `{"TableName":"xxx","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
			"BillingMode":"PAY_PER_REQUEST"}`, enum + "null at 'attributeDefinitions' failed to satisfy constraint: " +
			"Member must not be null"},
		{"TABLE-042 TABLE-125", "CreateTable", `{"TableName":"order","AttributeDefinitions":[{"AttributeName":"sk",
			"AttributeType":"N"},{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk",
			"KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"BillingMode":"PAY_PER_REQUEST"}`,
			`{"TableDescription":{"AttributeDefinitions":[{"AttributeName":"pk"},{"AttributeName":"sk"}]}}`},
		{"TABLE-041 TABLE-364", "CreateTable", `{"TableName":"blank",
			"AttributeDefinitions":[{"AttributeName":" p\n\t😀.","AttributeType":"S"}],
			"KeySchema":[{"AttributeName":" p\n\t😀.","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}`,
			`{"TableDescription":{"KeySchema":[{"AttributeName":" p\n\t😀.","KeyType":"HASH"}]}}`},

		// A table on demand.
		{"TABLE-033 TABLE-028", "CreateTable", `{"TableName":"demand",` + demand + `}`,
			`{"TableDescription":{"BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST",
			"LastUpdateToPayPerRequestDateTime":null},"WarmThroughput":null,"OnDemandThroughput":null,
			"ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0}}}`},
		{"TABLE-025 TABLE-028 TABLE-032", "DescribeTable", `{"TableName":"demand"}`,
			`{"Table":{"BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST"},
			"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000,"Status":"ACTIVE"},
			"OnDemandThroughput":null}}`},
		{"TABLE-039 TABLE-045", "CreateTable", `{"TableName":"partial",` + demand + `,
			"OnDemandThroughput":{"MaxReadRequestUnits":100},"WarmThroughput":{"ReadUnitsPerSecond":12001}}`, ""},
		{"TABLE-039 TABLE-045 TABLE-420 TABLE-429", "DescribeTable", `{"TableName":"partial"}`,
			`{"Table":{"OnDemandThroughput":{"MaxReadRequestUnits":100,"MaxWriteRequestUnits":null},
			"WarmThroughput":{"ReadUnitsPerSecond":12001,"WriteUnitsPerSecond":4000,"Status":"ACTIVE"}}}`},
		{"TABLE-039", "CreateTable", `{"TableName":"empties",` + demand + `,"OnDemandThroughput":{},
			"WarmThroughput":{}}`, ""},
		{"TABLE-015 TABLE-046 TABLE-047", "UpdateTable", `{"TableName":"demand"}`, nothingAsked},
		{"TABLE-047 TABLE-358", "UpdateTable", `{"TableName":"demand","AttributeDefinitions":[{"AttributeName":"pk",
			"AttributeType":"S"}]}`, nothingAsked},
		{"TABLE-358", "UpdateTable", `{"TableName":"demand","AttributeDefinitions":[{"AttributeName":"pk",
			"AttributeType":"N"}],"DeletionProtectionEnabled":false}`,
			`{"TableDescription":{"TableStatus":"ACTIVE"}}`},
		{"TABLE-358", "UpdateTable", `{"TableName":"demand","AttributeDefinitions":[],
			"DeletionProtectionEnabled":false}`, `{"TableDescription":{"TableStatus":"ACTIVE"}}`},
		{"TABLE-358", "DescribeTable", `{"TableName":"demand"}`,
			`{"Table":{"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]}}`},
		{"TABLE-018 TABLE-019 TABLE-057 TABLE-156 TABLE-177", "UpdateTable", `{"TableName":"demand",
			"BillingMode":"PAY_PER_REQUEST"}`, `{"TableDescription":{"TableStatus":"UPDATING"}}`},
		{"TABLE-018 TABLE-019 TABLE-156 TABLE-177", "DescribeTable", `{"TableName":"demand"}`,
			`{"Table":{"TableStatus":"ACTIVE"}}`},
		{"TABLE-156", "UpdateTable", `{"TableName":"demand","BillingMode":"PAY_PER_REQUEST",
			"DeletionProtectionEnabled":true}`, invalid + "DeletionProtection modification must be the only " +
			"operation in the request"},
		{"TABLE-047", "UpdateTable", `{"TableName":"demand","StreamSpecification":{"StreamEnabled":false}}`,
			"ValidationException: Table has no stream to disable: TableName: demand"},
		{"TABLE-047 TABLE-437", "UpdateTable", `{"TableName":"demand","SSESpecification":{"Enabled":false}}`,
			invalid + "Table is already encrypted by default"},
		{"TABLE-437", "UpdateTable", `{"TableName":"demand","SSESpecification":{}}`, invalid +
			"Table is already encrypted by default"},
		{"TABLE-047 TABLE-365", "UpdateTable", `{"TableName":"demand","TableClass":"STANDARD"}`, ""},
		{"TABLE-365", "DescribeTable", `{"TableName":"demand"}`, `{"Table":{"TableStatus":"ACTIVE",
			"TableClassSummary":null}}`},
		{"TABLE-059", "UpdateTable", `{"TableName":"demand",` + provisioned("1", "1") + `}`, neither},
		{"TABLE-056 TABLE-411", "UpdateTable", `{"TableName":"demand","BillingMode":"PROVISIONED"}`, units},
		{"TABLE-437", "UpdateTable", `{"TableName":"demand","GlobalSecondaryIndexUpdates":[{}]}`, invalid + "One of " +
			"GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, " +
			"GlobalSecondaryIndexUpdate.Delete must not be null"},
		{"TABLE-437", "UpdateTable", `{"TableName":"demand","StreamSpecification":{"StreamEnabled":true}}`,
			invalid + "If stream is being enabled then UpdateViewType is required"},

		// A member of OnDemandThroughput does not change the other one; -1 removes a limit.
		{"TABLE-051 TABLE-178 TABLE-410 TABLE-415 TABLE-421", "UpdateTable", `{"TableName":"demand",
			"OnDemandThroughput":{"MaxReadRequestUnits":1000,"MaxWriteRequestUnits":500}}`,
			`{"TableDescription":{"TableStatus":"ACTIVE","OnDemandThroughput":{"MaxReadRequestUnits":1000,
			"MaxWriteRequestUnits":500}}}`},
		{"TABLE-178", "UpdateTable", `{"TableName":"demand","OnDemandThroughput":{"MaxReadRequestUnits":2000}}`,
			`{"TableDescription":{"TableStatus":"ACTIVE","OnDemandThroughput":{"MaxReadRequestUnits":2000,
			"MaxWriteRequestUnits":500}}}`},
		{"TABLE-051", "UpdateTable", `{"TableName":"demand","OnDemandThroughput":{"MaxWriteRequestUnits":0}}`,
			invalid + "Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of valid range"},
		{"TABLE-051", "UpdateTable", `{"TableName":"demand","OnDemandThroughput":{"MaxReadRequestUnits":-2}}`,
			maxRange},
		{"TABLE-178 TABLE-182", "UpdateTable", `{"TableName":"demand",
			"OnDemandThroughput":{"MaxReadRequestUnits":-1}}`,
			`{"TableDescription":{"OnDemandThroughput":{"MaxReadRequestUnits":-1,"MaxWriteRequestUnits":500}}}`},
		{"TABLE-182", "sleep", "2s", ""},
		{"TABLE-178 TABLE-182", "DescribeTable", `{"TableName":"demand"}`,
			`{"Table":{"OnDemandThroughput":{"MaxReadRequestUnits":null,"MaxWriteRequestUnits":500}}}`},
		{"TABLE-182", "UpdateTable", `{"TableName":"demand","OnDemandThroughput":{"MaxWriteRequestUnits":-1}}`,
			`{"TableDescription":{"OnDemandThroughput":{"MaxReadRequestUnits":null,"MaxWriteRequestUnits":-1}}}`},
		{"TABLE-182", "sleep", "2s", ""},
		{"TABLE-178 TABLE-182", "DescribeTable", `{"TableName":"demand"}`, `{"Table":{"OnDemandThroughput":null}}`},
		{"TABLE-154 TABLE-178", "UpdateTable", `{"TableName":"demand",
			"OnDemandThroughput":{"MaxReadRequestUnits":-1,"MaxWriteRequestUnits":-1}}`,
			`{"TableDescription":{"OnDemandThroughput":{"MaxReadRequestUnits":-1,"MaxWriteRequestUnits":-1}}}`},

		// WarmThroughput only grows.
		{"TABLE-066 TABLE-179", "UpdateTable", `{"TableName":"demand","WarmThroughput":{"ReadUnitsPerSecond":12001,
			"WriteUnitsPerSecond":4001}}`, `{"TableDescription":{"TableStatus":"ACTIVE",
			"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000,"Status":"UPDATING"}}}`},
		{"TABLE-179", "DescribeTable", `{"TableName":"demand"}`,
			`{"Table":{"WarmThroughput":{"ReadUnitsPerSecond":12001,"WriteUnitsPerSecond":4001,
			"Status":"ACTIVE"}}}`},
		{"TABLE-049 TABLE-066 TABLE-179", "UpdateTable", `{"TableName":"demand",
			"WarmThroughput":{"ReadUnitsPerSecond":12001,"WriteUnitsPerSecond":4001}}`,
			`{"TableDescription":{"TableStatus":"ACTIVE","WarmThroughput":{"ReadUnitsPerSecond":12001,
			"WriteUnitsPerSecond":4001,"Status":"UPDATING"}}}`},
		{"TABLE-059 TABLE-061 TABLE-179", "UpdateTable", `{"TableName":"demand",
			"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000}}`, invalid + "Requested " +
			"ReadUnitsPerSecond for WarmThroughput for table is lower than current WarmThroughput, decreasing " +
			"WarmThroughput is not supported"},
		{"TABLE-049 TABLE-179", "UpdateTable", `{"TableName":"demand",
			"WarmThroughput":{"WriteUnitsPerSecond":4002}}`,
			`{"TableDescription":{"WarmThroughput":{"ReadUnitsPerSecond":12001,"WriteUnitsPerSecond":4001,
			"Status":"UPDATING"}}}`},

		// A provisioned table.
		{"TABLE-033 TABLE-025", "CreateTable", `{"TableName":"prov",` + keys + "," + provisioned("1", "1") + `}`,
			`{"TableDescription":{"WarmThroughput":null,"BillingModeSummary":null}}`},
		{"TABLE-025 TABLE-032 TABLE-061 TABLE-068", "DescribeTable", `{"TableName":"prov"}`,
			`{"Table":{"BillingModeSummary":null,"WarmThroughput":{"ReadUnitsPerSecond":1,"WriteUnitsPerSecond":1,
			"Status":"ACTIVE"}}}`},
		{"TABLE-057", "UpdateTable", `{"TableName":"prov","BillingMode":"PROVISIONED"}`, units},
		{"TABLE-057", "UpdateTable", `{"TableName":"prov",` + provisioned("1", "1") + `}`, unchanged("1")},
		{"TABLE-057", "UpdateTable", `{"TableName":"prov","BillingMode":"PROVISIONED",` + provisioned("1", "1") +
			`}`, unchanged("1")},
		{"TABLE-060", "UpdateTable", `{"TableName":"prov",` + provisioned("2", "2") + `}`,
			`{"TableDescription":{"TableStatus":"UPDATING","ProvisionedThroughput":{"ReadCapacityUnits":1,
			"WriteCapacityUnits":1,"LastIncreaseDateTime":$LastIncreaseDateTime}}}`},
		{"TABLE-060 TABLE-061", "DescribeTable", `{"TableName":"prov"}`, `{"Table":{"TableStatus":"ACTIVE",
			"ProvisionedThroughput":{"ReadCapacityUnits":2,"WriteCapacityUnits":2,"LastDecreaseDateTime":null},
			"WarmThroughput":{"ReadUnitsPerSecond":2,"WriteUnitsPerSecond":2}}}`},
		{"TABLE-057 TABLE-063", "UpdateTable", `{"TableName":"prov",` + provisioned("2", "2") + `}`, unchanged("2")},
		{"TABLE-057 TABLE-058", "UpdateTable", `{"TableName":"prov","BillingMode":"PROVISIONED",` + provisioned("3",
			"3") + `}`, ""},
		{"TABLE-058", "UpdateTable", `{"TableName":"prov",` + provisioned("1", "1") + `}`,
			`{"TableDescription":{"ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":3}}}`},
		{"TABLE-058", "UpdateTable", `{"TableName":"prov",` + provisioned("2", "1") + `}`, ""},
		{"TABLE-058", "UpdateTable", `{"TableName":"prov",` + provisioned("0", "0") + `}`, minUnits},
		{"TABLE-058 TABLE-061", "DescribeTable", `{"TableName":"prov"}`,
			`{"Table":{"ProvisionedThroughput":{"NumberOfDecreasesToday":1,"ReadCapacityUnits":2,
			"WriteCapacityUnits":1},"WarmThroughput":{"ReadUnitsPerSecond":3,"WriteUnitsPerSecond":3}}}`},
		{"TABLE-059 TABLE-061", "UpdateTable", `{"TableName":"prov","WarmThroughput":{"ReadUnitsPerSecond":1,
			"WriteUnitsPerSecond":1}}`, invalid + "Requested ReadUnitsPerSecond for WarmThroughput for table is " +
			"lower than current WarmThroughput, decreasing WarmThroughput is not supported"},
		{"TABLE-059", "UpdateTable", `{"TableName":"prov","OnDemandThroughput":{"MaxReadRequestUnits":100,
			"MaxWriteRequestUnits":100}}`, invalid + "MaxReadRequestUnits for OnDemandThroughput cannot be " +
			"specified when the table BillingMode is PROVISIONED"},
		{"TABLE-056", "UpdateTable", `{"TableName":"prov","BillingMode":"PAY_PER_REQUEST",` + provisioned("1",
			"1") + `}`, invalid + "ProvisionedThroughput cannot be specified when BillingMode is PAY_PER_REQUEST"},
		{"TABLE-055 TABLE-056 TABLE-062 TABLE-067 TABLE-183", "UpdateTable", `{"TableName":"prov",
			"BillingMode":"PAY_PER_REQUEST","OnDemandThroughput":{"MaxReadRequestUnits":100,
			"MaxWriteRequestUnits":100}}`, `{"TableDescription":{"TableStatus":"UPDATING",
			"BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST","LastUpdateToPayPerRequestDateTime":null},
			"ProvisionedThroughput":{"ReadCapacityUnits":0,"WriteCapacityUnits":0}}}`},
		{"TABLE-055 TABLE-061 TABLE-068", "DescribeTable", `{"TableName":"prov"}`,
			`{"Table":{"ProvisionedThroughput":{"NumberOfDecreasesToday":1,"ReadCapacityUnits":0,
			"WriteCapacityUnits":0},"OnDemandThroughput":{"MaxReadRequestUnits":100,"MaxWriteRequestUnits":100},
			"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000,"Status":"ACTIVE"}}}`},
		{"TABLE-056 TABLE-062 TABLE-067 TABLE-183 TABLE-412", "UpdateTable", `{"TableName":"prov",
			"BillingMode":"PROVISIONED",` + provisioned("1", "1") + `}`, ""},
		{"TABLE-055 TABLE-061", "DescribeTable", `{"TableName":"prov"}`,
			`{"Table":{"BillingModeSummary":{"BillingMode":"PROVISIONED"},
			"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1},
			"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000}}}`},
		{"TABLE-183", "UpdateTable", `{"TableName":"prov","BillingMode":"PAY_PER_REQUEST"}`, ""},
		{"TABLE-055 TABLE-056", "UpdateTable", `{"TableName":"partial","BillingMode":"PROVISIONED",` +
			provisioned("1", "1") + `}`, ""},
		{"TABLE-055", "DescribeTable", `{"TableName":"partial"}`,
			`{"Table":{"BillingModeSummary":{"BillingMode":"PROVISIONED",
			"LastUpdateToPayPerRequestDateTime":$LastUpdateToPayPerRequestDateTime},
			"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1,"LastIncreaseDateTime":null}}}`},
		{"TABLE-064 TABLE-183", "UpdateTable", `{"TableName":"partial","BillingMode":"PAY_PER_REQUEST"}`,
			`{"TableDescription":{"ProvisionedThroughput":{"LastDecreaseDateTime":$LastDecreaseDateTime}}}`},
		{"TABLE-064", "DescribeTable", `{"TableName":"partial"}`,
			`{"Table":{"ProvisionedThroughput":{"LastDecreaseDateTime":null}}}`},
		{"TABLE-363", "DeleteTable", `{"TableName":"prov"}`, `{"TableDescription":{"TableStatus":"DELETING",
			"KeySchema":null,"AttributeDefinitions":null,"CreationDateTime":null,"WarmThroughput":null}}`},

		// The service counts the decreases of a day until midnight.
		{"TABLE-185", "CreateTable", `{"TableName":"less",` + keys + "," + provisioned("9", "9") + `}`, ""},
		{"TABLE-185", "UpdateTable", `{"TableName":"less",` + provisioned("8", "8") + `}`, ""},
		{"TABLE-185", "UpdateTable", `{"TableName":"less",` + provisioned("7", "7") + `}`, ""},
		{"TABLE-185", "UpdateTable", `{"TableName":"less",` + provisioned("6", "6") + `}`, ""},
		{"TABLE-185", "UpdateTable", `{"TableName":"less",` + provisioned("5", "5") + `}`, ""},
		{"TABLE-185", "sleep", "11h59m55s", ""},
		{"TABLE-185", "DescribeTable", `{"TableName":"less"}`,
			`{"Table":{"ProvisionedThroughput":{"NumberOfDecreasesToday":4}}}`},
		{"TABLE-185", "sleep", "1s", ""}, // midnight
		{"TABLE-185", "DescribeTable", `{"TableName":"less"}`, `{"Table":{"ProvisionedThroughput":{
			"NumberOfDecreasesToday":0,"LastDecreaseDateTime":$LastDecreaseDateTime}}}`},
		{"TABLE-185", "UpdateTable", `{"TableName":"less",` + provisioned("4", "4") + `}`, ""},
		{"TABLE-185", "DescribeTable", `{"TableName":"less"}`,
			`{"Table":{"ProvisionedThroughput":{"NumberOfDecreasesToday":1}}}`},
	})
}

// TestFindingsStreams checks the findings about streams, encryption, table classes and deletion protection.
func TestFindingsStreams(t *testing.T) {
	e := newEndpoint(t)
	const (
		demand = `"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
			"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"`
		invalid = "ValidationException: One or more parameter values were invalid: "
		null    = "ValidationException: 1 validation error detected: Value null at " +
			"'streamSpecification.streamEnabled' failed to satisfy constraint: Member must not be null"
		off    = invalid + "SSEType can not be specified if Enabled is false"
		has    = "ValidationException: Table already has an enabled stream: TableName: abc"
		hasNot = "ValidationException: Table has no stream to disable: TableName: abc"
		given  = invalid + "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if " +
			"you want to change Master Key"
		key     = "arn:aws:kms:us-west-2:000000000000:key/1b2c3d4e-0000-4000-8000-00000000000"
		guarded = "ValidationException: Resource cannot be deleted as it is currently protected against deletion. " +
			"Disable deletion protection first."
		only   = " modification must be the only operation in the request"
		iops   = invalid + "You cannot modify stream status while updating table IOPS"
		beside = invalid + "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"
	)
	create := func(name, members string) string {
		return `{"TableName":"` + name + `",` + demand + `,` + members + `}`
	}
	stream := func(s string) string { return create("xxx", `"StreamSpecification":`+s) }
	sse := func(s string) string { return create("xxx", `"SSESpecification":`+s) }
	update := func(members string) string { return `{"TableName":"abc",` + members + `}` }
	e.findings([]finding{
		{"TABLE-035", "CreateTable", stream(`{"StreamEnabled":false,"StreamViewType":"NEW_IMAGE"}`), invalid +
			"Table is being created with a stream disabled, UpdateViewType should not be specified"},
		{"TABLE-035", "CreateTable", stream(`{"StreamEnabled":true}`), invalid + "Table is being created with a " +
			"stream enabled, UpdateViewType is required"},
		{"TABLE-035", "CreateTable", stream(`{"StreamViewType":"NEW_IMAGE"}`), null},
		{"TABLE-035", "CreateTable", stream(`{}`), null},
		{"TABLE-035 TABLE-040", "CreateTable", stream(`{"StreamEnabled":true,"StreamViewType":"new_image"}`),
			"ValidationException: 1 validation error detected: Value 'new_image' at " +
				"'streamSpecification.streamViewType' failed to satisfy constraint: Member must satisfy enum value set: " +
				"[OLD_IMAGE, KEYS_ONLY, NEW_AND_OLD_IMAGES, NEW_IMAGE]"},
		{"TABLE-036", "CreateTable", sse(`{"Enabled":false,"SSEType":"KMS"}`), off},
		{"TABLE-036", "CreateTable", sse(`{"Enabled":false,"KMSMasterKeyId":"` + key + `1"}`), invalid +
			"KMSMasterKeyId can not be specified if Enabled is false"},
		{"TABLE-036", "CreateTable", sse(`{"Enabled":false,"SSEType":"AES256"}`), off},
		{"TABLE-036", "CreateTable", sse(`{"Enabled":true,"SSEType":"AES256"}`), invalid +
			"SSEType AES256 is not supported"},
		{"TABLE-036 TABLE-040", "CreateTable", sse(`{"Enabled":true,"SSEType":"kms"}`), "ValidationException: 1 " +
			"validation error detected: Value 'kms' at 'sSESpecification.sSEType' failed to satisfy constraint: " +
			"Member must satisfy enum value set: [AES256, KMS]"},
		{"TABLE-031", "CreateTable", sse(`{"Enabled":true,"KMSMasterKeyId":"alias/aws/dynamodb"}`), invalid +
			"SSEType KMS is required if KMSMasterKeyId is specified"},
		{"TABLE-036 TABLE-044", "CreateTable", create("default", `"SSESpecification":{}`),
			`{"TableDescription":{"SSEDescription":null}}`},
		{"TABLE-027", "CreateTable", create("false", `"SSESpecification":{"Enabled":false}`),
			`{"TableDescription":{"SSEDescription":null}}`},
		{"TABLE-036 TABLE-044", "CreateTable", create("type", `"SSESpecification":{"SSEType":"KMS"}`),
			`{"TableDescription":{"SSEDescription":{"Status":"ENABLED","SSEType":"KMS"}}}`},
		{"TABLE-027 TABLE-371", "CreateTable", create("key", `"SSESpecification":{"Enabled":true,"SSEType":"KMS",
			"KMSMasterKeyId":"`+key+`1"}`), `{"TableDescription":{"SSEDescription":{"Status":"ENABLED",
			"SSEType":"KMS","KMSMasterKeyArn":"` + key + `1"}}}`},
		{"TABLE-027", "DescribeTable", `{"TableName":"key"}`, `{"Table":{"SSEDescription":{"Status":"ENABLED",
			"SSEType":"KMS","KMSMasterKeyArn":"` + key + `1"}}}`},
		{"TABLE-026", "CreateTable", create("class", `"TableClass":"STANDARD"`), ""},
		{"TABLE-026", "DescribeTable", `{"TableName":"class"}`,
			`{"Table":{"TableClassSummary":{"TableClass":"STANDARD"}}}`},
		{"TABLE-026", "CreateTable", create("infrequent", `"TableClass":"STANDARD_INFREQUENT_ACCESS"`), ""},
		{"TABLE-026", "DescribeTable", `{"TableName":"infrequent"}`,
			`{"Table":{"TableClassSummary":{"TableClass":"STANDARD_INFREQUENT_ACCESS"}}}`},
		{"TABLE-026", "DescribeTable", `{"TableName":"key"}`, `{"Table":{"TableClassSummary":null,
			"DeletionProtectionEnabled":false}}`},
		{"TABLE-029", "CreateTable", create("stream", `"StreamSpecification":{"StreamEnabled":true,
			"StreamViewType":"NEW_AND_OLD_IMAGES"}`),
			`{"TableDescription":{"StreamSpecification":{"StreamEnabled":true,
			"StreamViewType":"NEW_AND_OLD_IMAGES"}}}`},
		{"TABLE-029", "CreateTable", create("abc", `"DeletionProtectionEnabled":true`),
			`{"TableDescription":{"StreamSpecification":null,"LatestStreamArn":null,
			"DeletionProtectionEnabled":true}}`},
		{"TABLE-016 TABLE-034", "DeleteTable", `{"TableName":"abc"}`, guarded},
		{"TABLE-017 TABLE-030 TABLE-117", "UpdateTable", update(`"DeletionProtectionEnabled":false`),
			`{"TableDescription":{"TableStatus":"ACTIVE","DeletionProtectionEnabled":false}}`},
		{"TABLE-017 TABLE-030 TABLE-117", "DescribeTable", `{"TableName":"abc"}`, `{"Table":{"TableStatus":"ACTIVE",
			"DeletionProtectionEnabled":false}}`},

		// A stream goes on, off and on.
		{"TABLE-004 TABLE-050 TABLE-180", "UpdateTable", update(`"StreamSpecification":{"StreamEnabled":true,
			"StreamViewType":"NEW_IMAGE"}`), `{"TableDescription":{"TableStatus":"UPDATING",
			"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},
			"LatestStreamArn":"$LatestStreamArn"}}`},
		{"TABLE-018 TABLE-050", "UpdateTable", update(`"StreamSpecification":{"StreamEnabled":true,
			"StreamViewType":"NEW_IMAGE"}`), has},
		{"TABLE-018 TABLE-050", "UpdateTable", update(`"StreamSpecification":{"StreamEnabled":true,
			"StreamViewType":"NEW_AND_OLD_IMAGES"}`), has},
		{"TABLE-018 TABLE-050", "UpdateTable", update(`"StreamSpecification":{"StreamEnabled":true}`), invalid +
			"If stream is being enabled then UpdateViewType is required"},
		{"TABLE-050", "UpdateTable", update(`"StreamSpecification":{"StreamEnabled":false,
			"StreamViewType":"KEYS_ONLY"}`), invalid + "If stream is being disabled, then UpdateViewType must not " +
			"be specified"},
		{"TABLE-050", "UpdateTable", update(`"StreamSpecification":{"StreamEnabled":false}`), ""},
		{"TABLE-050", "DescribeTable", `{"TableName":"abc"}`, `{"Table":{"StreamSpecification":null,
			"LatestStreamArn":"$LatestStreamArn"}}`},
		{"TABLE-018 TABLE-050", "UpdateTable", update(`"StreamSpecification":{"StreamEnabled":false}`), hasNot},
		{"TABLE-362 TABLE-367 TABLE-378", "sleep", "1s", ""},
		{"TABLE-362 TABLE-367 TABLE-378", "UpdateTable", update(`"StreamSpecification":{"StreamEnabled":true,
			"StreamViewType":"NEW_AND_OLD_IMAGES"}`), ""},
		{"TABLE-367 TABLE-378", "ListStreams", `{"TableName":"abc"}`, `{"Streams":[{"TableName":"abc"},
			{"TableName":"abc","StreamArn":"$LatestStreamArn"}]}`},

		// Encryption: only a request with the ARN of the present key counts as unchanged.
		{"TABLE-361 TABLE-065", "UpdateTable", update(`"SSESpecification":{"Enabled":true,"SSEType":"KMS",
			"KMSMasterKeyId":"` + key + `1"}`), `{"TableDescription":{"TableStatus":"ACTIVE",
			"SSEDescription":{"Status":"UPDATING","KMSMasterKeyArn":null}}}`},
		{"TABLE-082 TABLE-141", "UpdateTable", update(`"SSESpecification":{"Enabled":true,"SSEType":"KMS",
			"KMSMasterKeyId":"` + key + `1"}`), given},
		{"TABLE-371", "UpdateTable", update(`"SSESpecification":{"Enabled":true,"SSEType":"KMS",
			"KMSMasterKeyId":"` + key + `2"}`), `{"TableDescription":{"TableStatus":"ACTIVE",
			"SSEDescription":{"Status":"UPDATING","SSEType":"KMS","KMSMasterKeyArn":"` + key + `1"}}}`},
		{"TABLE-371", "DescribeTable", `{"TableName":"abc"}`, `{"Table":{"SSEDescription":{"Status":"ENABLED",
			"SSEType":"KMS","KMSMasterKeyArn":"` + key + `2"}}}`},
		{"TABLE-141 TABLE-437", "UpdateTable", update(`"SSESpecification":{"Enabled":true}`),
			`{"TableDescription":{"SSEDescription":{"Status":"UPDATING"}}}`},
		{"TABLE-437", "UpdateTable", update(`"SSESpecification":{"Enabled":false,"SSEType":"KMS"}`), off},
		{"TABLE-079", "UpdateTable", update(`"SSESpecification":{"Enabled":false}`),
			`{"TableDescription":{"TableStatus":"ACTIVE","SSEDescription":{"Status":"UPDATING"}}}`},
		{"TABLE-079", "DescribeTable", `{"TableName":"abc"}`, `{"Table":{"SSEDescription":null}}`},
		{"TABLE-079 TABLE-018", "UpdateTable", update(`"SSESpecification":{"Enabled":false}`), invalid +
			"Table is already encrypted by default"},

		// One change for each call.
		{"TABLE-382 TABLE-433", "UpdateTable", update(`"DeletionProtectionEnabled":true,
			"SSESpecification":{"Enabled":true}`), invalid + "Server-Side Encryption" + only},
		{"TABLE-382 TABLE-433", "UpdateTable", update(`"DeletionProtectionEnabled":true,
			"TableClass":"STANDARD_INFREQUENT_ACCESS"`), invalid + "TableClass" + only},
		{"TABLE-382 TABLE-433", "UpdateTable", update(`"DeletionProtectionEnabled":true,
			"WarmThroughput":{"ReadUnitsPerSecond":20000,"WriteUnitsPerSecond":20000}`), invalid +
			"DeletionProtection" + only},
		{"TABLE-382 TABLE-433", "UpdateTable", update(`"TableClass":"STANDARD_INFREQUENT_ACCESS",
			"SSESpecification":{"Enabled":true}`), invalid + "Server-Side Encryption" + only},
		{"TABLE-382 TABLE-433", "UpdateTable", update(`"WarmThroughput":{"ReadUnitsPerSecond":20000,
			"WriteUnitsPerSecond":20000},"StreamSpecification":{"StreamEnabled":false}`), invalid + "WarmThroughput " +
			"must be the only operation in the request"},
		{"TABLE-382 TABLE-433", "UpdateTable", update(`"OnDemandThroughput":{"MaxReadRequestUnits":100},
			"StreamSpecification":{"StreamEnabled":false}`), beside},
		{"TABLE-382 TABLE-433", "UpdateTable", update(`"BillingMode":"PROVISIONED",
			"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1},
			"StreamSpecification":{"StreamEnabled":false}`), iops},

		{"TABLE-052 TABLE-180 TABLE-284", "UpdateTable", update(`"TableClass":"STANDARD_INFREQUENT_ACCESS"`),
			`{"TableDescription":{"TableStatus":"UPDATING","TableClassSummary":null}}`},
		{"TABLE-180 TABLE-284", "DescribeTable", `{"TableName":"abc"}`,
			`{"Table":{"TableClassSummary":{"TableClass":"STANDARD_INFREQUENT_ACCESS"}}}`},
		{"TABLE-435 TABLE-236", "UpdateTimeToLive", update(`"TimeToLiveSpecification":{"Enabled":true,
			"AttributeName":"ttl"}`), ""},
		{"TABLE-438", "UpdateTable", update(`"DeletionProtectionEnabled":true`), ""},
		{"TABLE-438", "UpdateTable", update(`"DeletionProtectionEnabled":false`), ""},
		{"TABLE-438", "DeleteTable", `{"TableName":"abc"}`, `{"TableDescription":{"TableStatus":"DELETING"}}`},
		{"TABLE-386 TABLE-367 TABLE-378", "sleep", "10s", ""},
		{"TABLE-386", "DescribeStream", `{"StreamArn":"$LatestStreamArn"}`,
			`{"StreamDescription":{"StreamStatus":"DISABLED"}}`},
		{"TABLE-013", "CreateTable", create("abc", `"DeletionProtectionEnabled":false`), ""},
		{"TABLE-367 TABLE-378", "ListStreams", `{"TableName":"abc"}`, `{"Streams":[{"TableName":"abc"},
			{"TableName":"abc"}]}`},
		{"TABLE-014 TABLE-070 TABLE-074", "DescribeTable", `{"TableName":"none"}`, "ResourceNotFoundException: " +
			"Requested resource not found: Table: none not found"},
		{"TABLE-014 TABLE-070 TABLE-074", "DescribeContinuousBackups", `{"TableName":"none"}`,
			"TableNotFoundException: Table not found: none"},
		{"TABLE-012 TABLE-181 TABLE-400", "ListTables", `{"Limit":1,"ExclusiveStartTableName":"ABC"}`,
			`{"TableNames":["abc"],"LastEvaluatedTableName":"abc"}`},
		{"TABLE-379", "ListTables", `{"ExclusiveStartTableName":"zzz"}`, `{"TableNames":[],
			"LastEvaluatedTableName":null}`},
		{"TABLE-010", "CreateTable", create("ABC", `"DeletionProtectionEnabled":false`), ""},
		{"TABLE-010", "CreateTable", create("ABC", `"DeletionProtectionEnabled":false`), "ResourceInUseException: " +
			"Table already exists: ABC"},
		{"TABLE-131", "DescribeLimits", `{}`, `{"AccountMaxReadCapacityUnits":80000,
			"TableMaxReadCapacityUnits":40000}`},
	})
}

// TestFindingsIndexes checks the findings about global indexes, for both billing modes.
func TestFindingsIndexes(t *testing.T) {
	e := newEndpoint(t)
	const (
		key = `"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"a",
			"AttributeType":"S"}]`
		schema  = `,"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]`
		byA     = `"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}`
		units   = `"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`
		demand  = key + schema + `,"BillingMode":"PAY_PER_REQUEST"`
		invalid = "ValidationException: One or more parameter values were invalid: "
		noUnits = invalid + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"
		empty   = invalid + "List of GlobalSecondaryIndexUpdates is empty"
	)
	unitsOf := func(index string) string { return `{"Update":{"IndexName":"` + index + `",` + units + `}}` }
	index := func(name, more string) string { return `{"IndexName":"` + name + `",` + byA + more + `}` }
	gsi := func(action, index string) string { return `{"` + action + `":` + index + `}` }
	update := func(table, members string) string { return `{"TableName":"` + table + `",` + members + `}` }
	updates := func(table string, list ...string) string {
		return update(table, key+`,"GlobalSecondaryIndexUpdates":[`+strings.Join(list, ",")+`]`)
	}
	e.findings([]finding{
		{"TABLE-124 TABLE-168 TABLE-388", "CreateTable", `{"TableName":"demand",` + demand + `,
			"GlobalSecondaryIndexes":[` + index("zzz", "") + `,` + index("bbb", `,
			"OnDemandThroughput":{"MaxReadRequestUnits":5000,"MaxWriteRequestUnits":5000}`) + `]}`, ""},
		{"TABLE-125 TABLE-134 TABLE-135 TABLE-138 TABLE-419", "DescribeTable", `{"TableName":"demand"}`,
			`{"Table":{"GlobalSecondaryIndexes":[{"IndexName":"zzz","IndexStatus":"ACTIVE","IndexSizeBytes":0,
			"ItemCount":0,"Backfilling":null,"OnDemandThroughput":null,
			"ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0},
			"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000,"Status":"ACTIVE"}},
			{"IndexName":"bbb","OnDemandThroughput":{"MaxReadRequestUnits":5000,"MaxWriteRequestUnits":5000}}]}}`},
		{"TABLE-135 TABLE-154 TABLE-430", "UpdateTable", updates("demand", gsi("Update", `{"IndexName":"bbb",
			"OnDemandThroughput":{"MaxReadRequestUnits":6000}}`)), `{"TableDescription":{"TableStatus":"ACTIVE",
			"GlobalSecondaryIndexes":[{"IndexStatus":"ACTIVE"},{"IndexStatus":"UPDATING"}]}}`},
		{"TABLE-154 TABLE-430", "DescribeTable", `{"TableName":"demand"}`, `{"Table":{"OnDemandThroughput":null,
			"GlobalSecondaryIndexes":[{},{"OnDemandThroughput":{"MaxReadRequestUnits":6000,
			"MaxWriteRequestUnits":5000}}]}}`},
		{"TABLE-155", "UpdateTable", updates("demand", gsi("Update", `{"IndexName":"bbb",
			"WarmThroughput":{"ReadUnitsPerSecond":1,"WriteUnitsPerSecond":1}}`)), invalid + "Requested " +
			"ReadUnitsPerSecond for WarmThroughput for index bbb is lower than current WarmThroughput, decreasing " +
			"WarmThroughput is not supported"},
		{"TABLE-413", "UpdateTable", updates("demand", gsi("Create", index("ccc", "")), gsi("Delete",
			`{"IndexName":"bbb"}`)), "LimitExceededException: Subscriber limit exceeded: Only 1 online index can be " +
			"created or deleted simultaneously per table"},
		{"TABLE-133 TABLE-153", "UpdateTable", updates("demand", gsi("Create", index("ccc", ","+units))), invalid +
			"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: ccc when BillingMode is " +
			"PAY_PER_REQUEST"},
		{"TABLE-138 TABLE-165 TABLE-418", "UpdateTable", updates("demand", gsi("Create", index("ccc", `,
			"OnDemandThroughput":{"MaxReadRequestUnits":100}`))),
			`{"TableDescription":{"GlobalSecondaryIndexes":[{},{},{"IndexName":"ccc","IndexStatus":"CREATING",
			"Backfilling":false,"OnDemandThroughput":{"MaxReadRequestUnits":100}}]}}`},
		{"TABLE-166", "UpdateTable", update("demand", `"DeletionProtectionEnabled":true`), ""},
		{"TABLE-166 TABLE-165", "UpdateTable", updates("demand", gsi("Delete", `{"IndexName":"ccc"}`)),
			`{"TableDescription":{"GlobalSecondaryIndexes":[{},{},{"IndexName":"ccc","IndexStatus":"DELETING"}]}}`},
		{"TABLE-043", "UpdateTable", update("demand", `"DeletionProtectionEnabled":false`), ""},

		{"TABLE-133", "CreateTable", `{"TableName":"prov",` + key + schema + `,` + units + `,
			"GlobalSecondaryIndexes":[` + index("one", "") + `]}`, invalid + "ProvisionedThroughput is not " +
			"specified for index: one"},
		{"TABLE-134", "CreateTable", `{"TableName":"prov",` + key + schema + `,` + units + `,
			"GlobalSecondaryIndexes":[` + index("one", ","+units) + `,` + index("two", ","+units) + `]}`, ""},
		{"TABLE-134", "DescribeTable", `{"TableName":"prov"}`,
			`{"Table":{"GlobalSecondaryIndexes":[{"WarmThroughput":{"ReadUnitsPerSecond":1,"WriteUnitsPerSecond":1,
			"Status":"ACTIVE"}},{}]}}`},
		{"TABLE-165", "UpdateTable", updates("prov", gsi("Update", `{"IndexName":"one",
			"ProvisionedThroughput":{"ReadCapacityUnits":2,"WriteCapacityUnits":2}}`), gsi("Update",
			`{"IndexName":"two","ProvisionedThroughput":{"ReadCapacityUnits":2,"WriteCapacityUnits":2}}`)),
			`{"TableDescription":{"TableStatus":"ACTIVE","GlobalSecondaryIndexes":[{"IndexStatus":"UPDATING",
			"ProvisionedThroughput":{"ReadCapacityUnits":1}},{"IndexStatus":"UPDATING",
			"ProvisionedThroughput":{"ReadCapacityUnits":1}}]}}`},
		{"TABLE-165 TABLE-134", "DescribeTable", `{"TableName":"prov"}`,
			`{"Table":{"GlobalSecondaryIndexes":[{"ProvisionedThroughput":{"ReadCapacityUnits":2},
			"WarmThroughput":{"ReadUnitsPerSecond":2}},{"ProvisionedThroughput":{"ReadCapacityUnits":2}}]}}`},
		{"TABLE-164", "UpdateTable", updates("prov", gsi("Update", `{"IndexName":"one",
			"ProvisionedThroughput":{"ReadCapacityUnits":2,"WriteCapacityUnits":2}}`)), "ValidationException: The " +
			"provisioned throughput for the index one will not change. The requested value equals the current value. " +
			"Current ReadCapacityUnits provisioned for index one: 2. Requested ReadCapacityUnits: 2. Current " +
			"WriteCapacityUnits provisioned for index one: 2. Requested WriteCapacityUnits: 2. Refer to the Amazon " +
			"DynamoDB Developer Guide for current limits and how to request higher limits."},
		{"TABLE-164", "UpdateTable", updates("prov", gsi("Update", `{"IndexName":"one",
			"ProvisionedThroughput":{"ReadCapacityUnits":2,"WriteCapacityUnits":3}}`)), ""},
		{"TABLE-164", "UpdateTable", update("prov", `"BillingMode":"PROVISIONED"`), noUnits},
		{"TABLE-152", "UpdateTable", updates("prov", gsi("Create", index("three", ""))), invalid + "Both " +
			"ReadCapacityUnits and WriteCapacityUnits must be specified for index: three"},
		{"TABLE-153 TABLE-158", "UpdateTable", update("prov", `"BillingMode":"PAY_PER_REQUEST"`), ""},
		{"TABLE-153", "DescribeTable", `{"TableName":"prov"}`,
			`{"Table":{"GlobalSecondaryIndexes":[{"ProvisionedThroughput":{"ReadCapacityUnits":0}},
			{"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000}}]}}`},
		{"TABLE-153 TABLE-158 TABLE-152", "UpdateTable", update("prov", `"BillingMode":"PROVISIONED",`+units), invalid +
			"ProvisionedThroughput must be specified for index: one,two"},
		{"TABLE-152", "UpdateTable", update("prov", `"BillingMode":"PROVISIONED"`), noUnits},
		{"TABLE-152", "UpdateTable", update("prov", `"BillingMode":"PROVISIONED",
			"GlobalSecondaryIndexUpdates":[`+unitsOf("one")+`]`), noUnits},
		{"TABLE-152", "UpdateTable", update("prov", units), invalid + "Neither ReadCapacityUnits nor " +
			"WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"},
		{"TABLE-152", "UpdateTable", update("prov", `"GlobalSecondaryIndexUpdates":[`+unitsOf("one")+`]`), invalid +
			"The only Updates for index: one when TableThroughputMode is PAY_PER_REQUEST can be to " +
			"OnDemandThroughput, WarmThroughput"},
		{"TABLE-152", "UpdateTable", update("prov", `"BillingMode":"PROVISIONED",`+units+`,
			"GlobalSecondaryIndexUpdates":[`+unitsOf("one")+`,`+unitsOf("two")+`]`),
			`{"TableDescription":{"TableStatus":"UPDATING"}}`},
		{"TABLE-164", "UpdateTable", update("prov", `"DeletionProtectionEnabled":true`), ""},
		{"TABLE-164", "UpdateTable", update("prov", `"DeletionProtectionEnabled":true`), ""},
		{"TABLE-359", "UpdateTable", update("prov", `"GlobalSecondaryIndexUpdates":[]`), nothingAsked},
		{"TABLE-359", "UpdateTable", updates("prov"), nothingAsked},
		{"TABLE-359", "UpdateTable", update("prov", `"GlobalSecondaryIndexUpdates":[],
			"DeletionProtectionEnabled":false`), empty},
		{"TABLE-359", "UpdateTable", update("prov", `"GlobalSecondaryIndexUpdates":[],
			"BillingMode":"PAY_PER_REQUEST"`), empty},
		{"TABLE-359", "UpdateTable", update("prov", `"GlobalSecondaryIndexUpdates":[],
			"OnDemandThroughput":{"MaxReadRequestUnits":100}`), empty},
		{"TABLE-359", "DescribeTable", `{"TableName":"prov"}`, `{"Table":{"DeletionProtectionEnabled":true,
			"BillingModeSummary":{"BillingMode":"PROVISIONED"},"OnDemandThroughput":null}}`},
		{"TABLE-359", "UpdateTable", update("prov", `"DeletionProtectionEnabled":false`), ""},
		{"TABLE-199", "UpdateTable", update("prov", `"DeletionProtectionEnabled":true,
			"ReplicaUpdates":[{"Create":{"RegionName":"eu-west-1"}}]`), invalid + "Replica modification must be the " +
			"only operation in the request"},
		{"TABLE-201 TABLE-220 TABLE-320", "DescribeTable", `{"TableName":"prov"}`,
			`{"Table":{"GlobalTableVersion":null,"Replicas":null,"MultiRegionConsistency":null,
			"GlobalTableWitnesses":null,"GlobalTableSettingsReplicationMode":null}}`},
		{"TABLE-109", "ListTagsOfResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/prov"}`,
			`{"Tags":[],"NextToken":null}`},
		{"TABLE-072", "DescribeTable", `{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/prov"}`,
			`{"Table":{"TableName":"prov"}}`},
		{"TABLE-214 TABLE-235", "PutResourcePolicy",
			`{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/prov",
			"Policy":"{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",` +
				`\"Principal\":{\"AWS\":\"arn:aws:iam::000000000000:root\"},\"Action\":\"dynamodb:GetItem\",` +
				`\"Resource\":\"arn:aws:dynamodb:us-east-1:000000000000:table/prov\"}]}"}`,
			""},
		{"TABLE-235 TABLE-303 TABLE-460", "EnableKinesisStreamingDestination", `{"TableName":"prov",
			"StreamArn":"arn:aws:kinesis:us-east-1:000000000000:stream/abc"}`, ""},
		{"TABLE-214 TABLE-235 TABLE-076", "DeleteTable", `{"TableName":"prov"}`, ""},
		{"", "sleep", "10s", ""},
		{"TABLE-076 TABLE-077 TABLE-271 TABLE-436", "CreateTable", `{"TableName":"prov",` + key + schema + `,` +
			units + `,"GlobalSecondaryIndexes":[` + index("one", ","+units) + `]}`, ""},
		{"TABLE-076 TABLE-075", "ListTables", `{}`, `{"TableNames":["demand","prov"]}`},
		{"TABLE-271 TABLE-436", "GetResourcePolicy",
			`{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/prov"}`, "PolicyNotFoundException: " +
				"Resource-based policy not found for the provided ResourceArn: " +
				"arn:aws:dynamodb:us-east-1:000000000000:table/prov"},
		{"TABLE-271 TABLE-436", "DescribeKinesisStreamingDestination", `{"TableName":"prov"}`,
			`{"KinesisDataStreamDestinations":[]}`},
		{"GLOBALTABLE-001", "DescribeGlobalTable", `{"GlobalTableName":"prov"}`, "GlobalTableNotFoundException: " +
			"Global table not found: Global table with name: 'prov' does not exist."},
	})
}

// TestFindingsBusy checks the findings about changes of a table that is UPDATING.
func TestFindingsBusy(t *testing.T) {
	e := newEndpoint(t)
	e.db.Delay = time.Minute
	const (
		keys = `"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
			"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]`
		inUse = "ResourceInUseException: Attempt to change a resource which is still in use: "
		iops  = inUse + "Table IOPS are currently being updated. Table: busy"
		being = inUse + "Table: busy is in the process of being updated."
		class = "Table: busy TableClassUpdateInProgress: STANDARD_INFREQUENT_ACCESS"
		one   = `"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
			"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"one","KeySchema":[{"AttributeName":"pk",
			"KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]`
	)
	update := func(members string) string { return `{"TableName":"busy",` + members + `}` }
	units := func(n string) string {
		return `"ProvisionedThroughput":{"ReadCapacityUnits":` + n + `,"WriteCapacityUnits":` + n + `}`
	}
	status := func(s string) string { return `{"Table":{"TableStatus":"` + s + `"}}` }
	const (
		table    = `{"TableName":"busy"}`
		protect  = `"DeletionProtectionEnabled":false`
		demand   = `"BillingMode":"PAY_PER_REQUEST"`
		stream   = `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}`
		noStream = `"StreamSpecification":{"StreamEnabled":false}`
		ceiling  = `"OnDemandThroughput":{"MaxReadRequestUnits":100}`
		warm     = `"WarmThroughput":{"ReadUnitsPerSecond":13000,"WriteUnitsPerSecond":5000}`
		infreq   = `"TableClass":"STANDARD_INFREQUENT_ACCESS"`
		standard = `"TableClass":"STANDARD"`
		key      = `"SSESpecification":{"Enabled":true}`
	)
	e.findings([]finding{
		{"TABLE-005", "CreateTable", `{"TableName":"busy",` + keys + `,` + units("1") + `}`, ""},
		{"TABLE-444", "UpdateTable", update(protect), inUse + "Table is being created: busy"},
		{"", "sleep", "2m", ""},
		{"TABLE-370", "UpdateTable", update(units("2")), `{"TableDescription":{"TableStatus":"UPDATING"}}`},
		{"TABLE-370 TABLE-381", "UpdateTable", update(units("3")), iops},
		{"TABLE-060", "DescribeTable", table, `{"Table":{"TableStatus":"UPDATING",
			"ProvisionedThroughput":{"ReadCapacityUnits":1}}}`},
		{"TABLE-370", "UpdateTable", update(demand), iops},
		{"TABLE-063 TABLE-370", "DeleteTable", table, being},
		{"TABLE-063 TABLE-370", "UpdateTable", update(protect), `{"TableDescription":{"TableStatus":"UPDATING"}}`},
		{"TABLE-370", "UpdateTable", update(stream), inUse + "Can't enable or disable stream while table IOPS are " +
			"being updated. Table: busy"},
		{"", "sleep", "2m", ""},
		{"TABLE-064 TABLE-369", "UpdateTable", update(demand), ""},
		{"TABLE-064 TABLE-065", "DescribeTable", table, `{"Table":{"TableStatus":"UPDATING",
			"BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST","LastUpdateToPayPerRequestDateTime":null},
			"WarmThroughput":{"ReadUnitsPerSecond":2,"WriteUnitsPerSecond":2}}}`},
		{"TABLE-452", "UpdateTable", update(`"BillingMode":"PROVISIONED",` + units("1")), iops},
		{"TABLE-064 TABLE-369", "DeleteTable", table, being},
		{"TABLE-369 TABLE-450", "UpdateTable", update(ceiling), inUse + "OnDemandThroughput cannot be updated while " +
			"BillingMode update is in progress"},
		{"TABLE-369 TABLE-450", "UpdateTable", update(warm), `{"TableDescription":{"TableStatus":"UPDATING"}}`},
		{"", "sleep", "2m", ""},
		{"TABLE-121 TABLE-459", "UpdateTable", update(`"WarmThroughput":{"ReadUnitsPerSecond":14000,
			"WriteUnitsPerSecond":6000}`), ""},
		{"TABLE-121 TABLE-459", "DescribeTable", table, `{"Table":{"TableStatus":"ACTIVE",
			"WarmThroughput":{"ReadUnitsPerSecond":14000}}}`},
		{"TABLE-177 TABLE-383", "UpdateTable", update(demand), `{"TableDescription":{"TableStatus":"UPDATING"}}`},
		{"TABLE-177 TABLE-383", "DescribeTable", table, status("ACTIVE")},
		{"TABLE-177 TABLE-383", "UpdateTable", update(standard), `{"TableDescription":{"TableStatus":"UPDATING"}}`},
		{"TABLE-177 TABLE-383", "DescribeTable", table, status("ACTIVE")},

		{"TABLE-002", "UpdateTable", update(stream), `{"TableDescription":{"TableStatus":"UPDATING",
			"LatestStreamLabel":"$LatestStreamLabel"}}`},
		{"TABLE-002 TABLE-119", "DeleteTable", table, inUse + "Cannot delete table while stream is being " +
			"enabled/disabled."},
		{"TABLE-002", "UpdateTable", update(stream), inUse + "A stream status change is currently in progress. " +
			"Table: busy Stream: $LatestStreamLabel Operation: ENABLE"},
		{"TABLE-444", "UpdateTable", update(`"BillingMode":"PROVISIONED",` + units("1")), inUse + "Can't change " +
			"table IOPS when stream status is being updated. Table: busy Stream: $LatestStreamLabel Operation: " +
			"ENABLE"},
		{"TABLE-119", "UpdateTable", update(infreq), inUse + "Can't update table class when stream status is being " +
			"updated. Table: busy Stream: $LatestStreamLabel Operation: ENABLE"},
		{"TABLE-002 TABLE-119", "UpdateTable", update(protect), `{"TableDescription":{"TableStatus":"UPDATING"}}`},
		{"TABLE-119 TABLE-117", "UpdateTimeToLive", update(`"TimeToLiveSpecification":{"Enabled":true,
			"AttributeName":"ttl"}`), ""},
		{"TABLE-119", "CreateBackup", update(`"BackupName":"one"`), ""},
		{"TABLE-119", "UpdateTable", update(key), ""},
		{"", "sleep", "2m", ""},
		{"TABLE-002", "UpdateTable", update(noStream), ""},
		{"TABLE-119", "UpdateTable", update(infreq), inUse + "Can't update table class when stream status is being " +
			"updated. Table: busy Stream: $LatestStreamLabel Operation: DISABLE"},
		{"", "sleep", "2m", ""},

		{"TABLE-286", "UpdateTable", update(infreq), ""},
		{"TABLE-052 TABLE-286", "UpdateTable", update(infreq), inUse + "Can't update table class when a table class " +
			"update is in progress. " + class},
		{"TABLE-286", "UpdateTable", update(standard), inUse + "Can't update table class when a table class update " +
			"is in progress. " + class},
		{"TABLE-286", "UpdateTable", update(stream), inUse + "Can't change stream status when a table class update " +
			"is in progress. " + class},
		{"TABLE-286 TABLE-450", "UpdateTable", update(ceiling), inUse + "OnDemandThroughput cannot be updated while " +
			"TableClass update is in progress. TableClassUpdateInProgress: STANDARD_INFREQUENT_ACCESS"},
		{"TABLE-052 TABLE-285 TABLE-286", "UpdateTable", update(protect),
			`{"TableDescription":{"TableStatus":"UPDATING"}}`},
		{"TABLE-285", "DescribeTable", table, status("UPDATING")},
		{"TABLE-284", "DeleteTable", table, being},
		{"", "sleep", "2m", ""},

		{"TABLE-163", "UpdateTable", update(one), ""},
		{"TABLE-163", "UpdateTable", update(stream), inUse + "Can't change stream status when an index is being " +
			"created. Table: busy Indexes: [one]"},
		{"TABLE-163", "UpdateTable", update(`"BillingMode":"PROVISIONED",` + units("1")), inUse + "Can't change " +
			"table IOPS when an index is being created. Table: busy Indexes: [one]"},
		{"TABLE-458", "UpdateTable", update(ceiling), inUse + "OnDemandThroughput cannot be updated while index " +
			"creation is in progress for indexes: [one]"},
		{"TABLE-163 TABLE-458", "UpdateTable", update(protect), `{"TableDescription":{"TableStatus":"UPDATING"}}`},
		{"TABLE-150", "DeleteTable", table, inUse + "Cannot delete table while indexes are being created, updated, " +
			"or deleted."},
		{"TABLE-163", "DescribeTable", table, `{"Table":{"TableStatus":"UPDATING",
			"GlobalSecondaryIndexes":[{"IndexStatus":"CREATING","Backfilling":false}]}}`},
		{"", "sleep", "30s", ""}, // until the table is ACTIVE and the index is backfilled
		{"TABLE-163", "DescribeTable", table, `{"Table":{"TableStatus":"ACTIVE",
			"GlobalSecondaryIndexes":[{"IndexStatus":"CREATING","Backfilling":true}]}}`},
		{"TABLE-163", "UpdateTable", update(strings.ReplaceAll(one, `"one"`, `"two"`)), "LimitExceededException: " +
			"Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"},
		{"TABLE-163", "UpdateTable", update(stream), inUse + "Can't change stream status when an index is being " +
			"created. Table: busy Indexes: [one]"},
		{"TABLE-163", "UpdateTable", update(`"GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"one"}}]`),
			`{"TableDescription":{"TableStatus":"UPDATING","GlobalSecondaryIndexes":[{"IndexStatus":"DELETING"}]}}`},
		{"", "sleep", "2m", ""},
		{"TABLE-163", "UpdateTable", update(one), ""},
		{"", "sleep", "1m", ""},
		{"TABLE-163", "DescribeTable", table, `{"Table":{"TableStatus":"ACTIVE",
			"GlobalSecondaryIndexes":[{"IndexStatus":"ACTIVE","Backfilling":null}]}}`},
		{"TABLE-376", "UpdateTable", update(`"GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"one"}}]`), ""},
		{"TABLE-163 TABLE-376", "UpdateTable", update(`"BillingMode":"PROVISIONED",` + units("1")), inUse + "Can't " +
			"change table IOPS when an index is being deleted. Table: busy Indexes: [one]"},
		{"TABLE-375", "UpdateTable", update(ceiling), inUse + "OnDemandThroughput cannot be updated while index " +
			"deletion is in progress for indexes: [one]"},
		{"TABLE-375", "UpdateTable", update(demand), `{"TableDescription":{"TableStatus":"UPDATING"}}`},
		{"TABLE-375", "DescribeTable", table, `{"Table":{"TableStatus":"UPDATING",
			"GlobalSecondaryIndexes":[{"IndexStatus":"DELETING"}]}}`},
		{"", "sleep", "2m", ""},
		{"TABLE-006", "DeleteTable", table, `{"TableDescription":{"TableStatus":"DELETING"}}`},
		{"TABLE-006", "UpdateTable", update(protect), inUse + "Table is being deleted: busy"},
	})
}

// TestFindingsLimits checks findings about limits within one request.
func TestFindingsLimits(t *testing.T) {
	e := newEndpoint(t)
	const (
		keys = `"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],` +
			`"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"`
		many = "1 validation error detected: Value '26' at '"
		most = "' failed to satisfy constraint: Member must have value less than or equal to 25"
		arn  = `"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/later"`
	)
	index := func(name, projection string) string {
		return `{"IndexName":"` + name + `","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Projection":{` +
			projection + `}}`
	}
	create := func(name, indexes string) string {
		return `{"TableName":"` + name + `",` + keys + `,"GlobalSecondaryIndexes":[` + indexes + `]}`
	}
	var indexes []string
	for i := range 21 {
		indexes = append(indexes, index(fmt.Sprintf("index%02d", i), `"ProjectionType":"ALL"`))
	}
	include := `"ProjectionType":"INCLUDE","NonKeyAttributes":`
	e.findings([]finding{
		{"TABLE-169", "CreateTable", create("abc", strings.Join(indexes, ",")),
			wrongValues + "GlobalSecondaryIndex count exceeds the per-table limit of 20"},
		{"TABLE-169", "CreateTable", create("abc", strings.Join(indexes[1:], ",")), ""},
		{"TABLE-169 TABLE-443", "UpdateTable", `{"TableName":"abc","AttributeDefinitions":[{"AttributeName":"pk",` +
			`"AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":` + indexes[0] + `}]}`,
			"LimitExceededException: Subscriber limit exceeded: Number of global secondary indexes exceeds per-table " +
				"limit of 20"},
		{"TABLE-366", "CreateTable", create("include", index("one", include+`["x","x"]`)),
			wrongValues + "Duplicate element in NonKeyAttributes: x"},
		{"TABLE-366", "CreateTable", create("include", index("one", include+`["x","pk"]`)), ""},
		{"TABLE-366 TABLE-125", "DescribeTable", `{"TableName":"include"}`, `{"Table":{"GlobalSecondaryIndexes":[{
			"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["pk","x"]}}]}}`},
		{"TABLE-200 TABLE-265", "UpdateTable", `{"TableName":"abc","ReplicaUpdates":[{"Create":{"RegionName":` +
			`"eu-west-1"}},{"Create":{"RegionName":"eu-west-2"}}]}`, "ValidationException: Update table operation with " +
			"more than one create or delete replica actions not allowed"},
		{"IMPORT-011", "ListImports", `{"PageSize":26}`, many + "pageSize" + most},
		{"IMPORT-011", "ListExports", `{"MaxResults":26}`, many + "maxResults" + most},
		{"IMPORT-011", "ListImports", `{"PageSize":0}`, "1 validation error detected: Value '0' at 'pageSize' failed " +
			"to satisfy constraint: Member must have value greater than or equal to 1"},
		{"BACKUP-028", "ListBackups", `{"Limit":0}`, "1 validation error detected: Value '0' at 'limit' failed to " +
			"satisfy constraint: Member must have value greater than or equal to 1"},
	})

	const (
		schemaMax = "The KeySchema exceeds the maximum allowed number of %s key attributes"
		hash      = `{"AttributeName":"%s","KeyType":"HASH"}`
	)
	wide := func(name, ranges string, hashes ...string) string {
		var defs, key []string
		for _, a := range append(slices.Clone(hashes), strings.Fields(ranges)...) {
			defs = append(defs, `{"AttributeName":"`+a+`","AttributeType":"S"}`)
		}
		for _, a := range hashes {
			key = append(key, fmt.Sprintf(hash, a))
		}
		for a := range strings.FieldsSeq(ranges) {
			key = append(key, `{"AttributeName":"`+a+`","KeyType":"RANGE"}`)
		}
		return `{"TableName":"` + name + `","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},` +
			strings.Join(defs, ",") + `],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":` +
			`"PAY_PER_REQUEST","GlobalSecondaryIndexes":[{"IndexName":"one","KeySchema":[` + strings.Join(key, ",") +
			`],"Projection":{"ProjectionType":"ALL"}}]}`
	}
	e.findings([]finding{
		{"TABLE-126", "CreateTable", create("abc1", index("one", `"ProjectionType":"INCLUDE"`)),
			wrongValues + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"},
		{"TABLE-126", "CreateTable", create("abc1", index("one", `"ProjectionType":"KEYS_ONLY","NonKeyAttributes":["x"]`)),
			wrongValues + "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified"},
		{"TABLE-126", "CreateTable", create("abc1", index("one", `"ProjectionType":"ALL","NonKeyAttributes":["x"]`)),
			wrongValues + "ProjectionType is ALL, but NonKeyAttributes is specified"},
		{"TABLE-126", "CreateTable", create("abc1", index("one", ``)), wrongValues + "Unknown ProjectionType: null"},
		{"TABLE-123 TABLE-389", "CreateTable", wide("wide", "e f g h", "a", "b", "c", "d"), `{"TableDescription":{
			"GlobalSecondaryIndexes":[{"KeySchema":[{"AttributeName":"a"},{},{},{},{"AttributeName":"e"},{},{},{}]}]}}`},
		{"TABLE-123 TABLE-389 TABLE-417", "CreateTable", wide("wide5", "", "a", "b", "c", "d", "e"),
			wrongValues + fmt.Sprintf(schemaMax, "HASH")},
		{"TABLE-123 TABLE-389 TABLE-417", "CreateTable", wide("wide5", "b c d e f", "a"),
			wrongValues + fmt.Sprintf(schemaMax, "RANGE")},
		{"TABLE-357", "UpdateTable", `{"TableName":"abc","KeySchema":[` + fmt.Sprintf(hash, "x") + `]}`, nothingAsked},
		{"TABLE-357", "UpdateTable", `{"TableName":"abc","LocalSecondaryIndexes":[]}`, nothingAsked},
		{"BACKUP-009", "CreateTable", `{"TableName":"full",` + keys + `,"StreamSpecification":{"StreamEnabled":true,` +
			`"StreamViewType":"NEW_AND_OLD_IMAGES"},"SSESpecification":{"Enabled":true},"OnDemandThroughput":{` +
			`"MaxReadRequestUnits":100},"TableClass":"STANDARD_INFREQUENT_ACCESS","Tags":[{"Key":"a","Value":"b"}],` +
			`"GlobalSecondaryIndexes":[` + index("one", `"ProjectionType":"ALL"`) + `]}`, ""},
		{"BACKUP-009", "UpdateTimeToLive", `{"TableName":"full","TimeToLiveSpecification":{"Enabled":true,` +
			`"AttributeName":"ttl"}}`, ""},
		{"BACKUP-009 BACKUP-024", "CreateBackup", `{"TableName":"full","BackupName":"abc"}`, ""},
		{"BACKUP-009 BACKUP-021", "DescribeBackup", `{"BackupArn":"$BackupArn"}`, `{"BackupDescription":{
			"SourceTableFeatureDetails":{"StreamDescription":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"},
			"TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"ttl"},
			"SSEDescription":{"Status":"ENABLED","SSEType":"KMS"},"GlobalSecondaryIndexes":[{"IndexName":"one","IndexArn":null,
			"IndexStatus":null,"ItemCount":null,"WarmThroughput":null}]},"SourceTableDetails":{"TableName":"full",
			"ItemCount":0,"ProvisionedThroughput":{"ReadCapacityUnits":0,"WriteCapacityUnits":0},
			"OnDemandThroughput":{"MaxReadRequestUnits":100},"BillingMode":"PAY_PER_REQUEST"}}}`},
	})

	e.db.Delay = time.Minute
	e.findings([]finding{
		{"TABLE-101", "CreateTable", `{"TableName":"later",` + keys + `,"Tags":[{"Key":"a","Value":"b"}]}`, ""},
		{"TABLE-101", "ListTagsOfResource", `{` + arn + `}`, "ResourceNotFoundException: Requested resource not " +
			"found: ResourceArn: arn:aws:dynamodb:us-east-1:000000000000:table/later not found"},
		{"TABLE-101", "TagResource", `{` + arn + `,"Tags":[{"Key":"a","Value":"c"}]}`,
			"ResourceInUseException: Attempt to change a resource which is still in use: Table is being created: later"},
		{"TABLE-114", "UpdateTimeToLive", `{"TableName":"later","TimeToLiveSpecification":{"Enabled":true,` +
			`"AttributeName":"ttl"}}`, "ResourceNotFoundException: Requested resource not found: Table: later not found"},
		{"BACKUP-001", "CreateBackup", `{"TableName":"later","BackupName":"abc"}`,
			"TableNotFoundException: Table not found: later"},
		{"", "sleep", "2m", ""},
		{"TABLE-101", "ListTagsOfResource", `{` + arn + `}`, `{"Tags":[{"Key":"a","Value":"b"}]}`},
	})
}
