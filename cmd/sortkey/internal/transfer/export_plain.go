package transfer

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/item"
)

// A shape describes the attributes in an export in plain JSON or CSV.
type shape struct {
	types    Types
	warnings []string
}

// maxColumns bounds the number of attribute names kept in memory.
const maxColumns = 10_000

// kinds is a set of kinds of values, one bit each.
type kinds uint16

func kindsOf(k attr.Kind) kinds { return 1 << k }

// A census collects the attributes of items.
type census struct {
	seen   map[string]kinds
	hidden map[string]bool // attributes with types inside documents that plain JSON loses
	over   bool            // there are more than maxColumns
	lost   bool            // and some of those have types that plain JSON loses
}

func newCensus() *census {
	return &census{seen: map[string]kinds{}, hidden: map[string]bool{}}
}

func (c *census) add(it attr.Item) {
	for name, v := range it.All() {
		have, ok := c.seen[string(name)]
		if !ok && len(c.seen) == maxColumns {
			c.over = true
			c.lost = c.lost || kindsOf(v.Kind())&unclear != 0 || hides(v, true)
			continue
		}
		if now := have | kindsOf(v.Kind()); now != have {
			c.seen[string(name)] = now
		}
		if k := v.Kind(); (k == attr.List || k == attr.Map) && !c.hidden[string(name)] && hides(v, true) {
			c.hidden[string(name)] = true
		}
	}
}

// hides reports whether a value has another type when it is read from plain
// JSON. The type of a top-level value can be declared.
func hides(v attr.Value, top bool) bool {
	switch v.Kind() {
	case attr.Binary, attr.StringSet, attr.NumberSet, attr.BinarySet:
		return !top
	case attr.List:
		for i := range v.Len() {
			if hides(v.Index(i), false) {
				return true
			}
		}
	case attr.Map:
		for _, m := range v.Map().All() {
			if hides(m, false) {
				return true
			}
		}
	}
	return false
}

// unclear are the kinds of values that plain JSON shows like those of another kind.
const unclear = 1<<attr.Binary | 1<<attr.StringSet | 1<<attr.NumberSet | 1<<attr.BinarySet

// plain returns the types to declare for plain JSON. Values that one type does not make clear
// are of type [AnyType].
func (c *census) plain() Types {
	types := Types{}
	for name, seen := range c.seen {
		kind, one := single(seen &^ kindsOf(attr.Null))
		switch {
		case c.hidden[name], seen&unclear != 0 && !one:
			types[name] = AnyType
		case seen&unclear != 0:
			types[name] = kind.String()
		}
	}
	return types
}

// warnings says what plain JSON without types loses.
func (c *census) warnings() (list []string) {
	if lost := slices.Sorted(maps.Keys(c.plain())); len(lost) > 0 {
		list = append(list, fmt.Sprintf(
			"plain JSON loses the types of sets and binary data in: %s; an export to a folder and the format "+
				"dynamodb keep them", firstOf(lost),
		))
	}
	if c.lost {
		list = append(list, fmt.Sprintf("this is about the first %d attribute names only", maxColumns))
	}
	return list
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

// firstOf lists the first names and counts the rest.
func firstOf(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// writePlain writes the table as plain JSON or CSV. Without a folder there is no file for the types.
func (x *exporter) writePlain(ctx context.Context, w io.Writer, dir string) (items int64, sh shape, err error) {
	c := newCensus()
	if x.o.Format == JSON && dir == "" {
		var line []byte
		err := x.scan(ctx, 0, func(it attr.Item) error {
			items++
			c.add(it)
			line = append(item.AppendPlain(line[:0], it), '\n')
			_, err := w.Write(line)
			return err
		})
		return items, shape{warnings: c.warnings()}, err
	}

	// The types and columns are known only after all items have been read.
	sp, err := newSpool(dir)
	if err != nil {
		return 0, sh, err
	}
	defer func() { err = errors.Join(err, sp.remove()) }()
	err = x.scan(ctx, 0, func(it attr.Item) error {
		items++
		c.add(it)
		return sp.add(it)
	})
	if err != nil {
		return 0, sh, err
	}
	each := func(fn func(attr.Item) error) error {
		return sp.each(func(it attr.Item) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fn(it)
		})
	}
	if x.o.Format == JSON {
		sh.types, err = c.lines(w, x.table, each)
	} else {
		sh.types, err = x.cells(w, c, each)
	}
	return items, sh, err
}

// lines writes items as plain JSON. It returns the types to declare.
func (c *census) lines(w io.Writer, table string, each func(func(attr.Item) error) error) (Types, error) {
	if c.lost {
		return nil, advice.New(
			"use the format dynamodb", "table %s has more than %d attribute names, too many for %s", table, maxColumns,
			typesFile,
		)
	}
	types := c.plain()
	typed := func(name []byte) bool { return types[string(name)] == AnyType }
	var line []byte
	return types, each(func(it attr.Item) error {
		line = append(item.AppendPlainExcept(line[:0], it, typed), '\n')
		_, err := w.Write(line)
		return err
	})
}

// cells writes items as CSV. It returns the types to declare.
func (x *exporter) cells(w io.Writer, c *census, each func(func(attr.Item) error) error) (Types, error) {
	if c.over {
		return nil, advice.New(
			"use the format dynamodb or json", "table %s has more than %d attribute names, too many for CSV columns",
			x.table, maxColumns,
		)
	}
	table, err := c.table(w, keysOf(x.schema).names, x.schema.KeyTypes(), x.o.Delimiter)
	if err != nil {
		return nil, err
	}
	if err := table.header(); err != nil {
		return nil, err
	}
	return table.types, each(table.item)
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

func newSpool(dir string) (*spool, error) {
	f, err := os.CreateTemp(dir, ".sortkey-export-*")
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
