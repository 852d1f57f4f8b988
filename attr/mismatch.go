package attr

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// A shape is a JSON form that the protocol expects at one point of an attribute value.
type shape uint8

const (
	shapeString shape = iota
	shapeBoolean
	shapeBlob
	shapeList
	shapeMap
	shapeStructure
)

const valueClass = "com.amazonaws.dynamodb.v20120810.AttributeValue"

// classes are the service's Java types, as its messages name them.
var classes = [...]string{
	shapeString:    "class java.lang.String",
	shapeBoolean:   "class java.lang.Boolean",
	shapeBlob:      "class java.nio.ByteBuffer",
	shapeMap:       "java.util.Map<java.lang.String, " + valueClass + ">",
	shapeStructure: "class " + valueClass,
}

// mismatch returns the SerializationException for a JSON value of the wrong kind, in the service's words for a value
// inside another value. Source: dynalite, test/helpers.js, assertType (the newest capture).
func mismatch(want shape, got jsontext.Value) error {
	kind := got.Kind()
	switch {
	case kind == '{':
		return syntax("Start of structure or map found where not expected")
	case kind == '[' && want != shapeList:
		return syntax("Unrecognized collection type " + classes[want])
	}

	switch want {
	case shapeList, shapeMap:
		return syntax("Unexpected field type")
	case shapeStructure:
		return syntax("Unexpected value type in payload")
	case shapeBlob:
		return syntax("only base-64-encoded strings are convertible to bytes")
	case shapeBoolean:
		if kind == '"' {
			return syntax("Unexpected token received from parser")
		}
		return syntax(tokenName(got) + " cannot be converted to Boolean")
	}

	return syntax(tokenName(got) + " cannot be converted to String")
}

// tokenName returns the service's name for a scalar JSON token.
func tokenName(v jsontext.Value) string {
	switch v.Kind() {
	case 't':
		return "TRUE_VALUE"
	case 'f':
		return "FALSE_VALUE"
	case '"':
		return "STRING_VALUE"
	}
	if bytes.ContainsAny(v, ".eE") {
		return "DECIMAL_VALUE"
	}
	return "NUMBER_VALUE"
}
