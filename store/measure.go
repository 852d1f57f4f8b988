package store

// A Measurer is a [Store] that knows what it keeps.
type Measurer interface {
	Store

	// Usage returns how many states before the latest are kept because Views read them, each with
	// the rows that have been replaced since, and the bytes of the store's files, 0 for a store in
	// memory. Both are 0 after Close.
	Usage() (versions int, diskBytes int64)
}
