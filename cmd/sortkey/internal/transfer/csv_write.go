package transfer

import (
	"io"
	"maps"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
)

// WriteCSV writes items as CSV that an import can read. It writes a header and a column for each attribute, first the
// attributes in first. If the values of an attribute have several types, its column contains DynamoDB JSON. If there
// are no items, WriteCSV writes nothing.
func WriteCSV(w io.Writer, items []attr.Item, first []string) error {
	types := Types{}
	for _, it := range items {
		for name, v := range it.All() {
			kind := v.Kind().String()
			if have := types[string(name)]; have != "" && have != kind {
				kind = AnyType
			}
			types[string(name)] = kind
		}
	}
	var names []string
	for _, name := range slices.Concat(first, slices.Sorted(maps.Keys(types))) {
		if types[name] != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch {
	case len(items) == 0:
		return nil
	case slices.Contains(names, ""):
		return advice.New("print them as JSON", "an attribute with an empty name cannot be a CSV column")
	}

	var line []byte
	for i, name := range names {
		line = appendCell(appendComma(line, i), name)
	}
	for _, it := range items {
		line = append(line, '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
		line = line[:0]
		for i, name := range names {
			line = appendCellValue(appendComma(line, i), it.Get(name), types[name])
		}
		if len(line) == 0 { // a blank line is not a record
			line = append(line, `""`...)
		}
	}
	_, err := w.Write(append(line, '\n'))
	return err
}

// appendComma appends the comma before a cell, unless it is cell 0.
func appendComma(dst []byte, cell int) []byte {
	if cell == 0 {
		return dst
	}
	return append(dst, ',')
}
