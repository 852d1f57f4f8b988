package api

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// FaultProblem returns a text that says what is wrong with a fault and what to change. It returns "" for a valid
// fault. It does not check whether a call can match all conditions of the fault at once.
func FaultProblem(f fault.Fault) string {
	if known := operationNames(); f.Operation != "" && !slices.Contains(known, f.Operation) {
		return fmt.Sprintf("unknown operation %q: %s", f.Operation, text.DidYouMean(f.Operation, known))
	}
	if problem := numberProblem(f); problem != "" {
		return problem
	}
	if problem := effectProblem(f); problem != "" {
		return problem
	}
	if strings.HasPrefix(f.Table, wire.ARNPrefix) {
		return fmt.Sprintf("the Table of the fault is %q: give its name, which also matches calls with an ARN", f.Table)
	}
	if known := codesOf(f.Operation); f.Code != "" && !slices.Contains(known, f.Code) {
		return fmt.Sprintf("the Code of the fault is %q, which is not an exception of %s: %s",
			f.Code, cmp.Or(f.Operation, "any operation"), text.DidYouMean(f.Code, known))
	}
	for _, code := range f.Reasons {
		if code != "" && !slices.Contains(reasonCodes, code) {
			return fmt.Sprintf("the Reasons of the fault have %q, which is not a cancellation reason: %s",
				code, text.DidYouMean(code, reasonCodes))
		}
	}
	return ""
}

// numberProblem checks the numbers of a fault. It returns what is wrong with them, or "".
func numberProblem(f fault.Fault) string {
	switch {
	case min(f.Skip, f.Times, f.Unprocessed, int(f.Delay)) < 0:
		return "Skip, Times, Unprocessed and Delay of the fault must not be negative"
	case !(f.Chance >= 0 && f.Chance <= 1): // also NaN
		return fmt.Sprintf("Chance of the fault is %v, want a probability up to 1, or 0 for every call", f.Chance)
	case f.Nth != nil && (len(f.Nth) == 0 || slices.Min(f.Nth) < 1):
		return fmt.Sprintf("Nth of the fault is %v, want the numbers of the calls that fail, from 1", f.Nth)
	}
	return ""
}

// effectProblem checks that a fault has a delay, one other effect, or both. If not, it returns what is wrong;
// otherwise it returns "".
func effectProblem(f fault.Fault) string {
	var effects []string
	for _, effect := range []struct {
		name string
		set  bool
	}{
		{"Code", f.Code != ""}, {"Reasons", len(f.Reasons) > 0}, {"Unprocessed", f.Unprocessed > 0}, {"Hang", f.Hang},
		{"Reset", f.Reset}, {"LoseAnswer", f.LoseAnswer},
	} {
		if effect.set {
			effects = append(effects, effect.name)
		}
	}
	switch {
	case len(effects) == 0 && f.Delay == 0:
		return "the fault has no effect: set Code, Reasons, Unprocessed, Delay, Hang, Reset or LoseAnswer"
	case len(effects) > 1:
		return fmt.Sprintf("the fault has %s, but a call meets one of them only: set a fault for each",
			text.Join(effects, "and"))
	case f.Message != "" && f.Code == "":
		return fmt.Sprintf("the fault has the Message %q without a Code: set the Code of the error", f.Message)
	}
	return ""
}

// operationNames returns the names of all operations.
func operationNames() (names []string) {
	for _, op := range wire.Operations() {
		names = append(names, op.String())
	}
	return names
}

// codesOf returns the exceptions that an operation can return. If the name is "", it returns those of all operations.
func codesOf(operation string) (codes []string) {
	for _, op := range wire.Operations() {
		if operation == "" || op.String() == operation {
			codes = append(codes, op.Exceptions()...)
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// reasonCodes are the codes of cancellation reasons. Source: API_TransactWriteItems.
var reasonCodes = []string{
	"AccessDenied", "ConditionalCheckFailed", "DuplicateItem", "ItemCollectionSizeLimitExceeded", "None",
	"ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict", "ValidationError",
}
