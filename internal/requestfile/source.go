package requestfile

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

var errLong = errors.New("requestfile: write too long")

// Values reads the JSON values of a file. It knows their lines, and bounds how far it reads for one value. It is not
// safe for concurrent use.
type Values struct {
	*jsontext.Decoder
	src *source
}

// NewValues returns Values of a file. Between two calls of Line it reads a value of at most limit bytes.
func NewValues(r io.Reader, limit int, options ...jsontext.Options) *Values {
	src := &source{r: r, limit: int64(limit), line: 1}
	src.allow(0)
	return &Values{jsontext.NewDecoder(src, options...), src}
}

// Line returns the line on which the next value begins.
func (v *Values) Line() int64 {
	v.PeekKind() // skips white space
	at := v.InputOffset() + int64(leading(v.UnreadBuffer()))
	v.src.allow(at)
	return v.src.lineAt(at)
}

// leading returns the number of bytes of white space, commas and colons before the next value.
func leading(text []byte) int {
	for i, c := range text {
		if strings.IndexByte(" \t\r\n,:", c) < 0 {
			return i
		}
	}
	return len(text)
}

// Explain adds the line to an error that ends the reading. It returns io.EOF at the end of the file.
func (v *Values) Explain(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) && v.StackDepth() > 0:
		return errors.New("file ends inside a JSON value")
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.Is(err, errLong):
		return fmt.Errorf("line %d: longer than %d bytes", v.src.line, v.src.limit)
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("line %d: %w", v.src.lineAt(e.ByteOffset), Syntax(e))
	}
	return bound(err)
}

// Syntax returns a syntax error without its place in the value, which means nothing to the author of a long file. The
// error of a repeated member has the name of the member and its offset in the file.
func Syntax(e *jsontext.SyntacticError) error {
	if !errors.Is(e.Err, jsontext.ErrDuplicateName) {
		return e.Err
	}
	return bound(fmt.Errorf("%w %q at offset %d", e.Err, e.JSONPointer.LastToken(), e.ByteOffset))
}

// A source reads the file of [Values]. It limits how far the decoder reads beyond the last write. It also records
// the line breaks that it has read, to find the line of an offset.
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
