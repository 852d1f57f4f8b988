package check

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// A caughtPanic passes a panic from one goroutine to the goroutine that waits for it. This keeps a server alive: it
// can recover from a panic in the goroutine of a request, but a panic in any other goroutine ends the process.
type caughtPanic struct {
	mu  sync.Mutex
	why string
}

// run calls f and records its panic.
func (r *caughtPanic) run(f func()) {
	defer func() {
		if p := recover(); p != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.why = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
		}
	}()
	f()
}

// raise panics with the value that run recorded, if run recorded a panic.
func (r *caughtPanic) raise() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why != "" {
		panic(r.why)
	}
}
