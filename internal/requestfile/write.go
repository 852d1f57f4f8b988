package requestfile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item/doc"
)

// members are the members of an object, by name.
type members map[string]jsontext.Value

// decoderOf returns a decoder that does not check for duplicate names, because this check takes most of the decoding
// time, and the Reader's own decoder has already made it.
func decoderOf(raw jsontext.Value) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true))
}

// membersOf returns the members of an object that are not null, or false if raw is not an object.
func membersOf(raw jsontext.Value) (members, bool) {
	dec := decoderOf(raw)
	if dec.PeekKind() != '{' {
		return nil, false
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, false
	}

	all := members{}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		text := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		if value.Kind() != 'n' {
			all[text] = value.Clone()
		}
	}
	_, err := dec.ReadToken()
	return all, err == nil
}

// text returns the string value of a member, or "" if it is not a string.
func (m members) text(name string) string {
	value := m[name]
	if value.Kind() != '"' {
		return ""
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return ""
	}
	return string(text)
}

// A form is one way in which a request contains a write.
type form struct {
	wrapper string // the member that contains the write, or "" for a PutItem request
	item    string // the member with the item, or with its key
	remove  bool
}

var forms = []form{
	{"PutRequest", "Item", false},
	{"DeleteRequest", "Key", true},
	{"Put", "Item", false},
	{"Delete", "Key", true},
	{"", "Item", false},
}

// settings are the members of a request that do not change what the request writes.
var settings = []string{
	"ClientRequestToken", "ExpressionAttributeNames", "ExpressionAttributeValues", "ReturnConsumedCapacity",
	"ReturnItemCollectionMetrics", "ReturnValues", "ReturnValuesOnConditionCheckFailure",
}

// conditions are the members of a request that make a write depend on the contents of the table.
var conditions = []string{"ConditionExpression", "ConditionalOperator", "Expected"}

// write returns the write in a request, or in an element of a list of writes for a table.
func (m members) write(line int64, table string) Write {
	w := Write{Line: line, Table: table}
	for _, f := range forms {
		inner := m
		if f.wrapper != "" {
			value, ok := m[f.wrapper]
			if !ok {
				continue
			}
			if inner, ok = membersOf(value); !ok || len(m) > 1 {
				continue
			}
		}
		if inner[f.item] != nil {
			f.read(&w, inner)
			return w
		}
	}

	for _, name := range []string{"Update", "ConditionCheck"} {
		if inner, ok := membersOf(m[name]); ok && len(m) == 1 {
			w.table(inner)
			w.request = w.Table != ""
			w.Err = fmt.Errorf("%s is not a write of a whole item: only puts and deletes are read from a file", name)
			return w
		}
	}
	w.Err = fmt.Errorf("%s is not a write such as {\"PutRequest\": {\"Item\": {…}}}", m.names())
	return w
}

// read reads a write.
func (f form) read(w *Write, m members) {
	w.table(m)
	w.Delete = f.remove
	for _, name := range slices.Sorted(maps.Keys(m)) {
		switch {
		case slices.Contains(conditions, name):
			w.request = true
			w.Err = fmt.Errorf(
				"%s is not checked when a file is read: remove it if the write is to be made in any case", name,
			)
			return
		case name != f.item && name != "TableName" && !slices.Contains(settings, name):
			w.Err = unknownMember(name)
			return
		}
	}

	it, err := doc.AppendItem(nil, doc.From(decoderOf(m[f.item])), doc.MaxSize)
	if err == nil && it == nil {
		err = fmt.Errorf("%s is null", f.item)
	}
	if e, ok := errors.AsType[*attr.Error](err); ok && e.Syntax {
		err = fmt.Errorf("%w; attributes are DynamoDB JSON such as {\"S\": \"x\"}", err)
	}
	if err != nil {
		w.Err = fmt.Errorf("%s: %w", f.item, err)
		return
	}
	w.Item, w.request = it, attr.Item(it).Len() > 0 && (f.wrapper != "" || w.Table != "")
}

// table sets w.Table to the TableName of the write, if it has one.
func (w *Write) table(m members) {
	if name := m.text("TableName"); name != "" {
		w.Table = tableName(name)
	}
}

// names describes an object in an error message, by the first of its member names.
func (m members) names() string {
	if len(m) == 0 {
		return "{}"
	}
	return fmt.Sprintf("an object with %q", slices.Sorted(maps.Keys(m))[0])
}

func unknownMember(name string) error { return fmt.Errorf("unknown member %q of a request", name) }
