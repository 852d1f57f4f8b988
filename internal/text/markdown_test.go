package text

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMarkdown(t *testing.T) {
	require.Equal(t, `a \| \*b\* \<i\> \[x\](y) c`, Markdown("a | *b* <i> [x](y)\nc"))
	require.Equal(t, `a\\u{001B}\[31m b`, Markdown("a\x1b[31m\r\x62"))
	require.Equal(t, "`a\\u{0007} b`", MarkdownCode("a\a\nb"))
	require.Equal(t, "`a \\| b`", MarkdownCode("a | b"))
	require.Equal(t, "`` a`b ``", MarkdownCode("a`b"))
	require.Equal(t, "–", MarkdownCode(""))
}
