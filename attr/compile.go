package attr

import (
	"bytes"
	"cmp"
	"encoding"
	"maps"
	"reflect"
	"slices"
	"strconv"
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

	marshalerType         = reflect.TypeFor[Marshaler]()
	unmarshalerType       = reflect.TypeFor[Unmarshaler]()
	textMarshalerType     = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshalerType   = reflect.TypeFor[encoding.TextUnmarshaler]()
	binaryMarshalerType   = reflect.TypeFor[encoding.BinaryMarshaler]()
	binaryUnmarshalerType = reflect.TypeFor[encoding.BinaryUnmarshaler]()
	digitsType            = reflect.TypeFor[interface {
		Float64() (float64, error)
		Int64() (int64, error)
		String() string
	}]()
)

// plans holds the plan of each type that was converted before.
var plans sync.Map

// recent caches plans that were used lately. The address of a type chooses the slot of its plan. Loading from a slot
// is several times faster than a lookup in plans.
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
		plans.Store(t, p) // another goroutine may have stored an equal plan; either will do
	}
	return p
}

// A compiler holds the plans that one call of findPlan makes. The plans may refer to each other, so findPlan
// publishes them only when all are complete.
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
		p.noEncode = notStored
	}

	switch {
	case !p.isOpaque, p.form == formStruct && embedsPointer(p.typ):
	case pointer.Implements(textMarshalerType) && pointer.Implements(textUnmarshalerType):
		p.form = formText
	case pointer.Implements(binaryMarshalerType) && pointer.Implements(binaryUnmarshalerType):
		p.form = formBinary
	}

	hasForm := p.form == formText || p.form == formBinary
	if p.marshals || hasForm {
		p.noEncode = problem{}
	}
	if p.unmarshals || hasForm {
		p.noDecode = problem{}
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

// embedsPointer reports whether a struct embeds a pointer. Then the struct's methods may be those of the embedded
// type, and decoding would call them on a nil pointer.
func embedsPointer(t reflect.Type) bool {
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && f.Type.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}

// notStored is the problem with channels, functions, complex numbers and other types without a stored form.
var notStored = problem{"values of this type are not stored", leaveOut}

// leaveOut is the advice in errors about fields that cannot be stored.
const leaveOut = "leave the field out with the tag `dynamodbav:\"-\"`"

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
	case hasSDKMarshaler(pointer):
		p.form = formUnixTime
	default:
		p.form = formTime
	}
}

// A candidate is a field of a struct. It is stored unless another field of the same name hides it.
type candidate struct {
	name     string
	isTagged bool // the name is from the tag
	field    reflect.StructField
	options  options
	index    []int
}

// An embedding is a struct whose fields are candidates: the struct to compile, or one that is embedded in it.
type embedding struct {
	typ        reflect.Type
	index      []int
	isExported bool // whether the name of the embedded type is exported
}

// compileFields sets the stored fields of a struct. As in Go, a field hides those of the same name that are embedded
// deeper. If several fields at one depth have the same name, the only one that has it from a tag hides the others.
// Hidden fields are not stored, so encoding refuses a struct in which a hidden field is not zero.
func (c compiler) compileFields(p *plan) {
	var chosen []candidate
	taken := map[string]bool{}
	visited := map[reflect.Type]bool{}
	isSealed := false
	for level := []embedding{{typ: p.typ}}; len(level) > 0; {
		var found []candidate
		var next []embedding
		for _, e := range level {
			if visited[e.typ] {
				p.hidden = append(p.hidden, field{index: e.index})
				continue
			}
			before := len(found) + len(next)
			var sealed bool
			found, next, sealed = p.candidates(e, found, next)
			if sealed && e.isExported && len(found)+len(next) == before {
				what := "the content of the embedded " + e.typ.String() + " would be lost"
				p.refuse(problem{what, "name it in its tag"})
			}
			isSealed = isSealed || sealed
		}

		byName := map[string][]candidate{}
		for _, f := range found {
			byName[f.name] = append(byName[f.name], f)
		}
		for _, f := range found {
			switch stored, ok := dominant(byName[f.name]); {
			case taken[f.name], ok && !slices.Equal(stored.index, f.index):
				p.hidden = append(p.hidden, field{index: f.index})
			case ok:
				chosen = append(chosen, f)
			default:
				p.refuse(problem{
					"two fields have the name " + strconv.Quote(f.name),
					"name one of them, or the struct that embeds it, in its tag",
				})
			}
		}

		for _, e := range level {
			visited[e.typ] = true
		}
		for name := range byName {
			taken[name] = true
		}
		level = next
	}

	slices.SortFunc(chosen, func(a, b candidate) int { return slices.Compare(a.index, b.index) })
	for rank, f := range chosen {
		c.compileField(p, f, rank)
	}
	slices.SortFunc(p.fields, func(a, b field) int {
		return bytes.Compare(p.names[a.from:a.to], p.names[b.from:b.to])
	})
	if p.isOpaque = len(p.fields) == 0; p.isOpaque && isSealed && p.noEncode.msg == "" {
		p.noEncode = problem{
			"it has no exported fields", "export them, add MarshalText and UnmarshalText, or " + leaveOut,
		}
	}
}

// refuse records a problem that prevents both encoding and decoding of a struct, unless one is recorded already.
func (p *plan) refuse(what problem) {
	if p.noDecode.msg == "" {
		p.noEncode, p.noDecode = what, what
	}
}

// compileField adds a field to a plan. Rank is its place in the order of declaration.
func (c compiler) compileField(p *plan, f candidate, rank int) {
	switch {
	case len(f.name) > MaxNameBytes:
		p.refuse(problem{"the name of field " + f.field.Name + " is too long", "shorten it in the tag"})
		return
	case !utf8.ValidString(f.name):
		p.refuse(problem{"the name of field " + f.field.Name + " is not UTF-8", "correct it in the tag"})
		return
	}

	of := c.plan(f.field.Type)
	if f.options.has(asString) && !of.takesString() {
		p.noEncode = problem{"the option string of field " + f.field.Name + " is for numbers", "remove it"}
	}
	from := len(p.names)
	p.names = append(p.names, f.name...)
	direct := -1
	if len(f.index) == 1 {
		direct = f.index[0]
	}
	decodesText := of.decodesPlain && of.form == formString && !f.options.has(asString)
	if decodesText {
		p.sharedBytes += 64
	}
	p.fields = append(p.fields, field{
		plan: of, options: f.options, from: from, to: len(p.names), index: f.index, rank: rank, direct: direct,
		encodesPlain: of.encodesPlain && f.options&^omitEmpty == 0, decodesText: decodesText,
	})
}

// takesString reports whether decoding accepts an S for the type. The tag option string stores a number as an S.
func (p *plan) takesString() bool {
	for p.form == formPointer {
		p = p.elem
	}
	return p.marshals || p.form != formTime && p.form != formText && p.form != formInterface
}

// candidates appends the fields of the struct e to found, and the structs that e embeds to next. It reports in sealed
// whether e also has unexported fields.
func (p *plan) candidates(
	e embedding, found []candidate, next []embedding,
) (_ []candidate, _ []embedding, sealed bool) {
	for i := range e.typ.NumField() {
		field := e.typ.Field(i)
		inner := field.Type
		isPointer := inner.Name() == "" && inner.Kind() == reflect.Pointer
		if isPointer {
			inner = inner.Elem()
		}
		isStruct := inner.Kind() == reflect.Struct
		if !field.IsExported() && !(field.Anonymous && isStruct) {
			sealed = sealed || field.Name != "_"
			continue
		}
		name, list, _ := strings.Cut(field.Tag.Get("dynamodbav"), ",")
		if name == "-" {
			continue
		}
		if isPointer && !field.IsExported() {
			p.noEncode = problem{
				"decoding cannot set the embedded *" + inner.String() + ", which is not exported",
				"export the type, or embed it without the pointer",
			}
		}

		var o options
		for option := range strings.SplitSeq(list, ",") {
			if option != "" && optionNames[option] == 0 {
				p.refuse(problem{
					"the tag of field " + field.Name + " has the unknown option " + strconv.Quote(option),
					"use one of " + strings.Join(slices.Sorted(maps.Keys(optionNames)), ", "),
				})
			}
			o |= optionNames[option]
		}
		index := append(slices.Clip(e.index), i)
		if field.Anonymous && isStruct && name == "" {
			next = append(next, embedding{inner, index, field.IsExported()})
			continue
		}
		found = append(found, candidate{cmp.Or(name, field.Name), name != "", field, o, index})
	}
	return found, next, sealed
}

// dominant returns the field to store among rivals, which are fields with the same name at the same depth. It returns
// false if none of them hides the others.
func dominant(rivals []candidate) (stored candidate, ok bool) {
	if len(rivals) == 1 {
		return rivals[0], true
	}
	for _, f := range rivals {
		if f.isTagged && ok {
			return candidate{}, false
		}
		if f.isTagged {
			stored, ok = f, true
		}
	}
	return stored, ok
}
