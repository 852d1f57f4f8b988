package api

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// FaultProblem says why no call can meet a fault, and what to change. It returns "" for a fault that
// is right.
func FaultProblem(f fault.Fault) string {
	if f.Operation != "" && !slices.Contains(operationNames(nil), f.Operation) {
		return fmt.Sprintf("unknown operation %q: %s", f.Operation, text.DidYouMean(f.Operation, operationNames(nil)))
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
	if problem := matchProblem(f); problem != "" {
		return problem
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
		if code != "" && !slices.Contains(reasonCodes, code) {
			return fmt.Sprintf("the Reasons of the fault have %q, which is not a cancellation reason: %s",
				code, text.DidYouMean(code, reasonCodes))
		}
	}
	return ""
}

// numberProblem looks at the numbers of a fault.
func numberProblem(f fault.Fault) string {
	switch {
	case f.Skip < 0:
		return fmt.Sprintf("Skip of the fault is %d, want the number of calls that pass first, from 0", f.Skip)
	case f.Times < 0:
		return fmt.Sprintf("Times of the fault is %d, want the number of calls that fail, or 0 for all", f.Times)
	case f.Unprocessed < 0:
		return fmt.Sprintf("Unprocessed of the fault is %d, want a number of requests, from 1", f.Unprocessed)
	case f.Delay < 0:
		return fmt.Sprintf("Delay of the fault is %v, want a time from now on", f.Delay)
	case !(f.Chance >= 0 && f.Chance <= 1): // also NaN
		return fmt.Sprintf("Chance of the fault is %v, want a probability up to 1, or 0 for every call", f.Chance)
	case f.Nth != nil && (len(f.Nth) == 0 || slices.Min(f.Nth) < 1):
		return fmt.Sprintf("Nth of the fault is %v, want the numbers of the calls that fail, from 1", f.Nth)
	}
	for i, n := range f.Nth {
		if slices.Contains(f.Nth[:i], n) {
			return fmt.Sprintf("Nth of the fault is %v, which has call %d twice: a call fails once", f.Nth, n)
		}
	}
	return ""
}

// effectProblem looks at what a fault does to a call: one thing, perhaps after a delay.
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

// matchProblem looks for two conditions of a fault that no call meets together.
func matchProblem(f fault.Fault) string {
	type condition struct {
		is, wants  string // as in "Operation is …" and "Index wants …"
		operations []string
	}
	var conditions []condition
	add := func(set bool, is, wants string, meets func(wire.Op) bool) {
		if set {
			conditions = append(conditions, condition{is, wants, operationNames(meets)})
		}
	}
	oneOf := func(list ...wire.Op) func(wire.Op) bool {
		return func(op wire.Op) bool { return slices.Contains(list, op) }
	}
	named := func(list []string) func(wire.Op) bool {
		return func(op wire.Op) bool { return slices.Contains(list, op.String()) }
	}
	add(f.Operation != "", fmt.Sprintf("its Operation is %s", f.Operation), "", named([]string{f.Operation}))
	add(f.Index != "", fmt.Sprintf("its Index is %q", f.Index), "only Query and Scan have an index",
		oneOf(wire.OpQuery, wire.OpScan))
	add(f.Key != "", fmt.Sprintf("its Key is %q", f.Key),
		"only operations that name items, such as GetItem, have a key",
		oneOf(wire.OpGetItem, wire.OpPutItem, wire.OpUpdateItem, wire.OpDeleteItem, wire.OpBatchGetItem,
			wire.OpBatchWriteItem, wire.OpTransactGetItems, wire.OpTransactWriteItems))
	add(len(f.Reasons) > 0, "it has Reasons", "only transactions have reasons", named(fault.Transactions))
	add(f.Unprocessed > 0, "it has Unprocessed", "only batches leave requests unprocessed", named(fault.Batches))
	add(f.Table != "", fmt.Sprintf("its Table is %q", f.Table), "that operation names no table", namesTables)
	for i, b := range conditions {
		for _, a := range conditions[:i] {
			if !slices.ContainsFunc(a.operations, func(op string) bool { return slices.Contains(b.operations, op) }) {
				return fmt.Sprintf("no call can meet the fault: %s and %s, but %s: remove one of them", a.is,
					b.is, b.wants)
			}
		}
	}
	return ""
}

// namesTables reports whether calls of an operation refer to tables. In PartiQL the statement
// does, and in GetRecords the iterator.
func namesTables(op wire.Op) bool {
	switch op {
	case wire.OpBatchGetItem, wire.OpBatchWriteItem, wire.OpExecuteStatement, wire.OpBatchExecuteStatement,
		wire.OpExecuteTransaction, wire.OpGetRecords:
		return true
	}
	return op.NamesTables()
}

// operationNames returns the names of the operations of which something is true, of all for nil.
func operationNames(is func(wire.Op) bool) (names []string) {
	for _, op := range wire.Operations() {
		if is == nil || is(op) {
			names = append(names, op.String())
		}
	}
	return names
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

// reasonCodes are the codes of cancellation reasons. Source: API_TransactWriteItems.
var reasonCodes = []string{
	"AccessDenied", "ConditionalCheckFailed", "DuplicateItem", "ItemCollectionSizeLimitExceeded", "None",
	"ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict", "ValidationError",
}
