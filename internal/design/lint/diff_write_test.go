package lint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHostileNames holds that names of a model can write neither control characters to a terminal nor markup outside
// the code block of Markdown.
func TestHostileNames(t *testing.T) {
	source := strings.ReplaceAll(`
name: hostile
tables: {Tab: {partition: "P|K<b>\n"}}
entities: {Order: {attributes: {"P|K<b>\n": "{a}", "at|\\|t\e[31m": "v|{b}"}, samples: [{a: x, b: "\e[31m|"}]}}
patterns: [{name: "p | q\n## h \e[31m <script> FENCE", get: {entity: Order, where: {a: x}}, rate: 1}]
`, "FENCE", "```")
	d := differ(
		t, side(t, source), side(t, strings.NewReplacer("v|", "w|", "## h", "## i").Replace(source)), nil,
	)
	var b strings.Builder
	require.NoError(t, d.WriteText(&b, 200))
	require.NotContains(t, b.String(), "\x1b")
	require.Contains(t, b.String(), `  + p | q ## i \u{001B}[31m <script> `+"```")

	b.Reset()
	require.NoError(t, d.WriteMarkdown(&b, "title"))
	require.NotContains(t, b.String(), "\x1b")
	block, ok := strings.CutPrefix(b.String(), "## title\n\n````text\n")
	require.True(t, ok, "the fence is longer than that in a name")
	require.Equal(t, 1, strings.Count(block, "````"))
	require.True(t, strings.HasSuffix(block, "\n````\n"))
}
