package transfer

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/item"
)

// maxColumns bounds the number of attribute names kept in memory.
const maxColumns = 10_000

// kinds is a set of kinds of values, one bit each.
type kinds uint16

func kindsOf(k attr.Kind) kinds { return 1 << k }

// A census collects the attributes of items.
type census struct {
	seen map[string]kinds
	over bool // there are more than maxColumns
}

func newCensus() *census {
	return &census{seen: map[string]kinds{}}
}

func (c *census) add(it attr.Item) {
	for name, v := range it.All() {
		have, ok := c.seen[string(name)]
		if !ok && len(c.seen) == maxColumns {
			c.over = true
			continue
		}
		if now := have | kindsOf(v.Kind()); now != have {
			c.seen[string(name)] = now
		}
	}
}

// single returns the kind in k if there is only one.
func single(k kinds) (attr.Kind, bool) {
	for kind := attr.String; kind <= attr.Map; kind++ {
		if k == kindsOf(kind) {
			return kind, true
		}
	}
	return 0, false
}

// writePlain writes the table as plain JSON or CSV.
func (x *exporter) writePlain(ctx context.Context, w io.Writer) (items int64, err error) {
	if x.o.Format == JSON {
		var line []byte
		return items, x.scan(ctx, 0, func(it attr.Item) error {
			items++
			line = append(item.AppendPlain(line[:0], it), '\n')
			_, err := w.Write(line)
			return err
		})
	}

	// The columns are known only after all items have been read.
	c := newCensus()
	sp, err := newSpool()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, sp.remove()) }()
	err = x.scan(ctx, 0, func(it attr.Item) error {
		items++
		c.add(it)
		return sp.add(it)
	})
	if err != nil {
		return 0, err
	}
	if c.over {
		return 0, advice.New(
			"use the format dynamodb or json", "table %s has more than %d attribute names, too many for CSV columns",
			x.table, maxColumns,
		)
	}
	table, err := c.table(w, keysOf(x.schema).names, x.schema.KeyTypes(), x.o.Delimiter)
	if err == nil {
		err = table.header()
	}
	if err != nil {
		return 0, err
	}
	return items, sp.each(func(it attr.Item) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return table.item(it)
	})
}

// WriteCSV writes items as CSV in the form of an export: with a header and a column for each
// attribute, those in first before the others. Without items it writes nothing.
func WriteCSV(w io.Writer, items []attr.Item, first []string) error {
	if len(items) == 0 {
		return nil
	}
	c := newCensus()
	for _, it := range items {
		c.add(it)
	}
	first = slices.DeleteFunc(slices.Clone(first), func(name string) bool { return c.seen[name] == 0 })
	table, err := c.table(w, first, nil, ',')
	if err == nil {
		err = table.header()
	}
	for _, it := range items {
		if err == nil {
			err = table.item(it)
		}
	}
	return err
}

// A csvTable writes items as records of CSV.
type csvTable struct {
	w          io.Writer
	names      []string // of the columns
	types      Types
	comma      byte
	line, cell []byte
}

// table returns the table of the items in the census. Its first columns are the keys, with
// the types of keyTypes where no item has them.
func (c *census) table(w io.Writer, keys []string, keyTypes Types, comma byte) (*csvTable, error) {
	t := &csvTable{w: w, names: slices.Clone(keys), types: Types{}, comma: comma}
	for _, name := range slices.Sorted(maps.Keys(c.seen)) {
		if !slices.Contains(t.names, name) {
			t.names = append(t.names, name)
		}
	}
	for _, name := range t.names {
		t.types[name] = AnyType
		if kind, ok := single(c.seen[name]); ok {
			t.types[name] = kind.String()
		} else if c.seen[name] == 0 {
			t.types[name] = keyTypes[name]
		}
	}
	if slices.Contains(t.names, "") {
		return nil, advice.New(
			"use the format dynamodb or json", "an attribute with an empty name cannot be a CSV column",
		)
	}
	return t, nil
}

// header writes the names of the columns.
func (t *csvTable) header() error {
	return t.row(func(name string) []byte { return appendCell(nil, name, t.comma) })
}

// item writes an item.
func (t *csvTable) item(it attr.Item) error {
	return t.row(func(name string) []byte {
		t.cell = appendCellValue(t.cell[:0], it.Get(name), t.types[name], t.comma)
		return t.cell
	})
}

func (t *csvTable) row(cell func(name string) []byte) error {
	t.line = t.line[:0]
	for i, name := range t.names {
		if i > 0 {
			t.line = append(t.line, t.comma)
		}
		t.line = append(t.line, cell(name)...)
	}
	if len(t.line) == 0 { // a blank line is not a record
		t.line = append(t.line, `""`...)
	}
	t.line = append(t.line, '\n')
	_, err := t.w.Write(t.line)
	return err
}

// A spool keeps items in a temporary file.
type spool struct {
	f *os.File
	w *bufio.Writer
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", ".sortkey-export-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // works where open files can be removed
	return &spool{f: f, w: bufio.NewWriterSize(f, 128<<10)}, nil
}

func (s *spool) add(it attr.Item) error {
	var head [binary.MaxVarintLen64]byte
	if _, err := s.w.Write(binary.AppendUvarint(head[:0], uint64(len(it)))); err != nil {
		return err
	}
	_, err := s.w.Write(it)
	return err
}

// each calls fn with each item, which is valid during the call.
func (s *spool) each(fn func(attr.Item) error) error {
	if err := s.w.Flush(); err != nil {
		return err
	}
	if _, err := s.f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(s.f, 128<<10)
	var buf []byte
	for {
		n, err := binary.ReadUvarint(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		buf = slices.Grow(buf[:0], int(n))[:n]
		if _, err := io.ReadFull(r, buf); err != nil {
			return err
		}
		if err := fn(attr.Item(buf)); err != nil {
			return err
		}
	}
}

func (s *spool) remove() error {
	err := s.f.Close()
	if left := os.Remove(s.f.Name()); !errors.Is(left, os.ErrNotExist) {
		err = errors.Join(err, left)
	}
	return err
}
