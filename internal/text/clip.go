package text

import "strings"

// Clip shortens a text that has more than most bytes: it replaces the middle by an ellipsis. Without the ellipsis,
// the result has at most this number of bytes. Clip keeps the beginning and the end, because an error message often
// begins with the place and ends with the reason.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most / 3
	return strings.ToValidUTF8(s[:most-end], "") + "…" + strings.ToValidUTF8(s[len(s)-end:], "")
}
