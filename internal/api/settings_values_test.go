package api_test

import (
	"strings"
	"testing"
)

// TestSettingsOfThroughput checks the values for throughput and encryption that the service refuses, in CreateTable
// and UpdateTable, for tables and indexes. Source: rows 2, 4, 5 and 7 of the list of 2026-11-26; the numbers are
// those of ACK, see [TestFidelityOfTables].
func TestSettingsOfThroughput(t *testing.T) {
	const (
		ok      = ""
		initial = "initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/" +
			"developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
		current = "current WarmThroughput, decreasing WarmThroughput is not supported"
	)
	onDemand := func(member, of string) string {
		return wrongValues + "Requested " + member + " for OnDemandThroughput for " + of + " is outside of valid range"
	}
	warm := func(member, of, least string) string {
		return wrongValues + "Requested " + member + " for WarmThroughput for " + of + " is lower than " + least
	}
	index := func(member string) string {
		return strings.Replace(tableR, `{"IndexName":"index3",`, `{"IndexName":"index3",`+member+`,`, 1)
	}
	update := func(table, member string) string { return `{"TableName":"` + table + `",` + member + `}` }
	change := func(table, index, member string) string {
		return update(table, `"GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"`+index+`",`+member+`}}]`)
	}
	for _, tt := range []struct{ name, op, body, want string }{
		{
			"2 ACK 039 zero", "CreateTable", with(tableH, `"OnDemandThroughput":{"MaxReadRequestUnits":0}`),
			onDemand("MaxReadRequestUnits", "table"),
		},
		{
			"2 ACK 039 minus one", "CreateTable", with(tableH, `"OnDemandThroughput":{"MaxWriteRequestUnits":-1}`),
			onDemand("MaxWriteRequestUnits", "table"),
		},
		{"2 ACK 039 empty", "CreateTable", with(tableH, `"OnDemandThroughput":{},"WarmThroughput":{}`), ok},
		{
			"2 ACK 038 provisioned", "CreateTable", with(tableP, `"OnDemandThroughput":{"MaxReadRequestUnits":5}`),
			wrongValues + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is " +
				"PROVISIONED.",
		},
		{
			"2 ACK 442 index", "CreateTable", index(`"OnDemandThroughput":{"MaxReadRequestUnits":-1}`),
			onDemand("MaxReadRequestUnits", "index : index3"),
		},
		{
			"2 ACK 051 zero", "UpdateTable", update("HHH", `"OnDemandThroughput":{"MaxWriteRequestUnits":0}`),
			onDemand("MaxWriteRequestUnits", "table"),
		},
		{
			"2 ACK 051 minus two", "UpdateTable", update("HHH", `"OnDemandThroughput":{"MaxReadRequestUnits":-2}`),
			onDemand("MaxReadRequestUnits", "table"),
		},
		{
			"2 ACK 059 provisioned", "UpdateTable", update("PPI", `"OnDemandThroughput":{"MaxReadRequestUnits":5}`),
			wrongValues + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode " +
				"is PROVISIONED",
		},
		{
			"2 index", "UpdateTable", change("RRR", "index3", `"OnDemandThroughput":{"MaxReadRequestUnits":0}`),
			onDemand("MaxReadRequestUnits", "index : index3"),
		},
		{
			"2 ACK 457 index", "UpdateTable",
			change("RRR", "index3", `"OnDemandThroughput":{"MaxReadRequestUnits":-1,"MaxWriteRequestUnits":-1}`), ok,
		},
		{
			"2 index provisioned", "UpdateTable",
			change("PPI", "byN", `"OnDemandThroughput":{"MaxReadRequestUnits":5}`),
			wrongValues + "MaxReadRequestUnits for OnDemandThroughput for index: byN cannot be specified when the " +
				"table BillingMode is PROVISIONED",
		},

		{
			"4 ACK 039 new", "CreateTable", with(tableH, `"WarmThroughput":{"ReadUnitsPerSecond":1}`),
			warm("ReadUnitsPerSecond", "table", initial),
		},
		{
			"4 ACK 039 new, writes", "CreateTable",
			with(tableH, `"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":3999}`),
			warm("WriteUnitsPerSecond", "table", initial),
		},
		{
			"4 ACK 039 provisioned", "CreateTable", with(tableP, `"WarmThroughput":{"ReadUnitsPerSecond":0}`),
			warm("ReadUnitsPerSecond", "table", "ReadCapacityUnits of ProvisionedThroughput"),
		},
		{
			"4 ACK 442 index", "CreateTable", index(`"WarmThroughput":{"ReadUnitsPerSecond":1}`),
			warm("ReadUnitsPerSecond", "index index3", initial),
		},
		{
			"4 ACK 179 less", "UpdateTable", update("HHH", `"WarmThroughput":{"ReadUnitsPerSecond":11999}`),
			warm("ReadUnitsPerSecond", "table", current),
		},
		{
			"4 ACK 457 index", "UpdateTable", change("RRR", "index3", `"WarmThroughput":{"ReadUnitsPerSecond":-1}`),
			warm("ReadUnitsPerSecond", "index index3", current),
		},
		{
			"4 ACK 457 index without", "UpdateTable", change("None", "gone", `"WarmThroughput":{}`),
			wrongValues + "WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond " +
				"specified for index: gone",
		},
		{"4 ACK 179 more", "UpdateTable", update("HHH", `"WarmThroughput":{"WriteUnitsPerSecond":4001}`), ok},

		{
			"5 ACK 152", "UpdateTable",
			update("RRR", `"BillingMode":"PROVISIONED","ProvisionedThroughput":`+
				`{"ReadCapacityUnits":5,"WriteCapacityUnits":5},"GlobalSecondaryIndexUpdates":[{"Update":`+
				`{"IndexName":"index4","ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":5}}}]`),
			wrongValues + "ProvisionedThroughput must be specified for index: index3",
		},
		{
			"5 dynalite test/updateTable.js", "UpdateTable",
			update("RRR", `"BillingMode":"PROVISIONED","ProvisionedThroughput":`+
				`{"ReadCapacityUnits":5,"WriteCapacityUnits":5}`),
			wrongValues + "ProvisionedThroughput must be specified for index: index3,index4",
		},

		{
			"7 ACK 437", "UpdateTable", update("HHH", `"SSESpecification":{"Enabled":false,"SSEType":"KMS"}`),
			wrongValues + "SSEType can not be specified if Enabled is false",
		},
		{
			"7 ACK 442 key", "CreateTable", with(tableNew, `"SSESpecification":{"Enabled":false,"KMSMasterKeyId":"k"}`),
			wrongValues + "KMSMasterKeyId can not be specified if Enabled is false",
		},
		{
			"7 ACK 442 no type", "CreateTable", with(tableNew, `"SSESpecification":{"Enabled":true,"KMSMasterKeyId":"k"}`),
			wrongValues + "SSEType KMS is required if KMSMasterKeyId is specified",
		},
		{
			"7 ACK 442 AES256", "CreateTable", with(tableNew, `"SSESpecification":{"Enabled":true,"SSEType":"AES256"}`),
			wrongValues + "SSEType AES256 is not supported",
		},
		{
			"7 ACK 047", "UpdateTable", update("HHH", `"SSESpecification":{"Enabled":false}`),
			wrongValues + "Table is already encrypted by default",
		},
		{
			"7 ACK 437 empty", "UpdateTable", update("HHH", `"SSESpecification":{}`),
			wrongValues + "Table is already encrypted by default",
		},
		{
			"7 ACK 442 same key", "UpdateTable",
			update("Key", `"SSESpecification":{"SSEType":"KMS","KMSMasterKeyId":"`+keyARN+`"}`),
			wrongValues + "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you " +
				"want to change Master Key",
		},
		{"7 ACK 044", "CreateTable", with(tableNew, `"SSESpecification":{}`), ok},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := newEndpoint(t, tableR, tablePI)
			if tt.op == "UpdateTable" {
				e.answer("CreateTable", tableH)
			} else {
				e.answer("DeleteTable", `{"TableName":"RRR"}`)
			}
			e.answer("CreateTable", with(strings.Replace(tableH, "HHH", "Key", 1),
				`"SSESpecification":{"SSEType":"KMS","KMSMasterKeyId":"`+keyARN+`"}`)) // ACK 044
			e.witness(tt.op, tt.body, tt.want)
		})
	}
}

const keyARN = "arn:aws:kms:us-east-1:000000000000:key/abcd1234-abcd-1234-a123-ab1234a1b234"

var tableNew = strings.Replace(tableH, "HHH", "New", 1)

// TestCeilings changes the limits of on-demand throughput one by one. Source: row 3 of the list of 2026-11-26; ACK
// 178 and 182.
func TestCeilings(t *testing.T) {
	e := newEndpoint(t, tableH)
	for _, step := range []struct{ change, want string }{
		{`"OnDemandThroughput":{"MaxReadRequestUnits":20,"MaxWriteRequestUnits":15}`,
			`{"OnDemandThroughput":{"MaxReadRequestUnits":20,"MaxWriteRequestUnits":15}}`},
		{`"OnDemandThroughput":{"MaxReadRequestUnits":40}`,
			`{"OnDemandThroughput":{"MaxReadRequestUnits":40,"MaxWriteRequestUnits":15}}`},
		{`"OnDemandThroughput":{"MaxReadRequestUnits":-1}`, `{"OnDemandThroughput":{"MaxWriteRequestUnits":15}}`},
		{`"OnDemandThroughput":{"MaxWriteRequestUnits":-1}`, `{}`},
		{`"OnDemandThroughput":{"MaxWriteRequestUnits":7}`, `{"OnDemandThroughput":{"MaxWriteRequestUnits":7}}`},
		{`"BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6}`, `{}`},
		{`"BillingMode":"PAY_PER_REQUEST"`, `{}`},
	} {
		e.answer("UpdateTable", `{"TableName":"HHH",`+step.change+`}`)
		e.describes("HHH", step.want, "OnDemandThroughput")
	}
}

// TestWarmThroughputStays changes the throughput of a table, and checks that its warm throughput never decreases.
// Source: ACK 061 and 179.
func TestWarmThroughputStays(t *testing.T) {
	e := newEndpoint(t, tableP)
	for _, step := range []struct{ change, want string }{
		{`"ProvisionedThroughput":{"ReadCapacityUnits":3,"WriteCapacityUnits":3}`, `3,"WriteUnitsPerSecond":3`},
		{`"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`, `3,"WriteUnitsPerSecond":3`},
		{`"WarmThroughput":{"ReadUnitsPerSecond":50}`, `50,"WriteUnitsPerSecond":3`},
		{`"BillingMode":"PAY_PER_REQUEST"`, `12000,"WriteUnitsPerSecond":4000`},
		{`"BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`,
			`12000,"WriteUnitsPerSecond":4000`},
	} {
		e.answer("UpdateTable", `{"TableName":"PPP",`+step.change+`}`)
		e.describes("PPP", `{"WarmThroughput":{"ReadUnitsPerSecond":`+step.want+`,"Status":"ACTIVE"}}`, "WarmThroughput")
	}
}
