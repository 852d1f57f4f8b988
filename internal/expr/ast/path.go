package ast

import (
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/attr"
)

// A Step leads from a document to one of its elements.
type Step struct {
	// Name is the attribute's name in a map; empty for a list element.
	Name string
	// Index is the place in a list, from 0. It is ignored in a step with a Name.
	Index int
}

// A Path is a document path: a top-level attribute and the steps below it. It
// is never empty and begins with a name.
type Path []Step

// String returns the path as expressions spell it, such as a.b[2]. Names are
// written as they are.
func (p Path) String() string {
	return string(p.append(nil, func(name string) string { return name }))
}

// append appends the path as expressions spell it. It calls write for each name.
func (p Path) append(dst []byte, write func(name string) string) []byte {
	for i, s := range p {
		switch {
		case s.Name == "":
			dst = append(dst, '[')
			dst = strconv.AppendInt(dst, int64(s.Index), 10)
			dst = append(dst, ']')
			continue
		case i > 0:
			dst = append(dst, '.')
		}
		dst = append(dst, write(s.Name)...)
	}
	return dst
}

// Equal reports whether two paths are the same.
func (p Path) Equal(q Path) bool { return slices.Equal(p, q) }

// Message returns the path as the service writes it into messages, such as
// [a, b, [2]].
func (p Path) Message() string {
	dst := []byte{'['}
	for i, s := range p {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if s.Name != "" {
			dst = append(dst, s.Name...)
			continue
		}
		dst = append(dst, '[')
		dst = strconv.AppendInt(dst, int64(s.Index), 10)
		dst = append(dst, ']')
	}
	return string(append(dst, ']'))
}

// Get returns the value that an item has at the path, or the zero Value if it has none. Get does not allocate; the
// value shares the item's bytes.
func (p Path) Get(it attr.Item) attr.Value {
	if len(p) == 0 {
		return attr.Value{}
	}
	v := it.Get(p[0].Name)
	for _, s := range p[1:] {
		v = s.get(v)
	}
	return v
}

// get returns the element of v that the step leads to.
func (s Step) get(v attr.Value) attr.Value {
	switch {
	case s.Name != "":
		return v.Map().Get(s.Name)
	case v.Kind() == attr.List:
		return v.Index(s.Index)
	}
	return attr.Value{}
}
