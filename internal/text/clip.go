package text

import "strings"

// Clip shortens a text to at most this number of bytes and an ellipsis. It keeps the beginning and the end, as an
// error message often begins with the place and ends with the reason.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most / 3
	return strings.ToValidUTF8(s[:most-end], "") + "…" + strings.ToValidUTF8(s[len(s)-end:], "")
}
