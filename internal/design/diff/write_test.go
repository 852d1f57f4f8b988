package diff_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHostileNames holds that names of a model can write neither control characters to a terminal nor markup to
// Markdown.
func TestHostileNames(t *testing.T) {
	const source = `
name: hostile
tables: {Tab: {partition: "P|K<b>\n"}}
entities: {Order: {attributes: {"P|K<b>\n": "{a}", "at|\\|t\e[31m": "v|{b}"}, samples: [{a: x, b: "\e[31m|"}]}}
patterns: [{name: "p | q\n## h \e[31m <script>", get: {entity: Order, where: {a: x}}, rate: 1}]
`
	d := differ(
		t, side(t, source), side(t, strings.NewReplacer("v|", "w|", "## h", "## i").Replace(source)), nil,
	)
	var b strings.Builder
	require.NoError(t, d.WriteText(&b, 200))
	require.NotContains(t, b.String(), "\x1b")
	require.Contains(t, b.String(), `  + p | q ## i \u{001B}[31m <script>`)

	b.Reset()
	require.NoError(t, d.WriteMarkdown(&b, "title"))
	require.NotContains(t, b.String(), "\x1b")
	require.Contains(t, b.String(), "\n- `+` p \\| q \\#\\# i ")
	require.NotContains(t, strings.ReplaceAll(b.String(), `\<`, ""), "<")
}
