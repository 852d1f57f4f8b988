package transfer

import (
	"bufio"

	"errors"
	"fmt"
	"io"

	"github.com/sortkey/sortkey/internal/lines"
)

// DefaultMaxLine is the default of MaxLine in [ReadOptions], in bytes. An item of
// 400 KB stays below it however it is escaped.
const DefaultMaxLine = 8 << 20

// A splitter finds the records of a file.
type splitter interface {
	// next advances to the next record and returns its line. The error is a
	// *recordError if the record is rejected and the next one can be read, and
	// io.EOF after the last one. Any other error ends reading.
	next() (line int64, err error)
	// value returns the JSON of the record, valid until next is called.
	value() []byte
}

// jsonLines splits a file with one record on each line.
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

// A document splits a JSON text of many records: the elements of an array or of
// the member Items of an object, or a sequence of objects, with any line breaks.
// It only searches for the ends of records, so that it can continue after a
// malformed one.
type document struct {
	r     *bufio.Reader
	max   int
	items bool // top-level objects have their records in a member Items
	line  int64
	stack []byte // open brackets: '[' around records, '{' around members
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

// member reads the name of a member, whose opening quotation mark has been read,
// and its value unless that is the array of records.
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

// record reads the value that begins with c into raw.
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

// ends reports whether c ends a number or a word.
func ends(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', ':', '[', ']', '{', '}', '"':
		return true
	}
	return false
}
