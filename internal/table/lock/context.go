package lock

import (
	"context"
	"sync/atomic"
)

// A Context is the context that a store gets for an update. Until the function of the update is called, the end of the
// lifetime ends it too, and the log says when that takes long. As a store asks for Done only if it has to
// wait, most updates do not pay for that.
type Context struct {
	context.Context
	life    *Lifetime
	begun   atomic.Bool
	waiting atomic.Pointer[wait] // nil unless somebody has asked for Done
}

// NewContext returns the context of an update in its store. End releases what it holds.
func (l *Lifetime) NewContext(ctx context.Context) *Context { return &Context{Context: ctx, life: l} }

// Wait begins the wait for a store that does more before it calls the function than wait for its write
// lock. Only one goroutine may call it.
func (c *Context) Wait() {
	if c.waiting.Load() == nil {
		c.waiting.Store(c.life.newWait(c.Context))
	}
}

// Begin ends the wait. From now on only the parent ends the context.
func (c *Context) Begin() {
	if c.begun.Swap(true) {
		return // the function is called again
	}
	if w := c.waiting.Load(); w != nil {
		w.stop()
	}
}

// End releases what the context holds.
func (c *Context) End() {
	if w := c.waiting.Load(); w != nil {
		w.end()
	}
}

// now is the context that says whether the update has ended.
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
