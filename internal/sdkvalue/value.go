// Package sdkvalue converts items and values between package attr and the AWS SDK. The clients of package sdk do not
// use it: they convert whole requests and responses, which is faster.
package sdkvalue

import (
	"fmt"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
)

// Of converts an item to the SDK's type. The result shares no memory with it.
func Of(it attr.Item) map[string]types.AttributeValue {
	m := make(map[string]types.AttributeValue, it.Len())
	for name, v := range it.All() {
		m[string(name)] = OfValue(v)
	}
	return m
}

// OfValue converts a value to the SDK's type. The result shares no memory with v.
func OfValue(v attr.Value) types.AttributeValue {
	switch v.Kind() {
	case attr.String:
		return &types.AttributeValueMemberS{Value: string(v.Raw())}
	case attr.Number:
		return &types.AttributeValueMemberN{Value: numberOf(v)}
	case attr.Binary:
		return &types.AttributeValueMemberB{Value: blobOf(v)}
	case attr.Bool:
		return &types.AttributeValueMemberBOOL{Value: v.Bool()}
	case attr.StringSet:
		return &types.AttributeValueMemberSS{Value: elements(v, func(e attr.Value) string { return string(e.Raw()) })}
	case attr.NumberSet:
		return &types.AttributeValueMemberNS{Value: elements(v, numberOf)}
	case attr.BinarySet:
		return &types.AttributeValueMemberBS{Value: elements(v, blobOf)}
	case attr.List:
		return &types.AttributeValueMemberL{Value: elements(v, OfValue)}
	case attr.Map:
		return &types.AttributeValueMemberM{Value: Of(v.Map())}
	}
	return &types.AttributeValueMemberNULL{Value: true}
}

func numberOf(v attr.Value) string {
	var text [64]byte
	return string(v.AppendNumber(text[:0]))
}

// blobOf returns a copy of the bytes of v. The copy is never nil, as the SDK treats nil as absent.
func blobOf(v attr.Value) []byte { return append([]byte{}, v.Raw()...) }

func elements[T any](v attr.Value, element func(attr.Value) T) []T {
	out := make([]T, v.Len())
	for i := range out {
		out[i] = element(v.Index(i))
	}
	return out
}

// Item converts an item of the SDK. It returns an error for a value that the service would not send, such as an
// invalid number.
func Item(m map[string]types.AttributeValue) (attr.Item, error) {
	var b attr.Builder
	for name, value := range m {
		v, err := Value(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		b.Add(sent(name), v)
	}
	return b.Item(), nil
}

// Value converts a value of the SDK. Errors are as for [Item].
func Value(value types.AttributeValue) (attr.Value, error) {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return attr.NewString(sent(v.Value)), nil
	case *types.AttributeValueMemberN:
		return attr.NewNumber(v.Value)
	case *types.AttributeValueMemberB:
		return attr.NewBinary(v.Value), nil
	case *types.AttributeValueMemberBOOL:
		return attr.NewBool(v.Value), nil
	case *types.AttributeValueMemberNULL:
		return attr.NewNull(), nil
	case *types.AttributeValueMemberSS:
		return fromSet(attr.StringSet, v.Value, func(s string) (attr.Value, error) {
			return attr.NewString(sent(s)), nil
		})
	case *types.AttributeValueMemberNS:
		return fromSet(attr.NumberSet, v.Value, attr.NewNumber)
	case *types.AttributeValueMemberBS:
		return fromSet(attr.BinarySet, v.Value, func(b []byte) (attr.Value, error) { return attr.NewBinary(b), nil })
	case *types.AttributeValueMemberL:
		elems, err := fromEach(v.Value, Value)
		return attr.NewList(elems...), err
	case *types.AttributeValueMemberM:
		it, err := Item(v.Value)
		if err != nil {
			return attr.Value{}, err
		}
		return attr.NewMap(it), nil
	}
	return attr.Value{}, fmt.Errorf("unknown type %T of a value", value)
}

// sent returns text as the SDK would send it: each byte that is not valid UTF-8 becomes U+FFFD.
func sent(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

func fromSet[T any](kind attr.Kind, list []T, value func(T) (attr.Value, error)) (attr.Value, error) {
	elems, err := fromEach(list, value)
	if err != nil {
		return attr.Value{}, err
	}
	return attr.NewSet(kind, elems...)
}

func fromEach[T any](list []T, value func(T) (attr.Value, error)) ([]attr.Value, error) {
	elems := make([]attr.Value, len(list))
	for i, e := range list {
		v, err := value(e)
		if err != nil {
			return nil, err
		}
		elems[i] = v
	}
	return elems, nil
}
