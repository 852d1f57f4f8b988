package text

import (
	"regexp"
	"sync"
)

// Pattern returns a function that compiles a regular expression at its first call and
// returns it. A command that compiles all its expressions when it starts spends a tenth
// of its start on them.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
