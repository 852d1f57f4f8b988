package metrics

import "github.com/sortkey/sortkey/internal/api"

// other is the label of names without a label of their own. It is not a valid
// table name.
const other = "(other)"

// Operation returns the label of an operation: its name, or "(other)" if it is not
// an operation of the service.
func Operation(name string) string {
	if api.IsOperation(name) {
		return name
	}
	return other
}
