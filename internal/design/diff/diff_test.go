package diff_test

import (
	"cmp"
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

func differ(t *testing.T, was, is diff.Side, renames diff.Renames) *diff.Diff {
	t.Helper()
	d, err := diff.Of(t.Context(), was, is, renames)
	require.NoError(t, err)
	return d
}

// renamesOf returns the renames of a case: rename=(Old=New, Other=).
func renamesOf(d *datadriven.TestData) diff.Renames {
	renames := diff.Renames{}
	for _, arg := range d.CmdArgs {
		for _, v := range arg.Vals {
			old, made, _ := strings.Cut(v, "=")
			renames[old] = made
		}
	}
	return renames
}

// TestDiff compares the two models of each case, which a line of === separates. The command plan shows only
// the plan, with its questions and names.
func TestDiff(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			old, made, ok := strings.Cut(d.Input, "\n===\n")
			require.True(t, ok)
			result := differ(t, side(t, old), side(t, made), renamesOf(d))
			var b strings.Builder
			switch d.Cmd {
			case "markdown":
				require.NoError(t, result.WriteMarkdown(&b, "a <title> | *b*"))
			case "plan":
				plan := diff.Diff{Questions: result.Questions, Names: result.Names, Plan: result.Plan}
				require.NoError(t, plan.WriteText(&b, 100))
				return cmp.Or(b.String(), "nothing to do\n")
			default:
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
	d := differ(t, side(t, src.String()), side(t, src.String()), nil)
	require.True(t, d.Empty())
	require.Empty(t, d.Plan)
	require.False(t, d.Worse())
}
