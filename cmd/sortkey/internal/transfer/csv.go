package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/item/blob"
	"github.com/sortkey/sortkey/internal/item/doc"
	"github.com/sortkey/sortkey/internal/text"
)

// cells is a [splitter] for CSV. Unlike package encoding/csv it bounds its memory, continues after a malformed
// record, and distinguishes an empty cell from a quoted empty cell.
type cells struct {
	r     *bufio.Reader
	comma byte
	max   int
	line  int64 // of the next byte
	data  []byte
	at    []cell
}

// A cell is a slice of data.
type cell struct {
	from, to int
	quoted   bool
}

func (s *cells) value() []byte { return nil }

func (s *cells) next() (line int64, err error) {
	for {
		line, err = s.read()
		blank := err == nil && len(s.at) == 1 && s.at[0].from == s.at[0].to && !s.at[0].quoted
		if !blank {
			return line, err
		}
	}
}

// read reads one record.
func (s *cells) read() (line int64, err error) {
	const (
		start = iota
		plain
		quoted
		closed // after a quotation mark in a quoted cell: the end of the cell, or the first half of ""
	)

	s.data, s.at = s.data[:0], append(s.at[:0], cell{})
	line = s.line
	state, size, long := start, 0, false
	var bad error
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			switch {
			case !errors.Is(err, io.EOF):
				return line, err
			case size == 0:
				return line, io.EOF
			case state == quoted:
				return line, rejectf("a quoted cell of this record has no closing quotation mark")
			}
			return line, s.end(state == plain, long, bad)
		}

		if c == '\n' {
			s.line++
		}
		if size++; size > s.max {
			long, s.data, s.at = true, s.data[:0], s.at[:0]
			s.at = append(s.at, cell{})
		}

		last := &s.at[len(s.at)-1]
		switch {
		case c == '\n' && state != quoted:
			return line, s.end(state == plain, long, bad)
		case c == s.comma && state != quoted:
			last.to = len(s.data)
			s.at = append(s.at, cell{from: len(s.data)})
			state = start
		case c == '"' && state == start:
			last.quoted, state = true, quoted
		case c == '"' && state == quoted:
			state = closed
		case c == '"' && state == closed:
			state = quoted
			s.add(c, long)
		case c == '"':
			bad = rejectf(`quotation mark in an unquoted cell: quote the cell and double the mark`)
		case state == closed:
			if c != '\r' {
				bad = rejectf("%q follows the closing quotation mark of a cell", c)
			}
		default:
			if state == start {
				state = plain
			}
			s.add(c, long)
		}
	}
}

func (s *cells) add(c byte, long bool) {
	if !long {
		s.data = append(s.data, c)
	}
}

// end ends a record. Plain is set if the last cell is not quoted. If that cell then ends with a carriage return, end
// removes it, because it is a part of the line break.
func (s *cells) end(plain, long bool, bad error) error {
	last := &s.at[len(s.at)-1]
	if n := len(s.data); plain && n > last.from && s.data[n-1] == '\r' {
		s.data = s.data[:n-1]
	}
	last.to = len(s.data)
	if long {
		return errTooLong(s.max)
	}
	return bad
}

func (s *cells) text(i int) string { return string(s.data[s.at[i].from:s.at[i].to]) }

// columns are the columns of a CSV file. The type of a column is "" if no type is declared for it.
type columns struct {
	names []string
	types []string
}

// readColumns returns columns with the given names. If names is nil, it reads them from the header.
func readColumns(s *cells, names []string, types Types) (*columns, error) {
	c := &columns{names: names}
	if names == nil {
		line, err := s.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return c, nil
			}
			return nil, advice.New("", "line %d: header: %w", line, err)
		}
		for i := range s.at {
			c.names = append(c.names, s.text(i))
		}
	}

	seen := map[string]bool{}
	for _, name := range c.names {
		switch {
		case name == "":
			return nil, fail(ErrColumns, "give every column a name", "the header has a column without a name")
		case !utf8.ValidString(name):
			const help = "convert it first: iconv -f LATIN1 -t UTF-8"
			return nil, fail(ErrColumns, help, "the name %q of a column is not UTF-8", name)
		case seen[name]:
			return nil, fail(
				ErrColumns, "give every column its own name", "the header has two columns named %s",
				strconv.Quote(name),
			)
		}
		seen[name] = true
		c.types = append(c.types, types[name])
	}
	return c, nil
}

// check returns an error if a key attribute of the table has no column, because the import would then reject every
// record. It also returns an error if an attribute with a declared type has no column.
func (c *columns) check(k keys, declared Types) error {
	have := reason(errors.New(strings.Join(c.names, ", ")))
	for _, a := range k {
		name := a.Name
		if len(c.names) == 0 || slices.Contains(c.names, name) {
			continue
		}
		return fail(
			ErrColumns, "add a header to the file", "key attribute %s is not a column: %s", name, have,
		)
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if len(c.names) > 0 && !slices.Contains(c.names, name) {
			return fail(ErrType, "correct the name", "%s has a type, but is not a column: %s", name, have)
		}
	}
	return nil
}

// item returns the item of a record. It skips empty cells.
func (c *columns) item(b *attr.Builder, s *cells) (attr.Item, error) {
	if len(s.at) != len(c.names) {
		return nil, rejectf("record has %s, want %d", text.Count(len(s.at), "cell"), len(c.names))
	}
	b.Reset()
	for i, at := range s.at {
		if at.from == at.to && !at.quoted {
			continue
		}
		if !utf8.Valid(s.data[at.from:at.to]) {
			return nil, rejectf("column %s: invalid UTF-8", c.names[i])
		}
		v, err := cellValue(c.types[i], s.text(i))
		if err != nil {
			return nil, rejectf("column %s: %s", c.names[i], reason(err))
		}
		b.Add(c.names[i], v)
	}
	return b.Item(), nil
}

// cellValue returns the value of a cell with the declared type kind. The text of a list, map or set is the value in
// DynamoDB JSON without the type: ["a"] stands for {"SS":["a"]}.
func cellValue(kind, text string) (attr.Value, error) {
	switch kind {
	case "", "S":
		return attr.NewString(text), nil
	case "N":
		return attr.NewNumber(strings.TrimSpace(text))
	case "B":
		return binaryValue(text)
	case "BOOL":
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true":
			return attr.NewBool(true), nil
		case "false":
			return attr.NewBool(false), nil
		}
		return attr.Value{}, rejectf("%q is neither true nor false", text)
	case "NULL":
		return attr.NewNull(), nil
	case AnyType:
		return jsonValue([]byte(text))
	}
	return jsonValue([]byte(`{"` + kind + `":` + text + `}`))
}

func jsonValue(text []byte) (attr.Value, error) {
	d := decoder{left: doc.MaxSize}
	d.src = *bytes.NewBuffer(text)
	d.dec.Reset(&d.src, jsontext.AllowDuplicateNames(true))
	v, err := d.declared(AnyType)
	if err == nil && d.end() != nil {
		err = rejectf("unexpected data after the value")
	}
	return v, err
}

func binaryValue(text string) (attr.Value, error) {
	raw, msg := blob.Append([]byte{}, []byte(text))
	if msg != "" {
		return attr.Value{}, rejectf("binary data must be in base64")
	}
	return attr.NewBinary(raw), nil
}

// appendCell appends a cell, in quotes if necessary. It also quotes an empty text, because an empty cell without
// quotes means that the item does not have the attribute.
func appendCell(dst []byte, text string) []byte {
	if text != "" && !strings.ContainsAny(text, "\"\r\n \t,") {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(text, `"`, `""`)...)
	return append(dst, '"')
}

// appendCellValue appends v as a cell of type kind, which cellValue converts back to v.
func appendCellValue(dst []byte, v attr.Value, kind string) []byte {
	var text []byte
	switch {
	case v.IsZero():
		return dst
	case kind == AnyType:
		text = v.AppendJSON(nil)
	case v.Kind() == attr.String:
		text = v.Raw()
	case v.Kind() == attr.Number:
		text = v.AppendNumber(nil)
	case v.Kind() == attr.Null:
		text = []byte("null")
	case v.Kind() == attr.Bool:
		text = strconv.AppendBool(nil, v.Bool())
	default: // DynamoDB JSON without the type, as in ["a"] for {"SS":["a"]}; binary data also without its quotes
		text = v.AppendJSON(nil)
		text = text[len(v.Kind().String())+4 : len(text)-1]
		if v.Kind() == attr.Binary {
			text = text[1 : len(text)-1]
		}
	}
	return appendCell(dst, string(text))
}
