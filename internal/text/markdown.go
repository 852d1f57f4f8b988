package text

import "strings"

// Markdown returns a text on one line in which Markdown reads nothing as markup.
func Markdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch r {
		case '\\', '`', '*', '_', '[', ']', '<', '>', '|', '#', '&', '~', '@':
			b.WriteByte('\\')
		case '\n', '\r':
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

// MarkdownCode returns a text as code in a cell of a table of Markdown, or a dash for none.
func MarkdownCode(s string) string {
	if s == "" {
		return "–"
	}
	s = strings.NewReplacer("\n", " ", "\r", " ", "|", `\|`).Replace(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
