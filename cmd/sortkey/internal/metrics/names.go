package metrics

import (
	"slices"
	"sync"

	"github.com/sortkey/sortkey/internal/wire"
)

// other is the label that stands for all names without a label of their own. No table can have this name.
const other = "(other)"

// Operation returns the label of an operation: its name, or "(other)" if it is not
// an operation of the service.
func Operation(name string) string {
	if slices.ContainsFunc(wire.Operations(), func(op wire.Op) bool { return op.String() == name }) {
		return name
	}
	return other
}

// firsts remembers the first names that has sees, up to the number most. Only these names get a label of their own.
// This bounds the number of time series, even if clients create and delete many tables.
type firsts struct {
	most int

	mu    sync.Mutex
	known map[string]bool
}

// has reports whether name is one of the first f.most different names that has has seen.
func (f *firsts) has(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = map[string]bool{}
	}
	if !f.known[name] && len(f.known) < f.most {
		f.known[name] = true
	}
	return f.known[name]
}
