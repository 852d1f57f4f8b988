package layer_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/work"
)

// TestAnswers serves the answers of a server from what was written of them, and they are the same.
func TestAnswers(t *testing.T) {
	shape := work.Shape{Items: 2000, Collection: 1000, Size: work.DefaultBytes}
	d, err := layer.Open(t.Context(), layer.Memory, shape, layer.Options{})
	require.NoError(t, err)
	defer d.Close()
	l, err := layer.New(layer.HTTP, d, false)
	require.NoError(t, err)
	defer l.Close()
	ours := l.(*layer.Remote)
	for _, name := range []string{"get", "put", "query-10", "page"} {
		calls := work.Find(name).Calls(shape, 50, 1)
		answers, err := layer.NewAnswers(t.Context(), ours, calls)
		require.NoError(t, err)
		var written bytes.Buffer
		require.NoError(t, answers.Write(&written))
		require.Less(t, written.Len(), 16<<20, "a shared answer is written once")

		ctx, cancel := context.WithCancel(t.Context())
		in, out := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- layer.ServeAnswers(ctx, &written, out) }()
		line := make([]byte, 200)
		n, err := in.Read(line)
		require.NoError(t, err)
		_, url, _ := strings.Cut(strings.TrimSpace(string(line[:n])), "listening on ")
		wire, err := layer.NewWire(url)
		require.NoError(t, err)
		for i := range calls {
			body := calls[i].Body(shape)
			want, _, err := ours.Wire.Do(t.Context(), ours.Wire.Request(calls[i].Op.Target(), body), nil)
			require.NoError(t, err)
			got, status, err := wire.Do(t.Context(), wire.Request(calls[i].Op.Target(), body), nil)
			require.NoError(t, err)
			require.Equal(t, 200, status)
			require.Equal(t, string(want), string(got), name)
		}
		wire.Close()
		cancel()
		require.NoError(t, <-ended)
	}
}
