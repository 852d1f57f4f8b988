package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

const arnR = "arn:aws:dynamodb:us-east-1:000000000000:table/RRR"

// fill puts n items into RRR.
func (e *endpoint) fill(n int) {
	e.t.Helper()
	for i := range n {
		e.answer("PutItem",
			fmt.Sprintf(`{"TableName":"RRR","Item":{"a":{"S":"%d"},"b":{"S":"b"},"c":{"S":"c"},`+
				`"d":{"S":"d"},"f":{"S":"%d"}}}`, i%7, i))
		e.answer("PutItem",
			fmt.Sprintf(`{"TableName":"RRR","Item":{"a":{"S":"%d"},"b":{"S":"%d"},"c":{"S":"c"}}}`, i%7, i))
	}
}

// contents returns the items of a table and of its indexes, in scan order.
func (e *endpoint) contents(name string, indexes ...string) string {
	e.t.Helper()
	out := e.answer("Scan", `{"TableName":"`+name+`"}`)
	for _, ix := range indexes {
		out += e.answer("Scan", `{"TableName":"`+name+`","IndexName":"`+ix+`"}`)
	}
	return out
}

// backup creates a backup of a table and returns its ARN.
func (e *endpoint) backup(name string) string {
	e.t.Helper()
	var out struct {
		BackupDetails struct{ BackupArn, BackupStatus string }
	}
	e.call("CreateBackup", `{"TableName":"`+name+`","BackupName":"copy"}`, &out)
	if out.BackupDetails.BackupStatus != "CREATING" {
		e.t.Errorf("the new backup is %s", out.BackupDetails.BackupStatus)
	}
	return out.BackupDetails.BackupArn
}

// Source: quirks (see op_backup.go).
func TestBackups(t *testing.T) {
	e := newEndpoint(t, tableH,
		with(tableR, `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"},`+
			`"SSESpecification":{"Enabled":true}`))
	e.fill(20)
	e.answer("UpdateTimeToLive", `{"TableName":"RRR","TimeToLiveSpecification":{"AttributeName":"t","Enabled":true}}`)
	arn := e.backup("RRR")
	if prefix := fmt.Sprintf("%s/backup/%014d-", arnR, e.now.UnixMilli()); !strings.HasPrefix(arn, prefix) ||
		len(arn) != len(prefix)+8 {
		t.Errorf("ARN %s", arn)
	}
	var d struct{ BackupDescription map[string]map[string]any }
	e.call("DescribeBackup", `{"BackupArn":"`+arn+`"}`, &d)
	if got := d.BackupDescription["BackupDetails"]; got["BackupStatus"] != "AVAILABLE" || got["BackupType"] != "USER" ||
		got["BackupName"] != "copy" || got["BackupExpiryDateTime"] != nil {
		t.Errorf("details %v", got)
	}
	if got := d.BackupDescription["SourceTableDetails"]; got["TableName"] != "RRR" || got["ItemCount"] != 27.0 ||
		got["BillingMode"] != "PAY_PER_REQUEST" {
		t.Errorf("source %v", got)
	}
	f := d.BackupDescription["SourceTableFeatureDetails"]
	for _, member := range []string{
		"StreamDescription", "TimeToLiveDescription", "SSEDescription", "GlobalSecondaryIndexes",
		"LocalSecondaryIndexes",
	} {
		if f[member] == nil {
			t.Errorf("features lack %s: %v", member, f)
		}
	}
	plain := e.backup("HHH")
	e.call("DescribeBackup", `{"BackupArn":"`+plain+`"}`, &d)
	if f := d.BackupDescription["SourceTableFeatureDetails"]; len(f) != 0 {
		t.Errorf("features %v", f)
	}

	list := func(rest string, want int) (last string) {
		t.Helper()
		var out struct {
			BackupSummaries        []struct{ BackupArn string }
			LastEvaluatedBackupArn string
		}
		e.call("ListBackups", `{`+rest+`}`, &out)
		if len(out.BackupSummaries) != want {
			t.Errorf("ListBackups {%s}: %d backups, want %d", rest, len(out.BackupSummaries), want)
		}
		return out.LastEvaluatedBackupArn
	}
	e.sleep(time.Hour)
	third := e.backup("RRR")
	list("", 3)
	list(`"TableName":"RRR"`, 2)
	list(`"TableName":"`+arnR+`","BackupType":"ALL"`, 2)
	list(`"BackupType":"SYSTEM"`, 0)
	list(`"TableName":"None"`, 0)
	at := e.now.Unix()
	list(fmt.Sprintf(`"TimeRangeLowerBound":%d`, at), 1)
	list(fmt.Sprintf(`"TimeRangeUpperBound":%d`, at), 2)
	list(fmt.Sprintf(`"TimeRangeUpperBound":%d.001`, at), 3)
	last := list(`"Limit":2`, 2)
	if last = list(`"Limit":2,"ExclusiveStartBackupArn":"`+last+`"`, 1); last != "" {
		t.Errorf("the last page continues after %s", last)
	}
	e.invalid("ListBackups", `{"TimeRangeLowerBound":2,"TimeRangeUpperBound":1}`,
		wrongValues+"Time range lower bound must be less than or equal to upper bound")

	// Backups outlive their table.
	want := e.contents("RRR", "index1", "index2", "index3", "index4")
	e.answer("DeleteTable", `{"TableName":"RRR"}`)
	list(`"TableName":"RRR"`, 2)
	e.answer("RestoreTableFromBackup", `{"TargetTableName":"RRR","BackupArn":"`+third+`"}`)
	if got := e.contents("RRR", "index1", "index2", "index3", "index4"); got != want {
		t.Errorf("restored\n%s\nwant\n%s", got, want)
	}

	if out := e.answer("DeleteBackup", `{"BackupArn":"`+arn+`"}`); !strings.Contains(out, `"BackupStatus":"DELETED"`) ||
		!strings.Contains(out, `"StreamDescription"`) {
		t.Error(out)
	}
	gone := "BackupNotFoundException: Backup not found: " + arn
	for _, op := range []string{"DescribeBackup", "DeleteBackup"} {
		e.refuse(op, `{"BackupArn":"`+arn+`"}`, gone)
		e.invalid(op, `{"BackupArn":"`+arnR+`/index/some"}`, "Invalid Backup ARN")
		e.invalid(op, `{"BackupArn":"`+strings.Repeat("x", 40)+`"}`, "Invalid Backup ARN")
		e.invalid(op, `{"BackupArn":"`+strings.Replace(arn, "arn:aws:", "arn:aws-cn:", 1)+`"}`,
			"Invalid Request: BackupArn is not valid")
		e.refuse(op, `{"BackupArn":"`+strings.Replace(arn, "000000000000", "123456789012", 1)+`"}`,
			"AccessDeniedException: Access is denied")
	}
	e.refuse("RestoreTableFromBackup", `{"TargetTableName":"Other","BackupArn":"`+arn+`"}`, gone)
	e.refuse("CreateBackup", `{"TableName":"None","BackupName":"copy"}`,
		"TableNotFoundException: Table not found: None")
}

// Source: quirks (see op_restore.go).
func TestRestoreFromBackup(t *testing.T) {
	e := newEndpoint(t, with(tableR,
		`"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"},"SSESpecification":{"Enabled":true},
		"TableClass":"STANDARD_INFREQUENT_ACCESS","DeletionProtectionEnabled":true,
		"OnDemandThroughput":{"MaxReadRequestUnits":100,"MaxWriteRequestUnits":50},"Tags":[{"Key":"k","Value":"v"}]`))
	e.fill(10)
	arn := e.backup("RRR")
	want := e.contents("RRR", "index1", "index2", "index3", "index4")
	e.fill(30) // too late for the backup
	restore := func(name, rest string) string {
		return `{"TargetTableName":"` + name + `","BackupArn":"` + arn + `"` + rest + `}`
	}
	out := e.answer("RestoreTableFromBackup", restore("New", ""))
	for _, part := range []string{
		`"TableStatus":"CREATING"`, `"SourceBackupArn":"` + arn + `"`, `"SourceTableArn":"` + arnR + `"`,
		`"RestoreInProgress":true`,
	} {
		if !strings.Contains(out, part) {
			t.Errorf("no %s in %s", part, out)
		}
	}
	if got := e.contents("New", "index1", "index2", "index3", "index4"); got != want {
		t.Errorf("restored\n%s\nwant\n%s", got, want)
	}
	if got := e.described(
		"New", "TableStatus", "ItemCount", "DeletionProtectionEnabled", "OnDemandThroughput", "RestoreSummary",
		"StreamSpecification", "TableClassSummary",
	); got !=
		`{"DeletionProtectionEnabled":false,"ItemCount":17,"OnDemandThroughput":{"MaxReadRequestUnits":100,`+
			`"MaxWriteRequestUnits":50},"TableStatus":"ACTIVE"}` {
		t.Errorf("the restored table is described as %s", got)
	}
	if got := e.described("New", "SSEDescription"); !strings.Contains(got, "ENABLED") {
		t.Errorf("the restored table is described as %s", got)
	}
	e.want("ListTagsOfResource", `{"ResourceArn":"`+strings.Replace(arnR, "RRR", "New", 1)+`"}`, `{"Tags":[]}`)
	e.refuse("RestoreTableFromBackup", restore("RRR", ""), "TableAlreadyExistsException: Table already exists: RRR")
	// The indexes of the restored table follow its writes.
	e.answer("PutItem", `{"TableName":"New","Item":{"a":{"S":"x"},"b":{"S":"x"},"c":{"S":"x"}}}`)
	if out := e.answer(
		"Query", `{"TableName":"New","IndexName":"index3","KeyConditionExpression":"c = `+
			`:c","ExpressionAttributeValues":{":c":{"S":"x"}}}`,
	); !strings.Contains(out, `"Count":1`) {
		t.Error(out)
	}

	for rest, want := range map[string]string{
		`"ProvisionedThroughputOverride":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`: "Invalid Request: Cannot override " +
			"ProvisionedThroughput unless BillingMode is PROVISIONED",
		`"BillingModeOverride":"PROVISIONED"`: "Invalid Request: Must override ProvisionedThroughput if " +
			"BillingMode is overridden to PROVISIONED",
		`"GlobalSecondaryIndexOverride":[{"IndexName":"own","KeySchema":[{"AttributeName":"d","KeyType":"HASH"}],` +
			`"Projection":{"ProjectionType":"ALL"}}]`: "Invalid Request: Index own does not match a secondary index that existed in " +
			"the source table and cannot be created during the restore operation",
	} {
		e.invalid("RestoreTableFromBackup", restore("Other", ","+rest), want)
	}
	e.answer("RestoreTableFromBackup",
		restore("Bare", `,"GlobalSecondaryIndexOverride":[],"LocalSecondaryIndexOverride":[],`+
			`"SSESpecificationOverride":{"Enabled":false}`))
	if got := e.described(
		"Bare", "GlobalSecondaryIndexes", "LocalSecondaryIndexes", "SSEDescription", "AttributeDefinitions",
	); got !=
		`{"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"b",`+
			`"AttributeType":"S"}]}` {
		t.Errorf("without indexes: %s", got)
	}
	e.answer("RestoreTableFromBackup", restore("Paid",
		`,"BillingModeOverride":"PROVISIONED","ProvisionedThroughputOverride":{"ReadCapacityUnits":3,
		"WriteCapacityUnits":2},
		"GlobalSecondaryIndexOverride":[{"IndexName":"renamed","KeySchema":[{"AttributeName":"c","KeyType":"HASH"}],
		"Projection":{"ProjectionType":"ALL"},
		"ProvisionedThroughput":{"ReadCapacityUnits":3,"WriteCapacityUnits":2}}]`))
	if got := e.answer(
		"Scan", `{"TableName":"Paid","IndexName":"renamed","Select":"COUNT"}`,
	); got != `{"Count":17,"ScannedCount":17}` {
		t.Errorf("the renamed index has %s", got)
	}
	if got := e.described(
		"Paid", "ProvisionedThroughput", "OnDemandThroughput",
	); !strings.Contains(got, `"ReadCapacityUnits":3`) || strings.Contains(got, "OnDemand") {
		t.Errorf("with other throughput: %s", got)
	}
}

// Source: quirks (see op_restore.go).
func TestPointInTimeRecovery(t *testing.T) {
	e := newEndpoint(t, tableR)
	const off = `{"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED",` +
		`"PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"DISABLED"}}}`
	on := func(days int) string {
		return fmt.Sprintf(`{"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED",
			"PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"ENABLED",
			"RecoveryPeriodInDays":%d,"EarliestRestorableDateTime":%d,"LatestRestorableDateTime":%[2]d}}}`, days,
			e.now.Unix())
	}
	update := func(spec string) string {
		return `{"TableName":"RRR","PointInTimeRecoverySpecification":{` + spec + `}}`
	}
	const describe = `{"TableName":"RRR"}`
	restore := func(rest string) string { return `{"TargetTableName":"New","SourceTableName":"RRR",` + rest + `}` }
	const latest = `"UseLatestRestorableTime":true`
	e.want("DescribeContinuousBackups", describe, off)
	e.want("UpdateContinuousBackups", update(`"PointInTimeRecoveryEnabled":false`), off)
	e.refuse("RestoreTableToPointInTime", restore(latest),
		"PointInTimeRecoveryUnavailableException: Point in time recovery is not enabled for table 'RRR'")
	e.want("UpdateContinuousBackups", update(`"PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":7`), on(7))
	e.want("UpdateContinuousBackups", update(`"PointInTimeRecoveryEnabled":true`), on(7))
	e.invalid("UpdateContinuousBackups", update(`"PointInTimeRecoveryEnabled":false,"RecoveryPeriodInDays":7`),
		"Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.")
	e.want("UpdateContinuousBackups", update(`"PointInTimeRecoveryEnabled":false`), off)
	e.want("UpdateContinuousBackups", update(`"PointInTimeRecoveryEnabled":true`), on(35))
	e.want("DescribeContinuousBackups", describe, on(35))

	e.fill(10)
	want := e.contents("RRR", "index1", "index2", "index3", "index4")
	e.answer("RestoreTableToPointInTime", restore(latest))
	if got := e.contents("New", "index1", "index2", "index3", "index4"); got != want {
		t.Errorf("restored\n%s\nwant\n%s", got, want)
	}
	e.answer("DeleteTable", `{"TableName":"New"}`)
	e.answer("RestoreTableToPointInTime",
		`{"TargetTableName":"New","SourceTableArn":"`+arnR+fmt.Sprintf(`","RestoreDateTime":%d}`, e.now.Unix()))
	e.refuse("RestoreTableToPointInTime", restore(latest), "TableAlreadyExistsException: Table already exists: New")
	for _, seconds := range []int64{-3600, -1, 1} {
		at := e.now.Add(time.Duration(seconds) * time.Second)
		e.refuse("RestoreTableToPointInTime",
			restore(fmt.Sprintf(`"RestoreDateTime":%d`,
				at.Unix())), fmt.Sprintf("InvalidRestoreTimeException: RestoreDateTime '%s' must be within "+
				"EarliestRestorableDateTime '%s' and LatestRestorableDateTime '%[2]s'",
				at.Format(time.RFC3339), e.now.Format(time.RFC3339)))
	}
	e.invalid("RestoreTableToPointInTime", restore(latest+`,"RestoreDateTime":1`),
		"Invalid Request: Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time restore "+
			"request. Please specify only one of them")
	e.invalid("RestoreTableToPointInTime", restore(`"UseLatestRestorableTime":false`),
		"Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both")
	e.invalid("RestoreTableToPointInTime", restore(latest+`,"SourceTableArn":"`+arnR+`"`),
		"Must provide exactly one of: sourceTableArn, sourceTableName")
	e.invalid("RestoreTableToPointInTime", `{"TargetTableName":"New",`+latest+`}`,
		"The parameter 'TableName' is required but was not present in the request")
	e.invalid("RestoreTableToPointInTime", `{"TargetTableName":"New","SourceTableArn":"arn:aws:s3:::RRR",`+latest+`}`,
		"sourceTableArn is not a valid ARN")
	for op, body := range map[string]string{
		"RestoreTableToPointInTime": strings.Replace(restore(latest), "RRR", "None", 1),
		"DescribeContinuousBackups": `{"TableName":"None"}`,
		"UpdateContinuousBackups":   strings.Replace(update(`"PointInTimeRecoveryEnabled":true`), "RRR", "None", 1),
	} {
		e.refuse(op, body, "TableNotFoundException: Table not found: None")
	}

	// A deleted table leaves a system backup for 35 days.
	e.answer("DeleteTable", `{"TableName":"RRR"}`)
	var list struct {
		BackupSummaries []struct{ BackupArn, BackupName, BackupType string }
	}
	e.call("ListBackups", `{"BackupType":"SYSTEM"}`, &list)
	if len(list.BackupSummaries) != 1 || list.BackupSummaries[0].BackupName != "RRR$DeletedTableBackup" {
		t.Fatalf("system backups %v", list)
	}
	arn := list.BackupSummaries[0].BackupArn
	e.invalid("DeleteBackup", `{"BackupArn":"`+arn+`"}`,
		"Invalid Request: User is not allowed to delete the system backup with arn "+arn+". It will automatically expire on "+
			e.now.Add(35*24*time.Hour).Format(time.RFC3339))
	e.answer("RestoreTableFromBackup", `{"TargetTableName":"RRR","BackupArn":"`+arn+`"}`)
	if got := e.contents("RRR", "index1", "index2", "index3", "index4"); got != want {
		t.Errorf("restored\n%s\nwant\n%s", got, want)
	}
	for _, days := range []int{34, 1} {
		e.sleep(time.Duration(days) * 24 * time.Hour)
		if _, err := e.db.Sweep(context.Background(), e.now); err != nil {
			t.Fatal(err)
		}
		e.call("ListBackups", `{"BackupType":"SYSTEM"}`, &list)
		if got := len(list.BackupSummaries); (got == 1) != (days == 34) {
			t.Errorf("%d system backups", got)
		}
	}
}
