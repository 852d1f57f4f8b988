package attr

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
)

// errKeyType is the error for maps whose keys have no text.
var errKeyType = errors.New("keys of this type have no text; " +
	"use strings, numbers, booleans or a type with MarshalText and UnmarshalText")

// keyText returns the text of a key of a map.
func keyText(key reflect.Value) (string, error) {
	isNil := (key.Kind() == reflect.Pointer || key.Kind() == reflect.Interface) && key.IsNil()
	hasMethods := key.Kind() == reflect.Interface || key.NumMethod() > 0
	if hasMethods && !isNil {
		if m, ok := key.Interface().(encoding.TextMarshaler); ok {
			text, err := m.MarshalText()
			return validText(string(text)), err
		}
	}
	switch {
	case key.Kind() == reflect.String && !hasMethods:
		return validText(key.String()), nil
	case key.Kind() == reflect.String, key.Kind() == reflect.Bool, key.CanInt(), key.CanFloat(),
		key.CanUint() && key.Kind() != reflect.Uintptr:
		// A method String of the type makes the text, if there is one.
		return validText(fmt.Sprint(key.Interface())), nil
	}
	return "", errKeyType
}

// setKey sets a key of a map from its text.
func setKey(key reflect.Value, text []byte) error {
	if key.Kind() == reflect.Pointer && key.Type().Implements(textUnmarshalerType) {
		key.Set(reflect.New(key.Type().Elem()))
		key = key.Elem()
	}
	if m, ok := key.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return m.UnmarshalText(bytes.Clone(text))
	}
	if key.Kind() == reflect.Bool {
		b, err := strconv.ParseBool(string(text))
		key.SetBool(b)
		return err
	}
	isNumber, fits := setNumber(key, text)
	switch {
	case !isNumber:
		return errKeyType
	case !fits:
		return errors.New(quoted(text) + " does not fit the type of the keys")
	}
	return nil
}
