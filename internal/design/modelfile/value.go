package modelfile

import (
	"encoding/base64"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

// attribute reads an attribute value: DynamoDB JSON such as {N: 1}, or plain YAML, in which a number becomes an N, a
// list an L and so on. The value must be of the given kind, unless that is 0.
func (in value) attribute(kind attr.Kind) (attr.Value, bool) { return in.attributeAt(kind, 0) }

func (in value) attributeAt(kind attr.Kind, depth int) (v attr.Value, ok bool) {
	n := in.node
	if n == nil {
		return v, false
	}
	if depth > attr.MaxNesting {
		in.fail("", "%s is nested more than %d deep", in.what, attr.MaxNesting)
		return v, false
	}

	switch n.Kind {
	case yaml.ScalarNode:
		v, ok = in.scalar(kind)
	case yaml.SequenceNode:
		v, ok = in.payload(attr.List, depth)
	case yaml.MappingNode:
		k, inside := attr.Map, in
		if typed, payload := typed(n); typed != 0 {
			k, inside.node = typed, payload
		}
		v, ok = inside.payload(k, depth)
	}

	if ok && kind != 0 && v.Kind() != kind {
		in.fail("", "%s is of type %s, not %s", in.what, kind, v.Kind())
		return attr.Value{}, false
	}
	return v, ok
}

// elementOf maps the kind of a set to the kind of its elements.
var elementOf = map[attr.Kind]attr.Kind{
	attr.StringSet: attr.String, attr.NumberSet: attr.Number, attr.BinarySet: attr.Binary,
}

// typed returns the kind and the payload of a mapping in DynamoDB JSON. The kind is 0 for other nodes.
func typed(n *yaml.Node) (attr.Kind, *yaml.Node) {
	if len(n.Content) != 2 || n.Content[0].Kind != yaml.ScalarNode {
		return 0, nil
	}
	payload := n.Content[1]
	kind, ok := attr.ParseKind(n.Content[0].Value)
	want := yaml.ScalarNode
	switch {
	case kind == attr.List || elementOf[kind] != 0:
		want = yaml.SequenceNode
	case kind == attr.Map:
		want = yaml.MappingNode
	}
	if !ok || payload == nil || payload.Kind != want {
		return 0, nil
	}
	return kind, payload
}

// payload reads the part of DynamoDB JSON after the type.
func (in value) payload(kind attr.Kind, depth int) (attr.Value, bool) {
	n := in.node
	switch kind {
	case attr.List:
		elems := make([]attr.Value, 0, len(n.Content))
		for i, e := range n.Content {
			v, ok := in.at(e, in.what+"["+strconv.Itoa(i)+"]").attributeAt(0, depth+1)
			if !ok {
				return v, false
			}
			elems = append(elems, v)
		}
		return attr.NewList(elems...), true
	case attr.Map:
		it, ok := in.attributes(in.what+".", nil, depth+1)
		return attr.NewMap(it), ok
	case attr.StringSet, attr.NumberSet, attr.BinarySet:
		var elems []attr.Value
		for _, e := range n.Content {
			one := in.at(e, in.what)
			if one.node == nil || one.node.Kind != yaml.ScalarNode {
				one.fail("", "an element of %s must be text, not %s", in.what, kindOf(one.node))
				return attr.Value{}, false
			}
			v, ok := one.payload(elementOf[kind], depth)
			if !ok {
				return v, false
			}
			elems = append(elems, v)
		}
		v, err := attr.NewSet(kind, elems...)
		return v, in.good(err)
	case attr.Binary:
		raw, err := base64.StdEncoding.DecodeString(n.Value)
		if err != nil {
			in.fail("write the bytes in base64, such as AP8=", "%s: %q is not base64", in.what, clip(n.Value))
		}
		return attr.NewBinary(raw), err == nil
	case attr.Bool:
		return attr.NewBool(n.Value == "true"), true
	case attr.Null:
		return attr.NewNull(), true
	}

	v, err := model.ValueOf(n.Value, kind)
	return v, in.good(err)
}

// good reports whether err is nil. If not, it adds an error.
func (in value) good(err error) bool {
	if err != nil {
		in.fail("", "%s: %v", in.what, err)
	}
	return err == nil
}

// scalar reads plain YAML as the given kind, if that is S, N or B, the kinds of keys. Otherwise it takes the type
// that YAML gives the text. A binary attribute gets the bytes of the text.
func (in value) scalar(kind attr.Kind) (attr.Value, bool) {
	n := in.node
	switch kind {
	case attr.String, attr.Number, attr.Binary:
		v, err := model.ValueOf(n.Value, kind)
		return v, in.good(err)
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		if v, err := attr.NewNumber(n.Value); err == nil {
			return v, true
		}
	case "!!bool":
		return attr.NewBool(n.Value == "true" || n.Value == "True" || n.Value == "TRUE"), true
	case "!!null":
		return attr.NewNull(), true
	case "!!binary":
		return in.payload(attr.Binary, 0)
	}
	return attr.NewString(n.Value), true
}

// item reads a mapping of attribute names to values of the given kinds.
func (in value) item(kinds map[string]attr.Kind) (attr.Item, bool) {
	return in.attributes("", kinds, 0)
}

// attributes reads the attributes of an item or a map. Messages call an attribute by the prefix and its name.
func (in value) attributes(prefix string, kinds map[string]attr.Kind, depth int) (attr.Item, bool) {
	var b attr.Builder
	good := true
	for _, e := range in.entries() {
		v, ok := e.called(prefix+e.name).attributeAt(kinds[e.name], depth)
		if good = good && ok; ok {
			b.Add(e.name, v)
		}
	}
	return b.Item(), good
}

// itemNode returns the node of an item, on one line.
func itemNode(it attr.Item) *yaml.Node {
	n := flowNode()
	for name, v := range it.All() {
		put(n, string(name), valueNode(v))
	}
	return n
}

// valueNode returns the node of an attribute value: plain text for a string, or else DynamoDB JSON.
func valueNode(v attr.Value) *yaml.Node {
	if v.Kind() == attr.String {
		return payloadNode(v)
	}
	return put(flowNode(), v.Kind().String(), payloadNode(v))
}

// payloadNode returns the node of an attribute value without the type of DynamoDB JSON.
func payloadNode(v attr.Value) *yaml.Node {
	switch v.Kind() {
	case attr.String:
		return stringNode(string(v.Raw()))
	case attr.Number:
		return textNode(string(v.AppendNumber(nil)))
	case attr.Binary:
		return stringNode(base64.StdEncoding.EncodeToString(v.Raw()))
	case attr.Bool:
		return scalarNode(v.Bool())
	case attr.Null:
		return scalarNode(true)
	case attr.Map:
		return itemNode(v.Map())
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for i := range v.Len() {
		e := payloadNode(v.Index(i))
		if v.Kind() == attr.List {
			e = valueNode(v.Index(i))
		}
		list.Content = append(list.Content, e)
	}
	return list
}
