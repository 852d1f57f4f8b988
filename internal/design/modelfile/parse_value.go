package modelfile

import (
	"encoding/base64"
	"strconv"

	"github.com/sortkey/sortkey/internal/design/model"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/attr"
)

// value reads an attribute value: DynamoDB JSON such as {N: 1}, or plain YAML,
// in which a number is an N, a list an L and so on. The value must be of the
// given kind, unless that is 0.
func (r *reader) value(n *yaml.Node, what string, kind attr.Kind) (attr.Value, bool) {
	return r.valueAt(n, what, kind, 0)
}

func (r *reader) valueAt(n *yaml.Node, what string, kind attr.Kind, depth int) (attr.Value, bool) {
	at := n
	if n = r.deref(n); n == nil {
		return attr.Value{}, false
	}
	if depth > attr.MaxNesting {
		r.fail(at, "", "%s is nested more than %d deep", what, attr.MaxNesting)
		return attr.Value{}, false
	}
	v, ok := attr.Value{}, false
	switch n.Kind {
	case yaml.ScalarNode:
		v, ok = r.scalar(n, what, kind)
	case yaml.SequenceNode:
		v, ok = r.listValue(n.Content, what, depth)
	case yaml.MappingNode:
		if k, inner := typed(n); k != 0 {
			v, ok = r.typedValue(k, inner, what, depth)
			break
		}
		var b attr.Builder
		ok = true
		for _, m := range r.members(n, what) {
			e, good := r.valueAt(m.value, what+"."+m.name, 0, depth+1)
			if ok = ok && good; good {
				b.Add(m.name, e)
			}
		}
		v = attr.NewMap(b.Item())
	}
	if ok && kind != 0 && v.Kind() != kind {
		r.fail(at, "", "%s is of type %s, not %s", what, kind, v.Kind())
		return attr.Value{}, false
	}
	return v, ok
}

// typed returns the kind and the payload of a mapping that is DynamoDB JSON.
func typed(n *yaml.Node) (attr.Kind, *yaml.Node) {
	if len(n.Content) != 2 || n.Content[0].Kind != yaml.ScalarNode {
		return 0, nil
	}
	kind, ok := attr.ParseKind(n.Content[0].Value)
	if !ok {
		return 0, nil
	}
	inner := n.Content[1]
	if inner.Kind == yaml.AliasNode {
		inner = inner.Alias
	}
	want := yaml.ScalarNode
	switch kind {
	case attr.StringSet, attr.NumberSet, attr.BinarySet, attr.List:
		want = yaml.SequenceNode
	case attr.Map:
		want = yaml.MappingNode
	}
	if inner == nil || inner.Kind != want {
		return 0, nil
	}
	return kind, inner
}

func (r *reader) typedValue(kind attr.Kind, n *yaml.Node, what string, depth int) (attr.Value, bool) {
	switch kind {
	case attr.List:
		return r.listValue(n.Content, what, depth)
	case attr.Map:
		var b attr.Builder
		good := true
		for _, m := range r.members(n, what) {
			v, ok := r.valueAt(m.value, what+"."+m.name, 0, depth+1)
			if good = good && ok; ok {
				b.Add(m.name, v)
			}
		}
		return attr.NewMap(b.Item()), good
	case attr.StringSet, attr.NumberSet, attr.BinarySet:
		of := map[attr.Kind]attr.Kind{attr.StringSet: attr.String, attr.NumberSet: attr.Number, attr.BinarySet: attr.Binary}[kind]
		var elems []attr.Value
		for _, e := range n.Content {
			if e = r.deref(e); e == nil || e.Kind != yaml.ScalarNode {
				r.fail(e, "", "an element of %s must be text, not %s", what, kindOf(e))
				return attr.Value{}, false
			}
			v, ok := r.typedValue(of, e, what, depth)
			if !ok {
				return v, false
			}
			elems = append(elems, v)
		}
		v, err := attr.NewSet(kind, elems...)
		if err != nil {
			r.fail(n, "", "%s: %v", what, err)
			return v, false
		}
		return v, true
	case attr.Binary:
		raw, err := base64.StdEncoding.DecodeString(n.Value)
		if err != nil {
			r.fail(n, "write the bytes in base64, such as AP8=", "%s: %q is not base64", what, clip(n.Value))
			return attr.Value{}, false
		}
		return attr.NewBinary(raw), true
	case attr.Bool:
		return attr.NewBool(n.Value == "true"), true
	case attr.Null:
		return attr.NewNull(), true
	}
	return r.scalarOf(n, what, kind)
}

func (r *reader) listValue(content []*yaml.Node, what string, depth int) (attr.Value, bool) {
	elems := make([]attr.Value, 0, len(content))
	for i, e := range content {
		v, ok := r.valueAt(e, what+"["+strconv.Itoa(i)+"]", 0, depth+1)
		if !ok {
			return v, false
		}
		elems = append(elems, v)
	}
	return attr.NewList(elems...), true
}

// scalar reads plain YAML by its look, or as kind unless that is 0.
func (r *reader) scalar(n *yaml.Node, what string, kind attr.Kind) (attr.Value, bool) {
	if kind != 0 {
		return r.scalarOf(n, what, kind)
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
		return r.typedValue(attr.Binary, n, what, 0)
	}
	return attr.NewString(n.Value), true
}

// scalarOf converts text to a value of a kind. Text in a binary attribute
// stands for its own bytes.
func (r *reader) scalarOf(n *yaml.Node, what string, kind attr.Kind) (attr.Value, bool) {
	v, err := model.ValueOf(n.Value, kind)
	if err != nil {
		r.fail(n, "", "%s: %v", what, err)
		return v, false
	}
	return v, true
}

// itemOf reads a mapping of attribute names to values.
func (r *reader) itemOf(n *yaml.Node, what string, kinds map[string]attr.Kind) (attr.Item, bool) {
	var b attr.Builder
	good := true
	for _, m := range r.members(n, what) {
		v, ok := r.value(m.value, m.name, kinds[m.name])
		if good = good && ok; ok {
			b.Add(m.name, v)
		}
	}
	return b.Item(), good
}
