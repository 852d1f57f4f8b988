package mcp

import (
	"bytes"
	"encoding/json"

	"github.com/sortkey/sortkey/internal/text"
)

// An object is a JSON object with a line for each member, and for each element of a list: models read it
// with fewer tokens than an indented one, and people still read it.
type object struct {
	lines []byte
	err   error
}

// A list is an array in an [object].
type list []json.RawMessage

// add adds a member.
func (o *object) add(name string, value any) {
	raw, err := o.value(value)
	if err != nil {
		o.err = err
		return
	}
	if len(o.lines) > 0 {
		o.lines = append(o.lines, ",\n"...)
	}
	o.lines = append(o.lines, text.Quote(name)+": "...)
	o.lines = append(o.lines, raw...)
}

func (o *object) value(value any) ([]byte, error) {
	elements, ok := value.(list)
	if !ok {
		return text.JSON(value)
	}
	if len(elements) == 0 {
		return []byte("[]"), nil
	}
	parts := make([][]byte, len(elements))
	for i, e := range elements {
		parts[i] = e
	}
	return append(append([]byte("[\n"), bytes.Join(parts, []byte(",\n"))...), "\n]"...), nil
}

// text returns the object.
func (o *object) text() (string, error) { return "{\n" + string(o.lines) + "\n}", o.err }
