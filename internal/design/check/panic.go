package check

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// A caughtPanic brings the panic of a goroutine to the one that waits for it: a server that recovers from the
// panics of its requests would end by one elsewhere.
type caughtPanic struct {
	mu  sync.Mutex
	why string
}

// run calls f, and keeps its panic.
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

// raise panics if a goroutine did.
func (r *caughtPanic) raise() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why != "" {
		panic(r.why)
	}
}
