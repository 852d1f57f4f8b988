package text

import "strings"

// Markdown returns a text on one line in which all Markdown markup is escaped. Invisible characters become escapes;
// see [Visible].
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

// MarkdownCode returns a text as code in a cell of a Markdown table, or a dash if it is empty. Invisible characters
// become escapes.
func MarkdownCode(s string) string {
	if s == "" {
		return "–"
	}
	if strings.Contains(s, `\|`) {
		return Markdown(s) // in a code span, a bar after a backslash cannot be escaped
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
