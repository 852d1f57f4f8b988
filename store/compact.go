package store

import "context"

// A Compactor is a [Store] that can put its rows into less memory or disk space.
type Compactor interface {
	Store

	// Compact rewrites rows that take more space than they need. Nobody can read a difference, and
	// Views and Updates go on meanwhile. It ends early when ctx ends; what it has done until then
	// stays. It must not be called in the function of an Update.
	Compact(ctx context.Context) error
}
