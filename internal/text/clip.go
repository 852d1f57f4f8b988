package text

import "strings"

// Clip returns a text of at most so many bytes and an ellipsis. A longer one keeps its beginning and its end, which
// are what a message says of the place and of the reason.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most / 3
	return strings.ToValidUTF8(s[:most-end], "") + "…" + strings.ToValidUTF8(s[len(s)-end:], "")
}
