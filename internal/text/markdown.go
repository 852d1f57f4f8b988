package text

import "strings"

// Markdown returns a text on one line in which Markdown reads nothing as markup, and in which invisible
// characters are escapes, see [Visible].
func Markdown(s string) string {
	var b strings.Builder
	for _, r := range Visible(s) {
		switch r {
		case '\\', '`', '*', '_', '[', ']', '<', '>', '|', '#', '&', '~', '@':
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// MarkdownCode returns a text as code in a cell of a table of Markdown, or a dash for none. Invisible
// characters are escapes.
func MarkdownCode(s string) string {
	if s == "" {
		return "–"
	}
	s = strings.ReplaceAll(Visible(s), "|", `\|`)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
