package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// Source: alternator, test_ttl.py; texts as users quote them.
func TestTimeToLive(t *testing.T) {
	e := newEndpoint(t, tableH)
	spec := func(name string, on bool) string {
		return fmt.Sprintf(`{"TableName":"HHH","TimeToLiveSpecification":{"AttributeName":"%s","Enabled":%t}}`,
			name, on)
	}
	const describe = `{"TableName":"HHH"}`
	const off = `{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}`
	const length = "1 validation error detected: Value '%s' at 'timeToLiveSpecification.attributeName' failed to " +
		"satisfy constraint: Member must have length %s"
	e.want("DescribeTimeToLive", describe, off)
	e.invalid("UpdateTimeToLive", spec("until", false), "TimeToLive is already disabled")
	e.want("UpdateTimeToLive", spec("until", true),
		`{"TimeToLiveSpecification":{"AttributeName":"until","Enabled":true}}`)
	e.want("DescribeTimeToLive", describe,
		`{"TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"until"}}`)
	e.invalid("UpdateTimeToLive", spec("until", true), "TimeToLive is already enabled")
	e.invalid("UpdateTimeToLive", spec("other", true),
		"TimeToLive is active on a different AttributeName: current AttributeName is until")
	e.invalid("UpdateTimeToLive", spec("other", false),
		"TimeToLive is active on a different AttributeName: current AttributeName is until")
	e.invalid("UpdateTimeToLive", spec("", false),
		strings.NewReplacer("'%s'", "''", "%s", "greater than or equal to 1").Replace(length))
	long := strings.Repeat("x", 256)
	e.invalid("UpdateTimeToLive", spec(long, false),
		strings.NewReplacer("'%s'", "'"+long+"'", "%s", "less than or equal to 255").Replace(length))
	e.want("DescribeTimeToLive", describe,
		`{"TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"until"}}`)
	e.answer("UpdateTimeToLive", spec("until", false))
	e.want("DescribeTimeToLive", describe, off)
	e.answer("UpdateTimeToLive", spec(long[:255], true))
	e.refuse("UpdateTimeToLive", `{"TableName":"None","TimeToLiveSpecification":{"AttributeName":"x","Enabled":true}}`,
		"ResourceNotFoundException: Requested resource not found: Table: None not found")
	e.refuse("DescribeTimeToLive", `{"TableName":"None"}`,
		"ResourceNotFoundException: Requested resource not found: Table: None not found")
	for _, body := range []string{
		`{"TableName":"HHH"}`, `{"TableName":"HHH","TimeToLiveSpecification":{"Enabled":true}}`,
		`{"TableName":"HHH","TimeToLiveSpecification":{"AttributeName":"x"}}`,
	} {
		if out, status := e.serve("UpdateTimeToLive", body); status != 400 ||
			!strings.HasPrefix(
				fault(out), "ValidationException: 1 validation error detected: Value null at 'timeToLiveSpecification",
			) {
			t.Errorf("%s: %s", body, out)
		}
	}
	e.answer("DeleteTable", `{"TableName":"HHH"}`)
	e.answer("CreateTable", tableH)
	e.want("DescribeTimeToLive", describe, off)
}

const arnH = "arn:aws:dynamodb:us-east-1:000000000000:table/HHH"

func tagList(from, to int) string {
	var list []string
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf(`{"Key":"k%02d","Value":"%d"}`, i, i))
	}
	return `[` + strings.Join(list, ",") + `]`
}

// Source: alternator, test_tag.py; dynalite, test/listTagsOfResource.js.
func TestTags(t *testing.T) {
	e := newEndpoint(t, tableH, tableR)
	tag := func(tags string) string { return `{"ResourceArn":"` + arnH + `","Tags":` + tags + `}` }
	untag := func(keys string) string { return `{"ResourceArn":"` + arnH + `","TagKeys":` + keys + `}` }
	list := `{"ResourceArn":"` + arnH + `"}`
	e.want("ListTagsOfResource", list, `{"Tags":[]}`)
	if out, status := e.serve("TagResource", tag(tagList(0, 30))); status != 200 || out != "" {
		t.Errorf("TagResource answers %d %q, want nothing", status, out)
	}
	e.answer("TagResource", tag(tagList(20, 50)))
	e.want("ListTagsOfResource", list, `{"Tags":`+tagList(0, 50)+`}`)
	e.want("ListTagsOfResource", with(list, `"NextToken":"k39"`), `{"Tags":`+tagList(0, 50)+`}`)
	e.invalid("TagResource", tag(tagList(50, 51)),
		"Number of Tags exceed the current limit for the provided ResourceArn")
	e.answer("TagResource", tag(`[{"Key":"k00","Value":""}]`))
	if out, status := e.serve("UntagResource", untag(`["k00","k49","none"]`)); status != 200 || out != "" {
		t.Errorf("UntagResource answers %d %q, want nothing", status, out)
	}
	e.want("ListTagsOfResource", list, `{"Tags":`+tagList(1, 49)+`}`)
	e.invalid("TagResource", tag(tagList(100, 103)),
		"Number of Tags exceed the current limit for the provided ResourceArn")
	e.want("ListTagsOfResource", list, `{"Tags":`+tagList(1, 49)+`}`)

	e.invalid("TagResource", tag(`[]`), "Atleast one Tag needs to be provided as Input.")
	e.invalid("UntagResource", untag(`[]`), "Atleast one Tag Key needs to be provided as Input.")
	e.invalid("TagResource", tag(`[{"Key":"x","Value":"1"},{"Key":"x","Value":"2"}]`),
		"Duplicate Tag Keys provided as input: Duplicate Tag Key found x")
	for _, tags := range []string{
		`[{"Key":"","Value":"1"}]`, `[{"Key":"x"}]`, `[{"Value":"x"}]`,
		`[{"Key":"` + strings.Repeat("x", 129) + `","Value":"1"}]`,
		`[{"Key":"x","Value":"` + strings.Repeat("x", 257) + `"}]`,
		`[{"Key":"aws:x","Value":"1"}]`, `[{"Key":"AWS:x","Value":"1"}]`, `[{"Key":"hi!","Value":"1"}]`,
		`[{"Key":"x","Value":"d%g"}]`, `[{"Key":"x","Value":"\"hello\""}]`, tagList(200, 251),
	} {
		if out, status := e.serve("TagResource", tag(tags)); status != 400 ||
			!strings.HasPrefix(fault(out), "ValidationException: ") {
			t.Errorf("%s: %d %s", short(tags), status, out)
		}
	}
	e.answer("UntagResource", untag(`["k01","k02","k03","k04"]`))
	e.answer("TagResource",
		tag(`[{"Key":" ","Value":"+-=._:/@"},{"Key":"`+strings.Repeat("א", 128)+`","Value":"`+strings.Repeat("Ѯ", 256)+
			`"},{"Key":"xaws:","Value":"e\u0301"}]`))

	for arn, want := range map[string]string{
		"arn:aws:dynamodb:us-east-1:000000000000:table/None": "ResourceNotFoundException: " +
			"Requested resource not found: ResourceArn: arn:aws:dynamodb:us-east-1:000000000000:table/None not found",
		"arn:aws:dynamodb:us-east-1:000000000000:table/ab": "ValidationException: Invalid TableArn: " +
			"Invalid ResourceArn provided as input arn:aws:dynamodb:us-east-1:000000000000:table/ab",
		"arn:aws:dynamodb:us-east-1:000000000000:table/RRR/index/index1": "ValidationException: " + wrongValues +
			"Invalid resource arn provided, only table or stream is accepted. Provided resource arn: " +
			"arn:aws:dynamodb:us-east-1:000000000000:table/RRR/index/index1",
		"a:b:c:d:e:f/g": "ValidationException: " + wrongValues + "ARNs must start with 'arn:': a:b:c:d:e:f/g",
		"arn:aws:dynamodb:us-east-1:123456789012:table/HHH": "AccessDeniedException: Access is denied",
		"arn:aws:dynamodb:eu-north-1:000000000000:table/HHH": "ValidationException: Invalid TableArn: " +
			"Invalid ResourceArn provided as input arn:aws:dynamodb:eu-north-1:000000000000:table/HHH",
	} {
		for op, rest := range map[string]string{
			"ListTagsOfResource": "", "TagResource": `,"Tags":[{"Key":"x","Value":"y"}]`,
			"UntagResource": `,"TagKeys":["x"]`,
		} {
			out, status := e.serve(op, `{"ResourceArn":"`+arn+`"`+rest+`}`)
			if got := fault(out); status != 400 || !strings.HasPrefix(got, want) {
				t.Errorf("%s %s: %d %s", op, arn, status, got)
			}
		}
	}
	e.invalid("ListTagsOfResource", `{}`, "Invalid TableArn")

	// CreateTable with invalid tags creates no table.
	made := with(strings.Replace(tableH, "HHH", "Made", 1), `"Tags":`)
	e.invalid("CreateTable", made[:len(made)-1]+tagList(0, 51)+`}`,
		"Number of Tags exceed the current limit for the provided ResourceArn")
	e.refuse("DescribeTable", `{"TableName":"Made"}`,
		"ResourceNotFoundException: Requested resource not found: Table: Made not found")
	e.answer("CreateTable", made[:len(made)-1]+tagList(0, 50)+`}`)
	e.want("ListTagsOfResource", strings.Replace(list, "HHH", "Made", 1), `{"Tags":`+tagList(0, 50)+`}`)
}

// TestConcurrentTags checks that concurrent requests to set tags lose none. Source: alternator, test_tag.py.
func TestConcurrentTags(t *testing.T) {
	e := newEndpoint(t, tableH)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() { e.answer("TagResource", `{"ResourceArn":"`+arnH+`","Tags":`+tagList(i, i+1)+`}`) })
	}
	wg.Wait()
	e.want("ListTagsOfResource", `{"ResourceArn":"`+arnH+`"}`, `{"Tags":`+tagList(0, 50)+`}`)
}

// described returns members of a table's description, as JSON.
func (e *endpoint) described(name string, members ...string) string {
	e.t.Helper()
	var out struct{ Table map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(e.answer("DescribeTable", `{"TableName":"`+name+`"}`)), &out); err != nil {
		e.t.Fatal(err)
	}
	got := map[string]json.RawMessage{}
	for _, m := range members {
		if v, ok := out.Table[m]; ok {
			got[m] = v
		}
	}
	text, err := json.Marshal(got)
	if err != nil {
		e.t.Fatal(err)
	}
	return string(text)
}

func (e *endpoint) describes(name, want string, members ...string) {
	e.t.Helper()
	if got := e.described(name, members...); !sameJSON(e.t, got, want) {
		e.t.Errorf("%s is described\n as %s\nwant %s", name, got, want)
	}
}

// Source: conformance createTable/config, updateTable/config; alternator,
// test_tableclass.py, test_warm_throughput.py; DG/warm-throughput.html.
func TestTableSettings(t *testing.T) {
	e := newEndpoint(t, tableH)
	update := func(member string) string { return `{"TableName":"HHH",` + member + `}` }
	e.describes("HHH", `{"DeletionProtectionEnabled":false,"WarmThroughput":{"ReadUnitsPerSecond":12000,`+
		`"WriteUnitsPerSecond":4000,"Status":"ACTIVE"}}`,
		"DeletionProtectionEnabled", "TableClassSummary", "OnDemandThroughput", "WarmThroughput", "SSEDescription")

	e.answer("UpdateTable", update(`"DeletionProtectionEnabled":true`))
	e.describes("HHH", `{"DeletionProtectionEnabled":true}`, "DeletionProtectionEnabled")
	e.invalid("DeleteTable", `{"TableName":"HHH"}`,
		"Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	e.describes("HHH", `{"TableStatus":"ACTIVE"}`, "TableStatus")

	e.answer("UpdateTable", update(`"TableClass":"STANDARD_INFREQUENT_ACCESS"`))
	at := e.now.Unix()
	e.describes("HHH",
		fmt.Sprintf(`{"TableClassSummary":{"TableClass":"STANDARD_INFREQUENT_ACCESS","LastUpdateDateTime":%d}}`, at),
		"TableClassSummary")
	e.sleep(time.Minute)
	e.answer("UpdateTable", update(`"OnDemandThroughput":{"MaxReadRequestUnits":20,"MaxWriteRequestUnits":15}`))
	e.answer("UpdateTable", update(`"WarmThroughput":{"ReadUnitsPerSecond":13000,"WriteUnitsPerSecond":5000}`))
	e.describes("HHH",
		fmt.Sprintf(`{"DeletionProtectionEnabled":true,"TableClassSummary":{"TableClass":"STANDARD_INFREQUENT_ACCESS",
		"LastUpdateDateTime":%d},
		"OnDemandThroughput":{"MaxReadRequestUnits":20,"MaxWriteRequestUnits":15},
		"WarmThroughput":{"ReadUnitsPerSecond":13000,"WriteUnitsPerSecond":5000,"Status":"ACTIVE"}}`, at),
		"DeletionProtectionEnabled", "TableClassSummary", "OnDemandThroughput", "WarmThroughput")
	e.answer("UpdateTable", update(`"OnDemandThroughput":{"MaxReadRequestUnits":-1,"MaxWriteRequestUnits":-1}`))
	e.answer("UpdateTable", update(`"DeletionProtectionEnabled":false`))
	e.answer("DeleteTable", `{"TableName":"HHH"}`)

	e.answer("CreateTable",
		with(tableH, `"DeletionProtectionEnabled":true,"TableClass":"STANDARD_INFREQUENT_ACCESS",`+
			`"OnDemandThroughput":{"MaxReadRequestUnits":10,"MaxWriteRequestUnits":5},`+
			`"WarmThroughput":{"ReadUnitsPerSecond":15000,"WriteUnitsPerSecond":6000}`))
	e.describes("HHH",
		`{"DeletionProtectionEnabled":true,"TableClassSummary":{"TableClass":"STANDARD_INFREQUENT_ACCESS"},
		"OnDemandThroughput":{"MaxReadRequestUnits":10,"MaxWriteRequestUnits":5},
		"WarmThroughput":{"ReadUnitsPerSecond":15000,"WriteUnitsPerSecond":6000,"Status":"ACTIVE"}}`,
		"DeletionProtectionEnabled", "TableClassSummary", "OnDemandThroughput", "WarmThroughput")
	e.invalid("DeleteTable", `{"TableName":"HHH"}`,
		"Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	e.invalid("UpdateTable",
		update(`"TableClass":"CHEAP"`), "1 validation error detected: Value 'CHEAP' at 'tableClass' failed to "+
			"satisfy constraint: Member must satisfy enum value set: [STANDARD, STANDARD_INFREQUENT_ACCESS]")
}

// Source: dynalite, test/updateTable.js; alternator,
// test_provisioned_throughput.py.
func TestBillingModes(t *testing.T) {
	e := newEndpoint(t, tableH)
	update := func(member string) string { return `{"TableName":"HHH",` + member + `}` }
	since := e.now.Unix()
	onDemand := fmt.Sprintf(`{"BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST",`+
		`"LastUpdateToPayPerRequestDateTime":%d},"ProvisionedThroughput":{"NumberOfDecreasesToday":0,`+
		`"ReadCapacityUnits":0,"WriteCapacityUnits":0}}`, since)
	e.describes("HHH", onDemand, "BillingModeSummary", "ProvisionedThroughput")
	e.sleep(time.Hour)
	e.answer("UpdateTable", update(`"BillingMode":"PAY_PER_REQUEST"`))
	e.describes("HHH", onDemand, "BillingModeSummary", "ProvisionedThroughput")
	e.invalid("UpdateTable",
		update(
			`"BillingMode":"PAY_PER_REQUEST","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`,
		),
		wrongValues+
			"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	e.invalid("UpdateTable", update(`"BillingMode":"PROVISIONED"`),
		wrongValues+"ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
	e.describes("HHH", onDemand, "BillingModeSummary", "ProvisionedThroughput")

	e.answer("UpdateTable",
		update(`"BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6}`))
	if got := e.described(
		"HHH", "BillingModeSummary", "ProvisionedThroughput",
	); !strings.Contains(got, `"ReadCapacityUnits":5`) || !strings.Contains(got, `"BillingMode":"PROVISIONED"`) {
		t.Errorf("PROVISIONED: %s", got)
	}
	if out, _ := e.serve(
		"UpdateTable", update(`"ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6}`),
	); !strings.Contains(out, "will not change") {
		t.Errorf("the same throughput: %s", out)
	}
	e.answer("UpdateTable", update(`"ProvisionedThroughput":{"ReadCapacityUnits":4,"WriteCapacityUnits":6}`))
	if got := e.described("HHH", "ProvisionedThroughput"); !strings.Contains(got, `"NumberOfDecreasesToday":1`) {
		t.Errorf("after a decrease: %s", got)
	}
	e.sleep(24 * time.Hour)
	if got := e.described("HHH", "ProvisionedThroughput"); !strings.Contains(got, `"NumberOfDecreasesToday":0`) {
		t.Errorf("the day after: %s", got)
	}
	e.answer("UpdateTable", update(`"BillingMode":"PAY_PER_REQUEST"`))
	e.describes("HHH",
		fmt.Sprintf(`{"BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST","LastUpdateToPayPerRequestDateTime":%d}}`,
			e.now.Unix()), "BillingModeSummary")
}

// TestEncryption checks the description of tables encrypted with KMS, which names the key. Source:
// API_SSEDescription, and the example of the AWS CLI's create-table.
func TestEncryption(t *testing.T) {
	e := newEndpoint(t)
	const account = "arn:aws:kms:us-east-1:000000000000:key/"
	key := func(name, specification string) string {
		e.t.Helper()
		e.answer("CreateTable", with(strings.Replace(tableH, "HHH", name, 1), `"SSESpecification":`+specification))
		var d struct {
			SSEDescription struct{ Status, SSEType, KMSMasterKeyArn string }
		}
		if err := json.Unmarshal([]byte(e.described(name, "SSEDescription")), &d); err != nil {
			t.Fatal(err)
		}
		if d.SSEDescription.Status != "ENABLED" || d.SSEDescription.SSEType != "KMS" {
			t.Errorf("%s is described as %+v", specification, d)
		}
		return d.SSEDescription.KMSMasterKeyArn
	}
	managed := key("managed", `{"Enabled":true}`)
	if id, ok := strings.CutPrefix(managed, account); !ok || len(id) != 36 {
		t.Errorf("the key of KMS is %s", managed)
	}
	if got := key("alias", `{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"alias/aws/dynamodb"}`); got != managed {
		t.Errorf("its alias is %s, want %s", got, managed)
	}
	other := key("other", `{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"alias/other"}`)
	if got := key(
		"otherARN", `{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"arn:aws:kms:us-east-1:000000000000:alias/other"}`,
	); other == managed || got != other {
		t.Errorf("another alias is %s, and by its ARN %s", other, got)
	}
	const id = "abcd1234-abcd-1234-a123-ab1234a1b234"
	if got := key("byID", `{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"`+id+`"}`); got != account+id {
		t.Errorf("a key's id is %s", got)
	}
	if got := key(
		"byARN", `{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"arn:aws:kms:eu-west-1:1:key/`+id+`"}`,
	); got != "arn:aws:kms:eu-west-1:1:key/"+id {
		t.Errorf("a key's ARN is %s", got)
	}
	e.answer("UpdateTable", `{"TableName":"managed","SSESpecification":{"Enabled":false}}`)
	e.describes("managed", `{}`, "SSEDescription")
}
