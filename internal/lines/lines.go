// Package lines reads the lines of untrusted files: a [Reader] keeps at most one line in memory and limits its
// length.
package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrTooLong is returned by [Reader.Next] for a line that is longer than the limit. The next call returns the line
// after it.
var ErrTooLong = errors.New("lines: line too long")

// A Reader reads lines.
type Reader struct {
	r    *bufio.Reader
	max  int
	buf  []byte
	read int64
}

// New returns a Reader of the lines of r. A line may have at most limit bytes without its line break.
func New(r *bufio.Reader, limit int) *Reader { return &Reader{r: r, max: limit} }

// Read returns the number of bytes read so far, including line breaks.
func (r *Reader) Read() int64 { return r.read }

// Next returns the next line without white space at its ends, so it is empty for a blank line. The line is valid
// until the next call. The error is [ErrTooLong], io.EOF after the last line, or an error of the underlying reader.
func (r *Reader) Next() ([]byte, error) {
	r.buf = r.buf[:0]
	begun, long := false, false
	for {
		part, err := r.r.ReadSlice('\n')
		r.read += int64(len(part))
		begun = begun || len(part) > 0
		switch {
		case long:
		case len(r.buf)+len(bytes.TrimSuffix(part, newline)) > r.max:
			long, r.buf = true, r.buf[:0]
		default:
			r.buf = append(r.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || !begun):
			return nil, err
		case long:
			return nil, ErrTooLong
		}
		return bytes.TrimSpace(r.buf), nil
	}
}

var newline = []byte("\n")
