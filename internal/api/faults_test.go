package api_test

import (
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/api"
	faults "github.com/sortkey/sortkey/internal/api/fault"
)

// Source: DG/throttling-diagnosing.html.
func TestThrottlingReasons(t *testing.T) {
	e := newEndpoint(t, tableH)
	e.svc.Faults().Add(&faults.Rule{Fault: faults.Fault{Operation: "PutItem", Code: "ThrottlingException"}})
	out, status := e.serve("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"x"}}}`)
	for _, want := range []string{"TableWriteProvisionedThroughputExceeded", arnH} {
		if status != 400 || !strings.Contains(out, want) {
			t.Errorf("%d %s, want %s", status, out, want)
		}
	}
}

// TestThrottlingReasonsOfStatements checks that the reason is that of a read or of a write depending on what the
// statement does.
func TestThrottlingReasonsOfStatements(t *testing.T) {
	const (
		read, write = `{"Statement":"SELECT * FROM HHH WHERE a = 'x'"}`, `{"Statement":"DELETE FROM HHH WHERE a = ` +
			`?","Parameters":[{"S":"x"}]}`
		exists = `{"Statement":"EXISTS(SELECT * FROM HHH WHERE a = 'x' AND attribute_exists(b))"}`
	)
	e := newEndpoint(t, tableH)
	e.svc.Faults().Add(&faults.Rule{Fault: faults.Fault{Code: "ProvisionedThroughputExceededException"}})
	for _, tt := range []struct{ op, body, want string }{
		{"ExecuteStatement", read, "TableRead"},
		{"ExecuteStatement", write, "TableWrite"},
		{"BatchExecuteStatement", `{"Statements":[` + read + `]}`, "TableRead"},
		{"BatchExecuteStatement", `{"Statements":[` + write + `]}`, "TableWrite"},
		{"ExecuteTransaction", `{"TransactStatements":[` + read + `]}`, "TableRead"},
		{"ExecuteTransaction", `{"TransactStatements":[` + exists + `,` + write + `]}`, "TableWrite"},
		{"ExecuteTransaction", `{"TransactStatements":[` + exists + `]}`, "TableWrite"},
		{"Scan", `{"TableName":"HHH"}`, "TableRead"},
	} {
		if out, _ := e.serve(tt.op, tt.body); !strings.Contains(out, `"`+tt.want+`ProvisionedThroughputExceeded"`) {
			t.Errorf("%s %s\n got %s\nwant %s…", tt.op, tt.body, out, tt.want)
		}
	}
}

// Source: DG/throttling-diagnosing.html, which shows the provisioned throughput exception together with the reason
// for a hot key.
func TestEnforcedThrottlingReasons(t *testing.T) {
	e := newEndpoint(t)
	e.svc = api.New(e.db, api.Options{Clock: e.db.Clock, EnforceThroughput: true})
	provisioned := strings.Replace(tableH, `"PAY_PER_REQUEST"`,
		`"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":2000,"WriteCapacityUnits":2000}`, 1)
	put := `{"TableName":"HHH","Item":{"a":{"S":"x"},"b":{"S":"` + strings.Repeat("x", 250<<10-len("axb")) + `"}}}`
	for _, tt := range []struct{ table, want string }{
		{
			tableH, `{"__type":"com.amazon.coral.availability#ThrottlingException","message":"Throughput exceeds the ` +
				`current capacity of your table or index.`,
		},
		{
			provisioned, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",` +
				`"message":"The level of configured provisioned throughput for the table was exceeded.`,
		},
	} {
		e.answer("CreateTable", tt.table)
		for range 4 { // exactly 1000 units
			e.answer("PutItem", put)
		}
		out, status := e.serve("PutItem", put)
		for _, want := range []string{
			tt.want, `hrottlingReasons":[{"reason":"TableWriteKeyRangeThroughputExceeded","resource":"` + arnH + `"}]}`,
		} {
			if status != 400 || !strings.Contains(out, want) {
				t.Errorf("%d %s, want %s", status, out, want)
			}
		}
		e.answer("DeleteTable", `{"TableName":"HHH"}`)
	}
}
