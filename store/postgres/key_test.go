package postgres

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// address returns a random address. Many are long and share a head.
func address(rng *rand.Rand) []byte {
	n := []int{1, maxKey - 1, maxKey, maxKey + 1, maxKey + 2, maxKey + 40}[rng.IntN(6)]
	addr := bytes.Repeat([]byte{byte(rng.IntN(2))}, n)
	for range rng.IntN(3) {
		addr[rng.IntN(n)] = byte(rng.IntN(3)) * 127
	}
	for i := maxKey; i < n; i++ {
		addr[i] = byte(rng.Uint32())
	}
	return addr
}

// TestKeys checks that keys fit into an index, keep their addresses, and order
// them except within a bucket, and that bounds of keys contain the right rows.
func TestKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const longest = 2704 - 16 // an entry of the index without its header
	for range 20_000 {
		x, y := address(rng), address(rng)
		kx, tx := keyOf(x)
		ky, _ := keyOf(y)
		require.LessOrEqual(t, len(kx), longest)
		require.Equal(t, x, addressOf(kx, tx))
		require.Equal(t, bytes.Equal(x, y), bytes.Equal(kx, ky))
		if oneBucket := len(kx) > maxKey && len(ky) > maxKey && bytes.Equal(kx[:maxKey], ky[:maxKey]); !oneBucket {
			require.Equal(t, bytes.Compare(x, y), bytes.Compare(kx, ky))
		}
		require.Negative(t, bytes.Compare(kx, last))
		if bytes.Compare(x, y) >= 0 {
			require.GreaterOrEqual(t, bytes.Compare(kx, lowKey(y)), 0, "a row is above its lower bound")
		} else {
			require.Negative(t, bytes.Compare(kx, highKey(y)), "a row is below its upper bound")
		}
	}
	require.Equal(t, last, highKey(nil))
}

func TestBucket(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	head := bytes.Repeat([]byte{7}, maxKey)
	var b bucket
	var want []string
	for range 100 {
		addr := append(slices.Clone(head), byte(rng.Uint32()), byte(rng.Uint32()))
		b.head, b.rows = head, append(b.rows, row{addr: addr})
		want = append(want, string(addr))
	}
	slices.Sort(want)
	rows := b.rows
	for _, reverse := range []bool{false, true} {
		b.rows = rows
		var got []string
		for _, r := range b.take(reverse) {
			got = append(got, string(r.addr))
		}
		require.Equal(t, want, got)
		slices.Reverse(want)
	}
}
