package table

import (
	"iter"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/store"
)

// A prefetcher is a Reader that reads the rows at several addresses in one round trip.
// Get then has them without another one; in a View, until the next Prefetch.
type prefetcher interface {
	Prefetch(addrs [][]byte) error
}

// A presumer is a Writer that can take a row, which the update is going to add, for one
// that does not exist: Get then says so without reading it, and no other update conflicts
// with that. If the row does exist, the function of the update is called again, and Get
// reads it.
type presumer interface {
	Presume(addr []byte)
}

// Prefetch reads items by their keys in one round trip, if the store can do that, so
// that Get needs none. In a View they are kept until the next Prefetch. It leaves keys
// that do not match their tables to Get.
func (s *View) Prefetch(items iter.Seq2[*Table, attr.Item]) error {
	p, ok := s.r.(prefetcher)
	if !ok {
		return nil
	}
	var addrs [][]byte
	for t, key := range items {
		if partition, sort, err := t.Address(key); err == nil {
			addrs = append(addrs, store.AppendAddress(nil, t.def.Space, partition, sort))
		}
	}
	if len(addrs) < 2 {
		return nil // Get is as fast
	}
	return p.Prefetch(addrs)
}
