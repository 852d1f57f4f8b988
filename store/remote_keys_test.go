package store_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store/internal/remote"
)

// TestKeys checks that addresses can be read from their keys, that keys sort as addresses do except within a bucket,
// and that bounds of keys contain the right rows.
func TestKeys(t *testing.T) {
	for _, k := range []remote.Keys{{Longest: 40}, {Prefix: []byte("p\x00r"), Longest: 40}} {
		rng := rand.New(rand.NewPCG(1, 2))
		// Many addresses are long and share a head.
		address := func() []byte {
			n := []int{1, 39, 40, 41, 42, 80}[rng.IntN(6)]
			addr := bytes.Repeat([]byte{byte(rng.IntN(2))}, n)
			for range rng.IntN(3) {
				addr[rng.IntN(n)] = byte(rng.IntN(3)) * 127
			}
			for i := k.Longest; i < n; i++ {
				addr[i] = byte(rng.Uint32())
			}
			return addr
		}
		head := len(k.Prefix) + k.Longest
		for range 20_000 {
			x, y := address(), address()
			kx, tx := k.Key(x)
			ky, _ := k.Key(y)
			require.LessOrEqual(t, len(kx), head+32)
			require.Equal(t, x, k.Addr(kx, tx))
			require.Equal(t, bytes.Equal(x, y), bytes.Equal(kx, ky))
			if oneBucket := len(kx) > head && len(ky) > head && bytes.Equal(kx[:head], ky[:head]); !oneBucket {
				require.Equal(t, bytes.Compare(x, y), bytes.Compare(kx, ky))
			}
			require.Negative(t, bytes.Compare(kx, k.High(nil)))
			if bytes.Compare(x, y) >= 0 {
				require.GreaterOrEqual(t, bytes.Compare(kx, k.Low(y)), 0, "a row is above its lower bound")
			} else {
				require.Negative(t, bytes.Compare(kx, k.High(y)), "a row is below its upper bound")
			}
		}
	}
}
