package transfer

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sortkey/sortkey/internal/lines"
	"github.com/sortkey/sortkey/internal/requestfile"
)

// DefaultMaxLine is the default of MaxLine in [ReadOptions], in bytes. The text of an item of 400 KB is shorter. The
// longest such text takes 19 MB: it has only numbers such as 1E125, written with all their digits.
const DefaultMaxLine = 24 << 20

// A splitter splits a file into records.
type splitter interface {
	// next advances to the next record and returns the number of its line. It returns io.EOF after the last record.
	// If it returns a *recordError, it has rejected one record, and the caller may call next again. After any other
	// error the caller must not.
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

// A document is a splitter for JSON whose records may extend over several lines. The records are the elements of an
// array, the elements of the member Items of an object, or a sequence of objects. A document cannot continue after a
// syntax error.
type document struct {
	in    *requestfile.Values
	items bool // the records of a top-level object are in its member Items
	raw   jsontext.Value
}

func (s *document) value() []byte { return s.raw }

func (s *document) next() (line int64, err error) {
	for record := false; !record; {
		line = s.in.Line()
		if record, err = s.step(); err != nil {
			return line, s.in.Explain(err)
		}
	}
	return line, nil
}

// step reads the next record. If it comes to a bracket or to a member outside the records, it reads that instead and
// returns false.
func (s *document) step() (record bool, err error) {
	next, depth := s.in.PeekKind(), s.in.StackDepth()
	around, _ := s.in.StackIndex(depth)
	switch {
	case next == ']' || next == '}', depth == 0 && (next == '[' || next == '{' && s.items):
		_, err = s.in.ReadToken()
	case around == '{':
		var name jsontext.Token
		if name, err = s.in.ReadToken(); err != nil {
			return false, err
		}
		if name.String() == "Items" && s.in.PeekKind() == '[' {
			_, err = s.in.ReadToken()
		} else {
			err = s.in.SkipValue()
		}
	default:
		s.raw, err = s.in.ReadValue()
		return true, err
	}
	return false, err
}
