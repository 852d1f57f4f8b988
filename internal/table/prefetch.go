package table

import (
	"iter"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
)

// Prefetch reads items by their keys in one round trip, if the store supports it, so that later Gets need no round
// trip. A View keeps the items until the next Prefetch. Prefetch skips keys that do not match their tables. Get
// returns the error for such a key.
func (s *View) Prefetch(items iter.Seq2[*Table, attr.Item]) error {
	p, ok := s.r.(capability.Prefetcher)
	if !ok {
		return nil
	}
	var addrs [][]byte
	for t, key := range items {
		if partition, sort, err := t.Address(key); err == nil {
			addrs = append(addrs, address.Append(nil, t.def.Space, partition, sort))
		}
	}
	if len(addrs) < 2 {
		return nil // Get is as fast
	}
	return p.Prefetch(addrs)
}
