package sortkeytest

import (
	"sync"
	"time"
)

// A Clock is the time source of a database. It follows the computer's clock
// until it is set. It is safe for concurrent use.
type Clock struct {
	mu    sync.Mutex
	set   time.Time
	ahead time.Duration
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set.IsZero() {
		return time.Now().Add(c.ahead) //nolint:forbidigo // the clock of tests
	}
	return c.set
}

// Set stops the clock at a time. With the zero time, it follows the computer's
// clock again.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set, c.ahead = at, 0
}

// Advance moves the clock forward, whether it is stopped or not.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set.IsZero() {
		c.ahead += d
		return
	}
	c.set = c.set.Add(d)
}
