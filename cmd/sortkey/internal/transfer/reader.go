package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/attr"
)

// ReadOptions say how to read files. The zero value reads any format.
type ReadOptions struct {
	// Format is that of the records. Default: Auto.
	Format Format
	// Types are the declared types of attributes: of CSV columns, which are
	// strings otherwise, and of plain JSON.
	Types Types
	// MaxLine is the longest line or record, in bytes; longer ones are
	// refused. Default: DefaultMaxLine.
	MaxLine int
	// Delimiter separates the cells of CSV. Default: a comma, and a tab in a
	// file called .tsv.
	Delimiter byte
	// Columns are the names of CSV columns when there is no header.
	Columns []string
}

func (o ReadOptions) withDefaults(path string) ReadOptions {
	name := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(path), ".gz"), ".zst")
	if o.Format == "" {
		o.Format = Auto
	}
	if o.MaxLine <= 0 {
		o.MaxLine = DefaultMaxLine
	}
	if o.Delimiter == 0 {
		o.Delimiter = ','
		if strings.HasSuffix(name, ".tsv") {
			o.Delimiter = '\t'
		}
	}
	if o.Format == Auto && (strings.HasSuffix(name, ".csv") || strings.HasSuffix(name, ".tsv")) {
		o.Format = CSV
	}
	return o
}

// A Record is one record of a file.
type Record struct {
	// Line is the line it begins in, from 1.
	Line int64
	// Item is the item, or the key of one that was deleted.
	Item attr.Item
	// Delete says that the item of that key was deleted, as lines of
	// incremental exports can.
	Delete bool
	// Err is why the record is refused; there is no item then. Reading goes on.
	Err error
}

// A Reader reads the records of one file. It is not safe for concurrent use.
type Reader struct {
	format  Format
	split   splitter
	dec     *decoder
	cells   *cells
	columns *columns
	builder attr.Builder
	count   int64
}

// NewReader returns a reader of unpacked data. The path of the file helps to
// tell its format; it may be empty.
func NewReader(r io.Reader, path string, o ReadOptions) (*Reader, error) {
	o = o.withDefaults(path)
	br := bufio.NewReaderSize(r, readBuffer)
	head, err := br.Peek(readBuffer)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, err
	}
	if bom := []byte("\xef\xbb\xbf"); bytes.HasPrefix(head, bom) {
		if _, err := br.Discard(len(bom)); err != nil {
			return nil, err
		}
		head = head[len(bom):]
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return nil, fail("convert it first: iconv -f UTF-16 -t UTF-8", "this is text in UTF-16, not in UTF-8")
	}
	if isIon(head) {
		return nil, errIonFile("this file")
	}
	layout, items := layoutOf(head)
	if o.Format == Auto && layout == 0 && !strings.Contains(strings.ToLower(path), ".json") {
		o.Format = CSV
	}
	rd := &Reader{format: o.Format, dec: &decoder{types: o.Types}}
	switch o.Format {
	case Auto:
		rd.dec.form = formIn(head, layout, items, formUnknown)
	case DynamoDB:
		rd.dec.form = formIn(head, layout, items, formPlain)
		if rd.dec.form == formUnknown {
			rd.dec.form = formBare
		}
	case JSON:
		rd.dec.form = formPlain
	}
	switch {
	case o.Format == CSV:
		rd.cells = &cells{r: br, comma: o.Delimiter, max: o.MaxLine, line: 1}
		rd.split = rd.cells
		if rd.columns, err = readColumns(rd.cells, o.Columns, o.Types); err != nil {
			return nil, err
		}
	case layout == layoutDocument:
		rd.split = &document{r: br, max: o.MaxLine, items: items, line: 1}
	default:
		rd.split = &lines{r: br, max: o.MaxLine}
	}
	return rd, nil
}

// Next returns the next record, and io.EOF after the last. Any other error is
// one after which nothing of the file can be read.
func (r *Reader) Next() (Record, error) {
	line, err := r.split.next()
	rec := Record{Line: line}
	if err != nil {
		if _, ok := errors.AsType[*recordError](err); !ok {
			return rec, err
		}
		r.count++
		rec.Err = err
		return rec, nil
	}
	r.count++
	if r.cells != nil {
		rec.Item, rec.Err = r.columns.item(&r.builder, r.cells)
	} else {
		rec.Item, rec.Delete, rec.Err = r.dec.item(r.split.value())
	}
	if rec.Err != nil {
		rec.Item = nil
		rec.Err = refusef("%s", reason(rec.Err))
	}
	return rec, nil
}

// Skip goes past n records without looking into them, but for the first one
// that tells the form of all.
func (r *Reader) Skip(n int64) error {
	for r.count < n {
		if r.cells == nil && r.dec.form == formUnknown {
			if _, err := r.Next(); err != nil {
				return fmt.Errorf("after %d records: %w", r.count, err)
			}
			continue
		}
		if _, err := r.split.next(); err != nil {
			if _, ok := errors.AsType[*recordError](err); !ok {
				return fmt.Errorf("after %d records: %w", r.count, err)
			}
		}
		r.count++
	}
	return nil
}

// Count returns the number of records so far, those refused and skipped
// included.
func (r *Reader) Count() int64 { return r.count }

const (
	layoutLines    = 'l'
	layoutDocument = 'd'
)

// layoutOf looks at the first bytes of a file: whether it is JSON in lines, or
// a document, with its records in a member Items or not. It is 0 for what is
// no JSON.
func layoutOf(head []byte) (layout rune, items bool) {
	head = bytes.TrimLeft(head, " \t\r\n")
	switch {
	case len(head) == 0:
		return layoutLines, false
	case head[0] == '[':
		return layoutDocument, false
	case head[0] != '{':
		return 0, false
	case hasItems(head):
		return layoutDocument, true
	}
	line, rest, more := bytes.Cut(head, []byte("\n"))
	line = bytes.TrimSpace(line)
	if !more || jsontext.Value(line).IsValid() || len(bytes.TrimSpace(rest)) == 0 {
		return layoutLines, false
	}
	// A line that stops where more must come is the first of a longer text.
	switch line[len(line)-1] {
	case '{', '[', ',', ':':
		return layoutDocument, false
	}
	return layoutLines, false
}

// responseMembers are the members of a response besides Items, those that the
// AWS CLI and sortkey query add included.
var responseMembers = []string{
	"Count", "ScannedCount", "LastEvaluatedKey", "ConsumedCapacity", "NextToken", "ResponseMetadata", "$metadata", "ReadUnits", "Asked", "Trace",
}

// hasItems reports whether head begins like a response: an object with a
// member Items that is an array of objects or empty, and with no member that
// responses have not.
func hasItems(head []byte) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(head))
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	found := false
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return false
		}
		name := tok.String()
		switch {
		case name == "Items" && dec.PeekKind() == '[':
			if _, err := dec.ReadToken(); err != nil {
				return false
			}
			for dec.PeekKind() == '{' {
				if dec.SkipValue() != nil {
					return true // it goes on after head
				}
			}
			if _, err := dec.ReadToken(); err != nil || dec.StackDepth() != 1 {
				return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
			}
			found = true
		case !slices.Contains(responseMembers, name):
			return false
		default:
			if dec.SkipValue() != nil {
				return found
			}
		}
	}
	return found
}

// formIn returns what most of the records in head look like, leaving out the
// form that they cannot have. It is formUnknown when none tells.
func formIn(head []byte, layout rune, items bool, not form) form {
	r := bufio.NewReader(bytes.NewReader(head))
	var s splitter = &lines{r: r, max: readBuffer}
	if layout == layoutDocument {
		s = &document{r: r, max: readBuffer, items: items, line: 1}
	}
	var votes [formPlain + 1]int
	most := formUnknown
	for {
		_, err := s.next()
		if err != nil {
			if _, refused := errors.AsType[*recordError](err); refused {
				continue
			}
			return most
		}
		f := formOf(s.value())
		if f == formUnknown || f == not || string(s.value()) == "{}" {
			continue
		}
		if votes[f]++; most == formUnknown || votes[f] > votes[most] {
			most = f
		}
	}
}
