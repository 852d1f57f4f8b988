package wire

import (
	"iter"
	"reflect"
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/attr"
)

// This file reads, writes and checks any structure by reflection. Frequent operations have generated code that does
// the same. Only that code checks map keys that are table names, as no other operation has such maps.

// decodeShape decodes a body into the structure that x points to.
func decodeShape(body []byte, x any, faults *Faults) error {
	v := reflect.ValueOf(x).Elem()
	return decodeBody(body, faults, func(d *decoder) (bool, error) {
		return d.readShape(v, structureOf(v.Type()), inBody)
	})
}

// readShape reads a value of shape s into x, which must be addressable.
func (d *decoder) readShape(x reflect.Value, s *shape, pos position) (bool, error) {
	switch s.kind {
	case kindString:
		return d.readString(x.Addr().Interface().(*string), pos)
	case kindInteger:
		return d.readInteger(x.Addr().Interface().(*int64), pos)
	case kindLong:
		return d.readLong(x.Addr().Interface().(*int64), pos)
	case kindDouble:
		return d.readDouble(x.Addr().Interface().(*float64), pos)
	case kindTimestamp:
		return d.readTimestamp(x.Addr().Interface().(*float64), pos)
	case kindBoolean:
		return d.readBoolean(x.Addr().Interface().(*bool), pos)
	case kindValue:
		return d.readValue(x.Addr().Interface().(*attr.Value), pos)
	case kindItem:
		return d.readItem(x.Addr().Interface().(*attr.Item), pos)
	case kindValues:
		return d.readValues(x.Addr().Interface().(*attr.Item), pos)
	case kindList:
		list := reflect.MakeSlice(s.typ, 0, 0)
		ok, err := d.list(pos, s.elem.typ.Size(), func() error {
			e := reflect.New(s.elem.typ).Elem()
			_, err := d.readShape(e, s.elem, inParent)
			list = reflect.Append(list, e)
			return err
		})
		if ok && err == nil {
			x.Set(list)
		}
		return ok, err
	case kindMap:
		m := reflect.MakeMap(s.typ)
		ok, err := d.entries(pos, s.class, s.elem.typ.Size(), func(key string) error {
			e := reflect.New(s.elem.typ).Elem()
			_, err := d.readShape(e, s.elem, inParent)
			m.SetMapIndex(reflect.ValueOf(key), e)
			return err
		})
		if ok && err == nil {
			x.Set(m)
		}
		return ok, err
	}
	return d.object(pos, s.class, func(name []byte) error {
		i := slices.IndexFunc(s.members, func(m *member) bool { return m.name == string(name) })
		if i < 0 {
			return d.skip()
		}
		m := s.members[i]
		return d.readMember(x.Field(m.index), m.shape)
	})
}

// readMember reads a member into its field. For null, a pointer stays nil.
func (d *decoder) readMember(field reflect.Value, s *shape) error {
	if field.Kind() != reflect.Pointer {
		_, err := d.readShape(field, s, inField)
		return err
	}
	v := reflect.New(s.typ)
	ok, err := d.readShape(v.Elem(), s, inField)
	if ok {
		field.Set(v)
	} else if err == nil {
		field.SetZero()
	}
	return err
}

// absent reports whether a member is absent.
func (m *member) absent(field reflect.Value) bool {
	if m.shape.kind == kindValue {
		return field.Addr().Interface().(*attr.Value).IsZero()
	}
	return field.IsNil()
}

// appendAny appends a list, or the structure that x points to.
func appendAny(dst []byte, x any) []byte {
	v := reflect.Indirect(reflect.ValueOf(x))
	return appendShape(dst, v, shapeOf(v.Type(), noTraits))
}

// appendShape appends a value of shape s.
func appendShape(dst []byte, x reflect.Value, s *shape) []byte {
	switch s.kind {
	case kindString:
		return appendString(dst, x.String())
	case kindInteger, kindLong:
		return appendInteger(dst, x.Int())
	case kindDouble:
		return appendDouble(dst, x.Float())
	case kindTimestamp:
		return appendTimestamp(dst, x.Float())
	case kindBoolean:
		return strconv.AppendBool(dst, x.Bool())
	case kindValue:
		return x.Addr().Interface().(*attr.Value).AppendJSON(dst)
	case kindItem, kindValues:
		return attr.Item(x.Bytes()).AppendJSON(dst)
	case kindList:
		dst = append(dst, '[')
		for i := range x.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendShape(dst, x.Index(i), s.elem)
		}
		return append(dst, ']')
	case kindMap:
		dst = append(dst, '{')
		for i, key := range sortedNames(x) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendShape(append(appendString(dst, key), ':'), elemOf(x, key), s.elem)
		}
		return append(dst, '}')
	}

	dst = append(dst, '{')
	for _, m := range s.byName {
		field := x.Field(m.index)
		if m.absent(field) {
			continue
		}
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		dst = appendShape(appendName(dst, m.quoted), field, m.shape)
	}

	return append(dst, '}')
}

// sortedNames returns the keys of a map, sorted.
func sortedNames(m reflect.Value) []string {
	var names []string
	for key := range m.Seq() {
		names = append(names, key.String())
	}
	slices.Sort(names)
	return names
}

// elemOf returns an addressable copy of a map element.
func elemOf(m reflect.Value, key string) reflect.Value {
	e := reflect.New(m.Type().Elem()).Elem()
	e.Set(m.MapIndex(reflect.ValueOf(key)))
	return e
}

// validateShape returns the violations in the structure that x points to as one error, or nil.
func validateShape(op Op, x any) error {
	v := reflect.ValueOf(x).Elem()
	return validate(op, func(found *violations) { found.members(v, structureOf(v.Type())) })
}

// members checks all members of a structure.
func (v *violations) members(x reflect.Value, s *shape) {
	for _, m := range s.members {
		field := x.Field(m.index)
		if v.missing(m.name, m.absent(field), m.required) || !m.shape.constrained {
			continue
		}
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		v.value(m.name, field, m.shape)
	}
}

// value checks a value: a member or, if member is "", a list or map element.
func (v *violations) value(member string, x reflect.Value, s *shape) {
	switch s.kind {
	case kindString:
		v.text(member, x.Addr().Interface().(*string), false, &s.traits)
	case kindInteger, kindLong:
		v.integer(member, x.Addr().Interface().(*int64), false, &s.traits)
	case kindStructure:
		if member != "" {
			v.push(member)
			defer v.pop()
		}
		v.members(x, s)
	case kindList, kindMap:
		if v.size(member, x.Len(), &s.traits) {
			v.echo(appendEcho(nil, x))
		}
		if !s.elem.constrained {
			return
		}
		v.push(member)
		defer v.pop()
		if s.kind == kindMap {
			for _, key := range sortedNames(x) {
				v.key(key)
				v.value("", elemOf(x, key), s.elem)
				v.pop()
			}
			return
		}
		for i := range x.Len() {
			v.elem(i)
			v.value("", x.Index(i), s.elem)
			v.pop()
		}
	}
}

// Refs yields the tables that a request names, each with the item or key that the request has for it. Refs may yield
// a table several times. It does not look into PartiQL statements or shard iterators.
func Refs(in Input) iter.Seq[Ref] {
	v := reflect.ValueOf(in).Elem()
	return func(yield func(Ref) bool) { refsIn(v, structureOf(v.Type()), "", yield) }
}

// refsIn yields the Refs of a part of a request. Table is the table to which the part belongs, or "". refsIn returns
// false if yield does.
func refsIn(x reflect.Value, s *shape, table string, yield func(Ref) bool) bool {
	switch s.kind {
	case kindItem:
		return yield(Ref{Table: table, Key: x.Interface().(attr.Item)})
	case kindList:
		for i := range x.Len() {
			if !refsIn(x.Index(i), s.elem, table, yield) {
				return false
			}
		}
	case kindStructure:
		for _, m := range s.members {
			if field := x.Field(m.index); m.table && !m.absent(field) {
				if table = field.Elem().String(); !yield(Ref{Table: table}) {
					return false
				}
			}
		}
		for _, m := range s.byName {
			if field := x.Field(m.index); !m.absent(field) && !m.refs(reflect.Indirect(field), table, yield) {
				return false
			}
		}
	}
	return true
}

// refs yields the Refs of a member.
func (m *member) refs(x reflect.Value, table string, yield func(Ref) bool) bool {
	switch m.name {
	case "ExclusiveStartKey":
		return true
	case "Item":
		return yield(Ref{Table: table, Item: x.Interface().(attr.Item)})
	case "RequestItems":
		for _, name := range sortedNames(x) {
			if !yield(Ref{Table: name}) || !refsIn(elemOf(x, name), m.shape.elem, name, yield) {
				return false
			}
		}
		return true
	}
	return refsIn(x, m.shape, table, yield)
}
