package sortkeytest

import (
	"sync"
	"time"
)

// A Clock is the time source of one database; see [DB].Clock. Until Set is called, it follows the clock in the
// options of [New] or, by default, the computer's clock. In a bubble of testing/synctest, the default is the bubble's
// clock. A Clock is safe for concurrent use.
type Clock struct {
	mu    sync.Mutex
	base  func() time.Time // nil is time.Now
	set   time.Time
	ahead time.Duration
	moved func() // called after Advance
}

// inBubble reports whether the caller is in a bubble of testing/synctest. The time in a bubble begins in the year
// 2000, so inBubble is wrong if the bubble's time has passed the year 2020, or if the computer's clock is before
// 2020.
func inBubble() bool { return time.Now().Year() < 2020 }

// Now returns the time of the database, for code under test that takes a clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set.IsZero() {
		now := c.base
		if now == nil {
			now = time.Now
		}
		return now().Add(c.ahead)
	}
	return c.set
}

// fork returns a new clock that shows the same time. Later calls of Set and Advance on one of the two do not affect
// the other.
func (c *Clock) fork() *Clock {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &Clock{base: c.base, set: c.set, ahead: c.ahead}
}

// Set stops the clock at a time. After Set with the zero time, the clock runs again, and follows the clock in the
// options or the computer's.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set, c.ahead = at, 0
}

// Advance moves the clock forward, or back if d is negative, whether the clock is stopped or not. It then deletes
// expired items and expired stream records, as DynamoDB would have done in that time.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	if c.set.IsZero() {
		c.ahead += d
	} else {
		c.set = c.set.Add(d)
	}
	c.mu.Unlock()
	if c.moved != nil {
		c.moved()
	}
}
