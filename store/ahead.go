package store

// A Prefetcher is a [Reader] that reads the rows at several addresses in one round trip,
// where reading each would take one.
type Prefetcher interface {
	Reader

	// Prefetch reads the rows at addresses ([AppendAddress]), whether they exist or not,
	// so that Get has them without a round trip: in a View, until the next Prefetch. The
	// caller must not change the addresses afterwards. Get returns the same with and
	// without it.
	Prefetch(addrs [][]byte) error
}

// A Presumer is a [Writer] that can take a row for one that does not exist without
// reading it, so that no other Update conflicts with that.
type Presumer interface {
	Writer

	// Presume says that the Update is going to add the row at an address
	// ([AppendAddress]), and that the row does not exist: Get then says so without reading
	// it. If it does exist, the Update calls its function again, and Get reads the row.
	Presume(addr []byte)
}
