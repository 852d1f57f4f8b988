package api_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestFindingsOfReplicas(t *testing.T) {
	const (
		count    = "Unsupported replica count for global tables with MultiRegionConsistency set to STRONG."
		noAction = "There are no actions specified in the Replica Update Action of the request."
		local    = "Cannot add or delete the local region through ReplicaUpdates. Use CreateTable, DeleteTable, or " +
			"UpdateTable as required."
		old = wrongValues + "DynamoDB global tables version 2017.11.29 is not supported. We recommend using " +
			"DynamoDB global " +
			"tables version 2019.11.21, instead of version 2017.11.29 (Legacy)."
		none   = "Global table with name: 'HHH' does not exist."
		short  = "TableName must be at least 3 characters long and at most 255 characters long"
		strong = `,"MultiRegionConsistency":"STRONG"`

		twoWitnesses = "1 validation error detected: Value '[GlobalTableWitnessGroupUpdate(create=" +
			"CreateGlobalTableWitnessGroupMemberAction(regionName=us-west-2), delete=null), " +
			"GlobalTableWitnessGroupUpdate(create=CreateGlobalTableWitnessGroupMemberAction(regionName=eu-west-1), " +
			"delete=null)]' at 'globalTableWitnessUpdates' failed to satisfy constraint: Member must have length " +
			"less than or equal to 1"
	)
	replicas := func(list, rest string) string {
		return `{"TableName":"HHH","ReplicaUpdates":[` + list + `]` + rest + `}`
	}
	action := func(kind, region string) string { return fmt.Sprintf(`{%q:{"RegionName":%q}}`, kind, region) }
	witness := func(list string) string { return `,"GlobalTableWitnessUpdates":[` + list + `]` }
	unsupported := func(region string) string {
		return "Region " + region + " is not supported. The latest version of global tables are only supported in " +
			"the " +
			"following regions: [us-east-1]"
	}
	settings := func(mode string) string {
		return `{"TableName":"HHH","GlobalTableSettingsReplicationMode":"` + mode + `"}`
	}
	global := func(rest string) string { return `{"GlobalTableName":"HHH"` + rest + `}` }
	const op = "UpdateTable"
	e := newEndpoint(t, tableH)
	e.findings([]finding{
		{"TABLE-223 TABLE-457", op, replicas(`{}`, ""), noAction},
		{"TABLE-223 TABLE-294", op, replicas(action("Update", "eu-west-1"), ""), noAction},
		{"TABLE-457", op, replicas(`{"Update":{}}`, ""), "1 validation error detected: Value null at " +
			"'replicaUpdates.1.member.update.regionName' failed to satisfy constraint: Member must not be null"},
		{"TABLE-223", op, replicas(action("Create", "us-east-1"), ""), local},
		{"TABLE-223", op, replicas(action("Delete", "us-east-1"), ""), local},
		{"TABLE-223 TABLE-203", op, replicas(action("Create", "us-fake-1"), ""), unsupported("us-fake-1")},
		{"TABLE-223", op, replicas(action("Create", "EU-WEST-1"), ""), unsupported("EU-WEST-1")},
		{"TABLE-457", op, replicas(action("Delete", ""), ""), unsupported("")},
		{"TABLE-223", op, replicas(`{"Create":{"RegionName":"eu-west-1"},"Delete":{"RegionName":"eu-west-1"}}`, ""),
			"Update table operation with more than one type of replica actions not allowed."},
		{"TABLE-442", op, replicas(action("Create", "eu-west-1")+","+action("Create", "eu-west-2"), ""),
			"Update table operation with more than one create or delete replica actions not allowed"},
		{"TABLE-307", op, replicas(action("Delete", "eu-west-1"), ""), "Update global table operation failed " +
			"because one or more " +
			"replicas were not part of the global table. Please retry the request without these replicas: " +
			"[eu-west-1]."},
		{"TABLE-224", op, replicas(action("Create", "eu-west-1"), `,"DeletionProtectionEnabled":true`), wrongValues +
			"Replica modification must be the only operation in the request"},
		{"TABLE-257", op, replicas(action("Create", "us-east-2"), strong), count},
		{"TABLE-257", op, replicas(action("Create", "us-east-2"), witness(action("Create", "us-west-2"))),
			"MultiRegionConsistency must be set as STRONG when GlobalTableWitnessUpdates parameter is present."},
		{"TABLE-257", op, replicas(action("Create", "us-east-2"), strong+witness(action("Create", "us-east-2"))),
			"Cannot target multiple regions with the same action"},
		{"TABLE-257", op, replicas(action("Create", "us-east-2"), strong+witness(action("Create", "us-east-1"))),
			"Cannot add a witness in the same region as an existing replica when creating a global table with " +
				"MultiRegionConsistency set to STRONG."},
		{"TABLE-257", op, replicas(action("Create", "us-west-1"), strong+witness(action("Create", "us-west-2"))),
			"Unsupported Region(s) specified for global tables with MultiRegionConsistency set to STRONG: " +
				"[us-west-1]."},
		{"TABLE-257", op, replicas(action("Create", "us-east-2"), strong+witness(action("Create", "us-west-2"))+
			`,"DeletionProtectionEnabled":true`), wrongValues + "Requests that modify replicas or witnesses must " +
			"not also modify other fields"},
		{"TABLE-457", op, `{"TableName":"HHH"` + witness(`{}`) + `}`, nothingAsked},
		{"TABLE-457", op, `{"TableName":"HHH"` + witness(action("Create", "")) + `}`, nothingAsked},
		{"TABLE-257", op, `{"TableName":"HHH"` + strong + witness(action("Create", "us-east-2")) + `}`,
			strings.Replace(nothingAsked, "MultiRegionConsistency, ", "", 1)},
		{"TABLE-257 TABLE-414 TABLE-428", op, replicas(action("Create", "us-east-2"),
			strong+witness(action("Create", "us-west-2")+","+action("Create", "eu-west-1"))), twoWitnesses},
		{"TABLE-449", op, `{"TableName":"HHH"}`, nothingAsked},
		{"TABLE-449", op, `{"TableName":"HHH"` + strong + `}`,
			strings.Replace(nothingAsked, "MultiRegionConsistency, ", "", 1)},
		{"TABLE-048", op, settings("ENABLED"), ""},
		{"TABLE-048", op, settings("ENABLED"), ""},
		{"TABLE-048", "DescribeTable", `{"TableName":"HHH"}`,
			`{"Table":{"TableStatus":"ACTIVE","GlobalTableSettingsReplicationMode":"ENABLED"}}`},
		{"TABLE-048", op, settings("DISABLED"), ""},
		{"TABLE-048", op, settings("DISABLED"), ""},
		{"TABLE-442 TABLE-048", op, settings("ENABLED_WITH_OVERRIDES"),
			"Value 'ENABLED_WITH_OVERRIDES' at 'GlobalTableSettingsReplicationMode' failed to satisfy constraint: " +
				"Only " +
				"ENABLED and DISABLED settings replication are supported for a Regional Table."},
		{"TABLE-187 TABLE-446", "DescribeTableReplicaAutoScaling", `{"TableName":"HHH"}`,
			"ResourceNotFoundException: " + none},
		{"TABLE-253 TABLE-446", "UpdateTableReplicaAutoScaling", `{"TableName":"HHH"}`,
			"ResourceNotFoundException: " + none},
		{"GLOBALTABLE-003", "CreateGlobalTable", global(""), "1 validation error detected: Value null at " +
			"'replicationGroup' failed to satisfy constraint: Member must not be null"},
		{"GLOBALTABLE-002 GLOBALTABLE-005", "CreateGlobalTable",
			global(`,"ReplicationGroup":[{"RegionName":"us-east-1"}]`), old},
		{"GLOBALTABLE-003", "CreateGlobalTable",
			`{"GlobalTableName":"None","ReplicationGroup":[{"RegionName":"us-east-1"}]}`, old},
		{"GLOBALTABLE-004", "DescribeGlobalTable", global(""), "GlobalTableNotFoundException: Global table not " +
			"found: " + none},
		{"GLOBALTABLE-004 GLOBALTABLESETTINGS-001", "DescribeGlobalTableSettings", global(""),
			"GlobalTableNotFoundException: " + none},
		{"GLOBALTABLE-004", "UpdateGlobalTable", global(`,"ReplicaUpdates":[]`),
			"One or more parameter values were invalid"},
		{"GLOBALTABLE-004", "UpdateGlobalTable", global(`,"ReplicaUpdates":[` + action("Create", "eu-west-1") +
			`]`), old},
		{"GLOBALTABLE-004", "UpdateGlobalTable", global(`,"ReplicaUpdates":[` + action("Delete", "eu-west-1") + `]`),
			"GlobalTableNotFoundException: " + none},
		{"TABLE-457", "UpdateGlobalTable", global(`,"ReplicaUpdates":[{}]`),
			"One or more parameter values were invalid"},
		{"GLOBALTABLE-004", "UpdateGlobalTableSettings", global(`,"GlobalTableBillingMode":"PROVISIONED"`),
			"GlobalTableNotFoundException: " + none},
		{"TABLE-457", "UpdateGlobalTableSettings", global(`,"ReplicaSettingsUpdate":[{}]`),
			"1 validation error detected: Value null " +
				"at 'replicaSettingsUpdate.1.member.regionName' failed to satisfy constraint: Member must not be null"},
		{"GLOBALTABLE-004", "ListGlobalTables", `{"RegionName":"us-east-1","Limit":1}`, `{"GlobalTables":[],
			"LastEvaluatedGlobalTableName":null}`},
		{"TABLE-457", "DescribeGlobalTable", `{"GlobalTableName":""}`, short},
		{"TABLE-457", "DescribeGlobalTableSettings", `{"GlobalTableName":""}`, short},
	})
}

func TestFindingsOfIndexes(t *testing.T) {
	const (
		op   = "CreateTable"
		all  = `"Projection":{"ProjectionType":"ALL"}`
		many = "LimitExceededException: Subscriber limit exceeded: Only 1 online index can be created or deleted " +
			"simultaneously per table"
		twice = wrongValues + "Only one global secondary index update per index is allowed simultaneously. Index: "
	)
	def := func(names string) string {
		var list []string
		for _, n := range strings.Fields(names) {
			list = append(list, `{"AttributeName":"`+n+`","AttributeType":"S"}`)
		}
		return `"AttributeDefinitions":[` + strings.Join(list, ",") + `]`
	}
	keys := func(hash, sort string) string {
		key := `"KeySchema":[{"AttributeName":"` + hash + `","KeyType":"HASH"}`
		if sort != "" {
			key += `,{"AttributeName":"` + sort + `","KeyType":"RANGE"}`
		}
		return key + `]`
	}
	index := func(name, hash, sort string) string {
		return `{"IndexName":"` + name + `",` + keys(hash, sort) + `,` + all + `}`
	}
	create := func(defs, key, rest string) string {
		return `{"TableName":"New","BillingMode":"PAY_PER_REQUEST",` + def(defs) + `,` + key + rest + `}`
	}
	global := func(list ...string) string { return `,"GlobalSecondaryIndexes":[` + strings.Join(list, ",") + `]` }
	local := func(list ...string) string { return `,"LocalSecondaryIndexes":[` + strings.Join(list, ",") + `]` }
	repeat := func(n int, hash, sort string) (list []string) {
		for i := range n {
			list = append(list, index(fmt.Sprintf("x%02d", i), hash, sort))
		}
		return list
	}
	update := func(list ...string) string {
		return `{"TableName":"RRR",` + def("c d") + `,"GlobalSecondaryIndexUpdates":[` + strings.Join(list, ",") + `]}`
	}
	drop := func(name string) string { return `{"Delete":{"IndexName":"` + name + `"}}` }
	add := func(name string) string { return `{"Create":` + index(name, "c", "") + `}` }
	e := newEndpoint(t, tableR)
	e.findings([]finding{
		{"TABLE-129", op, create("a", keys("a", ""), global(repeat(21, "a", "")...)),
			wrongValues + "GlobalSecondaryIndex count exceeds the per-table limit of 20"},
		{"TABLE-129", op, create("a b", keys("a", "b"), local(repeat(6, "a", "b")...)),
			wrongValues + "Number of LocalSecondaryIndexes exceeds per-table limit of 5"},
		{"TABLE-129", op, create("a", keys("a", ""), global()), wrongValues +
			"List of GlobalSecondaryIndexes is empty"},
		{"TABLE-129", op, create("a b", keys("a", "b"), local()), wrongValues +
			"List of LocalSecondaryIndexes is empty"},
		{"TABLE-129", op, create("a b", keys("a", ""), local(index("one", "a", "b"))), wrongValues +
			"Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"},
		{"TABLE-129", op, create("a b", keys("a", "b"), local(index("one", "b", "a"))), wrongValues +
			"Index KeySchema does not have the same leading hash key as table KeySchema for index: one. index hash " +
			"key: b, table hash key: a"},
		{"TABLE-129", op, create("a b", keys("a", "b"), local(index("one", "a", ""))), wrongValues +
			"Index KeySchema does not have a range key for index: one"},
		{"TABLE-129", op, create("a", keys("a", ""), global(index("dup", "a", ""), index("dup", "a", ""))),
			wrongValues + "Duplicate index name: dup"},
		{"TABLE-127", op, create("a b", keys("a", ""), ""), wrongValues +
			"Number of attributes in KeySchema does not exactly match number of attributes defined in " +
			"AttributeDefinitions"},
		{"TABLE-127", op, create("a q", keys("a", ""), global(index("one", "a", ""))), wrongValues +
			"Some AttributeDefinitions are not used. AttributeDefinitions: [a, q], keys used: [a]"},
		{"TABLE-127", op, create("a", keys("a", ""), global(index("one", "q", ""))), wrongValues +
			"Some index key attributes are not defined in AttributeDefinitions. Keys: [q], AttributeDefinitions: [a]"},
		{"TABLE-128", op, create("a", keys("a", ""), `,"ProvisionedThroughput":{"ReadCapacityUnits":1,
			"WriteCapacityUnits":1}`), wrongValues +
			"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"},
		{"TABLE-128", op, create("a", keys("a", ""), global(strings.Replace(index("one", "a", ""), all, all+
			`,"OnDemandThroughput":{"MaxReadRequestUnits":0}`, 1))), wrongValues +
			"Requested MaxReadRequestUnits for OnDemandThroughput for index : one is outside of valid range"},
		{"TABLE-457", op, `{"TableName":"New",` + keys("a", "") + `,"AttributeDefinitions":[{}]}`,
			"2 validation errors detected: Value null at " +
				"'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: Member must not be null; " +
				"Value null at " +
				"'attributeDefinitions.1.member.attributeName' failed to satisfy constraint: Member must not be null"},
		{"TABLE-457", op, `{"TableName":"New",` + def("a") + `,"KeySchema":[{}]}`,
			"2 validation errors detected: Value null at " +
				"'keySchema.1.member.attributeName' failed to satisfy constraint: Member must not be null; Value null at " +
				"'keySchema.1.member.keyType' failed to satisfy constraint: Member must not be null"},
		{"TABLE-457", op, create("a", keys("a", ""), global(strings.Replace(index("one", "a", ""), all,
			`"Projection":{}`, 1))),
			wrongValues + "Unknown ProjectionType: null"},
		{"TABLE-457", op, create("a", keys("a", ""), `,"StreamSpecification":{"StreamEnabled":true,
			"StreamViewType":""}`),
			"1 validation error detected: Value '' at 'streamSpecification.streamViewType' failed to satisfy " +
				"constraint: Member must " +
				"satisfy enum value set: [OLD_IMAGE, KEYS_ONLY, NEW_AND_OLD_IMAGES, NEW_IMAGE]"},
		{"TABLE-457", op, create("a", keys("a", ""), `,"SSESpecification":{"Enabled":true,"KMSMasterKeyId":""}`),
			"1 validation error detected: Value '' at 'sSESpecification.kMSMasterKeyId' failed to satisfy " +
				"constraint: Member must " +
				"have length greater than or equal to 1"},
		{"TABLE-456", op, create("a", keys("a", ""), global(strings.Replace(index("one", "a", ""), all, all+
			`,"WarmThroughput":{},"OnDemandThroughput":{}`, 1))), `{"TableDescription":{"TableStatus":"CREATING"}}`},
		{"TABLE-456", "UpdateTable", update(`{"Update":{"IndexName":"index3","WarmThroughput":{}}}`), wrongValues +
			"WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified for " +
			"index: index3"},
		{"TABLE-456", "UpdateTable", strings.Replace(update(`{"Update":{"IndexName":"ghost","WarmThroughput":{}}}`),
			"RRR", "None", 1), wrongValues +
			"WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified for " +
			"index: ghost"},
		{"TABLE-456", "UpdateTable", update(`{"Update":{"IndexName":"index3"}}`), wrongValues +
			"The only Updates for index: index3 " +
			"when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput"},
		{"TABLE-456", "UpdateTable", update(`{"Update":{"IndexName":"index3",
			"OnDemandThroughput":{"MaxReadRequestUnits":-1,"MaxWriteRequestUnits":-1}}}`), ""},
		{"TABLE-160", "UpdateTable", update(drop("index3"), add("index3")), twice + "index3"},
		{"TABLE-160", "UpdateTable", update(`{}`), wrongValues + "One of GlobalSecondaryIndexUpdate.Update, " +
			"GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null"},
		{"TABLE-159", "UpdateTable", update(drop("index3"), drop("index4")), many},
		{"TABLE-159 TABLE-174", "UpdateTable", update(drop("index3"), add("index5")), many},
		{"TABLE-162", "UpdateTable", strings.Replace(update(add("index5")), def("c d")+",", "", 1),
			wrongValues + "AttributeDefinitions is not specified for index: index5"},
		{"TABLE-137", "UpdateTable", update(add("index1")), "Attempting to create an index which already exists"},
		{"TABLE-151", "UpdateTable", update(drop("index4")), ""},
		{"TABLE-380 TABLE-446", "UpdateTable", update(drop("index4")),
			"ResourceNotFoundException: Requested resource not found: Index index4 for table RRR"},
	})
}
