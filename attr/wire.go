package attr

import (
	"encoding/base64"
	"strconv"

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

var shapeNames = [...]string{"String", "Boolean", "Integer", "Long", "Double", "Timestamp", "ByteBuffer", "List", "Map", "Structure"}

// Mismatch returns the error for a JSON value of the wrong kind, a
// SerializationException. Source: dynalite, test/helpers.js (captured).
func Mismatch(want Shape, got jsontext.Value) error {
	kind := got.Kind()
	switch want {
	case ShapeList:
		if kind == '{' {
			return syntax("Start of structure or map found where not expected")
		}
		return syntax("Unexpected field type")
	case ShapeMap, ShapeStructure:
		if kind == '[' {
			return syntax("Unrecognized collection type")
		}
		return syntax("Unexpected field type")
	}
	switch kind {
	case '[':
		return syntax("Unrecognized collection type class java.lang." + shapeNames[want])
	case '{':
		return syntax("Start of structure or map found where not expected")
	}
	if want == ShapeBlob {
		return syntax("only base-64-encoded strings are convertible to bytes")
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
	out, err := base64.StdEncoding.Strict().AppendDecode(dst, text)
	if err == nil {
		for _, c := range text { // the decoder passes over line breaks
			if c == '\r' || c == '\n' {
				return dst, syntax("Invalid Base64 character: '" + string(rune(c)) + "'")
			}
		}
		return out, nil
	}
	for i, c := range text {
		if !isBase64(c) || c == '=' && i < len(text)-2 {
			return dst, syntax("Invalid Base64 character: '" + string(rune(c)) + "'")
		}
	}
	return dst, syntax("Invalid last non-pad Base64 character dectected")
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '='
}
