package memory

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/store"
)

// TestPrefixes compares addresses that use the cache of prefixes with addresses that do not. Some prefixes replace
// others in the same slot, and some partitions are the escaped form of others.
func TestPrefixes(t *testing.T) {
	a, rng := newAddresses(), rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		partition := fmt.Appendf(nil, "customer#%d", rng.IntN(2000))
		switch rng.IntN(4) {
		case 0:
			partition = append(partition, [][]byte{{0}, {0, 0xff}, {0, 0xff, 0xff}, {0, 1}}[rng.IntN(4)]...)
		case 1:
			partition = bytes.Repeat(partition[:9], rng.IntN(9))
		}
		space, sort := store.Space(rng.IntN(3)), []byte("sort")
		want := address.Append(nil, space, partition, sort)
		require.Equal(t, want, a.row(space, partition, sort), "%q in space %d", partition, space)
	}
}
