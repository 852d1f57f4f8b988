package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tablePI is tableP, called PPI, with a global index.
var tablePI = with(strings.NewReplacer(
	`"PPP"`, `"PPI"`, `"AttributeDefinitions":[`, `"AttributeDefinitions":[{"AttributeName":"n","AttributeType":"S"},`,
).Replace(tableP), `"GlobalSecondaryIndexes":[{"IndexName":"byN","KeySchema":[{"AttributeName":"n","KeyType":"HASH"}],`+
	`"Projection":{"ProjectionType":"ALL"},"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}]`)

// changeMembers has a member of UpdateTable for each kind of change.
var changeMembers = map[string]string{
	"replica":     `"ReplicaUpdates":[{"Create":{"RegionName":"eu-west-1"}}]`,
	"sse":         `"SSESpecification":{"Enabled":true}`,
	"class":       `"TableClass":"STANDARD_INFREQUENT_ACCESS"`,
	"protection":  `"DeletionProtectionEnabled":true`,
	"warm":        `"WarmThroughput":{"ReadUnitsPerSecond":13000,"WriteUnitsPerSecond":5000}`,
	"ceiling":     `"OnDemandThroughput":{"MaxReadRequestUnits":40}`,
	"units":       `"ProvisionedThroughput":{"ReadCapacityUnits":7,"WriteCapacityUnits":7}`,
	"provisioned": `"BillingMode":"PROVISIONED"`,
	"request":     `"BillingMode":"PAY_PER_REQUEST"`,
	"stream":      `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}`,
	"create": `"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[` +
		`{"Create":{"IndexName":"byA","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],` +
		`"Projection":{"ProjectionType":"ALL"}}}]`,
	"delete": `"GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"byN"}}]`,
	"update": `"GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"byN",` +
		`"ProvisionedThroughput":{"ReadCapacityUnits":3,"WriteCapacityUnits":3}}}]`,
}

// TestChangesApart sends each pair of changes in one UpdateTable to a table with provisioned throughput and a global
// index. Source: row 1 of the list of 2026-11-26; ACK 174, 224, 382 and 433 (see testdata/requests/fidelity).
func TestChangesApart(t *testing.T) {
	const (
		replica    = "Replica modification must be the only operation in the request"
		sse        = "Server-Side Encryption modification must be the only operation in the request"
		class      = "TableClass modification must be the only operation in the request"
		protection = "DeletionProtection modification must be the only operation in the request"
		warm       = "WarmThroughput must be the only operation in the request"
		warmCreate = "Create global secondary index cannot be specified when updating WarmThroughput"
		ceiling    = "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"
		iopsStream = "You cannot modify stream status while updating table IOPS"
		iopsIndex  = "You cannot create or delete index while updating table IOPS"
		stream     = "You cannot create or delete index while changing stream status"
	)
	for one, rest := range map[string]map[string]string{
		"replica": {replica: "sse class protection warm ceiling units provisioned request stream create delete update"},
		"sse":     {sse: "class protection warm ceiling units provisioned request stream create delete update"},
		"class":   {class: "protection warm ceiling units provisioned request stream create delete update"},
		"protection": {
			protection: "warm ceiling units provisioned request stream create delete update",
		},
		"warm":        {warm: "ceiling units provisioned request stream delete update", warmCreate: "create"},
		"ceiling":     {ceiling: "units stream create delete update"},
		"units":       {iopsStream: "stream", iopsIndex: "create delete"},
		"provisioned": {iopsStream: "stream", iopsIndex: "create delete"},
		"stream":      {stream: "create delete"},
	} {
		for text, others := range rest {
			for other := range strings.FieldsSeq(others) {
				t.Run(one+" and "+other, func(t *testing.T) {
					e := newEndpoint(t, tablePI)
					before := e.answer("DescribeTable", `{"TableName":"PPI"}`)
					e.invalid("UpdateTable",
						`{"TableName":"PPI",`+changeMembers[one]+`,`+changeMembers[other]+`}`, wrongValues+text)
					require.JSONEq(t, before, e.answer("DescribeTable", `{"TableName":"PPI"}`))
				})
			}
		}
	}
}

// TestChangesTogether sends combinations of changes that one UpdateTable may make. It has the sources of
// [TestChangesApart].
func TestChangesTogether(t *testing.T) {
	for _, changes := range []string{
		"request stream", "request ceiling", "request create", "units update", "provisioned units", "update stream",
		"provisioned units update",
	} {
		t.Run(changes, func(t *testing.T) {
			e := newEndpoint(t, tablePI)
			body := `{"TableName":"PPI"`
			for c := range strings.FieldsSeq(changes) {
				body += `,` + changeMembers[c]
			}
			e.answer("UpdateTable", body+`}`)
		})
	}
	e := newEndpoint(t, tableH) // an empty member changes nothing: ACK 457
	e.answer("UpdateTable",
		`{"TableName":"HHH","TableClass":"STANDARD","WarmThroughput":{},"OnDemandThroughput":{}}`)
}

// TestAnswerShowsStateBefore sends changes. The responses show the values from before the change, and UPDATING as the
// status of what changes. Source: row 6 of the list of 2026-11-26; ACK 017, 060, 064, 065, 177, 179, 183, 370 and
// 410, and recordings of the service of 2025.
func TestAnswerShowsStateBefore(t *testing.T) {
	const none = `"NumberOfDecreasesToday":0,`
	for _, tt := range []struct{ change, members, want string }{
		{
			"units", "TableStatus ProvisionedThroughput WarmThroughput",
			`{"TableStatus":"UPDATING","ProvisionedThroughput":{"LastIncreaseDateTime":1795262400,` +
				none + `"ReadCapacityUnits":1,` +
				`"WriteCapacityUnits":1},"WarmThroughput":{"ReadUnitsPerSecond":1,"WriteUnitsPerSecond":1,` +
				`"Status":"ACTIVE"}}`,
		},
		{
			"warm", "TableStatus WarmThroughput",
			`{"TableStatus":"ACTIVE","WarmThroughput":{"ReadUnitsPerSecond":1,"WriteUnitsPerSecond":1,` +
				`"Status":"UPDATING"}}`,
		},
		{"class", "TableStatus TableClassSummary", `{"TableStatus":"UPDATING"}`},
		{
			"protection", "TableStatus DeletionProtectionEnabled",
			`{"TableStatus":"ACTIVE","DeletionProtectionEnabled":true}`,
		},
		{"sse", "TableStatus SSEDescription", `{"TableStatus":"ACTIVE","SSEDescription":{"Status":"UPDATING"}}`},
		{
			"request", "TableStatus BillingModeSummary WarmThroughput",
			`{"TableStatus":"UPDATING","BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST"},` +
				`"WarmThroughput":{"ReadUnitsPerSecond":1,"WriteUnitsPerSecond":1,"Status":"ACTIVE"}}`,
		},
		{"update", "TableStatus", `{"TableStatus":"ACTIVE"}`},
	} {
		t.Run(tt.change, func(t *testing.T) {
			e := newEndpoint(t, tablePI)
			var out struct {
				TableDescription map[string]json.RawMessage
			}
			e.call("UpdateTable", `{"TableName":"PPI",`+changeMembers[tt.change]+`}`, &out)
			got := map[string]json.RawMessage{}
			for m := range strings.FieldsSeq(tt.members) {
				if v, ok := out.TableDescription[m]; ok {
					got[m] = v
				}
			}
			text, err := json.Marshal(got)
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(text))

			if tt.change == "update" {
				index := string(out.TableDescription["GlobalSecondaryIndexes"])
				require.Contains(t, index, `"IndexStatus":"UPDATING"`)
				require.Contains(t, index, `"ReadCapacityUnits":1,`)
				require.Contains(t, e.described("PPI", "GlobalSecondaryIndexes"), `"ReadCapacityUnits":3,`)
			}
		})
	}

	e := newEndpoint(t, tableH)
	out := e.answer("UpdateTable", `{"TableName":"HHH","OnDemandThroughput":{"MaxReadRequestUnits":-1,`+
		`"MaxWriteRequestUnits":5}}`)
	require.Contains(t, out, `"OnDemandThroughput":{"MaxReadRequestUnits":-1,"MaxWriteRequestUnits":5}`)
	require.Contains(t, out, `"TableStatus":"ACTIVE"`)
}
