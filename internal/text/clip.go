package text

import "strings"

// Clip cuts the middle out of a text that is longer than most bytes, and puts an ellipsis there. The rest has at most
// that number of bytes. Clip keeps the beginning and the end, as an error message often begins with the place and
// ends with the reason.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most / 3
	return strings.ToValidUTF8(s[:most-end], "") + "…" + strings.ToValidUTF8(s[len(s)-end:], "")
}
