package convert

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/terminal"
)

// item reads an item with values in DynamoDB JSON or plain JSON. An invalid
// attribute is a loss.
func (im *importer) item(n *node) (attr.Item, bool) {
	if !n.isObject() {
		im.loss(n, "an item", "it is not a JSON object", "")
		return nil, false
	}
	var b attr.Builder
	for _, m := range n.list {
		v, err := value(m, 1)
		if err == nil && (m.key == "" || len(m.key) > 255) {
			err = errors.New("names of attributes must have 1 to 255 bytes")
		}
		if err != nil {
			im.loss(m, "the attribute "+m.key+" of an item", err.Error(), "")
			continue
		}
		b.Add(m.key, v)
	}
	return b.Item(), true
}

var errDeep = fmt.Errorf("values can nest at most %d deep", attr.MaxNesting)

// value reads a value. Values inside maps and lists can also be typed or plain.
func value(n *node, depth int) (attr.Value, error) {
	if depth > attr.MaxNesting {
		return attr.Value{}, errDeep
	}
	if n.isObject() && len(n.list) == 1 {
		if kind, ok := attr.ParseKind(n.list[0].key); ok {
			if v, ok, err := typedValue(kind, n.list[0], depth); ok || err != nil {
				return v, err
			}
		}
	}
	switch n.kind {
	case '{':
		return mapValue(n, depth)
	case '[':
		return listValue(n, depth)
	case '0':
		return attr.NewNumber(n.text)
	case 't', 'f':
		return attr.NewBool(n.kind == 't'), nil
	case 'n':
		return attr.NewNull(), nil
	}
	return attr.NewString(n.text), nil
}

func mapValue(n *node, depth int) (attr.Value, error) {
	var b attr.Builder
	for _, m := range n.list {
		v, err := value(m, depth+1)
		if err != nil {
			return v, err
		}
		b.Add(m.key, v)
	}
	return attr.NewMap(b.Item()), nil
}

func listValue(n *node, depth int) (attr.Value, error) {
	elems := make([]attr.Value, 0, len(n.list))
	for _, m := range n.list {
		v, err := value(m, depth+1)
		if err != nil {
			return v, err
		}
		elems = append(elems, v)
	}
	return attr.NewList(elems...), nil
}

// typedValue reads the value under a type name. It reports false if the value
// is not of that type, so that the object is a plain map.
func typedValue(kind attr.Kind, n *node, depth int) (v attr.Value, ok bool, err error) {
	switch kind {
	case attr.String:
		return attr.NewString(n.text), n.isText(), nil
	case attr.Number:
		if !n.isText() && n.kind != '0' {
			return v, false, nil
		}
		v, err = attr.NewNumber(n.text)
		return v, true, err
	case attr.Binary:
		if !n.isText() {
			return v, false, nil
		}
		raw, err := base64.StdEncoding.DecodeString(n.text)
		if err != nil {
			return v, false, fmt.Errorf("%q is not base64", clip(n.text))
		}
		return attr.NewBinary(raw), true, nil
	case attr.Bool:
		switch {
		case n.kind == 't', n.isText() && n.text == "true":
			return attr.NewBool(true), true, nil
		case n.kind == 'f', n.isText() && n.text == "false":
			return attr.NewBool(false), true, nil
		}
		return v, false, nil
	case attr.Null:
		return attr.NewNull(), !n.isObject() && !n.isList(), nil
	case attr.Map, attr.List:
		want := map[attr.Kind]byte{attr.Map: '{', attr.List: '['}[kind]
		if n.isText() && len(n.text) > 0 && n.text[0] == want {
			// Some exports contain the document as text.
			d, err := read("", []byte(n.text))
			if err != nil || len(d.roots) != 1 {
				return v, false, nil
			}
			n = d.roots[0]
		}
		if byte(n.kind) != want {
			return v, false, nil
		}
		if kind == attr.Map {
			v, err = mapValue(n, depth)
		} else {
			v, err = listValue(n, depth)
		}
		return v, err == nil, err
	}
	if !n.isList() {
		return v, false, nil
	}

	of := map[attr.Kind]attr.Kind{
		attr.StringSet: attr.String,
		attr.NumberSet: attr.Number,
		attr.BinarySet: attr.Binary,
	}[kind]

	var elems []attr.Value
	for _, m := range n.list {
		e, ok, err := typedValue(of, m, depth)
		if err != nil || !ok {
			return v, false, err
		}
		elems = append(elems, e)
	}

	v, err = attr.NewSet(kind, elems...)
	return v, true, err
}

// clip shortens text for messages.
func clip(s string) string { return terminal.Clip(s, 60) }
