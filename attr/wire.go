package attr

import (
	"github.com/go-json-experiment/json/jsontext"
)

// A shape is what the wire form expects in one place.
type shape uint8

// The shapes of the protocol's payloads.
const (
	shapeString shape = iota
	shapeBoolean
	shapeInteger
	shapeLong
	shapeDouble
	shapeTimestamp
	shapeBlob
	shapeList
	shapeMap
	shapeStructure
)

var shapeNames = [...]string{"String", "Boolean", "Integer", "Long", "Double", "Date", "ByteBuffer", "List", "Map", "Structure"}

const valueClass = "com.amazonaws.dynamodb.v20120810.AttributeValue"

// mismatch returns the error for a JSON value of the wrong kind, a
// SerializationException. Maps and structures are those of attribute values,
// as they stand in one another. Source: dynalite, test/helpers.js, assertType
// (the newest capture).
func mismatch(want shape, got jsontext.Value) error {
	kind := got.Kind()
	if kind == '{' {
		return syntax("Start of structure or map found where not expected")
	}
	switch want {
	case shapeList:
		return syntax("Unexpected field type")
	case shapeMap:
		if kind == '[' {
			return syntax("Unrecognized collection type java.util.Map<java.lang.String, " + valueClass + ">")
		}
		return syntax("Unexpected field type")
	case shapeStructure:
		if kind == '[' {
			return syntax("Unrecognized collection type class " + valueClass)
		}
		return syntax("Unexpected value type in payload")
	}
	if kind == '[' {
		path := "java.lang."
		switch want {
		case shapeBlob:
			path = "java.nio."
		case shapeTimestamp:
			path = "java.util."
		}
		return syntax("Unrecognized collection type class " + path + shapeNames[want])
	}
	switch {
	case want == shapeBlob:
		return syntax("only base-64-encoded strings are convertible to bytes")
	case want == shapeBoolean && kind == '"':
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
