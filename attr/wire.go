package attr

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A Shape is what the wire form expects in one place.
type Shape uint8

// The shapes of the protocol's payloads.
const (
	ShapeString Shape = iota
	ShapeBoolean
	ShapeInteger
	ShapeLong
	ShapeDouble
	ShapeTimestamp
	ShapeBlob
	ShapeList
	ShapeMap
	ShapeStructure
)

var shapeNames = [...]string{"String", "Boolean", "Integer", "Long", "Double", "Date", "ByteBuffer", "List", "Map", "Structure"}

const valueClass = "com.amazonaws.dynamodb.v20120810.AttributeValue"

// Mismatch returns the error for a JSON value of the wrong kind, a
// SerializationException. Maps and structures are those of attribute values,
// as they stand in one another. Source: dynalite, test/helpers.js, assertType
// (the newest capture).
func Mismatch(want Shape, got jsontext.Value) error {
	kind := got.Kind()
	if kind == '{' {
		return syntax("Start of structure or map found where not expected")
	}
	switch want {
	case ShapeList:
		return syntax("Unexpected field type")
	case ShapeMap:
		if kind == '[' {
			return syntax("Unrecognized collection type java.util.Map<java.lang.String, " + valueClass + ">")
		}
		return syntax("Unexpected field type")
	case ShapeStructure:
		if kind == '[' {
			return syntax("Unrecognized collection type class " + valueClass)
		}
		return syntax("Unexpected value type in payload")
	}
	if kind == '[' {
		path := "java.lang."
		switch want {
		case ShapeBlob:
			path = "java.nio."
		case ShapeTimestamp:
			path = "java.util."
		}
		return syntax("Unrecognized collection type class " + path + shapeNames[want])
	}
	switch {
	case want == ShapeBlob:
		return syntax("only base-64-encoded strings are convertible to bytes")
	case want == ShapeBoolean && kind == '"':
		return syntax("Unexpected token received from parser")
	}
	return syntax(tokenName(got) + " cannot be converted to " + shapeNames[want])
}

// tokenName is the service's name of a scalar JSON token.
func tokenName(v jsontext.Value) string {
	switch v.Kind() {
	case 't':
		return "TRUE_VALUE"
	case 'f':
		return "FALSE_VALUE"
	case '"':
		return "STRING_VALUE"
	}
	for _, c := range v {
		if c == '.' || c == 'e' || c == 'E' {
			return "DECIMAL_VALUE"
		}
	}
	return "NUMBER_VALUE"
}

// AppendBlob appends the bytes of base64 text, which must be padded. The
// error is a SerializationException.
func AppendBlob(dst, text []byte) ([]byte, error) {
	if len(text)%4 != 0 {
		return dst, syntax("Base64 encoded length is expected a multiple of 4 bytes but found: " + strconv.Itoa(len(text)))
	}
	// The decoder passes over line breaks, the service does not.
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 {
		if out, err := strictBase64.AppendDecode(dst, text); err == nil {
			return out, nil
		}
	}
	for i, c := range text {
		if !isBase64(c) {
			r, _ := utf8.DecodeRune(text[i:])
			return dst, syntax("Invalid Base64 character: '" + string(r) + "'")
		}
	}
	return dst, syntax("Invalid last non-pad Base64 character dectected")
}

var strictBase64 = base64.StdEncoding.Strict()

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '='
}
