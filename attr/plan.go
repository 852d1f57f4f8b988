package attr

import (
	"encoding"
	"reflect"
	"sync"
	"time"
)

// A form is what the values of a Go type are stored as.
type form uint8

const (
	formNone      form = iota // nothing
	formPointer               // what the pointer points to
	formInterface             // what the interface holds
	formBool                  // a BOOL
	formString                // an S
	formDigits                // an N; the type is a string, like json.Number
	formInt                   // an N
	formUint                  // an N
	formFloat                 // an N
	formBytes                 // a B; the type is a slice or an array
	formList                  // an L or a set
	formMap                   // an M
	formStruct                // an M
	formTime                  // an S, or an N of seconds
	formUnixTime              // an N of seconds
	formText                  // the S that MarshalText returns
	formBinary                // the B that MarshalBinary returns
	formValue                 // the type is Value
	formItem                  // the type is Item
)

// A plan says how to convert the values of a Go type. It is immutable.
type plan struct {
	typ  reflect.Type
	form form
	// elem is the plan of what a pointer, slice, array or map contains.
	elem *plan
	// fields are the stored fields of a struct, sorted by name. Their names are in names.
	fields []field
	names  []byte
	// marshals and unmarshals report whether pointers to the type implement Marshaler and
	// Unmarshaler.
	marshals, unmarshals bool
	// isOpaque reports whether a value has no parts to store: it is nothing, or a struct
	// without stored fields.
	isOpaque bool
	// noEncode and noDecode say why values cannot be converted; empty if they can.
	noEncode, noDecode problem
}

// A problem says what is wrong and what to do about it.
type problem struct{ msg, advice string }

var (
	valueType    = reflect.TypeFor[Value]()
	itemType     = reflect.TypeFor[Item]()
	timeType     = reflect.TypeFor[time.Time]()
	timePointer  = reflect.TypeFor[*time.Time]()
	binariesType = reflect.TypeFor[[][]byte]()

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

func planOf(t reflect.Type) *plan {
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

// hasSDKMarshaler and hasSDKUnmarshaler report whether a type has the methods that the AWS
// SDK's package attributevalue calls. Their parameters are types of the SDK.
func hasSDKMarshaler(t reflect.Type) bool {
	_, ok := t.MethodByName("MarshalDynamoDBAttributeValue")
	return ok
}

func hasSDKUnmarshaler(t reflect.Type) bool {
	_, ok := t.MethodByName("UnmarshalDynamoDBAttributeValue")
	return ok
}
