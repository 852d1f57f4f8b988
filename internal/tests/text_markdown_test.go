package tests_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/text"
)

func TestMarkdown(t *testing.T) {
	require.Equal(t, `a \| \*b\* \<i\> \[x\](y) c`, text.Markdown("a | *b* <i> [x](y)\nc"))
	require.Equal(t, `a\\u{001B}\[31m b`, text.Markdown("a\x1b[31m\r\x62"))
	require.Equal(t, "`a\\u{0007} b`", text.MarkdownCode("a\a\nb"))
	require.Equal(t, "`a \\| b`", text.MarkdownCode("a | b"))
	require.Equal(t, `a\\\| b`, text.MarkdownCode(`a\| b`), "the bar does not end the cell")
	require.Equal(t, "`` a`b ``", text.MarkdownCode("a`b"))
	require.Equal(t, "–", text.MarkdownCode(""))
}
