package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFindingsOfBackups(t *testing.T) {
	const (
		noBackup = "BackupNotFoundException: Backup not found: "
		denied   = "AccessDeniedException: Access is denied"
		invalid  = "Invalid Request: BackupArn is not valid"
		plain    = "arn:aws:dynamodb:us-east-1:000000000000:table/HHH"
		at       = "backup/01795262400000-00000000"
	)
	arn := func(old, new string) string {
		return `{"BackupArn":"` + strings.Replace(plain+"/"+at, old, new, 1) + `"}`
	}
	e := newEndpoint(t, tableH).unrandom()
	e.findings([]finding{
		{"TABLE-457", "CreateBackup", `{"TableName":"HHH","BackupName":""}`,
			"2 validation errors detected: Value '' at " +
				"'backupName' failed to satisfy constraint: Member must satisfy regular expression pattern: " +
				"[a-zA-Z0-9_.-]+; " +
				"Value '' at 'backupName' failed to satisfy constraint: Member must have length greater than or equal " +
				"to 3"},
		{"BACKUP-003 BACKUP-004 BACKUP-006", "CreateBackup", `{"TableName":"HHH","BackupName":"one"}`, `{"BackupDetails":{
			"BackupArn":"` + plain + `/` + at + `","BackupStatus":"CREATING","BackupType":"USER","BackupExpiryDateTime":null,
			"BackupCreationDateTime":1795262400}}`},
		{"BACKUP-003 BACKUP-004 BACKUP-017", "DescribeBackup", arn("", ""), `{"BackupDescription":{"BackupDetails":{
			"BackupStatus":"AVAILABLE"},"SourceTableFeatureDetails":{},"SourceTableDetails":{"TableName":"HHH",
			"BillingMode":"PAY_PER_REQUEST","ProvisionedThroughput":{"ReadCapacityUnits":0,"WriteCapacityUnits":0},
			"OnDemandThroughput":null}}}`},
		{"", "sleep", "1s", ""},
		{"BACKUP-011", "CreateBackup", `{"TableName":"HHH","BackupName":"one"}`, ""},
		{"BACKUP-014", "ListBackups", `{"BackupType":"AWS_BACKUP"}`, `{"BackupSummaries":[]}`},
		{"BACKUP-014", "ListBackups", `{"Limit":101}`, "1 validation error detected: Value '101' at 'limit' failed " +
			"to " +
			"satisfy constraint: Member must have value less than or equal to 100"},
		{"BACKUP-014", "ListBackups", `{"TableName":"None"}`, `{"BackupSummaries":[]}`},
		{"BACKUP-014", "ListBackups", `{"TimeRangeLowerBound":1795262400}`, `{"BackupSummaries":[{},{}]}`},
		{"BACKUP-014", "ListBackups", `{"TimeRangeUpperBound":1795262400}`, `{"BackupSummaries":[]}`},
		{"BACKUP-014 BACKUP-027", "ListBackups", `{"Limit":2}`, `{"BackupSummaries":[{},{}],
			"LastEvaluatedBackupArn":null}`},
		{"BACKUP-012", "ListBackups",
			`{"ExclusiveStartBackupArn":"arn:aws:dynamodb:eu-west-1:000000000000:table/HHH/` + at + `"}`,
			"Invalid Request: The supplied ExclusiveStartBackupArn does not match the region"},
		{"BACKUP-012", "DescribeBackup", arn("us-east-1", "eu-west-1"), `{"BackupDescription":{"BackupDetails":{
			"BackupArn":"arn:aws:dynamodb:eu-west-1:000000000000:table/HHH/` + at + `"}}}`},
		{"BACKUP-012", "DescribeBackup", arn("us-east-1", "xx-fake-1"), invalid},
		{"BACKUP-012", "DescribeBackup", arn("arn:aws:", "arn:aws-cn:"), invalid},
		{"BACKUP-012", "DescribeBackup", arn("dynamodb", "s3"), invalid},
		{"BACKUP-012", "DescribeBackup", arn("us-east-1", ""), denied},
		{"BACKUP-012", "DescribeBackup", arn("000000000000", "123456789012"), denied},
		{"BACKUP-012", "DescribeBackup", arn("/"+at, ""), "Invalid Backup ARN"},
		{"TABLE-457", "DescribeBackup", `{"BackupArn":""}`, "Invalid Backup ARN"},
		{"BACKUP-013", "TagResource", `{"ResourceArn":"` + plain + `/` + at + `","Tags":[{"Key":"a","Value":"b"}]}`,
			wrongValues + "Provided Arn is not a DynamoDB resource arn: " + plain + "/" + at},
		{"BACKUP-012 BACKUP-005", "DeleteBackup", arn("us-east-1", "eu-west-1"), `{"BackupDescription":{"BackupDetails":{
			"BackupArn":"arn:aws:dynamodb:eu-west-1:000000000000:table/HHH/` + at + `","BackupStatus":"DELETED"},
			"SourceTableDetails":{}}}`},
		{"BACKUP-005", "DescribeBackup", arn("", ""), noBackup + plain + "/" + at},
		{"BACKUP-005", "DeleteBackup", arn("", ""), noBackup + plain + "/" + at},
		{"BACKUP-007 BACKUP-016", "DeleteTable", `{"TableName":"HHH"}`, ""},
		{"BACKUP-007 BACKUP-016", "ListBackups", `{"TableName":"HHH"}`,
			`{"BackupSummaries":[{"BackupStatus":"AVAILABLE"}]}`},
		{"BACKUP-015", "ListBackups", `{"BackupType":"SYSTEM"}`, `{"BackupSummaries":[]}`},
	})
}

// TestFindingsOfRates sends more requests than the documentation allows. The service accepts them too.
func TestFindingsOfRates(t *testing.T) {
	e := newEndpoint(t, tableH, tablePI)
	e.db.Delay = time.Minute // so that the restores overlap
	e.findings(slices.Concat(
		slices.Repeat([]finding{
			{"BACKUP-019 BACKUP-022", "CreateBackup", `{"TableName":"HHH","BackupName":"one"}`,
				`{"BackupDetails":{"BackupStatus":"CREATING"}}`},
		}, 60),
		[]finding{{"BACKUP-019", "ListBackups", `{"TableName":"HHH"}`,
			`{"BackupSummaries":[` + strings.Repeat(`{"BackupStatus":"AVAILABLE"},`, 59) + `{}]}`}},
		slices.Repeat([]finding{
			{"TABLE-384", "ListTagsOfResource", `{"ResourceArn":"` + findingsARN + `HHH"}`, `{"Tags":[]}`},
		}, 40),
	))
	for i := range 12 {
		name := fmt.Sprintf("New%d", i)
		e.findings([]finding{
			{"TABLE-282", "CreateBackup", `{"TableName":"PPI","BackupName":"one"}`, ""},
			{"TABLE-282 TABLE-349", "RestoreTableFromBackup",
				`{"BackupArn":"$BackupArn","TargetTableName":"` + name + `"}`,
				`{"TableDescription":{"TableStatus":"CREATING"}}`},
			{"TABLE-282", "DescribeTable", `{"TableName":"` + name + `"}`, `{"Table":{"TableStatus":"CREATING",
				"GlobalSecondaryIndexes":[{"IndexName":"byN","IndexStatus":null}]}}`},
		})
	}
}

// TestFindingsOfOverrides checks overrides of a restore. tablePI has provisioned billing and the index byN.
func TestFindingsOfOverrides(t *testing.T) {
	const (
		begin = "Invalid Request: "
		units = `{"ReadCapacityUnits":2,"WriteCapacityUnits":2}`
		byN   = `{"IndexName":"byN","KeySchema":[{"AttributeName":"n","KeyType":"HASH"}],
			"Projection":{"ProjectionType":"ALL"}`
		other = " does not match a secondary index that existed in the source table and cannot be created during " +
			"the restore operation"
	)
	e := newEndpoint(t, tableH, tablePI).unrandom()
	e.answer("CreateBackup", `{"TableName":"HHH","BackupName":"one"}`)
	e.sleep(time.Second)
	e.answer("CreateBackup", `{"TableName":"PPI","BackupName":"two"}`)
	restore := func(table, name, members string) string {
		id := map[string]string{"HHH": "01795262400000-00000000", "PPI": "01795262401000-00000000"}[table]
		return `{"TargetTableName":"` + name + `","BackupArn":"` + findingsARN + table + `/backup/` + id + `"` +
			members + `}`
	}
	onDemand, provisioned := `,"BillingModeOverride":"PAY_PER_REQUEST"`, `,"BillingModeOverride":"PROVISIONED"`
	const op = "RestoreTableFromBackup"
	e.findings([]finding{
		{"TABLE-457", op, restore("HHH", "", ""), "TableName must be at least 3 characters long and at most 255 " +
			"characters long"},
		{"TABLE-457", op, restore("HHH", "New", `,"BillingModeOverride":""`),
			"1 validation error detected: Value '' at " +
				"'billingModeOverride' failed to satisfy constraint: Member must satisfy enum value set: [PROVISIONED, " +
				"PAY_PER_REQUEST]"},
		{"TABLE-457", op, restore("HHH", "New", `,"ProvisionedThroughputOverride":{}`),
			"2 validation errors detected: " +
				"Value null at 'provisionedThroughputOverride.writeCapacityUnits' failed to satisfy constraint: Member " +
				"must not " +
				"be null; Value null at 'provisionedThroughputOverride.readCapacityUnits' failed to satisfy constraint: " +
				"Member " +
				"must not be null"},
		{"TABLE-273", op, restore("HHH", "New", `,"ProvisionedThroughputOverride":`+units),
			begin + "Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED"},
		{"TABLE-273", op, restore("HHH", "New", provisioned),
			begin + "Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED"},
		{"TABLE-273 TABLE-442", op, restore("PPI", "New", onDemand+`,"ProvisionedThroughputOverride":`+units),
			begin + "Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST"},
		{"TABLE-273 TABLE-457", op, restore("HHH", "New", `,"OnDemandThroughputOverride":{"MaxReadRequestUnits":0,
			"MaxWriteRequestUnits":0}`),
			begin + "Requested MaxReadRequestUnits for OnDemandThroughput is outside of valid range"},
		{"TABLE-280", op, restore("PPI", "New", `,"OnDemandThroughputOverride":{"MaxReadRequestUnits":9,
			"MaxWriteRequestUnits":9}`),
			begin + "Cannot override MaxReadRequestUnits for OnDemandThroughput unless BillingModeOverride is " +
				"PAY_PER_REQUEST"},
		{"TABLE-273 TABLE-280", op, restore("HHH", "New", `,"GlobalSecondaryIndexOverride":[`+byN+`}]`), begin +
			"Index byN" + other},
		{"TABLE-280", op, restore("PPI", "New", `,"GlobalSecondaryIndexOverride":[`+byN+`}]`),
			begin + "Must specify provisioned throughput for index byN"},
		{"TABLE-280", op, restore("PPI", "New", onDemand+`,"GlobalSecondaryIndexOverride":[`+byN+`,
			"ProvisionedThroughput":`+units+`}]`),
			begin + "Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST for " +
				"index byN"},
		{"TABLE-280", op, restore("PPI", "New", `,"GlobalSecondaryIndexOverride":[`+
			strings.Replace(byN, "byN", "else", 1)+`,"ProvisionedThroughput":`+units+`}]`),
			`{"TableDescription":{"TableStatus":"CREATING","GlobalSecondaryIndexes":[{"IndexName":"else","IndexStatus":null,
			"ProvisionedThroughput":{"ReadCapacityUnits":2}}]}}`},
		{"TABLE-279", op, restore("PPI", "Without", `,"GlobalSecondaryIndexOverride":[],
			"LocalSecondaryIndexOverride":[]`),
			`{"TableDescription":{"GlobalSecondaryIndexes":null}}`},
		{"TABLE-281", op, restore("PPI", "Units", `,"ProvisionedThroughputOverride":`+units),
			`{"TableDescription":{"ProvisionedThroughput":{"ReadCapacityUnits":2},
			"GlobalSecondaryIndexes":[{"ProvisionedThroughput":{"ReadCapacityUnits":1}}]}}`},
		{"TABLE-281", op, restore("PPI", "Demand", onDemand), `{"TableDescription":{"BillingModeSummary":{"BillingMode":
			"PAY_PER_REQUEST"},"GlobalSecondaryIndexes":[{"ProvisionedThroughput":{"ReadCapacityUnits":0}}]}}`},
		{"TABLE-405", op, restore("HHH", "Maxima", `,"OnDemandThroughputOverride":{"MaxReadRequestUnits":9,
			"MaxWriteRequestUnits":8}`),
			`{"TableDescription":{"OnDemandThroughput":{"MaxReadRequestUnits":9,"MaxWriteRequestUnits":8}}}`},
		{"TABLE-276 TABLE-463", op, restore("HHH", "Plain", `,"SSESpecificationOverride":{"Enabled":false}`),
			`{"TableDescription":{"SSEDescription":null}}`},
		{"TABLE-219", op, restore("HHH", "PPI", ""), "TableAlreadyExistsException: Table already exists: PPI"},
		{"TABLE-274", op, strings.Replace(restore("HHH", "Far", ""), "us-east-1", "eu-west-1", 1),
			begin + "sseSpecificationOverride must be provided for cross-region restores"},
		{"TABLE-274", op, strings.Replace(restore("HHH", "Far", `,"SSESpecificationOverride":{"Enabled":true}`),
			"us-east-1",
			"eu-west-1", 1), `{"TableDescription":{"SSEDescription":{"SSEType":"KMS"}}}`},
		{"TABLE-273", op, restore("None", "New", ""), "Invalid Backup ARN"},
	})
}

// TestFindingsOfRestores checks the states of tables during a restore.
func TestFindingsOfRestores(t *testing.T) {
	const (
		none = "ResourceNotFoundException: Requested resource not found: Table: New not found"
		late = "TableNotFoundException: Table not found: New"
		new  = `{"TableName":"New"`
	)
	e := newEndpoint(t, tableH)
	e.db.Delay = time.Minute
	e.findings([]finding{
		{"BACKUP-003", "CreateBackup", `{"TableName":"HHH","BackupName":"one"}`, ""},
		{"TABLE-216", "RestoreTableFromBackup", `{"TargetTableName":"New","BackupArn":"$BackupArn"}`,
			`{"TableDescription":{"RestoreSummary":{"RestoreInProgress":true,"SourceBackupArn":"$BackupArn"}}}`},
		{"TABLE-216", "DescribeTable", new + `}`, `{"Table":{"TableStatus":"CREATING","RestoreSummary":{
			"RestoreInProgress":true,"SourceTableArn":"` + findingsARN + `HHH","SourceBackupArn":"$SourceBackupArn"}}}`},
		{"TABLE-217", "UpdateTable", new + `,"DeletionProtectionEnabled":true}`, none},
		{"TABLE-217", "UpdateTimeToLive", new + `,"TimeToLiveSpecification":{"Enabled":true,"AttributeName":"x"}}`,
			none},
		{"TABLE-217", "DescribeTimeToLive", new + `}`, none},
		{"TABLE-217", "DescribeContributorInsights", new + `}`, none},
		{"TABLE-217", "GetResourcePolicy", `{"ResourceArn":"` + findingsARN + `New"}`, none},
		{"TABLE-217 TABLE-447", "DescribeContinuousBackups", new + `}`, late},
		{"TABLE-217 TABLE-447", "UpdateContinuousBackups",
			new + `,"PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`, late},
		{"TABLE-217", "CreateBackup", new + `,"BackupName":"one"}`, late},
		{"TABLE-277", "DeleteTable", new + `}`,
			"ResourceInUseException: Attempt to change a resource which is still in use: Table is being created: New"},
		{"TABLE-219", "CreateTable", tableNew,
			"ResourceInUseException: Attempt to change a resource which is still in use: Table is being used: New"},
		{"BACKUP-010", "RestoreTableFromBackup", `{"TargetTableName":"Two","BackupArn":"$SourceBackupArn"}`,
			"BackupInUseException: Backup is being used to restore another table: $SourceBackupArn"},
		{"BACKUP-010 TABLE-277", "DeleteBackup", `{"BackupArn":"$SourceBackupArn"}`,
			"BackupInUseException: Backup is being used to restore table: $SourceBackupArn"},
		{"", "sleep", "1s", ""},
		{"TABLE-219", "CreateBackup", `{"TableName":"HHH","BackupName":"two"}`, ""},
		{"TABLE-219", "RestoreTableFromBackup", `{"TargetTableName":"New","BackupArn":"$BackupArn"}`,
			"TableInUseException: Table: New is already being restored from backup: $SourceBackupArn"},
		{"", "sleep", "1m", ""},
		{"TABLE-216", "DescribeTable", new + `}`, `{"Table":{"TableStatus":"ACTIVE","RestoreSummary":null}}`},
		{"BACKUP-010", "DeleteBackup", `{"BackupArn":"$SourceBackupArn"}`, ""},
		{"TABLE-275", "DeleteTable", new + `}`, ""},
		{"TABLE-275", "CreateBackup", `{"TableName":"HHH","BackupName":"two"}`, ""},
		{"TABLE-275 TABLE-100", "RestoreTableFromBackup", `{"TargetTableName":"New","BackupArn":"$BackupArn"}`,
			"TableAlreadyExistsException: Table already exists: New"},
	})
}

func TestFindingsOfPointInTime(t *testing.T) {
	const (
		latest = `,"UseLatestRestorableTime":true`
		source = `"SourceTableName":"HHH"`
		byARN  = `"SourceTableArn":"` + findingsARN + `HHH"`
		begin  = "Invalid Request: "
		op     = "RestoreTableToPointInTime"
		off    = "PointInTimeRecoveryUnavailableException: Point in time recovery is not enabled for table 'HHH'"
		either = begin + "Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both"
	)
	to := func(name, members string) string { return `{"TargetTableName":"` + name + `",` + members + `}` }
	e := newEndpoint(t, tableH, tableP)
	e.findings([]finding{
		{"TABLE-100", op, to("PPP", source+latest), off},
		{"TABLE-100 TABLE-272", op, to("PPP", source+`,"RestoreDateTime":0`), off},
		{"TABLE-100", op, to("PPP", source), either},
		{"TABLE-272", op, to("PPP", source+`,"UseLatestRestorableTime":false`), either},
		{"TABLE-100 TABLE-098", op, to("PPP", `"SourceTableName":"None"`+latest),
			"TableNotFoundException: Table not found: None"},
		{"TABLE-447", op, to("New", `"SourceTableArn":"`+findingsARN+`None"`+latest),
			"TableNotFoundException: Table not found"},
		{"TABLE-272", op, to("New", source+`,`+byARN+latest), "Must provide exactly one of: sourceTableArn, " +
			"sourceTableName"},
		{"TABLE-272 TABLE-442", op, to("New", `"UseLatestRestorableTime":true`),
			"The parameter 'TableName' is required but was not present in the request"},
		{"TABLE-272", op, to("New", `"SourceTableArn":"arn:aws:s3:::bucket"`+latest),
			"sourceTableArn is not a valid ARN"},
		{"TABLE-442", op, to("New", `"SourceTableArn":"HHH"`+latest), wrongValues + "ARNs must start with 'arn:': HHH"},
		{"TABLE-272", op, to("New", strings.Replace(byARN, "000000000000", "123456789012", 1)+latest),
			"This action is only supported by accounts that match the resource owner’s account."},
		{"TABLE-274", op, to("New", strings.Replace(byARN, "us-east-1", "eu-west-1", 1)+latest),
			begin + "sseSpecificationOverride must be provided for cross-region restores"},
		{"TABLE-100", op, to("bad name!", source+latest), "1 validation error detected: Value 'bad name!' at " +
			"'targetTableName' failed to satisfy constraint: Member must satisfy regular expression pattern: " +
			"[a-zA-Z0-9_.-]+"},
		{"TABLE-086", "UpdateContinuousBackups",
			`{"TableName":"HHH","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`,
			`{"ContinuousBackupsDescription":{"PointInTimeRecoveryDescription":{"EarliestRestorableDateTime":1795262400,
			"LatestRestorableDateTime":1795262400}}}`},
		{"TABLE-100", op, to("PPP", source+latest), "TableAlreadyExistsException: Table already exists: PPP"},
		{"TABLE-100", op, to("HHH", source+latest), "TableAlreadyExistsException: Table already exists: HHH"},
		{"TABLE-100 TABLE-087", op, to("PPP", source+`,"RestoreDateTime":1795262399`), "InvalidRestoreTimeException: " +
			"RestoreDateTime '2026-11-21T11:59:59Z' must be within EarliestRestorableDateTime " +
			"'2026-11-21T12:00:00Z' and " +
			"LatestRestorableDateTime '2026-11-21T12:00:00Z'"},
		{"TABLE-215 TABLE-086", op, to("New", byARN+latest), `{"TableDescription":{"TableStatus":"CREATING",
			"StreamSpecification":null,"TableClassSummary":null,"DeletionProtectionEnabled":false,
			"RestoreSummary":{"SourceBackupArn":null}}}`},
	})
}
