// Package blob decodes binary values in base64 like the service.
package blob

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"unicode/utf8"
)

// Append appends the bytes of padded base64 text. For other text it returns the
// service's message for a SerializationException.
func Append(dst, text []byte) (out []byte, msg string) {
	if len(text)%4 != 0 {
		return dst, "Base64 encoded length is expected a multiple of 4 bytes but found: " + strconv.Itoa(len(text))
	}
	// The decoder ignores line breaks, but the service does not.
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 {
		if out, err := strictBase64.AppendDecode(dst, text); err == nil {
			return out, ""
		}
	}
	for i, c := range text {
		if !isBase64(c) {
			r, _ := utf8.DecodeRune(text[i:])
			return dst, "Invalid Base64 character: '" + string(r) + "'"
		}
	}
	return dst, "Invalid last non-pad Base64 character dectected"
}

var strictBase64 = base64.StdEncoding.Strict()

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '='
}
