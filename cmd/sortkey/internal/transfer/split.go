package transfer

import (
	"bufio"

	"errors"
	"fmt"
	"io"

	"github.com/sortkey/sortkey/internal/lines"
)

// DefaultMaxLine is the default of MaxLine in [ReadOptions], in bytes. An item of 400 KB is shorter, even if it has
// only numbers such as 1E125, written with all their digits, which take 19 MB.
const DefaultMaxLine = 24 << 20

// A splitter splits a file into records.
type splitter interface {
	// next advances to the next record and returns the number of its line. It returns io.EOF after the last record.
	// If the error is a *recordError, the splitter has rejected the record, and next can be called again. It cannot
	// after any other error.
	next() (line int64, err error)
	// value returns the JSON of the record, which is valid until the next call of next.
	value() []byte
}

// jsonLines is a splitter for files with one record on each line.
type jsonLines struct {
	r    *lines.Reader
	max  int
	line int64
	raw  []byte
}

func (s *jsonLines) value() []byte { return s.raw }

func (s *jsonLines) next() (int64, error) {
	for {
		s.line++
		raw, err := s.r.Next()
		switch {
		case errors.Is(err, lines.ErrTooLong):
			return s.line, errTooLong(s.max)
		case err != nil:
			return s.line, err
		}
		if s.raw = raw; len(raw) > 0 {
			return s.line, nil
		}
	}
}

// A document is a splitter for JSON texts whose records may span lines. The records are the elements of an array, the
// elements of the member Items of an object, or a sequence of objects. A document searches only for the ends of
// records, so it can continue after a malformed record.
type document struct {
	r     *bufio.Reader
	max   int
	items bool // the records of a top-level object are in its member Items
	line  int64
	stack []byte // open brackets around the record: '[' of an array, '{' of an object with Items
	raw   []byte
}

func (s *document) value() []byte { return s.raw }

func (s *document) next() (int64, error) {
	for {
		c, err := s.skipSpace()
		if err != nil {
			if errors.Is(err, io.EOF) && len(s.stack) > 0 {
				err = fmt.Errorf("line %d: file ends inside the document", s.line)
			}
			return s.line, err
		}

		in := byte(0)
		if len(s.stack) > 0 {
			in = s.stack[len(s.stack)-1]
		}
		switch {
		case c == ',' && in != 0:
		case c == ']' && in == '[', c == '}' && in == '{':
			s.stack = s.stack[:len(s.stack)-1]
		case in == '{' && c == '"':
			if err := s.member(); err != nil {
				return s.line, err
			}
		case in == '{' || c == ']' || c == '}' || c == ',' || c == ':':
			return s.line, fmt.Errorf("line %d: unexpected %q; nothing after it can be read", s.line, c)
		case in == 0 && c == '[', in == 0 && c == '{' && s.items:
			s.stack = append(s.stack, c)
		default:
			return s.record(c)
		}
	}
}

// member reads a member of an object, whose opening quotation mark has been read. If its value is the array of
// records, member reads only the opening bracket of the value.
func (s *document) member() error {
	if _, err := s.record('"'); err != nil {
		if _, rejected := errors.AsType[*recordError](err); !rejected {
			return err
		}
	}

	items := string(s.raw) == `"Items"`
	c, err := s.skipSpace()
	if err == nil && c != ':' {
		err = fmt.Errorf("line %d: unexpected %q; nothing after it can be read", s.line, c)
	}
	if err == nil {
		c, err = s.skipSpace()
	}

	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("line %d: file ends inside the document", s.line)
	case err != nil:
		return err
	case items && c == '[':
		s.stack = append(s.stack, c)
		return nil
	}

	_, err = s.record(c)
	if _, rejected := errors.AsType[*recordError](err); rejected {
		return nil // too long, but not a record
	}
	return err
}

func (s *document) skipSpace() (byte, error) {
	for {
		c, err := s.r.ReadByte()
		switch {
		case err != nil:
			return 0, err
		case c == '\n':
			s.line++
		case c != ' ' && c != '\t' && c != '\r':
			return c, nil
		}
	}
}

// record reads the value that begins with c into s.raw. It returns the line on which the value begins.
func (s *document) record(c byte) (line int64, err error) {
	line = s.line
	s.raw = s.raw[:0]
	var depth int
	var inString, escaped, long bool
	for first := true; ; first = false {
		if !first {
			if c, err = s.r.ReadByte(); err != nil {
				if errors.Is(err, io.EOF) {
					if depth == 0 && !inString {
						break
					}
					err = fmt.Errorf("line %d: file ends inside the value that begins here", line)
				}
				return line, err
			}
		}

		if depth == 0 && !inString && !first && ends(c) {
			if err := s.r.UnreadByte(); err != nil {
				return line, err
			}
			break
		}

		if c == '\n' {
			s.line++
		}
		if long = long || len(s.raw) >= s.max; !long {
			s.raw = append(s.raw, c)
		}

		switch {
		case escaped:
			escaped = false
		case inString:
			escaped = c == '\\'
			inString = c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth <= 0 && !inString && (c == '}' || c == ']' || c == '"' && !first) {
			break
		}
	}

	if long {
		s.raw = s.raw[:0]
		return line, errTooLong(s.max)
	}
	return line, nil
}

// ends reports whether c ends a number or a word, such as true.
func ends(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', ':', '[', ']', '{', '}', '"':
		return true
	}
	return false
}
