package modelfile

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/model"
)

// A member describes one entry of a mapping (see [object]). The codec reads the entry into the struct field with the
// same name in Go's spelling, or into the whole struct if the codec is one of the struct. If the codec has no read
// function, the functions before and after of the object read the entry.
type member struct {
	name string
	codec
	field string // name of the struct field, if it differs
	// lack is the error if the member is missing, with %s for the object; "" if the member is optional. hint says
	// what to do.
	lack, hint string
}

func has(name string, c codec) member { return member{name: name, codec: c} }

// needed returns m as a required member of its object.
func needed(lack, hint string, m member) member {
	m.lack, m.hint = lack, hint
	return m
}

// place returns the struct field that the member is read into, or the whole struct.
func (m member) place(v reflect.Value) reflect.Value {
	if m.of == v.Type() {
		return v
	}
	field := m.field
	if field == "" {
		for word := range strings.SplitSeq(m.name, "_") {
			field += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return v.FieldByName(field)
}

// node returns the node that writes the member of a struct, or nil if it has its zero value.
func (m member) node(self reflect.Value) *yaml.Node {
	v := m.place(self)
	if m.write == nil || v.IsZero() {
		return nil
	}
	return m.write(reflect.Indirect(v))
}

// An object describes a mapping of the file that is read into a T: it lists the members that the mapping can have.
type object[T any] struct {
	style    yaml.Style
	sections map[string]string // comment to write before a member
	short    string            // member whose value the file may write in place of the mapping
	members  []member
	// before runs before the members are read, after runs when they have been read. Both check conditions on several
	// members. If one of them returns false, the object is dropped.
	before, after func(in value, v *T) bool
}

func (o object[T]) codec() codec {
	c := special(nil, o.write)
	c.read = func(in value, v reflect.Value) bool { return o.read(in, as[T](v)) }
	return c
}

func (o object[T]) read(in value, v *T) bool {
	n, self := in.node, reflect.ValueOf(v).Elem()
	isMapping := n != nil && n.Kind == yaml.MappingNode
	if o.short != "" {
		in.node, in.short = n, !isMapping
	}

	in.members = map[string]*yaml.Node{o.short: n}
	if !in.short {
		in.members = o.find(in, n)
	}
	at := in.pos()
	if pos := self.FieldByName("Pos"); pos.IsValid() {
		if pos.IsZero() {
			pos.Set(reflect.ValueOf(at))
		}
		at = pos.Interface().(model.Pos)
	}

	for _, m := range o.members {
		if m.lack != "" && isMapping && in.lacks(m.name) {
			in.failAt(at, m.hint, "%s", strings.Replace(m.lack, "%s", in.what, 1))
		}
	}

	if o.before != nil && !o.before(in, v) {
		return false
	}
	for _, m := range o.members {
		if one := in.get(m.name); one.node != nil && m.read != nil {
			m.readInto(one, m.place(self))
		}
	}
	return o.after == nil || o.after(in, v)
}

// find returns the values in a mapping by member name. It reports unknown members.
func (o object[T]) find(in value, n *yaml.Node) map[string]*yaml.Node {
	var names []string
	for _, m := range o.members {
		names = append(names, m.name)
	}
	all := map[string]*yaml.Node{}
	for _, e := range in.entries() {
		if n.Style&yaml.FlowStyle != 0 && empty(e.node) && !slices.Contains(names, e.name) { // as {placed:date}
			e.key.fail("put text with braces in quotes", "%s has no member %s", in.what, clip(e.name))
		} else if e.key.known(e.name, names, "%s has no member %s", in.what) {
			all[e.name] = e.node
		}
	}
	return all
}

func (o object[T]) write(v *T) *yaml.Node {
	all := &yaml.Node{Kind: yaml.MappingNode, Style: o.style}
	for _, m := range o.members {
		n := m.node(reflect.ValueOf(v).Elem())
		put(all, m.name, n)
		if comment := o.sections[m.name]; n != nil && comment != "" {
			all.Content[len(all.Content)-2].HeadComment = "\n" + comment
		}
	}
	switch {
	case len(all.Content) == 0:
		return nil
	case len(all.Content) == 2 && all.Content[0].Value == o.short:
		return all.Content[1]
	}
	return all
}
