package transfer

import (
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
)

// A Format is the format of a data file.
type Format string

// The formats.
const (
	// Auto detects the format from the name and the first bytes of a file.
	Auto Format = "auto"
	// DynamoDB is DynamoDB JSON: {"Item":{"id":{"S":"x"}}} on each line as the
	// service exports it, the item alone, an array of either, or the response of
	// a Scan or Query.
	DynamoDB Format = "dynamodb"
	// JSON is plain JSON, {"id":"x"}, on lines or in an array.
	JSON Format = "json"
	// CSV is comma-separated values (RFC 4180) with a header.
	CSV Format = "csv"
	// Requests is the JSON of BatchWriteItem, PutItem and TransactWriteItems requests, whose writes name their
	// tables.
	Requests Format = "requests"
)

// AnyType is the declared type of an attribute whose values can have any type. The file contains these values in
// DynamoDB JSON, such as {"N":"1"}, which states the type of each value.
const AnyType = "JSON"

// Types are the declared types of attributes by name: "S", "N", … "M", or
// [AnyType].
type Types map[string]string

// check returns an error if one of the types does not exist.
func (t Types) check() error {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if _, ok := attr.ParseKind(t[name]); !ok && t[name] != AnyType {
			return advice.New(
				"the types are S, N, B, BOOL, NULL, SS, NS, BS, L, M, and "+AnyType+" for any of them in DynamoDB JSON",
				"unknown type %q for %s", t[name], name,
			)
		}
	}
	return nil
}

// ParseTypes parses declarations such as "qty=N" and "price:N".
func ParseTypes(texts []string) (Types, error) {
	types := Types{}
	for _, text := range texts {
		i := strings.LastIndexAny(text, "=:")
		if i <= 0 {
			return nil, advice.New("write NAME=TYPE, such as qty=N", "no type in %q", text)
		}
		types[text[:i]] = text[i+1:]
	}
	return types, types.check()
}

// merge returns the types in t, together with the types of those key attributes that t does not declare. It returns
// an error if t declares a key attribute with another type than keys.
func (t Types) merge(keys Types) (Types, error) {
	out := maps.Clone(t)
	if out == nil {
		out = Types{}
	}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		if have := out[name]; have != "" && have != AnyType && have != keys[name] {
			return nil, fail(
				ErrType, "", "%s is declared as %s, but is a key attribute of type %s", name, have, keys[name],
			)
		}
		if out[name] == "" {
			out[name] = keys[name]
		}
	}
	return out, nil
}
