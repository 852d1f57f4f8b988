package api

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/s3files"
	"github.com/sortkey/sortkey/internal/item/blob"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// A csvForm describes how to read the CSV files of an import. A column with the name of a key attribute of the table
// has the type of that attribute. All other columns are strings. Source: DG/S3DataImport.Format.html.
type csvForm struct {
	comma  rune
	header []string          // nil if the first record of each file is its header
	types  map[string]string // of key attributes, by name
}

// csvOf returns the CSV form that an import request describes.
func csvOf(d *wire.ImportTableDescription) *csvForm {
	c := &csvForm{comma: ',', types: map[string]string{}}
	for _, a := range d.TableCreationParameters.AttributeDefinitions {
		c.types[*a.AttributeName] = *a.AttributeType
	}
	if o := d.InputFormatOptions; o != nil && o.Csv != nil {
		c.header = o.Csv.HeaderList
		if o.Csv.Delimiter != nil {
			c.comma = rune((*o.Csv.Delimiter)[0])
		}
	}
	return c
}

// reader returns a reader that converts the records of file to lines of DynamoDB JSON, beginning at offset. The
// offset counts bytes from the beginning of the file. The error is io.EOF if the file should have a header but is
// empty.
func (c *csvForm) reader(file io.Reader, offset int64) (*csvReader, error) {
	limited := &recordLimit{r: file}
	r := &csvReader{form: c, r: csv.NewReader(limited), names: c.header, limit: limited}
	r.r.Comma, r.r.FieldsPerRecord, r.r.ReuseRecord = c.comma, -1, true
	if c.header == nil {
		names, err := r.record()
		if err != nil {
			return nil, err
		}
		r.names = append(r.names, names...)
		r.names[0] = strings.TrimPrefix(r.names[0], "\ufeff")
	}
	for r.r.InputOffset() < offset {
		if _, err := r.record(); err != nil {
			return nil, err
		}
	}
	r.begun = offset
	return r, nil
}

// A csvReader reads records.
type csvReader struct {
	form  *csvForm
	r     *csv.Reader
	names []string
	limit *recordLimit
	begun int64
	line  []byte
	b     attr.Builder
}

// Read returns how many bytes have been read after the offset at which the reader began.
func (r *csvReader) Read() int64 { return r.r.InputOffset() - r.begun }

func (r *csvReader) record() ([]string, error) {
	r.limit.left = maxLine
	return r.r.Read()
}

// Next returns the next record as an item in DynamoDB JSON. It omits attributes whose cells are empty. Do not call
// Next again after an error.
func (r *csvReader) Next() ([]byte, error) {
	cells, err := r.record()
	if err != nil {
		return nil, err
	}
	if len(cells) != len(r.names) {
		return nil, fmt.Errorf("the record has %s, want %d", text.Count(len(cells), "cell"), len(r.names))
	}
	r.b.Reset()
	for i, text := range cells {
		if !utf8.ValidString(text) || !utf8.ValidString(r.names[i]) {
			return nil, errors.New("the record is not UTF-8")
		}
		if text != "" {
			r.b.Add(r.names[i], r.form.value(r.names[i], text))
		}
	}
	r.line = s3files.AppendItem(r.line[:0], r.b.Item())
	return r.line, nil
}

// value converts a cell to a value. If a key attribute cannot have the text of the cell as its value, value returns a
// string, and the table then refuses the item.
func (c *csvForm) value(name, text string) attr.Value {
	switch c.types[name] {
	case "N":
		if v, err := attr.NewNumber(text); err == nil {
			return v
		}
	case "B":
		if raw, msg := blob.Append([]byte{}, []byte(text)); msg == "" {
			return attr.NewBinary(raw)
		}
	}
	return attr.NewString(text)
}

// A recordLimit is a reader that fails when a record is too long, so that package csv does not buffer it without
// bound.
type recordLimit struct {
	r    io.Reader
	left int
}

func (l *recordLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errors.New("the record is too long")
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
