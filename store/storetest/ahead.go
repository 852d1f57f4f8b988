package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// presence are the addresses of testPrefetch and what Get returns there, "-" for no row.
var presence = []struct {
	space                 store.Space
	partition, sort, want string
}{
	{1, "p", "a", "1"}, {1, "p", "b", "-"}, {1, "p", "c", ""}, {1, "q", "a", "2"}, {2, "p", "a", "-"},
	{1, "p", "a", "1"},
}

func prefetch(t *testing.T, r store.Reader) {
	t.Helper()
	var addrs [][]byte
	for _, at := range presence {
		addrs = append(addrs, address.Append(nil, at.space, []byte(at.partition), []byte(at.sort)))
	}
	require.NoError(t, r.(capability.Prefetcher).Prefetch(addrs))
	for _, at := range presence {
		require.Equal(t, at.want, get(t, r, at.space, at.partition, at.sort), "%+v", at)
	}
}

// testPrefetch checks that reads of a capability.Prefetcher return the same with Prefetch as without it, and that
// they see an Update's own writes.
func testPrefetch(t *testing.T, s store.Store) {
	update(t, s, func(w store.Writer) {
		put(t, w, 1, row{"p", "a", "1"}, row{"p", "c", ""}, row{"q", "a", "2"})
	})
	view(t, s, func(r store.Reader) {
		if _, ok := r.(capability.Prefetcher); !ok {
			t.Skip("the engine does not prefetch")
		}
		prefetch(t, r)
		prefetch(t, r)
	})
	update(t, s, func(w store.Writer) {
		del(t, w, 1, "p", "a")
		put(t, w, 1, row{"p", "b", "new"})
		require.NoError(t, w.(capability.Prefetcher).Prefetch([][]byte{
			address.Append(nil, 1, []byte("p"), []byte("a")),
			address.Append(nil, 1, []byte("p"), []byte("b")),
			address.Append(nil, 1, []byte("q"), []byte("a")),
		}))
		require.Equal(t, "-", get(t, w, 1, "p", "a"))
		require.Equal(t, "new", get(t, w, 1, "p", "b"))
		require.Equal(t, "2", get(t, w, 1, "q", "a"))
	})
}

// testPresume checks an Update of a capability.Presumer that presumes that a row does not exist. If the row does not
// exist, the Update adds it; otherwise the Update runs again.
func testPresume(t *testing.T, s store.Store) {
	add := func(value string) (runs int, seen string) {
		update(t, s, func(w store.Writer) {
			p, ok := w.(capability.Presumer)
			if !ok {
				t.Skip("the engine does not presume")
			}
			runs++
			p.Presume(address.Append(nil, 1, []byte("p"), []byte("a")))
			if seen = get(t, w, 1, "p", "a"); seen == "-" {
				put(t, w, 1, row{"p", "a", value})
			}
		})
		return runs, seen
	}

	runs, seen := add("first")
	require.Equal(t, 1, runs)
	require.Equal(t, "-", seen)
	runs, seen = add("second")
	require.Equal(t, 2, runs, "the row exists, so the function runs again")
	require.Equal(t, "first", seen)
	view(t, s, func(r store.Reader) { require.Equal(t, "first", get(t, r, 1, "p", "a")) })
}
