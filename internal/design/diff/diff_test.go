package diff_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/diff"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/world"
)

func side(t *testing.T, src string) diff.Side {
	t.Helper()
	m, err := modelfile.Parse("m.yaml", []byte(src))
	require.NoError(t, err)
	w, err := world.Build(t.Context(), m, world.Options{MaxItems: 1000})
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	r, err := check.Run(t.Context(), w, check.Options{Lint: lint.Run})
	require.NoError(t, err)
	return diff.Side{World: w, Result: r}
}

// TestDiff compares the two models of each case, which a line of --- separates.
func TestDiff(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			old, made, ok := strings.Cut(d.Input, "\n===\n")
			require.True(t, ok)
			result := diff.Of(side(t, old), side(t, made))
			var b strings.Builder
			if d.Cmd == "markdown" {
				require.NoError(t, result.WriteMarkdown(&b, "a <title> | *b*"))
			} else {
				require.NoError(t, result.WriteText(&b, 100))
			}
			if result.Worse() {
				b.WriteString("worse\n")
			}
			return b.String()
		})
	})
}

// TestSame holds that a model does not differ from itself.
func TestSame(t *testing.T) {
	m, err := modelfile.Load("../modelfile/testdata/shop.yaml")
	require.NoError(t, err)
	var src strings.Builder
	require.NoError(t, modelfile.Write(&src, m))
	d := diff.Of(side(t, src.String()), side(t, src.String()))
	require.True(t, d.Empty())
	require.Empty(t, d.Plan)
	require.False(t, d.Worse())
}
