package metrics

import "github.com/sortkey/sortkey/internal/api"

// other stands for names beyond those that have a label of their own. No
// table can have this name.
const other = "(other)"

// Operation returns the label of an operation: its name, or "(other)" if the
// service has none of that name.
func Operation(name string) string {
	if api.IsOperation(name) {
		return name
	}
	return other
}
