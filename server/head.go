package server

import (
	"net/http"
	"net/textproto"
	"strings"
)

// A head is the head of a request of the usual form.
type head struct {
	header http.Header
	host   string
	length int
}

const usualLine = "POST / HTTP/1.1\r\n"

// parseHead reads a head, the empty line that ends it included. It reports
// false for one that is not of the usual form, ill-formed or not.
func parseHead(text string) (h head, ok bool) {
	rest, ok := strings.CutPrefix(text, usualLine)
	if !ok {
		return h, false
	}
	lines := strings.Count(rest, "\r\n")
	h.header, h.length = make(http.Header, lines), -1
	values := make([]string, 0, lines)
	for {
		line, after, found := strings.Cut(rest, "\r\n")
		if !found {
			return h, false
		}
		if line == "" {
			return h, after == "" && h.host != "" && h.length >= 0
		}
		rest = after
		name, value, found := strings.Cut(line, ":")
		if !found || !isToken(name) {
			return h, false
		}
		value = strings.Trim(value, " \t")
		if !isPlain(value) {
			return h, false
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		switch name {
		case "Host":
			if h.host != "" || !isHost(value) {
				return h, false
			}
			h.host = value
			continue // which net/http does not keep among the headers either
		case "Content-Length":
			if h.length >= 0 {
				return h, false
			}
			if h.length, found = parseLength(value); !found {
				return h, false
			}
		case "Connection":
			if !strings.EqualFold(value, "keep-alive") {
				return h, false
			}
		case "Transfer-Encoding", "Expect", "Upgrade", "Trailer", "Te", "Pragma":
			return h, false
		}
		if known := h.header[name]; known != nil {
			h.header[name] = append(known, value)
			continue
		}
		values = append(values, value)
		h.header[name] = values[len(values)-1 : len(values) : len(values)]
	}
}

// parseLength reads a length of at most seven digits.
func parseLength(text string) (n int, ok bool) {
	if text == "" || len(text) > 7 {
		return 0, false
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// isToken reports whether s can be the name of a header: letters, digits and a
// few signs (RFC 9110, 5.6.2).
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// isPlain reports whether s has printable ASCII and tabs only.
func isPlain(s string) bool {
	for _, c := range []byte(s) {
		if (c < ' ' || c > '~') && c != '\t' {
			return false
		}
	}
	return true
}

// isHost reports whether s is an ordinary host and port.
func isHost(s string) bool {
	for _, c := range []byte(s) {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte("-.:[]_", c) < 0 {
			return false
		}
	}
	return s != ""
}
