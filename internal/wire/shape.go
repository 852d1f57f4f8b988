package wire

import (
	"cmp"
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/sortkey/sortkey/attr"
)

// A kind says how a shape is represented in Go and in JSON.
type kind uint8

const (
	kindString    kind = iota
	kindInteger        // an int64 of 32 bits
	kindLong           // an int64
	kindDouble         // a float64
	kindTimestamp      // a float64
	kindBoolean
	kindValue
	kindItem
	// ExpressionAttributeValues: encoded like an item, but the path of a fault contains the name of the value
	kindValues
	kindStructure
	kindList
	kindMap
)

// traits are the facts about a shape that are in the service model but that a Go type cannot express.
type traits struct {
	name string
	// kind is 0 if the Go type determines it.
	kind kind
	// min and max are the bounds of a number, or of the length of any other value. A max of 0 means no maximum.
	min, max int64
	// pattern is a regular expression of the service model, or "". match is the function in patterns for it.
	pattern string
	match   func(string) bool
	enum    []string
	// elemTraits is the name of the traits of list or map elements, or "".
	elemTraits string
}

// A shape is a shape of the service model: a Go type with its traits.
type shape struct {
	traits
	typ   reflect.Type
	class string // its name in messages
	elem  *shape // of a list or a map
	// members are the members of a structure in field order, in which the service reports violations. byName has the
	// same members sorted by name. checked has only those with constraints, in field order.
	members, byName, checked []*member
	// expressions and legacy are the members in expressionParams and legacyParams. names and values are those for the
	// names and values of expressions, or nil.
	expressions, legacy []*member
	names, values       *member
	// faults is the index of the structure's field Faults, or -1 if it has none.
	faults int
	// constrained is true if the shape, or a shape inside it, has a constraint.
	constrained bool
}

// A member is a member of a structure: its JSON name, its Go field, its shape and its constraints.
type member struct {
	name     string // in JSON
	quoted   string // the name in JSON, with quotes and a colon
	index    int    // of the field
	offset   uintptr
	shape    *shape
	required bool
	// table is true if the value names a table.
	table bool
}

// classes is the prefix of the Java class names of structures in messages.
const classes = "com.amazonaws.dynamodb.v20120810."

// structures caches the shapes of structures by their type.
var structures sync.Map

// structureOf returns the shape of a structure type. The tags of its fields have the form
//
//	shape:"TableName,required,table,min=3"
//
// The first word is the name of the member's traits. The others are optional. required means that the member is
// required, and table means that it names a table. min and max replace the bounds of the traits.
func structureOf(t reflect.Type) *shape {
	if known, ok := structures.Load(t); ok {
		return known.(*shape)
	}

	s := &shape{traits: traits{kind: kindStructure}, typ: t, class: classes + t.Name(), faults: -1}
	for field := range t.Fields() {
		if field.Type == reflect.TypeFor[Faults]() {
			s.faults = field.Index[0]
			continue
		}
		m := memberOf(field)
		s.members = append(s.members, m)
		if m.required || m.shape.constrained {
			s.checked = append(s.checked, m)
		}
	}
	s.constrained = s.checked != nil
	named := map[string]*member{}
	for _, m := range s.members {
		named[m.name] = m
	}
	inOrder := func(names []string) (list []*member) {
		for _, name := range names {
			if m := named[name]; m != nil {
				list = append(list, m)
			}
		}
		return list
	}
	s.byName = inOrder(sortedKeys(named))
	s.expressions, s.legacy = inOrder(expressionParams), inOrder(legacyParams)
	s.names, s.values = named["ExpressionAttributeNames"], named["ExpressionAttributeValues"]
	structures.Store(t, s) // another goroutine may have stored an equal shape meanwhile
	return s
}

// absentFrom reports whether the member is absent from the structure that x points to. Every request calls it for most
// members of its input, so it does without reflection.
func (m *member) absentFrom(x unsafe.Pointer) bool {
	field := unsafe.Add(x, m.offset)
	if m.shape.kind == kindValue {
		return (*attr.Value)(field).IsZero()
	}
	return *(*unsafe.Pointer)(field) == nil // the first word of a pointer, a map or a list
}

// memberOf returns the member that a struct field holds.
func memberOf(field reflect.StructField) *member {
	m := &member{name: cmp.Or(field.Tag.Get("json"), field.Name), index: field.Index[0], offset: field.Offset}
	m.quoted = strconv.Quote(m.name) + ":"
	name, options, _ := strings.Cut(field.Tag.Get("shape"), ",")
	of := traitsOf(name)
	for option := range strings.SplitSeq(options, ",") {
		key, value, _ := strings.Cut(option, "=")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch key {
		case "required":
			m.required = true
		case "table":
			m.table = true
		case "min":
			of.min = n
		case "max":
			of.max = n
		}
	}

	t := field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	m.shape = shapeOf(t, of)
	return m
}

// traitsOf returns the traits with the given name, or empty traits if there are none.
func traitsOf(name string) traits {
	i := sort.Search(len(modelTraits), func(i int) bool { return modelTraits[i].name >= name })
	if i == len(modelTraits) || modelTraits[i].name != name {
		return traits{}
	}
	t := modelTraits[i]
	t.match = patterns[t.pattern]
	return t
}

// shapeOf returns the shape of a Go type with traits.
func shapeOf(t reflect.Type, of traits) *shape {
	if t.Kind() == reflect.Struct && t != reflect.TypeFor[attr.Value]() {
		return structureOf(t)
	}
	s := &shape{traits: of, typ: t, class: "java.lang.Object"}
	switch {
	case t == reflect.TypeFor[attr.Value]():
		s.kind, s.class = kindValue, valueClass
		return s
	case t == reflect.TypeFor[attr.Item]():
		s.kind, s.class = max(of.kind, kindItem), itemClass
		return s
	}

	switch t.Kind() {
	case reflect.String:
		s.class = "java.lang.String"
	case reflect.Int64:
		s.kind = cmp.Or(of.kind, kindLong)
		if of.min == 0 && of.max == 0 {
			s.min, s.max = math.MinInt64, math.MaxInt64
		}
	case reflect.Float64:
		s.kind = cmp.Or(of.kind, kindDouble)
	case reflect.Bool:
		s.kind = kindBoolean
	case reflect.Slice, reflect.Map:
		s.kind, s.elem = kindList, shapeOf(t.Elem(), traitsOf(of.elemTraits))
		s.class = "java.util.List<" + s.elem.class + ">"
		if t.Kind() == reflect.Map {
			s.kind, s.class = kindMap, mapOf(s.elem.class)
		}
	}

	s.constrained = s.pattern != "" || s.min > 0 || s.max > 0 || s.enum != nil || s.elem != nil && s.elem.constrained
	return s
}

// mapOf returns the name of a Java map class in messages. Class is the class of its elements.
func mapOf(class string) string { return "java.util.Map<java.lang.String, " + class + ">" }
