package requestfile

import (
	"errors"
	"io"
)

var errLong = errors.New("requestfile: write too long")

// A source is the file of a [Reader]. It bounds how far is read beyond the last write, and
// knows the lines of what a decoder has buffered.
type source struct {
	r     io.Reader
	limit int64
	until int64 // reading on is an error
	read  int64
	line  int64   // of the last place that was asked for
	ends  []int64 // of the lines after it
}

// ahead is how far a decoder may read beyond a value, in bytes.
const ahead = 64 << 10

// allow permits reading the value at a place.
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

// lineAt returns the line of a place, which is not before the last one that was asked for.
func (s *source) lineAt(at int64) int64 {
	n := 0
	for n < len(s.ends) && s.ends[n] < at {
		n++
	}
	s.ends = s.ends[:copy(s.ends, s.ends[n:])]
	s.line += int64(n)
	return s.line
}
