package api_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sortkey/sortkey/internal/api"
	faults "github.com/sortkey/sortkey/internal/api/fault"
)

// TestFaultProblem has a fault for each message, and some valid faults.
func TestFaultProblem(t *testing.T) {
	const code = "InternalServerError"
	for _, tt := range []struct {
		name, want string
		fault      faults.Fault
	}{
		{"Times", "must not be negative", faults.Fault{Code: code, Times: -1}},
		{"Delay", "must not be negative", faults.Fault{Delay: -time.Second}},
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
			"right", "",
			faults.Fault{
				Operation: "Query", Table: "Orders", Index: "ByX", Code: code, Nth: []int{2, 1}, Delay: time.Second,
			},
		},
		{
			"code and a lost answer", "the fault has Code and LoseAnswer, but a call meets one",
			faults.Fault{Code: code, LoseAnswer: true},
		},
		{"certain", "", faults.Fault{Chance: 1, LoseAnswer: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := api.FaultProblem(tt.fault)
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("FaultProblem(%+v) = %q, want %q", tt.fault, got, tt.want)
			}
		})
	}
}
