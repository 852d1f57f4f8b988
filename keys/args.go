package keys

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// Format returns the key of Go values, one for each component in order.
//
// A string must be the text form of a value. Format converts integers,
// [time.Time], types with a String or MarshalText method, and types whose
// underlying type is a string or an integer. It refuses floating-point numbers,
// which have no exact decimal text: pass a string. It refuses the zero
// [time.Time], which is a time that was not set. The error is an [*Error].
func (t *Template) Format(args ...any) (string, error) {
	if len(args) != len(t.names) {
		return "", t.count(len(args), "Format")
	}
	return t.Prefix(args...)
}

// Prefix returns the text that all keys with the values args in their first components begin with. Pass it to
// begins_with; [Template.Under] returns a [Range] of the same keys. The prefix includes the literal after the last
// component, so the prefix of USER#1 does not match USER#10. Arguments are as for [Template.Format]; without any, the
// result is the literal at the start of the template. The error is an [*Error].
func (t *Template) Prefix(args ...any) (string, error) {
	values, err := t.texts(args)
	if err != nil {
		return "", err
	}
	return t.prefix(values)
}

func (t *Template) count(n int, caller string) *Error {
	return &Error{
		Template: t.src,
		Msg: "wrong number of values for " + caller + ": got " + strconv.Itoa(n) + ", want " +
			strconv.Itoa(len(t.names)),
		Advice: fmt.Sprintf("pass the values of %q, in this order", t.names),
	}
}

// texts converts args, the Go values of the first components, to their text forms.
func (t *Template) texts(args []any) ([]string, error) {
	if len(args) > len(t.names) {
		return nil, t.count(len(args), "the call")
	}
	values := make([]string, len(args))
	for i, arg := range args {
		var err error
		if values[i], err = textOf(arg); err != nil {
			return nil, in(err, t.src, t.names[i])
		}
	}
	return values, nil
}

// textOf returns the text form of a Go value.
func textOf(arg any) (string, error) {
	switch v := arg.(type) {
	case string:
		return v, nil
	case time.Time:
		if v.IsZero() {
			return "", &Error{Msg: "the time is zero", Advice: "set the time, or pass nil for no bound of a range"}
		}
		return v.UTC().Format(time.RFC3339Nano), nil
	}

	v := reflect.ValueOf(arg)
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return "", &Error{Msg: "the value is nil", Advice: "pass a value"}
	}
	switch v := arg.(type) {
	case encoding.TextMarshaler:
		text, err := v.MarshalText()
		if err != nil {
			return "", &Error{Msg: "cannot convert the value to text: " + err.Error(), Advice: "pass another value"}
		}
		return string(text), nil
	case fmt.Stringer:
		return v.String(), nil
	}

	switch {
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), nil
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), nil
	case v.Kind() == reflect.String:
		return v.String(), nil
	}

	return "", &Error{
		Msg:    fmt.Sprintf("cannot use a %T in a key", arg),
		Advice: "pass a string, an integer, a time.Time, or a type with a String method; pass a decimal as a string",
	}
}

// Scan parses a key and stores the value of each component in the variable that the corresponding dst points to. A
// dst is a *string, a pointer to an integer, a *[time.Time], a type with an UnmarshalText method, or a pointer to a
// type whose underlying type is a string or an integer. A nil dst skips its component. If a component fails, the
// components before it have been stored. The error is an [*Error].
func (t *Template) Scan(key string, dst ...any) error {
	if len(dst) != len(t.names) {
		return t.count(len(dst), "Scan")
	}
	values, err := t.Values(key)
	if err != nil {
		return err
	}
	i := 0
	for _, p := range t.parts {
		if p.Name == "" {
			continue
		}
		if err := store(p.Type, values[i], dst[i]); err != nil {
			return in(err, t.src, p.Name)
		}
		i++
	}
	return nil
}

// store converts text, a canonical value of type t, to a Go value and stores it in the variable that dst points to.
func store(t Type, text string, dst any) error {
	switch v := dst.(type) {
	case nil:
		return nil
	case *string:
		if v != nil {
			*v = text
			return nil
		}
	case *time.Time:
		k, err := t.kind()
		if err != nil {
			return err
		}
		at, ok := parseTime(text, k.layout)
		if !ok || k.layout == "" {
			return invalid(t, text, "is not a time", "read it into a string")
		}
		if v != nil {
			*v = at
			return nil
		}
	}

	p := reflect.ValueOf(dst)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return &Error{Msg: fmt.Sprintf("cannot store a component in a %T", dst), Advice: "pass a pointer to a variable"}
	}
	if u, ok := dst.(encoding.TextUnmarshaler); ok {
		if err := u.UnmarshalText([]byte(text)); err != nil {
			return invalid(t, text, "is not a "+p.Elem().Type().String()+": "+err.Error(), "read it into a string")
		}
		return nil
	}

	v := p.Elem()
	bad := invalid(t, text, "is not a "+v.Type().String(), "read it into a string")
	switch {
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.CanInt():
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return bad
		}
		v.SetInt(n)
	case v.CanUint():
		n, err := strconv.ParseUint(text, 10, v.Type().Bits())
		if err != nil {
			return bad
		}
		v.SetUint(n)
	default:
		return bad
	}

	return nil
}
