package requestfile

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/attr"
)

// Is reports whether a file begins with a request rather than an item. Text is the beginning of the file, and must
// contain the first attribute of the first item. Is looks for typed attributes, such as {"S": "x"}, where a request
// has them. So it is not misled by an item that has attributes called TableName or RequestItems.
func Is(text []byte) bool {
	d := detector{jsontext.NewDecoder(bytes.NewReader(text))}
	for range maxNesting {
		if d.dec.PeekKind() != '[' {
			break
		}
		if !d.skip('[') {
			return false
		}
	}
	return d.request()
}

// A detector tries to read the beginning of a request.
type detector struct{ dec *jsontext.Decoder }

// skip reads a token of a kind.
func (d detector) skip(kind jsontext.Kind) bool {
	if d.dec.PeekKind() != kind {
		return false
	}
	_, err := d.dec.ReadToken()
	return err == nil
}

// name reads the name of the next member, or returns false if there is none.
func (d detector) name() (string, bool) {
	if d.dec.PeekKind() != '"' {
		return "", false
	}
	tok, err := d.dec.ReadToken()
	return tok.String(), err == nil
}

// request reports whether the next value is a request.
func (d detector) request() bool {
	if !d.skip('{') {
		return false
	}
	var table, item bool // whether TableName and Item, the members of a PutItem, were read
	for {
		name, ok := d.name()
		if !ok {
			return table && item
		}
		switch next := d.dec.PeekKind(); {
		case name == "RequestItems" && next == '{':
			return d.skip('{') && d.table()
		case name == "TransactItems" && next == '[':
			d.skip('[')
			if !d.skip(']') {
				return d.write()
			}
		case next == '[':
			return d.skip('[') && d.write()
		case isWrapper(name) && next == '{':
			return d.wrapped(name)
		case name == "TableName" && next == '"':
			table = d.dec.SkipValue() == nil
		case name == "Item" && next == '{':
			if !d.item() {
				return false
			}
			item = true
		case !isSetting(name) || d.dec.SkipValue() != nil:
			return false
		}
	}
}

// table reports whether a member of RequestItems has a write. Members before it may be empty lists.
func (d detector) table() bool {
	for {
		if _, ok := d.name(); !ok || !d.skip('[') {
			return false
		}
		if !d.skip(']') {
			return d.write()
		}
	}
}

// write reports whether the next element of a list is a write.
func (d detector) write() bool {
	if !d.skip('{') {
		return false
	}
	name, ok := d.name()
	return ok && d.wrapped(name)
}

// wrapped reports whether the member called wrapper, whose value comes next, is a write.
func (d detector) wrapped(wrapper string) bool {
	if !isWrapper(wrapper) || !d.skip('{') {
		return false
	}
	for {
		name, ok := d.name()
		switch {
		case !ok:
			return false
		case name == "Item" || name == "Key":
			return d.item()
		case name == "TableName" && d.dec.PeekKind() == '"':
			if wrapper == "Update" || wrapper == "ConditionCheck" {
				return true
			}
		case !isSetting(name):
			return false
		}
		if d.dec.SkipValue() != nil {
			return false
		}
	}
}

// item reads an item and reports whether its attributes have types. If the text ends inside the item, only the
// attributes before the end count.
func (d detector) item() bool {
	if !d.skip('{') {
		return false
	}
	for n := 0; ; n++ {
		if _, ok := d.name(); !ok {
			return n > 0 && (d.skip('}') || d.ended())
		}
		typed := d.skip('{')
		kind, ok := d.name()
		if !typed || !ok {
			return n > 0 && d.ended()
		}
		if !Typed(kind, d.dec.PeekKind()) && !d.ended() {
			return false
		}
		if d.dec.SkipValue() != nil {
			return true // the text ends inside this value
		}
		if !d.skip('}') {
			return d.ended()
		}
	}
}

// ended reports whether the text ends here.
func (d detector) ended() bool {
	return d.dec.PeekKind() == jsontext.KindInvalid
}

// Typed reports whether a value of a JSON kind is possible for a type name of DynamoDB JSON, such as "S" or "M".
func Typed(name string, value jsontext.Kind) bool {
	kind, ok := attr.ParseKind(name)
	if !ok {
		return false
	}
	switch kind {
	case attr.String, attr.Number, attr.Binary:
		return value == '"'
	case attr.Bool, attr.Null:
		return value == 't' || value == 'f'
	case attr.Map:
		return value == '{'
	}
	return value == '['
}

func isWrapper(name string) bool {
	return slices.ContainsFunc(forms, func(f form) bool { return f.wrapper == name && name != "" }) ||
		name == "Update" || name == "ConditionCheck"
}

func isSetting(name string) bool {
	return slices.Contains(settings, name) || slices.Contains(conditions, name)
}
