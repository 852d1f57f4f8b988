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
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/lines"
	"github.com/sortkey/sortkey/internal/requestfile"
)

// ReadOptions configure a [Reader]. The zero value reads any format.
type ReadOptions struct {
	// Format is the format of the records. Default: Auto.
	Format Format
	// Types are the declared types of attributes, in CSV and in plain JSON. A CSV column without a declared type
	// contains strings.
	Types Types
	// MaxLine bounds the length of a line or record, in bytes. The reader rejects longer ones. Default:
	// DefaultMaxLine.
	MaxLine int
	// Delimiter separates the cells of CSV. Default: a comma, or a tab in a .tsv
	// file.
	Delimiter byte
	// Columns are the names of the columns of a CSV file that has no header.
	Columns []string
	// Table is the name of a table: in a file of requests, the reader skips writes to other tables. If Named is set,
	// it also skips writes that do not name their table. Default: it reads all writes.
	Table string
	Named bool
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
	// Line is the number of the record's first line, from 1.
	Line int64
	// Item is the item, or only its key if Delete is set.
	Item attr.Item
	// Delete means that the record deletes the item with the key Item. Incremental exports and requests have such
	// records.
	Delete bool
	// Err is the reason why the reader rejects the record, or nil. If it is not nil, Item is nil. The reader can
	// still read the next record.
	Err error
}

// A Reader reads the records of one file. It is not safe for concurrent use.
type Reader struct {
	split   splitter
	dec     *decoder
	cells   *cells
	columns *columns
	builder attr.Builder
	count   int64
	// For a file of requests, the reader uses requests and neither split nor dec. others is the name of a table to
	// which the file writes, but whose writes the reader skips.
	requests *requestfile.Reader
	table    string
	named    bool
	others   string
}

// NewReader returns a reader of uncompressed data. It detects the format from the data and from path, the path of the
// file, which may be empty.
func NewReader(r io.Reader, path string, o ReadOptions) (*Reader, error) {
	o = o.withDefaults(path)
	br := bufio.NewReaderSize(r, requestfile.Head)
	skipMark(br)
	head, err := br.Peek(requestfile.Head)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, err
	}

	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return nil, advice.New("convert it first: iconv -f UTF-16 -t UTF-8", "the file is UTF-16, not UTF-8")
	}

	if o.Format == Requests || o.Format == Auto && requestfile.Is(head) {
		return &Reader{requests: requestfile.NewReader(br, o.MaxLine), table: o.Table, named: o.Named}, nil
	}
	layout, items := layoutOf(head)
	if o.Format == Auto && layout == 0 && !strings.Contains(strings.ToLower(path), ".json") {
		o.Format = CSV
	}
	reader := &Reader{dec: &decoder{types: o.Types, typed: o.Format == DynamoDB}}
	if o.Format == JSON {
		reader.dec.form = formPlain
	}

	switch {
	case o.Format == CSV:
		reader.cells = &cells{r: br, comma: o.Delimiter, max: o.MaxLine, line: 1}
		reader.split = reader.cells
		if reader.columns, err = readColumns(reader.cells, o.Columns, o.Types); err != nil {
			return nil, err
		}
	case layout == layoutDocument:
		// Accept duplicate names and invalid UTF-8 here, where an error would end the file. The decoder of a record
		// rejects them.
		lax := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
		reader.split = &document{in: requestfile.NewValues(br, o.MaxLine, lax...), items: items}
	default:
		reader.split = &jsonLines{r: lines.New(br, o.MaxLine), max: o.MaxLine}
	}
	return reader, nil
}

// skipMark skips a byte-order mark.
func skipMark(r *bufio.Reader) {
	const mark = "\ufeff"
	if begin, _ := r.Peek(len(mark)); string(begin) == mark {
		_, _ = r.Discard(len(mark)) // r has these bytes
	}
}

// Next returns the next record. It returns io.EOF after the last record. After any other error, Next cannot read the
// rest of the file.
func (r *Reader) Next() (Record, error) {
	var b block
	rec, err := r.read(&b)
	if err == nil {
		rec.Item, rec.Delete, rec.Err = b.decode(&rec, r.dec)
	}
	return rec.Record, err
}

// read reads the next record. It decodes a request and a record of CSV. It also decodes the first JSON record, which
// determines the form of all others. For each further JSON record, read appends the text to the data of b, and
// b.decode decodes it.
func (r *Reader) read(b *block) (rec rawRecord, err error) {
	if r.requests != nil {
		rec.Record, err = r.nextWrite()
		rec.decoded = true
		return rec, err
	}

	rec.Line, err = r.split.next()
	if _, rejected := errors.AsType[*recordError](err); err != nil && !rejected {
		return rec, err
	}
	r.count++
	switch {
	case err != nil:
		rec.Err = err
	case r.cells != nil:
		rec.Item, rec.Err = r.columns.item(&r.builder, r.cells)
	case r.dec.form == formUnknown:
		rec.Item, rec.Delete, rec.Err = r.dec.item(r.split.value())
	default:
		rec.from = len(b.data)
		b.data = append(b.data, r.split.value()...)
		rec.to = len(b.data)
		b.types, b.form = r.dec.types, r.dec.form
		return rec, nil
	}
	rec.decoded = true
	if rec.Err != nil {
		rec.Item, rec.Err = nil, rejectf("%s", reason(rec.Err))
	}
	return rec, nil
}

// nextWrite implements Next for a file of requests.
func (r *Reader) nextWrite() (Record, error) {
	for {
		w, err := r.requests.Next()
		if errors.Is(err, io.EOF) && r.count == 0 && r.others != "" {
			err = errOtherTable(r.others, r.table)
		}
		if err != nil {
			return Record{Line: w.Line}, err
		}
		if w.Table == "" && r.named {
			continue
		}
		if w.Table != "" && r.table != "" && w.Table != r.table {
			r.others = w.Table
			continue
		}

		r.count++
		rec := Record{Line: w.Line, Item: w.Item, Delete: w.Delete}
		if w.Err != nil {
			rec.Err = rejectf("%s", reason(w.Err))
		}
		return rec, nil
	}
}

// errOtherTable returns the error for a file of requests that write to the table others, but never to table.
func errOtherTable(others, table string) error {
	return fmt.Errorf("the requests write to %s, not to %s", others, table)
}

// Skip drops records until n records of the file have been read.
func (r *Reader) Skip(n int64) error {
	var b block
	for r.count < n {
		b.data = b.data[:0]
		if _, err := r.read(&b); err != nil {
			return fmt.Errorf("after %d records: %w", r.count, err)
		}
	}
	return nil
}

// Count returns the number of records read so far, including rejected and skipped ones.
func (r *Reader) Count() int64 { return r.count }

const (
	layoutLines    = 'l'
	layoutDocument = 'd'
)

// layoutOf detects the layout of a file from its first bytes: JSON lines, or a JSON document. If the records of a
// document are in a member Items, items is true. If the file is not JSON, the layout is 0.
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
	// The first line is not valid JSON. If it ends with one of these characters, it is the beginning of a value of
	// several lines.
	switch line[len(line)-1] {
	case '{', '[', ',', ':':
		return layoutDocument, false
	}
	return layoutLines, false
}

// responseMembers are the members that a response of Query or Scan can have besides Items. The AWS CLI and sortkey
// query add some of them.
var responseMembers = []string{
	"Count", "ScannedCount", "LastEvaluatedKey", "ConsumedCapacity", "NextToken", "ResponseMetadata", "$metadata",
	"ReadUnits", "Asked", "Trace",
}

// hasItems reports whether head is the beginning of a response of a Query or Scan. Such a response is an object with
// an array Items. All its other members are in responseMembers.
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
			if dec.SkipValue() != nil {
				return true // head ends inside it
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
