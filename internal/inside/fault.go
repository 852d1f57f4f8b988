package inside

import (
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/internal/fault"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// FaultProblem returns what is wrong with a fault that a person wrote, or "".
func FaultProblem(f fault.Fault) string {
	var operations []string
	for _, op := range wire.Operations() {
		operations = append(operations, op.String())
	}
	if f.Operation != "" && !slices.Contains(operations, f.Operation) {
		return fmt.Sprintf("unknown operation %q: %s", f.Operation, text.DidYouMean(f.Operation, operations))
	}
	fails := f.Code != "" || len(f.Reasons) > 0 || f.Unprocessed != 0 || f.Reset || f.LoseAnswer
	if !fails && f.Delay == 0 && !f.Hang {
		return "the fault has no effect: set Code, Reasons, Unprocessed, Delay, Hang, Reset or LoseAnswer"
	}
	if f.Nth != nil && (len(f.Nth) == 0 || slices.Min(f.Nth) < 1) {
		return fmt.Sprintf("Nth of the fault is %v, want the numbers of the calls that fail, from 1", f.Nth)
	}
	if known := codesOf(f.Operation); f.Code != "" && !slices.Contains(known, f.Code) {
		of := f.Operation
		if of == "" {
			of = "any operation"
		}
		return fmt.Sprintf("the Code of the fault is %q, which is not an exception of %s: %s",
			f.Code, of, text.DidYouMean(f.Code, known))
	}
	for _, code := range f.Reasons {
		if code != "" && !slices.Contains(reasons, code) {
			return fmt.Sprintf("the Reasons of the fault have %q, which is not a cancellation reason: %s",
				code, text.DidYouMean(code, reasons))
		}
	}
	return ""
}

// codesOf returns the exceptions of an operation, or of all operations if the name is "".
func codesOf(operation string) (codes []string) {
	for _, op := range wire.Operations() {
		if operation == "" || op.String() == operation {
			codes = append(codes, op.Exceptions()...)
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// reasons are the codes of cancellation reasons. Source: API_TransactWriteItems.
var reasons = []string{
	"AccessDenied", "ConditionalCheckFailed", "DuplicateItem", "ItemCollectionSizeLimitExceeded", "None",
	"ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict", "ValidationError",
}
