package text

import (
	"regexp"
	"sync"
)

// Pattern returns a function that compiles a regular expression on its first call and returns it. Compiling all
// expressions of a command when it starts would take a tenth of its start.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
