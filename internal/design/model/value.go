package model

import "github.com/sortkey/sortkey/attr"

// ValueOf converts text to a value of the given kind, which must be allowed in keys.
func ValueOf(text string, kind attr.Kind) (attr.Value, error) {
	switch kind {
	case attr.Number:
		return attr.NewNumber(text)
	case attr.Binary:
		return attr.NewBinary([]byte(text)), nil
	}
	return attr.NewString(text), nil
}

// TextOf is the inverse of [ValueOf].
func TextOf(v attr.Value) string {
	if v.Kind() == attr.Number {
		return string(v.AppendNumber(nil))
	}
	return string(v.Raw())
}
