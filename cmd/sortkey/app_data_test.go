package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/text"
)

// TestData tests that a terminal gets whole characters although two writes split them, and that a pipe gets the bytes
// as they are.
func TestData(t *testing.T) {
	const data = "\"\u202e日本\U0001F600é\u009b\"\n"
	for width, want := range map[int]string{0: data, 80: "\"\\u202e日本😀é\\u009b\"\n"} {
		for size := 1; size < 6; size++ {
			var out bytes.Buffer
			env := &app.Env{Stdout: &out, Width: func() int { return width }}
			w := env.Data(text.VisibleJSON)
			for rest := []byte(data); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				n, err := w.Write(rest[:min(size, len(rest))])
				require.NoError(t, err)
				require.Equal(t, min(size, len(rest)), n)
			}
			require.Equal(t, want, out.String(), size)
		}
	}
}
