package wire

import (
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/attr"
)

// This file reads, writes and checks any structure by reflection.

// Decode decodes a request body into in, which should be new. It records attribute values that are well formed but
// not allowed in the Faults of the input. The error is an [*Error], usually a SerializationException.
func Decode(body []byte, in Input) error {
	if in, strict := in.(*SearchVectorsInput); strict {
		if err := checkStrictly(body, structureOf(reflect.TypeOf(*in)).byName); err != nil {
			return err
		}
	}
	return decode(body, in)
}

// DecodeOutput decodes the body of a response into an output, which should be new.
func DecodeOutput(body []byte, out Output) error { return decode(body, out) }

// decode decodes a body into the structure that x points to. If the structure has no field Faults, decode returns the
// first fault as the error.
func decode(body []byte, x any) error {
	v := reflect.ValueOf(x).Elem()
	s := structureOf(v.Type())
	d := openBody(body)
	_, err := d.readShape(v, s, inBody)
	if s.faults < 0 {
		return d.close(err, nil)
	}
	return d.close(err, v.Field(s.faults).Addr().Interface().(*Faults))
}

// readShape reads a value of shape s into x, which must be addressable. It returns false for null.
func (d *decoder) readShape(x reflect.Value, s *shape, pos position) (bool, error) {
	switch s.kind {
	case kindString:
		return d.readString(x.Addr().Interface().(*string), pos)
	case kindInteger:
		return d.readWhole(x, "Integer", math.MinInt32, math.MaxInt32)
	case kindLong:
		return d.readWhole(x, "Long", math.MinInt64, math.MaxInt64)
	case kindDouble:
		return d.readFloat(x, "Double")
	case kindTimestamp:
		return d.readFloat(x, "Date") // in seconds since 1970
	case kindBoolean:
		return d.readBoolean(x.Addr().Interface().(*bool))
	case kindValue:
		return d.readValue(x.Addr().Interface().(*attr.Value), pos)
	case kindItem:
		return d.readItem(x.Addr().Interface().(*attr.Item), pos)
	case kindValues:
		return d.readValues(x.Addr().Interface().(*attr.Item), pos)
	case kindList:
		list := reflect.New(s.typ).Elem()
		list.Set(reflect.MakeSlice(s.typ, 0, 0))
		ok, err := d.list(pos, s.elem.typ.Size(), func() error {
			n := list.Len()
			list.Grow(1)
			list.SetLen(n + 1)
			_, err := d.readShape(list.Index(n), s.elem, inParent)
			return err
		})
		if ok && err == nil {
			x.Set(list)
		}
		return ok, err
	case kindMap:
		// many requests have such a map: the names of attributes
		if texts, ok := x.Addr().Interface().(*map[string]string); ok {
			return readMap(d, texts, pos, s.class, (*decoder).readString)
		}
		m, e := reflect.MakeMap(s.typ), reflect.New(s.elem.typ).Elem()
		ok, err := d.entries(pos, s.class, s.elem.typ.Size(), func(key string) error {
			e.SetZero()
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
		m := memberNamed(s.members, name)
		if m == nil {
			return d.skip()
		}
		return d.readMember(x.Field(m.index), m.shape)
	})
}

// memberNamed returns the member with a name, or nil.
func memberNamed(list []*member, name []byte) *member {
	for _, m := range list {
		if m.name == string(name) {
			return m
		}
	}
	return nil
}

// readMember reads a member into its field. If the value is null, a pointer field stays nil.
func (d *decoder) readMember(field reflect.Value, s *shape) error {
	if field.Kind() != reflect.Pointer {
		_, err := d.readShape(field, s, inField)
		return err
	}
	if text, ok := field.Addr().Interface().(**string); ok {
		return d.readText(text)
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

// absent reports whether the field of a member says that the member is absent.
func (m *member) absent(field reflect.Value) bool {
	if m.shape.kind == kindValue {
		return field.Addr().Interface().(*attr.Value).IsZero()
	}
	return field.IsNil()
}

// AppendJSON appends the JSON of an input, an output or a list of structures. The members of structures are in
// alphabetical order.
func AppendJSON(dst []byte, x any) []byte {
	v := reflect.Indirect(reflect.ValueOf(x))
	return appendShape(dst, v, shapeOf(v.Type(), traits{}))
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

// As returns a new structure of type T. Each of its members is the member of x with the same name, if x has one of the
// same type. The two structures share what their members point to.
func As[T any](x any) *T {
	to := new(T)
	out, from := reflect.ValueOf(to).Elem(), reflect.Indirect(reflect.ValueOf(x))
	for i := range out.NumField() {
		field := out.Field(i)
		if v := from.FieldByName(out.Type().Field(i).Name); v.IsValid() && v.Type() == field.Type() {
			field.Set(v)
		}
	}
	return to
}

// sortedNames returns the keys of a map, sorted.
func sortedNames(m reflect.Value) []string {
	if texts, ok := m.Interface().(map[string]string); ok {
		return sortedKeys(texts)
	}
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

// Validate checks an input of an operation against the constraints of the service model. The error is an [*Error]
// with code ValidationException that lists all violations.
func Validate(op Op, in Input) error {
	x := reflect.ValueOf(in).Elem()
	v := violationsPool.Get().(*violations)
	defer violationsPool.Put(v)
	*v = violations{op: op, path: v.path[:0]}
	v.members(x, structureOf(x.Type()))
	return v.err()
}

// members checks those members of a structure that have constraints.
func (v *violations) members(x reflect.Value, s *shape) {
	at := x.Addr().UnsafePointer()
	for _, m := range s.checked {
		if v.missing(m.name, m.absentFrom(at), m.required) || !m.shape.constrained {
			continue
		}
		v.value(m.name, reflect.Indirect(x.Field(m.index)), m.shape)
	}
}

// value checks a value of shape s. The value is a member or, if member is "", a list or map element.
func (v *violations) value(member string, x reflect.Value, s *shape) {
	switch s.kind {
	case kindString:
		v.text(member, x.String(), &s.traits)
		return
	case kindInteger, kindLong:
		v.integer(member, x.Int(), &s.traits)
		return
	case kindList, kindMap:
		if member != "" {
			v.length(member, x, s)
		}
	}
	if s.elem != nil && !s.elem.constrained {
		return
	}
	if member != "" {
		v.push(member)
		defer v.pop()
	}
	switch s.kind {
	case kindStructure:
		v.members(x, s)
	case kindList:
		for i := range x.Len() {
			v.elem(i)
			v.value("", x.Index(i), s.elem)
			v.pop()
		}
	case kindMap:
		texts, _ := x.Interface().(map[string]string) // many requests have such a map: the names of attributes
		for _, key := range sortedNames(x) {
			v.key(key)
			if text, ok := texts[key]; ok {
				v.text("", text, &s.elem.traits)
			} else {
				v.value("", elemOf(x, key), s.elem)
			}
			v.pop()
		}
	}
}

// length checks how many elements a list or a map has. For RequestItems, a map by table, it also checks the keys and,
// if the elements are lists, their lengths. Messages print a map of structures as JSON. Source: conformance,
// batchGetItem "malformed table name".
func (v *violations) length(member string, x reflect.Value, s *shape) {
	echo := func() {
		if s.kind == kindMap && s.elem.kind == kindStructure {
			v.echo(appendShape(nil, x, s))
		} else {
			v.echo(appendEcho(nil, x))
		}
	}
	if v.size(member, "", x.Len(), s.min, s.max) {
		echo()
	}
	if member != "RequestItems" {
		return
	}
	if v.tableKeys(member, sortedNames(x)) {
		echo()
	}
	for _, e := range x.Seq2() {
		if s.elem.kind == kindList && v.mapValue(member, e.Len(), &s.elem.traits) {
			echo()
			break
		}
	}
}

// Refs yields the tables that a request names, each with the item or key that the request has for it. Refs may yield
// a table several times. It does not look into PartiQL statements or shard iterators.
func Refs(in Input) iter.Seq[Ref] {
	v := reflect.ValueOf(in).Elem()
	return func(yield func(Ref) bool) { refsIn(v, structureOf(v.Type()), "", yield) }
}

// refsIn yields the Refs of a part of a request. table is the table to which that part belongs, or "". refsIn returns
// false once yield has returned false.
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
