package api

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/wire"
)

// missing are the features that the service has and Sortkey does not, with their
// operations and what to use instead. They hold every operation without a
// handler. Clients expect an UnknownOperationException from an endpoint without
// an operation, so that is the code of the error; its text is ours.
var missing = []struct {
	feature string
	ops     []string
	instead string
}{
	{
		"bulk puts", []string{"CancelBulkOperation", "DescribeBulkOperation", "ListBulkOperations", "StartBulkPutItems"},
		"Use 'sortkey import' or BatchWriteItem.",
	},
	{
		"vector search", []string{"SearchVectors"},
		"Query and Scan find items by their keys and by filters.",
	},
}

// IsOperation reports whether the service has an operation of that name, answered
// here or not.
func IsOperation(name string) bool {
	ok := slices.ContainsFunc(wire.Operations(), func(op wire.Op) bool { return op.String() == name })
	return ok || Unanswered("."+name).Message != ""
}

// Unanswered returns the error for a target that no handler answers. Its text
// says which feature is missing and what to use instead; it is empty if the
// service has no such operation either.
func Unanswered(target string) *wire.Error {
	e := wire.UnknownOperation()
	_, name, _ := strings.Cut(target, ".")
	for _, m := range missing {
		if slices.Contains(m.ops, name) {
			e.Message = "Sortkey does not answer " + name + ": it has no " + m.feature + ". " + m.instead
		}
	}
	return e
}
