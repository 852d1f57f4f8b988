package metrics

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
)

// prefixBytes is how much of an error's body is looked at: the code stands at
// its beginning.
const prefixBytes = 256

// errorCode returns the code of an error with the given body, "" if there is
// none.
func errorCode(body []byte, coding string) string {
	var unpacked io.Reader
	var err error
	switch coding {
	case "gzip":
		unpacked, err = gzip.NewReader(bytes.NewReader(body))
	case "deflate":
		unpacked, err = zlib.NewReader(bytes.NewReader(body))
	}
	if err != nil {
		return ""
	}
	if unpacked != nil {
		head := make([]byte, prefixBytes)
		n, _ := io.ReadFull(unpacked, head)
		body = head[:n]
	}
	head := string(body[:min(len(body), prefixBytes)])
	rest, ok := strings.CutPrefix(head, `{"__type":"`)
	if !ok {
		return ""
	}
	code, _, ok := strings.Cut(rest, `"`)
	if !ok {
		return ""
	}
	if _, name, ok := strings.Cut(code, "#"); ok {
		code = name
	}
	return code
}
