package requestfile

import (
	"errors"
	"io"
)

var errLong = errors.New("requestfile: write too long")

// A source reads the file of a [Reader]. It stops a decoder that reads too far beyond the beginning of a value,
// because the value may have any size. It also records the line breaks that it has read, to find the line of an
// offset.
type source struct {
	r     io.Reader
	limit int64
	until int64 // offset from which Read fails
	read  int64
	line  int64   // line of the last offset that lineAt was called with
	ends  []int64 // offsets of later line breaks
}

// ahead is the number of bytes that a decoder may read beyond a value.
const ahead = 64 << 10

// allow lets the decoder read a value that begins at an offset: limit bytes, and the bytes that it reads ahead.
func (s *source) allow(at int64) { s.until = at + s.limit + ahead }

// Read implements [io.Reader].
func (s *source) Read(p []byte) (int, error) {
	if s.read >= s.until {
		return 0, errLong
	}
	n, err := s.r.Read(p[:min(int64(len(p)), ahead)])
	for i, c := range p[:n] {
		if c == '\n' {
			s.ends = append(s.ends, s.read+int64(i))
		}
	}
	s.read += int64(n)
	return n, err
}

// lineAt returns the line of an offset. Offsets must not decrease from call to call.
func (s *source) lineAt(at int64) int64 {
	n := 0
	for n < len(s.ends) && s.ends[n] < at {
		n++
	}
	s.ends = s.ends[:copy(s.ends, s.ends[n:])]
	s.line += int64(n)
	return s.line
}
