package main

// We maintain these tables by hand. They describe behaviour of the service that is not in its model. Sources:
// "dynalite" is the validation tests of mhart/dynalite and architect/dynalite, which were run against the service;
// "conformance" is paritysuite/dynamodb-conformance, captured in October 2026.

// memberOrder lists members of structures in the order in which the service reports their violations. The fields have
// the same order. Members that are not listed follow in the order of the model.
var memberOrder = map[string][]string{
	// conformance, validation-ordering: the order of the three enums; an empty table name comes after ReturnValues.
	"PutItemInput": {
		"ReturnConsumedCapacity", "ReturnValues", "TableName", "Item", "ReturnItemCollectionMetrics",
		"ConditionalOperator", "Expected",
	},
	// conformance, updateItem "member errors beside a missing Key".
	"UpdateItemInput": {
		"ReturnConsumedCapacity", "TableName", "ReturnItemCollectionMetrics", "ReturnValues", "ConditionalOperator",
		"Key", "Expected",
	},
	// dynalite validations/deleteItem.js; conformance o_del_two_bad_enums.
	"DeleteItemInput": {
		"ReturnConsumedCapacity", "TableName", "ReturnValues", "ReturnItemCollectionMetrics", "Key",
		"ConditionalOperator", "Expected",
	},
	// dynalite validations/getItem.js.
	"GetItemInput": {"ReturnConsumedCapacity", "AttributesToGet", "TableName", "Key"},
	// dynalite test/query.js "incorrect attributes".
	"QueryInput": {
		"Select", "IndexName", "ReturnConsumedCapacity", "QueryFilter", "TableName", "ConditionalOperator",
		"AttributesToGet", "Limit", "KeyConditions",
	},
	// dynalite test/scan.js "incorrect attributes".
	"ScanInput": {
		"Select", "IndexName", "TotalSegments", "ReturnConsumedCapacity", "TableName", "ConditionalOperator",
		"ScanFilter", "Segment", "Limit", "AttributesToGet",
	},
	// conformance, batchOperations: violations of the table names before those of the enum.
	"BatchGetItemInput": {"RequestItems", "ReturnConsumedCapacity"},
	// conformance, batchOperations; dynalite test/batchWriteItem.js.
	"BatchWriteItemInput": {"ReturnConsumedCapacity", "ReturnItemCollectionMetrics", "RequestItems"},
	// conformance, transactions: violations of the token, then those of the enums.
	"TransactWriteItemsInput": {
		"ClientRequestToken", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics", "TransactItems",
	},
	"TransactGetItemsInput": {"ReturnConsumedCapacity", "TransactItems"},
	"TransactWriteItem":     {"ConditionCheck", "Delete", "Put", "Update"},
	"WriteRequest":          {"DeleteRequest", "PutRequest"},
	"KeysAndAttributes":     {"Keys", "AttributesToGet"},
	// dynalite test/createTable.js; conformance, createTable: violations of global indexes before those of local
	// ones.
	"CreateTableInput": {
		"AttributeDefinitions", "TableName", "BillingMode", "ProvisionedThroughput", "KeySchema",
		"GlobalSecondaryIndexes", "LocalSecondaryIndexes",
	},
	"ProvisionedThroughput": {"WriteCapacityUnits", "ReadCapacityUnits"},
	"LocalSecondaryIndex":   {"IndexName", "KeySchema", "Projection"},
	"GlobalSecondaryIndex":  {"IndexName", "KeySchema", "Projection", "ProvisionedThroughput"},
	"UpdateTableInput": {
		"TableName", "BillingMode", "ProvisionedThroughput", "GlobalSecondaryIndexUpdates",
	},
	"GlobalSecondaryIndexUpdate":       {"Update", "Create", "Delete"},
	"UpdateGlobalSecondaryIndexAction": {"IndexName", "ProvisionedThroughput"},
	"CreateGlobalSecondaryIndexAction": {"IndexName", "KeySchema", "Projection", "ProvisionedThroughput"},
	"ListTablesInput":                  {"Limit", "ExclusiveStartTableName"},
	// ack-api-quirks, DDB-TABLE-457.
	"AttributeDefinition": {"AttributeType", "AttributeName"},
}

// alsoRequired lists members that the service requires although they are optional in the model. They are optional
// there because of global tables, or because clients fill them in. Sources: dynalite test/createTable.js; alternator,
// test_import.py.
var alsoRequired = map[string][]string{
	"CreateTableInput": {"AttributeDefinitions", "KeySchema"}, "ImportTableInput": {"ClientToken"},
}

// otherNames lists members that look like the name or ARN of a table in this database but are not. They are ARNs of
// Kinesis streams, and a table in another region.
var otherNames = []string{
	"KinesisStreamingDestinationInput.StreamArn", "UpdateKinesisStreamingDestinationInput.StreamArn",
	"CreateTableInput.GlobalTableSourceArn",
}

// writers are the operations that always write items. Operations that run PartiQL statements are not among them, as a
// statement may only read. collectors read many items by their keys, so their responses may have tens of megabytes.
var (
	writers = []string{
		"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems", "StartBulkPutItems",
	}
	collectors = []string{"BatchGetItem", "TransactGetItems", "BatchExecuteStatement", "ExecuteTransaction"}
)

// undocumented lists members that the service sends although they are not in the model. Sources: dynalite
// actions/createTable.js; dynoxide's captures of CreateTable.
var undocumented = map[string]map[string]string{
	"TableDescription":           {"TableThroughputModeSummary": "TableThroughputModeSummary"},
	"TableThroughputModeSummary": {"TableThroughputMode": "BillingMode"},
	// ack-api-quirks, DDB-EXPORT-008.
	"ExportDescription": {"DestinationType": "String"},
}

// enumOrder lists the values of enumerations in the order of the service's messages. Sources: dynalite's validations;
// for the last three, ack-api-quirks, DDB-TABLE-457 and DDB-IMPORT-003.
var enumOrder = map[string][]string{
	"ReturnConsumedCapacity":      {"INDEXES", "TOTAL", "NONE"},
	"ReturnItemCollectionMetrics": {"SIZE", "NONE"},
	"ReturnValue":                 {"ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"},
	"ConditionalOperator":         {"OR", "AND"},
	"ComparisonOperator": {
		"IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT", "NOT_NULL", "NE", "LE", "BEGINS_WITH", "GE",
		"CONTAINS",
	},
	"Select":              {"SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"},
	"ScalarAttributeType": {"B", "N", "S"},
	"KeyType":             {"HASH", "RANGE"},
	"ProjectionType":      {"ALL", "INCLUDE", "KEYS_ONLY"},
	"BillingMode":         {"PROVISIONED", "PAY_PER_REQUEST"},
	"ShardIteratorType":   {"AFTER_SEQUENCE_NUMBER", "LATEST", "TRIM_HORIZON", "AT_SEQUENCE_NUMBER", "AT_TIMESTAMP"},

	"ContributorInsightsMode": {"THROTTLED_KEYS", "ACCESSED_AND_THROTTLED_KEYS"},
	"InputCompressionType":    {"ZSTD", "NONE", "GZIP"},
	"StreamViewType":          {"OLD_IMAGE", "KEYS_ONLY", "NEW_AND_OLD_IMAGES", "NEW_IMAGE"},
}

// maxLength gives maximum lengths of lists that are not in the model. Only a global index may have a key of more than
// two attributes. Source: dynalite validations/createTable.js; conformance c_ct_3keys.
var maxLength = map[string]int64{
	"CreateTableInput.KeySchema":        2,
	"LocalSecondaryIndex.KeySchema":     2,
	"TableCreationParameters.KeySchema": 2,
}

// minLength gives minimum lengths of strings that are not in the model. Source: ack-api-quirks, DDB-TABLE-457.
var minLength = map[string]int64{"KMSMasterKeyId": 1}

// minTableName gives the minimum length of a table name in an input, if it is not 1. Source: conformance
// s_ct_table_short.
var minTableName = map[string]int64{"CreateTableInput": 3}

// sentInputs lists the inputs that programs of this repository send.
var sentInputs = []string{
	"BatchGetItemInput", "CreateTableInput", "DeleteItemInput", "DeleteTableInput", "DescribeTableInput",
	"DescribeTimeToLiveInput", "ExecuteStatementInput", "GetItemInput", "ListTablesInput", "PutItemInput",
	"QueryInput", "ScanInput", "TransactWriteItemsInput", "UpdateItemInput", "UpdateTableInput",
	"UpdateTimeToLiveInput",
}

// otherHandlers and refused are the operations for which package api has handlers that are not generated. Operations
// in refused always fail, so their outputs need no types. calledOperations get a method with which Go code calls
// them.
var (
	otherHandlers = []string{"GetItem", "Query", "Scan"}
	refused       = []string{
		"CreateGlobalTable", "DescribeGlobalTable", "UpdateGlobalTable", "DescribeGlobalTableSettings",
		"UpdateGlobalTableSettings", "DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling",
	}
	calledOperations = []string{
		"BatchGetItem", "BatchWriteItem", "DeleteItem", "DeleteTable", "DescribeTable", "ListTables", "PutItem",
		"TransactGetItems", "TransactWriteItems", "UpdateItem", "UpdateTable",
	}
)
