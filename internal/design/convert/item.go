package convert

import (
	"errors"
	"fmt"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/terminal"
)

// item reads an item with values in DynamoDB JSON or plain JSON. It records invalid attributes as losses.
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

// typed returns the type and the payload of a value in DynamoDB JSON, or 0 and nil for another value.
func typed(n *node) (attr.Kind, *node) {
	if len(n.members()) != 1 {
		return 0, nil
	}
	kind, ok := attr.ParseKind(n.list[0].key)
	if !ok {
		return 0, nil
	}
	return kind, n.list[0]
}

// value reads a value in DynamoDB JSON or plain JSON. Values inside maps and lists may be in either form.
func value(n *node, depth int) (attr.Value, error) {
	if depth > attr.MaxNesting {
		return attr.Value{}, errDeep
	}

	kind, payload := typed(n)
	if (kind == attr.Map || kind == attr.List) && payload.isText() {
		// Some exports contain maps and lists as JSON text.
		if d, err := read("", []byte(payload.text)); err == nil {
			payload = d.roots[0]
		}
	}
	switch {
	case kind == attr.Map && payload.isObject(), kind == attr.List && payload.isList():
		n = payload
	case kind == attr.Number && payload.kind == '0':
		return attr.NewNumber(payload.text)
	case payload != nil:
		return attr.ParseValue(n.raw())
	}

	switch n.kind {
	case '{', '[':
		return nested(n, depth)
	case '0':
		return attr.NewNumber(n.text)
	case 't', 'f':
		return attr.NewBool(n.kind == 't'), nil
	case 'n':
		return attr.NewNull(), nil
	}
	return attr.NewString(n.text), nil
}

// nested reads a map or a list.
func nested(n *node, depth int) (attr.Value, error) {
	var b attr.Builder
	var elems []attr.Value
	for _, m := range n.list {
		v, err := value(m, depth+1)
		if err != nil {
			return v, err
		}
		if n.isObject() {
			b.Add(m.key, v)
		}
		elems = append(elems, v)
	}
	if n.isObject() {
		return attr.NewMap(b.Item()), nil
	}
	return attr.NewList(elems...), nil
}

// clip shortens text for messages.
func clip(s string) string { return terminal.Clip(s, 60) }
