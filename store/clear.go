package store

// A ClearLimiter is a [Store] whose Updates can change only so much. In such a store,
// Clear of a large space fails.
type ClearLimiter interface {
	Store

	// ClearLimit returns how many rows an Update can delete in any case. Callers delete
	// the rows of a space that may have more in several Updates, once nobody reads or
	// writes the space any more.
	ClearLimit() int
}
