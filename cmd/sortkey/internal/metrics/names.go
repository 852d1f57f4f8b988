package metrics

import (
	"slices"

	"github.com/sortkey/sortkey/internal/wire"
)

// other is the label of names without a label of their own. It is not a valid
// table name.
const other = "(other)"

// Operation returns the label of an operation: its name, or "(other)" if it is not
// an operation of the service.
func Operation(name string) string {
	if slices.ContainsFunc(wire.Operations(), func(op wire.Op) bool { return op.String() == name }) {
		return name
	}
	return other
}
