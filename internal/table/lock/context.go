package lock

import (
	"context"
	"sync/atomic"
)

// A Context is the context that an update passes to its store. While the update waits for the store to call its
// function, the Context also ends with the [Lifetime], and a long wait is logged. For that, the Context needs a
// goroutine and a timer. It starts them only when the store calls Done, which stores do only if they have to wait.
type Context struct {
	context.Context
	life    *Lifetime
	begun   atomic.Bool
	waiting atomic.Pointer[wait] // nil until Done or Wait is called
}

// NewContext returns the context for an update. Call End to release its resources.
func (l *Lifetime) NewContext(ctx context.Context) *Context { return &Context{Context: ctx, life: l} }

// Wait begins the wait before the store calls Done. Call it if the update may block before its store waits for the
// write lock, as only a wait ends with the lifetime. Only one goroutine may call Wait.
func (c *Context) Wait() {
	if c.waiting.Load() == nil {
		c.waiting.Store(c.life.newWait(c.Context))
	}
}

// Begin ends the wait. Call it when the function of the update begins to run. From then on, the Context ends only
// with its parent.
func (c *Context) Begin() {
	if c.begun.Swap(true) {
		return // the function is called again
	}
	if w := c.waiting.Load(); w != nil {
		w.stop()
	}
}

// End releases the resources of the context.
func (c *Context) End() {
	if w := c.waiting.Load(); w != nil {
		w.end()
	}
}

// now returns the context of the wait, or the parent if no wait has begun.
func (c *Context) now() context.Context {
	if w := c.waiting.Load(); w != nil {
		return w
	}
	return c.Context
}

// Done implements [context.Context].
func (c *Context) Done() <-chan struct{} {
	if !c.begun.Load() {
		c.Wait()
	}
	return c.now().Done()
}

// Err implements [context.Context].
func (c *Context) Err() error { return c.now().Err() }

// Value implements [context.Context].
func (c *Context) Value(key any) any { return c.now().Value(key) }
