package attr

import (
	"bytes"
	"cmp"
	"encoding"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

var (
	valueType   = reflect.TypeFor[Value]()
	itemType    = reflect.TypeFor[Item]()
	timeType    = reflect.TypeFor[time.Time]()
	timePointer = reflect.TypeFor[*time.Time]()

	marshalerType       = reflect.TypeFor[Marshaler]()
	unmarshalerType     = reflect.TypeFor[Unmarshaler]()
	textMarshalerType   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
	binaryMarshalerType = reflect.TypeFor[encoding.BinaryMarshaler]()
	digitsType          = reflect.TypeFor[interface {
		Float64() (float64, error)
		Int64() (int64, error)
		String() string
	}]()
)

// plans holds the plan of each type that was converted before.
var plans sync.Map

// recent holds plans that were asked for, each at a place that the address of its type chooses: a look there is
// several times faster than one in plans.
var recent [64]atomic.Pointer[plan]

func planOf(t reflect.Type) *plan {
	place := &recent[reflect.ValueOf(t).Pointer()/64%uintptr(len(recent))]
	if p := place.Load(); p != nil && p.typ == t {
		return p
	}
	p := findPlan(t)
	place.Store(p)
	return p
}

func findPlan(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	c := compiler{}
	p := c.plan(t)
	for t, p := range c {
		plans.Store(t, p) // an equal plan may be there; both are good
	}
	return p
}

// A compiler holds the plans of one call of planOf. They can refer to each other, so
// nobody else sees them before all are complete.
type compiler map[reflect.Type]*plan

func (c compiler) plan(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	if p := c[t]; p != nil {
		return p
	}
	p := &plan{typ: t}
	c[t] = p
	c.compile(p)
	return p
}

func (c compiler) compile(p *plan) {
	pointer := reflect.PointerTo(p.typ)
	p.marshals, p.unmarshals = pointer.Implements(marshalerType), pointer.Implements(unmarshalerType)
	switch t := p.typ; t.Kind() {
	case reflect.Pointer:
		c.compilePointer(p)
	case reflect.Interface:
		p.form = formInterface
	case reflect.Bool:
		p.form = formBool
	case reflect.String:
		p.form = formString
		if t.Implements(digitsType) {
			p.form = formDigits
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.form = formInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		p.form = formUint
	case reflect.Float32, reflect.Float64:
		p.form = formFloat
	case reflect.Slice, reflect.Array:
		p.form, p.elem = formList, c.plan(t.Elem())
		switch {
		case t == itemType:
			p.form = formItem
		case t.Elem().Kind() == reflect.Uint8:
			p.form = formBytes
		}
	case reflect.Map:
		p.form, p.elem = formMap, c.plan(t.Elem())
	case reflect.Struct:
		c.compileStruct(p, pointer)
	default:
		p.isOpaque = true
	}

	if p.isOpaque && pointer.Implements(textMarshalerType) {
		p.form = formText
	} else if p.isOpaque && pointer.Implements(binaryMarshalerType) {
		p.form = formBinary
	}

	if p.form != formUnixTime && !p.marshals && hasSDKMarshaler(pointer) {
		p.noEncode = problem{"only the AWS SDK knows its form", "add the method MarshalAttr"}
	}
	if p.form != formUnixTime && !p.unmarshals && hasSDKUnmarshaler(pointer) {
		p.noDecode = problem{"only the AWS SDK knows its form", "add the method UnmarshalAttr"}
	}

	switch p.form {
	case formBool, formString, formInt, formUint, formFloat:
		p.encodesPlain = !p.marshals && p.noEncode.msg == ""
		p.decodesPlain = !p.unmarshals && p.noDecode.msg == ""
	}
}

func (c compiler) compilePointer(p *plan) {
	last := p.typ
	for range MaxNesting {
		if last = last.Elem(); last.Kind() != reflect.Pointer {
			p.form, p.elem = formPointer, c.plan(p.typ.Elem())
			return
		}
	}
	p.noEncode = problem{"the type is a pointer to pointers without end", "use another type"}
	p.noDecode = p.noEncode
}

func (c compiler) compileStruct(p *plan, pointer reflect.Type) {
	switch t := p.typ; {
	case t == valueType:
		p.form = formValue
	case !t.ConvertibleTo(timeType):
		p.form = formStruct
		c.compileFields(p)
		p.isOpaque = len(p.fields) == 0
	case hasSDKMarshaler(pointer):
		p.form = formUnixTime
	default:
		p.form = formTime
	}
}

// A candidate is a field that may be stored, if no other field hides it.
type candidate struct {
	name     string
	isTagged bool // the name is from the tag
	field    reflect.StructField
	options  options
	index    []int
}

// An embedding is a struct whose fields are candidates: the struct itself, or an embedded
// one.
type embedding struct {
	typ        reflect.Type
	index      []int
	isRepeated bool // the type is embedded more than once at this depth
}

// compileFields sets the stored fields of a struct. As in Go, a field hides those of the
// same name that are embedded deeper. Of several at one depth, none is stored, unless
// exactly one of them has its name from a tag.
func (c compiler) compileFields(p *plan) {
	var chosen []candidate
	hidden := map[string]bool{}
	visited := map[reflect.Type]bool{}
	for level := []embedding{{typ: p.typ}}; len(level) > 0; {
		var found []candidate
		var next []embedding
		for _, e := range level {
			if !visited[e.typ] {
				visited[e.typ] = true
				found, next = e.fields(found, next)
			}
		}

		byName := map[string][]candidate{}
		for _, f := range found {
			byName[f.name] = append(byName[f.name], f)
		}
		for name, rivals := range byName {
			if f, ok := dominant(rivals); ok && !hidden[name] {
				chosen = append(chosen, f)
			}
			hidden[name] = true
		}
		level = next
	}

	slices.SortFunc(chosen, func(a, b candidate) int { return slices.Compare(a.index, b.index) })
	for rank, f := range chosen {
		if len(f.name) > MaxNameBytes {
			p.noEncode = problem{"the name of field " + f.field.Name + " is too long", "shorten it in the tag"}
			p.noDecode = p.noEncode
			continue
		}
		if !utf8.ValidString(f.name) {
			p.noEncode = problem{"the name of field " + f.field.Name + " is not UTF-8", "correct it in the tag"}
			p.noDecode = p.noEncode
			continue
		}
		from := len(p.names)
		p.names = append(p.names, f.name...)
		of := c.plan(f.field.Type)
		direct := -1
		if len(f.index) == 1 {
			direct = f.index[0]
		}
		p.fields = append(p.fields, field{
			plan: of, options: f.options, from: from, to: len(p.names), index: f.index, rank: rank, direct: direct,
			encodesPlain: of.encodesPlain && f.options&^omitEmpty == 0,
			decodesPlain: of.decodesPlain && !f.options.has(asString),
		})
	}
	slices.SortFunc(p.fields, func(a, b field) int {
		return bytes.Compare(p.names[a.from:a.to], p.names[b.from:b.to])
	})
}

// fields adds the fields of a struct to found, and the structs it embeds to next.
func (e *embedding) fields(found []candidate, next []embedding) ([]candidate, []embedding) {
	for i := range e.typ.NumField() {
		field := e.typ.Field(i)
		inner := field.Type
		if inner.Name() == "" && inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		isStruct := inner.Kind() == reflect.Struct
		if !field.IsExported() && !(field.Anonymous && isStruct) {
			continue
		}
		name, list, _ := strings.Cut(field.Tag.Get("dynamodbav"), ",")
		if name == "-" {
			continue
		}
		index := append(slices.Clip(e.index), i)

		if field.Anonymous && isStruct && name == "" {
			if at := slices.IndexFunc(next, func(o embedding) bool { return o.typ == inner }); at >= 0 {
				next[at].isRepeated = true
			} else {
				next = append(next, embedding{typ: inner, index: index})
			}
			continue
		}

		var o options
		for option := range strings.SplitSeq(list, ",") {
			o |= optionNames[option]
		}
		f := candidate{cmp.Or(name, field.Name), name != "", field, o, index}
		found = append(found, f)
		if e.isRepeated {
			found = append(found, f)
		}
	}
	return found, next
}

// dominant returns the one of several fields with one name at one depth that is stored, if
// there is one.
func dominant(rivals []candidate) (candidate, bool) {
	if len(rivals) > 1 {
		rivals = slices.DeleteFunc(rivals, func(f candidate) bool { return !f.isTagged })
	}
	if len(rivals) != 1 {
		return candidate{}, false
	}
	return rivals[0], true
}
