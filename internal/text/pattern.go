package text

import (
	"regexp"
	"sync"
)

// Pattern returns a function that returns a regular expression. The first call compiles it. If a command compiled all
// its expressions when it starts, that would take a tenth of its start time.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
