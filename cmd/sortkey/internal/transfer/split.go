package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
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

// lines splits a file with one record on each line.
type lines struct {
	r    *bufio.Reader
	max  int
	line int64
	buf  []byte
	raw  []byte
}

func (s *lines) value() []byte { return s.raw }

func (s *lines) next() (int64, error) {
	for {
		long, err := s.read()
		if err != nil {
			return s.line, err
		}
		if long {
			return s.line, errTooLong(s.max)
		}
		if s.raw = bytes.TrimSpace(s.buf); len(s.raw) > 0 {
			return s.line, nil
		}
	}
}

// read reads one line into buf, and reports whether it is too long.
func (s *lines) read() (long bool, err error) {
	s.buf = s.buf[:0]
	s.line++
	for some := false; ; some = true {
		part, err := s.r.ReadSlice('\n')
		switch {
		case long:
		case len(s.buf)+len(part) > s.max+1: // including the newline
			long, s.buf = true, s.buf[:0]
		default:
			s.buf = append(s.buf, part...)
		}
		switch {
		case err == nil:
			return long, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			if !some && len(part) == 0 {
				return false, io.EOF
			}
			return long, nil
		default:
			return false, err
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
