package token

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// ones is a word with the lowest bit of each byte set, and highs one with the highest bits.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// span returns the number of bytes before the first byte that must be escaped, and whether all of them are ASCII.
func span(s []byte) (n int, ascii bool) {
	var above uint64 // the highest bits of the bytes read
	for ; len(s)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(s[n:])
		if found := specials(w); found != 0 {
			above |= w & (found&-found - 1)
			return n + bits.TrailingZeros64(found)/8, above&highs == 0
		}
		above |= w
	}
	for ; n < len(s) && !isSpecial(s[n]); n++ {
		above |= uint64(s[n])
	}
	return n, above&highs == 0
}

// isSpecial reports whether a byte must be escaped in a JSON string.
func isSpecial(c byte) bool { return c < ' ' || c == '"' || c == '\\' }

// specials returns a word whose lowest set bit is the highest bit of the first special byte of w, or 0 if w has none.
func specials(w uint64) uint64 {
	// Subtracting k from a byte below k borrows, which sets the byte's highest bit. The borrow may reach the bytes
	// above, so only the lowest bit that is set is certain, and callers use no other. A quote is 0x22: after flipping
	// bit 1, the quote and the control characters are the bytes below 0x21.
	low := w ^ 2*ones
	slash := w ^ '\\'*ones
	return ((low-0x21*ones)&^low | (slash-ones)&^slash) & highs
}

// AppendQuote appends a text as a JSON string. It escapes only what JSON requires. Bytes that are not UTF-8 become
// U+FFFD.
func AppendQuote(dst, text []byte) []byte {
	from := len(dst)
	dst = slices.Grow(dst, len(text)+len(`""`))[:from+len(text)+len(`""`)]
	dst[from] = '"'
	n := copyPlain(dst[from+1:len(dst)-1], text)
	if n < len(text) {
		return appendRest(dst[:from+1+n], text[n:])
	}
	dst[len(dst)-1] = '"'
	return dst
}

// copyPlain copies bytes of text to dst, which is as long as text, and returns how many it has copied. It stops at
// the first byte that is special or beyond ASCII, or up to fifteen bytes before it.
func copyPlain(dst, text []byte) int {
	n := 0
	for ; len(text)-n >= 16; n += 16 {
		from, to := text[n:n+16], dst[n:n+16]
		a, b := binary.LittleEndian.Uint64(from), binary.LittleEndian.Uint64(from[8:])
		if !plain(a) || !plain(b) {
			return n
		}
		binary.LittleEndian.PutUint64(to, a)
		binary.LittleEndian.PutUint64(to[8:], b)
	}

	// Copy the rest as two words that overlap, or two halves of a word that overlap, or three bytes.
	switch rest := len(text) - n; {
	case rest == 0:
	case rest >= 8:
		a, b := binary.LittleEndian.Uint64(text[n:]), binary.LittleEndian.Uint64(text[len(text)-8:])
		if !plain(a) || !plain(b) {
			return n
		}
		binary.LittleEndian.PutUint64(dst[n:], a)
		binary.LittleEndian.PutUint64(dst[len(dst)-8:], b)
	case rest >= 4:
		a, b := binary.LittleEndian.Uint32(text[n:]), binary.LittleEndian.Uint32(text[len(text)-4:])
		if !plain(uint64(a) | uint64(b)<<32) {
			return n
		}
		binary.LittleEndian.PutUint32(dst[n:], a)
		binary.LittleEndian.PutUint32(dst[len(dst)-4:], b)
	default:
		a, b, c := text[n], text[n+rest/2], text[len(text)-1]
		if !plain(uint64(a) | uint64(b)<<8 | uint64(c)<<16 | (' '*ones>>24)<<24) {
			return n
		}
		dst[n], dst[n+rest/2], dst[len(dst)-1] = a, b, c
	}
	return len(text)
}

// plain reports whether no byte of w is special or beyond ASCII. It is simpler than [specials], which must find the
// first special byte even among bytes beyond ASCII.
func plain(w uint64) bool {
	low := w ^ 2*ones
	slash := w ^ '\\'*ones
	return ((low-0x21*ones)|(slash-ones)|w)&highs == 0
}

// appendRest appends the rest of a text and the closing quote. It copies runs of bytes that need no change.
func appendRest(dst, text []byte) []byte {
	from, n := 0, 0 // the run is text[from:n]
	for n < len(text) {
		if len(text)-n >= 8 {
			w := binary.LittleEndian.Uint64(text[n:])
			found := specials(w) | w&highs
			if found == 0 {
				n += 8
				continue
			}
			n += bits.TrailingZeros64(found) / 8
		}

		c := text[n]
		if c < utf8.RuneSelf {
			if isSpecial(c) {
				dst = appendEscape(append(dst, text[from:n]...), c)
				from = n + 1
			}
			n++
			continue
		}
		for n < len(text) && text[n] >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(text[n:])
			if r == utf8.RuneError && size == 1 {
				dst = utf8.AppendRune(append(dst, text[from:n]...), r)
				from = n + 1
			}
			n += size
		}
	}
	return append(append(dst, text[from:]...), '"')
}

// appendEscape appends the shortest escape of a special byte.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// QuotedLen returns the length of what [AppendQuote] appends.
func QuotedLen(text []byte) int {
	length := len(`""`)
	for {
		n, ascii := span(text)
		length += n
		if !ascii && !utf8.Valid(text[:n]) {
			for i := 0; i < n; {
				r, size := utf8.DecodeRune(text[i:n])
				length += utf8.RuneLen(r) - size
				i += size
			}
		}
		if n == len(text) {
			return length
		}
		var scratch [len(`\u0000`)]byte
		length += len(appendEscape(scratch[:0], text[n]))
		text = text[n+1:]
	}
}
