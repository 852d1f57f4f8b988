package api_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sortkey/sortkey/internal/api"
	faults "github.com/sortkey/sortkey/internal/api/fault"
)

// TestFaultProblem has a fault for each message, and some that are right.
func TestFaultProblem(t *testing.T) {
	const code = "InternalServerError"
	for _, tt := range []struct {
		name, want string
		fault      faults.Fault
	}{
		{
			"Times", "Times of the fault is -1, want the number of calls that fail, or 0 for all",
			faults.Fault{Code: code, Times: -1},
		},
		{
			"Skip", "Skip of the fault is -2, want the number of calls that pass first, from 0",
			faults.Fault{Code: code, Skip: -2},
		},
		{"Delay", "Delay of the fault is -1s, want a time from now on", faults.Fault{Delay: -time.Second}},
		{
			"Unprocessed", "Unprocessed of the fault is -1, want a number of requests, from 1",
			faults.Fault{Unprocessed: -1},
		},
		{
			"Chance above 1", "Chance of the fault is 1.5, want a probability up to 1, or 0 for every call",
			faults.Fault{Code: code, Chance: 1.5},
		},
		{"Chance below 0", "Chance of the fault is -0.1, want", faults.Fault{Code: code, Chance: -0.1}},
		{"Chance NaN", "Chance of the fault is NaN, want", faults.Fault{Code: code, Chance: math.NaN()}},
		{
			"Nth of none", "Nth of the fault is [], want the numbers of the calls that fail, from 1",
			faults.Fault{Code: code, Nth: []int{}},
		},
		{"Nth below 1", "Nth of the fault is [1 0], want", faults.Fault{Code: code, Nth: []int{1, 0}}},
		{
			"Nth twice", "Nth of the fault is [3 1 3], which has call 3 twice: a call fails once",
			faults.Fault{Code: code, Nth: []int{3, 1, 3}},
		},
		{
			"two effects", "the fault has Code and Reset, but a call meets one of them only: set a fault for each",
			faults.Fault{Code: code, Reset: true},
		},
		{"hang and reasons", "the fault has Reasons and Hang, but", faults.Fault{Reasons: []string{"None"}, Hang: true}},
		{
			"message", `the fault has the Message "no" without a Code: set the Code of the error`,
			faults.Fault{Message: "no", Reset: true},
		},
		{"no effect", "the fault has no effect: set Code,", faults.Fault{Operation: "Query"}},
		{
			"ARN", `the Table of the fault is "arn:aws:dynamodb:us-east-1:000000000000:table/Orders": give its name`,
			faults.Fault{Code: code, Table: "arn:aws:dynamodb:us-east-1:000000000000:table/Orders"},
		},
		{
			"operation without tables",
			`no call can meet the fault: its Operation is ListTables and its Table is "Orders", but that operation ` +
				`names no table: remove one of them`,
			faults.Fault{Operation: "ListTables", Table: "Orders", Code: code},
		},
		{
			"operation without an index",
			`no call can meet the fault: its Operation is PutItem and its Index is "ByX", but only Query and Scan ` +
				`have an index: remove one of them`,
			faults.Fault{Operation: "PutItem", Index: "ByX", Code: code},
		},
		{
			"operation without items", `its Operation is Query and its Key is "a*", but only operations that name ` +
				`items, such as GetItem, have a key`,
			faults.Fault{Operation: "Query", Key: "a*", Code: code},
		},
		{
			"statement", "its Operation is ExecuteStatement and its Key",
			faults.Fault{Operation: "ExecuteStatement", Key: "a", Code: code},
		},
		{
			"index and key", `its Index is "ByX" and its Key is "a", but`,
			faults.Fault{Index: "ByX", Key: "a", Code: code},
		},
		{
			"index and reasons", `its Index is "ByX" and it has Reasons, but only transactions have reasons`,
			faults.Fault{Index: "ByX", Reasons: []string{""}},
		},
		{
			"reasons", "its Operation is PutItem and it has Reasons, but only transactions",
			faults.Fault{Operation: "PutItem", Reasons: []string{""}},
		},
		{
			"unprocessed", "its Operation is TransactWriteItems and it has Unprocessed, but only " +
				"batches leave requests unprocessed",
			faults.Fault{Operation: "TransactWriteItems", Unprocessed: 1},
		},
		{
			"right", "",
			faults.Fault{
				Operation: "Query", Table: "Orders", Index: "ByX", Code: code, Nth: []int{2, 1}, Delay: time.Second,
			},
		},
		{
			"code and a lost answer", "the fault has Code and LoseAnswer, but a call meets one",
			faults.Fault{Code: code, LoseAnswer: true},
		},
		{"statement of a table", "", faults.Fault{Operation: "ExecuteStatement", Table: "Orders", Code: code}},
		{"records of a table", "", faults.Fault{Operation: "GetRecords", Table: "Orders", Code: code}},
		{"batch of a table", "", faults.Fault{Operation: "BatchWriteItem", Table: "Orders", Key: "a", Unprocessed: 1}},
		{"description of a table", "", faults.Fault{Operation: "DescribeTable", Table: "Orders", Hang: true}},
		{"certain", "", faults.Fault{Chance: 1, LoseAnswer: true}},
		{"key of a transaction", "", faults.Fault{Key: "a", Reasons: []string{"TransactionConflict"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := api.FaultProblem(tt.fault)
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("FaultProblem(%+v) = %q, want %q", tt.fault, got, tt.want)
			}
		})
	}
}
