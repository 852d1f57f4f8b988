package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const findingsARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"

func TestFindingsOfTags(t *testing.T) {
	const (
		hhh  = `{"ResourceArn":"` + findingsARN + `HHH"`
		many = "Number of Tags exceed the current limit for the provided ResourceArn"

		onIndex = wrongValues + "Invalid resource arn provided, only table or stream is accepted. Provided resource " +
			"arn: " + findingsARN + "HHH/index/some"
	)
	tags := func(pairs ...string) string {
		list := make([]string, len(pairs))
		for i, p := range pairs {
			key, value, _ := strings.Cut(p, "=")
			list[i] = `{"Key":"` + key + `","Value":"` + value + `"}`
		}
		return hhh + `,"Tags":[` + strings.Join(list, ",") + `]}`
	}
	numbered := func(from, to int, value string) (list []string) {
		for i := from; i <= to; i++ {
			list = append(list, fmt.Sprintf("k%02d=%s", i, value))
		}
		return list
	}
	keys := func(list ...string) string { return hhh + `,"TagKeys":["` + strings.Join(list, `","`) + `"]}` }
	long := strings.Repeat("x", 129)
	e := newEndpoint(t, with(tableH, `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}`))
	e.findings([]finding{
		{"TABLE-107", "TagResource", tags(long + "=v"), "The Tag Key provided is invalid, Key: " + long},
		{"TABLE-107", "TagResource", tags("k=" + long + long), "The Tag Value provided is invalid, Value: " + long +
			long},
		{"TABLE-107", "TagResource", tags("=v"), "The Tag Key provided is invalid, Key: "},
		{"TABLE-457", "TagResource", hhh + `,"Tags":[{"Value":"v"}]}`, "The Tag Key provided is invalid, Key: null"},
		{"TABLE-457", "TagResource", hhh + `,"Tags":[{}]}`, "The Tag Key provided is invalid, Key: null"},
		{"TABLE-107", "TagResource", hhh + `,"Tags":[{"Key":"k"}]}`, "The Tag Value provided is invalid, Value: null"},
		{"TABLE-106", "TagResource", tags("a#b=v"), "The Tag Key provided is invalid, Key: a#b"},
		{"TABLE-372", "TagResource", tags("a=50%"), "The Tag Value provided is invalid, Value: 50%"},
		{"TABLE-105", "TagResource", tags("AWS:x=v"), "Tag Key cannot be prefixed with aws:, Key: AWS:x"},
		{"TABLE-107", "TagResource", tags("a=1", "a=2"), "Duplicate Tag Keys provided as input: Duplicate Tag Key " +
			"found a"},
		{"TABLE-107", "TagResource", hhh + `,"Tags":[]}`, "Atleast one Tag needs to be provided as Input."},
		{"TABLE-107", "UntagResource", hhh + `,"TagKeys":[]}`, "Atleast one Tag Key needs to be provided as Input."},
		{"TABLE-105", "UntagResource", keys("aws:x"), "Tag Key cannot be prefixed with aws:, Key: aws:x"},
		{"TABLE-106", "UntagResource", keys("a#b"), "The Tag Key provided is invalid, Key: a#b"},
		{"TABLE-107", "UntagResource", keys(long), "The Tag Key provided is invalid, Key: " + long},
		{"TABLE-107", "UntagResource", keys(strings.Split(strings.Repeat("k ", 50)+"k", " ")...), many},
		{"TABLE-441", "UntagResource", keys("absent"), ""},
		{"TABLE-136", "TagResource", strings.Replace(tags("k=v"), "HHH", "HHH/index/some", 1), onIndex},
		{"TABLE-136", "UntagResource", strings.Replace(keys("k"), "HHH", "HHH/index/some", 1), onIndex},
		{"TABLE-136", "ListTagsOfResource", strings.Replace(hhh, "HHH", "HHH/index/some", 1) + `}`, onIndex},
		{"TABLE-108", "TagResource", tags(numbered(1, 51, "v")...), many},
		{"TABLE-108", "TagResource", tags(numbered(1, 50, "v")...), ""},
		{"TABLE-108", "TagResource", tags("k51=v"), many},
		{"TABLE-108", "TagResource", tags("k01=new", "k51=v"), many},
		{"TABLE-108", "TagResource", tags("k01=new"), ""},
		{"TABLE-108", "TagResource", tags(numbered(1, 50, "w")...), ""},
		{"TABLE-108", "TagResource", tags(numbered(51, 100, "w")...), many},
		{"TABLE-108 TABLE-073", "ListTagsOfResource", hhh + `,"NextToken":"nonsense"}`, `{"NextToken":null}`},
		{"TABLE-368", "TagResource", tags(numbered(1, 50, strings.Repeat("v", 256))...),
			"Tag set size 12950 bytes is above max size limit of 10240 bytes"},
	})
	if got := e.answer("ListTagsOfResource", hhh+`,"NextToken":"nonsense"}`); strings.Count(got, `"Key"`) != 50 {
		t.Error(got)
	}
	e.findings([]finding{
		{"TABLE-110", "CreateTable", with(tableNew, `"Tags":[{"Key":"aws:foo","Value":"v"}]`),
			"Tag Key cannot be prefixed with aws:, Key: aws:foo"},
		{"TABLE-110", "CreateTable", with(tableNew, `"Tags":[{"Key":"`+long+`","Value":"v"}]`),
			"The Tag Key provided is invalid, Key: " + long},
		{"TABLE-110", "DescribeTable", `{"TableName":"New"}`,
			"ResourceNotFoundException: Requested resource not found: Table: New not found"},
		{"TABLE-110", "CreateTable", with(tableNew, `"Tags":[]`), ""},
	})
}

func TestFindingsOfTimeToLive(t *testing.T) {
	ttl := func(members string) string { return `{"TableName":"HHH","TimeToLiveSpecification":{` + members + `}}` }
	const (
		null  = "Value null at 'timeToLiveSpecification."
		rule  = "' failed to satisfy constraint: Member must not be null"
		other = "TimeToLive is active on a different AttributeName: current AttributeName is a"
	)
	e := newEndpoint(t, tableH)
	e.findings([]finding{
		{"TABLE-144", "DescribeTimeToLive", `{"TableName":"HHH"}`,
			`{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED","AttributeName":null}}`},
		{"TABLE-146", "UpdateTimeToLive", ttl(`"Enabled":false,"AttributeName":"x"`), "TimeToLive is already disabled"},
		{"TABLE-146", "UpdateTimeToLive", ttl(`"Enabled":true,"AttributeName":"` + strings.Repeat("x", 256) + `"`),
			"1 validation error detected: Value '" + strings.Repeat("x", 256) + "' at 'timeToLiveSpecification." +
				"attributeName' failed to satisfy constraint: Member must have length less than or equal to 255"},
		{"TABLE-146", "UpdateTimeToLive", ttl(`"Enabled":true`), "1 validation error detected: " + null +
			"attributeName" + rule},
		{"TABLE-146", "UpdateTimeToLive", ttl(`"AttributeName":"a"`), "1 validation error detected: " + null +
			"enabled" + rule},
		{"TABLE-146 TABLE-145", "UpdateTimeToLive", ttl(`"Enabled":true,"AttributeName":"a"`),
			`{"TimeToLiveSpecification":{"Enabled":true,"AttributeName":"a"}}`},
		{"TABLE-145", "DescribeTimeToLive", `{"TableName":"HHH"}`,
			`{"TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"a"}}`},
		{"TABLE-147", "UpdateTimeToLive", ttl(`"Enabled":true,"AttributeName":"a"`), "TimeToLive is already enabled"},
		{"TABLE-147", "UpdateTimeToLive", ttl(`"Enabled":true,"AttributeName":"b"`), other},
		{"TABLE-146", "UpdateTimeToLive", ttl(`"Enabled":false,"AttributeName":"b"`), other},
		{"TABLE-146", "UpdateTimeToLive", ttl(`"Enabled":false,"AttributeName":"a"`), ""},
		{"TABLE-144", "DescribeTimeToLive", `{"TableName":"HHH"}`,
			`{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED","AttributeName":null}}`},
	})
}

// TestFindingsOfNames sends requests that name tables by ARN.
func TestFindingsOfNames(t *testing.T) {
	const (
		arn    = findingsARN + "HHH"
		kind   = "1 validation error detected: Invalid resource type in '"
		region = "1 validation error detected: Invalid AWS region in '"
		bare   = wrongValues + "ARNs must start with 'arn:': HHH"
	)
	name := func(name, members string) string { return `{"TableName":"` + name + `"` + members + `}` }
	other := func(old, new string) string { return strings.Replace(arn, old, new, 1) }
	e := newEndpoint(t, tableH)
	e.findings([]finding{
		{"TABLE-011", "DescribeTable", name(arn, ""), `{"Table":{"TableName":"HHH","TableArn":"` + arn + `"}}`},
		{"TABLE-011", "DescribeTable", name("$TableId", ""),
			"ResourceNotFoundException: Requested resource not found: Table: $TableId not found"},
		{"TABLE-011", "DescribeTable", name(other("us-east-1", "eu-west-1"), ""),
			region + other("us-east-1", "eu-west-1") + "'"},
		{"TABLE-011", "DescribeTable", name(other("000000000000", "123456789012"), ""),
			"AccessDeniedException: Access is denied"},
		{"TABLE-011", "DescribeTable", name(arn+"/index/some", ""), kind + arn + "/index/some'"},
		{"TABLE-011", "DescribeTable", name(arn+"/stream/2026-11-21T12:00:00.000", ""),
			kind + arn + "/stream/2026-11-21T12:00:00.000'"},
		{"TABLE-011", "DescribeTimeToLive", name(arn, ""), ""},
		{"TABLE-011", "DescribeContinuousBackups", name(arn, ""), ""},
		{"TABLE-011", "DescribeContributorInsights", name(arn, ""), `{"TableName":"HHH"}`},
		{"TABLE-011", "DescribeKinesisStreamingDestination", name(arn, ""), `{"TableName":"HHH"}`},
		{"TABLE-011", "ListTagsOfResource", `{"ResourceArn":"HHH"}`, bare},
		{"TABLE-011", "TagResource", `{"ResourceArn":"HHH","Tags":[{"Key":"k","Value":"v"}]}`, bare},
		{"TABLE-011", "GetResourcePolicy", `{"ResourceArn":"HHH"}`, bare},
		{"TABLE-011", "ListTagsOfResource", `{"ResourceArn":"` + arn + `"}`, ""},
		{"TABLE-011", "UpdateTable", name(arn, `,"DeletionProtectionEnabled":false`),
			`{"TableDescription":{"TableName":"HHH"}}`},
		{"TABLE-011", "PutItem", name(arn, `,"Item":{"a":{"S":"x"}}`), ""},
		{"TABLE-011", "DeleteTable", name(arn, ""), `{"TableDescription":{"TableName":"HHH"}}`},
	})
}

// TestFindingsOfStates sends requests for tables that are CREATING or DELETING.
func TestFindingsOfStates(t *testing.T) {
	const (
		none    = "ResourceNotFoundException: Requested resource not found: "
		arn     = `{"ResourceArn":"` + findingsARN + `HHH"`
		noARN   = none + "ResourceArn: " + findingsARN + "HHH not found"
		noH     = none + "Table: HHH not found"
		use     = "ResourceInUseException: Attempt to change a resource which is still in use: "
		hhh     = `{"TableName":"HHH"`
		backup  = "TableNotFoundException: Table not found: HHH"
		kinesis = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"
		micros  = hhh + `,"StreamArn":"` + kinesis + `","UpdateKinesisStreamingConfiguration":
			{"ApproximateCreationDateTimePrecision":"MICROSECOND"}}`
		policy = `{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":{\"AWS\":` +
			`\"000000000000\"},\"Action\":\"dynamodb:GetItem\",\"Resource\":\"*\"}]}`

		notActive = "Table or Index is not in a valid state to update Key Access Insights: " +
			"TableStatus must be ACTIVE to enable ContributorInsights."
	)
	e := newEndpoint(t)
	e.db.Delay = time.Minute
	e.findings([]finding{
		{"TABLE-387 TABLE-394", "CreateTable", tableH, `{"TableDescription":{"TableStatus":"CREATING"}}`},
		{"TABLE-394", "DescribeTable", hhh + `}`, `{"Table":{"TableStatus":"CREATING"}}`},
		{"TABLE-001 TABLE-444", "UpdateTable", hhh + `,"DeletionProtectionEnabled":true}`, use +
			"Table is being created: HHH"},
		{"TABLE-001", "UpdateTable", hhh + `,"StreamSpecification":{"StreamEnabled":true,
			"StreamViewType":"KEYS_ONLY"}}`,
			use + "Table is being created: HHH"},
		{"TABLE-001", "DeleteTable", hhh + `}`, use + "Table is being created: HHH"},
		{"TABLE-001 TABLE-005", "CreateTable", tableH, use + "Table is being created: HHH"},
		{"TABLE-446", "UpdateTimeToLive", hhh + `,"TimeToLiveSpecification":{"Enabled":true,"AttributeName":"x"}}`,
			noH},
		{"TABLE-442", "DescribeTimeToLive", hhh + `}`, "Cannot describe time to live while table is in CREATING " +
			"state: " +
			"Current table state is CREATING"},
		// For two seconds the service responds differently; these are its responses after that.
		{"TABLE-444", "TagResource", arn + `,"Tags":[{"Key":"k","Value":"v"}]}`, use + "Table is being created: HHH"},
		{"TABLE-115 TABLE-116", "UpdateContributorInsights", hhh + `,"ContributorInsightsAction":"ENABLE"}`, notActive},
		{"TABLE-115 TABLE-116", "DescribeContributorInsights", hhh + `}`, ""},
		{"TABLE-115 TABLE-116", "DescribeContinuousBackups", hhh + `}`, ""},
		{"TABLE-115", "UpdateContinuousBackups", hhh + `,
			"PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`,
			"ContinuousBackupsUnavailableException: Backups are being enabled for the table: HHH. Please retry later"},
		{"TABLE-447", "CreateBackup", hhh + `,"BackupName":"copy"}`, backup},
		{"TABLE-268", "PutResourcePolicy", arn + `,"Policy":"` + policy + `"}`, noH},
		{"TABLE-268", "GetResourcePolicy", arn + `}`, noH},
		{"TABLE-268", "EnableKinesisStreamingDestination", hhh + `,"StreamArn":"` + kinesis + `"}`, noH},
		{"TABLE-268", "DescribeKinesisStreamingDestination", hhh + `}`, noH},
		{"", "sleep", "2s", ""},
		{"TABLE-444", "PutResourcePolicy", arn + `,"Policy":"` + policy + `"}`, use + "Table is being created: HHH"},
		{"", "sleep", "1m", ""},
		{"TABLE-299", "EnableKinesisStreamingDestination", hhh + `,"StreamArn":"` + kinesis + `"}`,
			`{"DestinationStatus":"ENABLING"}`},
		{"TABLE-299", "DescribeKinesisStreamingDestination", hhh + `}`,
			`{"KinesisDataStreamDestinations":[{"DestinationStatus":"ENABLING"}]}`},
		{"TABLE-299", "DisableKinesisStreamingDestination", hhh + `,"StreamArn":"` + kinesis + `"}`, "Table is not in a " +
			"valid state to enable Kinesis Streaming Destination: KinesisStreamingDestination must be ACTIVE to perform " +
			"DISABLE operation."},
		{"", "sleep", "1m", ""},
		{"TABLE-300", "UpdateKinesisStreamingDestination", micros, `{"DestinationStatus":"UPDATING"}`},
		{"TABLE-300", "UpdateKinesisStreamingDestination", micros, "Table is not in a valid state to enable Kinesis " +
			"Streaming Destination: Kinesis streaming is not in ACTIVE state. Updates are only allowed in ACTIVE state. " +
			"TableName: HHH, kdsArn: " + kinesis},
		{"", "sleep", "1m", ""},
		{"TABLE-304", "DisableKinesisStreamingDestination", hhh + `,"StreamArn":"` + kinesis + `"}`,
			`{"DestinationStatus":"DISABLING"}`},
		{"TABLE-304", "EnableKinesisStreamingDestination", hhh + `,"StreamArn":"` + kinesis + `"}`, "Table is not in a " +
			"valid state to enable Kinesis Streaming Destination: EnableKinesisStreamingDestination must be DISABLED or " +
			"ENABLE_FAILED to perform ENABLE operation."},
		{"", "sleep", "1m", ""},
		{"TABLE-304", "DescribeKinesisStreamingDestination", hhh + `}`,
			`{"KinesisDataStreamDestinations":[{"DestinationStatus":"DISABLED"}]}`},
		{"TABLE-006", "DeleteTable", hhh + `}`, `{"TableDescription":{"TableStatus":"DELETING"}}`},
		{"TABLE-006 TABLE-008", "DeleteTable", hhh + `}`, use + "Table is being deleted: HHH"},
		{"TABLE-006", "UpdateTable", hhh + `,"DeletionProtectionEnabled":true}`, use + "Table is being deleted: HHH"},
		{"TABLE-005", "CreateTable", tableH, "ResourceInUseException: Table already exists: HHH"},
		{"TABLE-442", "DescribeTimeToLive", hhh + `}`, "Cannot describe time to live while table is in DELETING " +
			"state: " +
			"Current table state is DELETING"},
		{"TABLE-104", "TagResource", arn + `,"Tags":[{"Key":"k","Value":"v"}]}`, use + "Table is being deleted: HHH"},
		{"TABLE-104", "ListTagsOfResource", arn + `}`, ""},
		{"TABLE-097", "DescribeContributorInsights", hhh + `}`, ""},
		{"TABLE-455", "UpdateContributorInsights", hhh + `,"ContributorInsightsAction":"ENABLE"}`, notActive},
		{"TABLE-374", "CreateBackup", hhh + `,"BackupName":"copy"}`, ""},
		{"TABLE-118", "UpdateTimeToLive", hhh + `,"TimeToLiveSpecification":{"Enabled":true,"AttributeName":"x"}}`, ""},
		{"", "sleep", "1m", ""},
		{"TABLE-008", "DeleteTable", hhh + `}`, noH},
		{"TABLE-104", "ListTagsOfResource", arn + `}`, noARN},
		{"TABLE-097", "DescribeContributorInsights", hhh + `}`, noH},
		{"TABLE-009", "CreateTable", tableH, ""},
	})
}

func TestFindingsOfInsights(t *testing.T) {
	const rrr = `{"TableName":"RRR"`
	insights := func(members string) string { return rrr + members + `}` }
	noIndex := func(name string) string {
		return "ResourceNotFoundException: Requested resource not found: Index: " + name + " not found for table: RRR"
	}
	const short = "IndexName must be at least 3 characters long and at most 255 characters long"
	const on, off = `,"ContributorInsightsAction":"ENABLE"`, `,"ContributorInsightsAction":"DISABLE"`
	e := newEndpoint(t, tableR, tableH)
	e.findings([]finding{
		{"TABLE-089 TABLE-343", "DescribeContributorInsights", insights(""),
			`{"TableName":"RRR","ContributorInsightsStatus":"DISABLED","ContributorInsightsMode":null,
			"LastUpdateDateTime":null,"ContributorInsightsRuleList":null}`},
		{"TABLE-091 TABLE-089", "UpdateContributorInsights", insights(off), `{"ContributorInsightsStatus":"DISABLED"}`},
		{"TABLE-095", "ListContributorInsights", insights(""), `{"ContributorInsightsSummaries":[],"NextToken":null}`},
		{"TABLE-090", "UpdateContributorInsights", insights(on),
			`{"ContributorInsightsStatus":"ENABLING","ContributorInsightsMode":"ACCESSED_AND_THROTTLED_KEYS"}`},
		{"TABLE-091 TABLE-341", "UpdateContributorInsights", insights(on), `{"ContributorInsightsStatus":"ENABLED"}`},
		{"TABLE-093", "DescribeContributorInsights", insights(""),
			`{"ContributorInsightsStatus":"ENABLED","ContributorInsightsRuleList":[
			"DynamoDBContributorInsights-PKC-RRR-1795262400000","DynamoDBContributorInsights-PKT-RRR-1795262400000",
			"DynamoDBContributorInsights-SKC-RRR-1795262400000","DynamoDBContributorInsights-SKT-RRR-1795262400000"]}`},
		{"", "sleep", "10s", ""},
		{"TABLE-341", "UpdateContributorInsights", insights(on + `,"ContributorInsightsMode":"THROTTLED_KEYS"`),
			`{"ContributorInsightsStatus":"ENABLING"}`},
		{"TABLE-341", "DescribeContributorInsights", insights(""), `{"ContributorInsightsRuleList":[
			"DynamoDBContributorInsights-PKT-RRR-1795262400000","DynamoDBContributorInsights-SKT-RRR-1795262400000"]}`},
		{"TABLE-092", "UpdateContributorInsights", insights(on),
			`{"ContributorInsightsMode":"ACCESSED_AND_THROTTLED_KEYS"}`},
		{"TABLE-094", "UpdateContributorInsights", insights(on + `,"IndexName":"index3"`),
			`{"ContributorInsightsStatus":"ENABLING"}`},
		{"TABLE-095 TABLE-399", "ListContributorInsights", insights(`,"MaxResults":1`),
			`{"ContributorInsightsSummaries":[{"TableName":"RRR","IndexName":null,
				"ContributorInsightsStatus":"ENABLED"}]}`},
		{"TABLE-095", "ListContributorInsights", insights(`,"MaxResults":1,"NextToken":"$NextToken"`),
			`{"ContributorInsightsSummaries":[{"TableName":"RRR","IndexName":"index3"}],"NextToken":null}`},
		{"TABLE-092 TABLE-090", "UpdateContributorInsights", insights(off + `,
			"ContributorInsightsMode":"THROTTLED_KEYS"`),
			`{"ContributorInsightsStatus":"DISABLING","ContributorInsightsMode":"ACCESSED_AND_THROTTLED_KEYS"}`},
		{"TABLE-095 TABLE-343", "ListContributorInsights", insights(""),
			`{"ContributorInsightsSummaries":[{"TableName":"RRR","IndexName":"index3"}]}`},
		{"TABLE-089", "DescribeContributorInsights", insights(""),
			`{"ContributorInsightsStatus":"DISABLED","ContributorInsightsMode":"ACCESSED_AND_THROTTLED_KEYS",
			"ContributorInsightsRuleList":null}`},
		{"", "sleep", "10s", ""},
		{"TABLE-093", "UpdateContributorInsights", insights(on), ""},
		{"TABLE-093", "DescribeContributorInsights", insights(""), `{"ContributorInsightsRuleList":[
			"DynamoDBContributorInsights-PKC-RRR-1795262420000","DynamoDBContributorInsights-PKT-RRR-1795262420000",
			"DynamoDBContributorInsights-SKC-RRR-1795262420000","DynamoDBContributorInsights-SKT-RRR-1795262420000"]}`},
		{"TABLE-137 TABLE-094", "UpdateContributorInsights", insights(on + `,"IndexName":"index1"`), noIndex("index1")},
		{"TABLE-094", "DescribeContributorInsights", insights(`,"IndexName":"index1"`), noIndex("index1")},
		{"TABLE-161 TABLE-446", "DescribeContributorInsights", insights(`,"IndexName":"ghost"`), noIndex("ghost")},
		{"TABLE-094", "ListContributorInsights", `{"TableName":"None"}`,
			"ResourceNotFoundException: Requested resource not found: Table: None not found"},
		{"TABLE-457", "UpdateContributorInsights", insights(on + `,"IndexName":""`), short},
		{"TABLE-457", "DescribeContributorInsights", insights(`,"IndexName":""`), short},
		{"TABLE-457", "UpdateContributorInsights", insights(`,"ContributorInsightsAction":"TOGGLE"`),
			"1 validation error detected: Value 'TOGGLE' at 'contributorInsightsAction' failed to satisfy " +
				"constraint: " +
				"Member must satisfy enum value set: [ENABLE, DISABLE]"},
		{"TABLE-457", "UpdateContributorInsights", insights(on + `,"ContributorInsightsMode":"ALL"`),
			"1 validation error detected: Value 'ALL' at 'contributorInsightsMode' failed to satisfy constraint: " +
				"Member must satisfy enum value set: [THROTTLED_KEYS, ACCESSED_AND_THROTTLED_KEYS]"},
		{"TABLE-112 TABLE-096", "UpdateTable", insights(`,
			"GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"index3"}}]`), ""},
		{"TABLE-112 TABLE-096", "DescribeContributorInsights", insights(`,"IndexName":"index3"`), noIndex("index3")},
		{"TABLE-112", "ListContributorInsights", insights(""), `{"ContributorInsightsSummaries":[{"TableName":"RRR",
			"IndexName":null}]}`},
		{"TABLE-342", "DeleteTable", insights(""), ""},
		{"TABLE-342", "DescribeContributorInsights", insights(""),
			"ResourceNotFoundException: Requested resource not found: Table: RRR not found"},
	})
}

func TestFindingsOfRecovery(t *testing.T) {
	recovery := func(members string) string {
		return `{"TableName":"HHH","PointInTimeRecoverySpecification":{` + members + `}}`
	}
	days := func(n int, rule string) string {
		return fmt.Sprintf("1 validation error detected: Value '%d' at 'pointInTimeRecoverySpecification."+
			"recoveryPeriodInDays' failed to satisfy constraint: Member must have value %s", n, rule)
	}
	const (
		on, off  = `"PointInTimeRecoveryEnabled":true`, `"PointInTimeRecoveryEnabled":false`
		disabled = `{"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED","PointInTimeRecoveryDescription":
			{"PointInTimeRecoveryStatus":"DISABLED","RecoveryPeriodInDays":null,"EarliestRestorableDateTime":null}}}`
		noDays = "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
	)
	period := func(n int) string {
		return fmt.Sprintf(`{"ContinuousBackupsDescription":{"PointInTimeRecoveryDescription":
			{"PointInTimeRecoveryStatus":"ENABLED","RecoveryPeriodInDays":%d}}}`, n)
	}
	e := newEndpoint(t, tableH)
	e.findings([]finding{
		{"TABLE-083 TABLE-085", "UpdateContinuousBackups", recovery(off), disabled},
		{"TABLE-083 TABLE-084", "UpdateContinuousBackups", recovery(on), period(35)},
		{"TABLE-084", "UpdateContinuousBackups", recovery(on + `,"RecoveryPeriodInDays":7`), period(7)},
		{"TABLE-084", "UpdateContinuousBackups", recovery(on + `,"RecoveryPeriodInDays":0`), days(0,
			"greater than or equal to 1")},
		{"TABLE-084", "UpdateContinuousBackups", recovery(on + `,"RecoveryPeriodInDays":-1`), days(-1,
			"greater than or equal to 1")},
		{"TABLE-084", "UpdateContinuousBackups", recovery(on + `,"RecoveryPeriodInDays":36`), days(36,
			"less than or equal to 35")},
		{"TABLE-084", "UpdateContinuousBackups", recovery(off + `,"RecoveryPeriodInDays":7`), noDays},
		{"TABLE-085", "UpdateContinuousBackups", recovery(on), period(7)},
		{"TABLE-083", "UpdateContinuousBackups", recovery(off), disabled},
		{"TABLE-083", "DescribeContinuousBackups", `{"TableName":"HHH"}`, disabled},
		{"TABLE-084", "UpdateContinuousBackups", recovery(on), period(35)},
		{"TABLE-447", "UpdateContinuousBackups", strings.Replace(recovery(on), "HHH", "None", 1),
			"TableNotFoundException: Table not found: None"},
		{"TABLE-167", "DeleteTable", `{"TableName":"HHH"}`, ""},
		{"TABLE-167 BACKUP-015", "ListBackups", `{"TableName":"HHH","BackupType":"SYSTEM"}`,
			`{"BackupSummaries":[{"BackupName":"HHH$DeletedTableBackup","BackupStatus":"AVAILABLE",
			"BackupType":"SYSTEM","BackupCreationDateTime":1795262400,"BackupExpiryDateTime":1798286400}]}`},
		{"TABLE-167 TABLE-453 BACKUP-015", "DeleteBackup", `{"BackupArn":"$BackupArn"}`,
			"Invalid Request: User is not allowed to " +
				"delete the system backup with arn $BackupArn. It will automatically expire on 2026-12-26T12:00:00Z"},
		{"TABLE-453 BACKUP-015", "DescribeBackup", `{"BackupArn":"$BackupArn"}`,
			`{"BackupDescription":{"SourceTableFeatureDetails":{}}}`},
	})
}
