package attr

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
)

// A ConvertError says why a Go value cannot be encoded, or why an attribute value cannot be decoded into a Go value.
// Its Path says which field to change.
type ConvertError struct {
	// Path leads to the part that was refused: names of attributes and indexes, as in lines[2].price. It is empty if
	// the whole value was refused.
	Path string
	// Type is the Go type of the part, or nil for a destination that is nil.
	Type reflect.Type
	// Kind is the kind of the value that could not be decoded, or 0 in an error of encoding.
	Kind Kind
	// Msg says what is wrong, and Advice what to do about it. Either may be empty.
	Msg, Advice string
	// Err is the cause, or nil. It is an [*Error] if the service would refuse the value.
	Err error
}

// Error returns the path, the types, the message, the cause and the advice on one line.
func (e *ConvertError) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	goType := "nil"
	if e.Type != nil {
		goType = e.Type.String()
	}
	if e.Kind == 0 {
		b.WriteString("cannot encode " + goType)
	} else {
		b.WriteString("cannot decode " + e.Kind.String() + " into " + goType)
	}
	if e.Msg != "" {
		b.WriteString(": " + e.Msg)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.Advice != "" {
		b.WriteString("; " + e.Advice)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *ConvertError) Unwrap() error { return e.Err }

// errDamaged is the cause of errors about bytes that are not a stored value.
var errDamaged = errors.New("the stored bytes are damaged")

// errKeyType is the error for maps whose keys have no text.
var errKeyType = errors.New("keys of this type have no text; " +
	"use strings, numbers, booleans or a type with MarshalText and UnmarshalText")

// nestingAdvice is the advice in errors about values with too many levels.
const nestingAdvice = "flatten the value, and look for pointers that form a cycle"

// inAttribute adds the name of an attribute to the front of the path of err.
func inAttribute(err error, name string) error {
	if e, ok := errors.AsType[*ConvertError](err); ok {
		switch {
		case e.Path == "":
			e.Path = name
		case e.Path[0] == '[':
			e.Path = name + e.Path
		default:
			e.Path = name + "." + e.Path
		}
	}
	return err
}

// inElement adds an index to the front of the path of err.
func inElement(err error, i int) error {
	return inAttribute(err, "["+strconv.Itoa(i)+"]")
}
