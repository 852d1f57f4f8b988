// Package token reads and writes JSON tokens.
//
// A [Reader] reads a text that is whole in memory. It accepts what package jsontext accepts with its option
// AllowDuplicateNames. Of other text it reports only that it is malformed: callers that need the place and the reason
// read the text again with jsontext. [AppendQuote] writes strings. Both search strings eight bytes at a time for the
// bytes that end them or need an escape.
package token

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrMalformed is the error for a text that is not JSON.
var ErrMalformed = errors.New("malformed JSON")

// maxDepth is how many objects and lists may be open at once, as in package jsontext.
const maxDepth = 10_000

// A Reader reads the tokens of a text in order. The slices that it returns are parts
// of the text. After an error, all further reads fail.
type Reader struct {
	text      []byte
	at        int
	open      []frame
	malformed bool
	escaped   bool   // the last string has an escape
	scratch   []byte // memory that Text reuses for unescaped strings
}

// keepRoom is the largest capacity of a slice that a Reader keeps for its next text.
const keepRoom = 1 << 16

// A frame is an object or list that the Reader is inside of.
type frame struct {
	name int // inList for a list; for an object, where its last name begins, or 0 before the first name
	end  int // for a list, the number of elements so far; for an object, where its last name ends
}

const inList = -1

// Reset makes the reader read a text from its beginning.
func (r *Reader) Reset(text []byte) {
	r.text, r.at, r.open, r.malformed = text, 0, r.open[:0], false
}

// Offset returns the offset in the text at which the next read begins. There may be white space at that place.
func (r *Reader) Offset() int { return r.at }

// fail ends the reading.
func (r *Reader) fail() error {
	r.malformed = true
	return ErrMalformed
}

// space skips white space and returns the byte after it without reading that byte. At the end of the text it returns
// 0.
func (r *Reader) space() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// Kind returns the first byte of a value, or '0' for every number.
func Kind(raw []byte) byte {
	if c := raw[0]; c != '-' && (c < '1' || c > '9') {
		return c
	}
	return '0'
}

// Peek returns the [Kind] of the next value. If no value follows, it returns 0 or a byte that begins no value.
func (r *Reader) Peek() byte {
	if r.malformed || r.space() == 0 {
		return 0
	}
	return Kind(r.text[r.at:])
}

// Open begins to read an object or list. Call it only if Peek has returned '{' or '['.
func (r *Reader) Open() error {
	if r.malformed || len(r.open) == maxDepth {
		return r.fail()
	}
	f := frame{}
	if r.text[r.at] == '[' {
		f.name = inList
	}
	r.open = append(r.open, f)
	r.at++
	return nil
}

// close ends the innermost object or list.
func (r *Reader) close() {
	r.at++
	r.open = r.open[:len(r.open)-1]
}

// Name reads the next name of the innermost object, which is a JSON string. At the end of the object it reads the end
// and returns false.
func (r *Reader) Name() (name []byte, more bool, err error) {
	if r.malformed {
		return nil, false, ErrMalformed
	}
	f := &r.open[len(r.open)-1]
	c := r.space()
	if c == '}' {
		r.close()
		return nil, false, nil
	}
	if f.name > 0 {
		if c != ',' {
			return nil, false, r.fail()
		}
		r.at++
		c = r.space()
	}
	from := r.at
	if c != '"' || !r.skipString() {
		return nil, false, r.fail()
	}
	f.name, f.end = from, r.at

	// If there is no colon, the next read reports it.
	if r.space() != ':' {
		r.malformed = true
	} else {
		r.at++
	}
	return r.text[from:f.end:f.end], true, nil
}

// More reports whether the innermost list has another element. At the end of the list it reads the end and returns
// false. In malformed text it may return true; then reading the element fails.
func (r *Reader) More() bool {
	if r.malformed {
		return true
	}
	f := &r.open[len(r.open)-1]
	c := r.space()
	if c == ']' {
		r.close()
		return false
	}
	if f.end > 0 {
		if c != ',' {
			r.malformed = true
		} else {
			r.at++
		}
	}
	f.end++
	return true
}

// Value reads a whole value.
func (r *Reader) Value() ([]byte, error) {
	c := r.Peek()
	from, depth := r.at, len(r.open)
	if c != '{' && c != '[' {
		r.scalar(c)
	} else if err := r.Open(); err != nil {
		return nil, err
	}

	for len(r.open) > depth && !r.malformed {
		if r.open[len(r.open)-1].name == inList {
			if !r.More() {
				continue
			}
		} else if _, more, _ := r.Name(); !more {
			continue
		}
		if c := r.Peek(); c == '{' || c == '[' {
			_ = r.Open() // its error ends the loop
		} else {
			r.scalar(c)
		}
	}

	if r.malformed {
		return nil, ErrMalformed
	}
	return r.text[from:r.at:r.at], nil
}

// Skip reads a whole value.
func (r *Reader) Skip() error {
	_, err := r.Value()
	return err
}

// End returns an error if anything but white space follows in the text.
func (r *Reader) End() error {
	if r.malformed {
		return ErrMalformed
	}
	r.space()
	if r.at < len(r.text) {
		return r.fail()
	}
	return nil
}

// AppendText appends the text of the string that was just read by [Reader.Name] or [Reader.Value].
func (r *Reader) AppendText(dst, raw []byte) []byte {
	if r.escaped {
		dst, _ = jsontext.AppendUnquote(dst, raw) // cannot fail: the string is valid
		return dst
	}
	return append(dst, raw[1:len(raw)-1]...)
}

// Text returns the text of the string that was just read by Name or Value. It is valid until the next call.
func (r *Reader) Text(raw []byte) []byte {
	if !r.escaped {
		return raw[1 : len(raw)-1]
	}
	text := r.AppendText(r.scratch[:0], raw)
	if cap(text) <= keepRoom {
		r.scratch = text
	}
	return text
}

// Path returns the names and indexes that lead to the last value read, separated by points.
func (r *Reader) Path() string {
	var path []byte
	for i, f := range r.open {
		if i > 0 {
			path = append(path, '.')
		}
		if f.name == inList {
			path = strconv.AppendInt(path, int64(f.end-1), 10)
		} else {
			path, _ = jsontext.AppendUnquote(path, r.text[f.name:f.end]) // cannot fail: Name has read it
		}
	}
	return string(path)
}

// scalar reads a value that begins with c and is not an object or list.
func (r *Reader) scalar(c byte) {
	ok := false
	switch c {
	case '"':
		ok = r.skipString()
	case '0':
		ok = r.skipNumber()
	case 't':
		ok = r.skipLiteral("true")
	case 'f':
		ok = r.skipLiteral("false")
	case 'n':
		ok = r.skipLiteral("null")
	}
	r.malformed = !ok
}

func (r *Reader) skipLiteral(text string) bool {
	if !bytes.HasPrefix(r.text[r.at:], []byte(text)) {
		return false
	}
	r.at += len(text)
	return true
}

func (r *Reader) skipNumber() bool {
	if r.text[r.at] == '-' {
		r.at++
	}
	if r.next() == '0' {
		r.at++
	} else if !r.skipDigits() {
		return false
	}
	if r.next() == '.' {
		if r.at++; !r.skipDigits() {
			return false
		}
	}
	if c := r.next(); c != 'e' && c != 'E' {
		return true
	}
	r.at++
	if c := r.next(); c == '+' || c == '-' {
		r.at++
	}
	return r.skipDigits()
}

// next returns the next byte, or 0 at the end of the text.
func (r *Reader) next() byte {
	if r.at == len(r.text) {
		return 0
	}
	return r.text[r.at]
}

// skipDigits reads one digit or more.
func (r *Reader) skipDigits() bool {
	from := r.at
	for c := r.next(); '0' <= c && c <= '9'; c = r.next() {
		r.at++
	}
	return r.at > from
}

// skipString reads a string, which begins at r.at.
func (r *Reader) skipString() bool {
	r.escaped = false
	at := r.at + 1
	for len(r.text)-at >= 8 {
		w := binary.LittleEndian.Uint64(r.text[at:])
		found := specials(w) | w&highs
		if found == 0 {
			at += 8
			continue
		}
		at += bits.TrailingZeros64(found) / 8
		if r.text[at] == '"' {
			r.at = at + 1
			return true
		}
		break
	}
	return r.skipRest(at)
}

// skipRest reads the rest of a string.
func (r *Reader) skipRest(at int) bool {
	for {
		n, ascii := span(r.text[at:])
		end := at + n
		if end == len(r.text) || !ascii && !utf8.Valid(r.text[at:end]) {
			return false
		}
		switch r.text[end] {
		case '"':
			r.at = end + 1
			return true
		case '\\':
			r.escaped = true
			length := escapeLen(r.text[end:])
			if length == 0 {
				return false
			}
			at = end + length
		default: // a control character
			return false
		}
	}
}

// escapeLen returns the length of the escape that s begins with, or of two escapes if they are a surrogate pair. It
// returns 0 if the escape is malformed.
func escapeLen(s []byte) int {
	const short, long = len(`\n`), len(`\u0000`)
	if len(s) < short {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return short
	}
	first, ok := codeUnit(s)
	if !ok {
		return 0
	}
	if !utf16.IsSurrogate(first) {
		return long
	}
	second, ok := codeUnit(s[long:])
	if !ok || utf16.DecodeRune(first, second) == utf8.RuneError {
		return 0
	}
	return 2 * long
}

// codeUnit returns the value of the \u escape that s begins with.
func codeUnit(s []byte) (rune, bool) {
	if len(s) < len(`\u0000`) || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	return rune(n), err == nil
}
