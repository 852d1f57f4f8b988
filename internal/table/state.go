package table

import (
	"context"
	"time"
)

// The statuses of tables, of global indexes and of vector indexes.
const (
	StatusActive   = "ACTIVE"
	StatusCreating = "CREATING"
	StatusUpdating = "UPDATING"
	StatusDeleting = "DELETING"
)

// Status returns the status of the table at a time.
func (d *Definition) Status(now time.Time) string {
	switch {
	case !d.States.Deleting.IsZero():
		return StatusDeleting
	case now.Before(d.States.Creating):
		return StatusCreating
	case now.Before(d.States.Updating):
		return StatusUpdating
	}
	return StatusActive
}

// Status returns the status of a global or a vector index at a time.
func (d *IndexDefinition) Status(now time.Time) string {
	if d.Building || now.Before(d.Creating) {
		return StatusCreating
	}
	return StatusActive
}

// passing reports whether the status of the table or of one of its indexes changes at a set time, so that callers
// must look at the clock.
func (d *Definition) passing() bool {
	if s := &d.States; !s.Creating.IsZero() || !s.Updating.IsZero() || !s.Deleting.IsZero() {
		return true
	}
	for _, ix := range d.Online() {
		if !ix.Creating.IsZero() {
			return true
		}
	}
	return false
}

// Sleep waits for a time, or until ctx ends. It then returns the cause of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

type settledKey struct{}

// Settled returns a context for operations without delays: tables that they create can be used at once, and their
// reads see every change.
func Settled(ctx context.Context) context.Context {
	return context.WithValue(ctx, settledKey{}, true)
}

// IsSettled reports whether ctx is derived from a context that [Settled] returned.
func IsSettled(ctx context.Context) bool { return ctx.Value(settledKey{}) != nil }
