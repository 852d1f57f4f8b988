package wire

import (
	"encoding/base64"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/attr"
)

// Item returns the binary item of an item of the SDK. The error is that of a
// value that no service can have sent.
func Item(m map[string]types.AttributeValue) (attr.Item, error) {
	var b attr.Builder
	for name, value := range m {
		v, err := Value(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		b.Add(name, v)
	}
	return b.Item(), nil
}

// Value returns the value of a value of the SDK.
func Value(value types.AttributeValue) (attr.Value, error) {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return attr.NewString(v.Value), nil
	case *types.AttributeValueMemberN:
		return attr.NewNumber(v.Value)
	case *types.AttributeValueMemberB:
		return attr.NewBinary(v.Value), nil
	case *types.AttributeValueMemberBOOL:
		return attr.NewBool(v.Value), nil
	case *types.AttributeValueMemberNULL:
		return attr.NewNull(), nil
	case *types.AttributeValueMemberSS:
		return set(attr.StringSet, v.Value, func(s string) (attr.Value, error) { return attr.NewString(s), nil })
	case *types.AttributeValueMemberNS:
		return set(attr.NumberSet, v.Value, attr.NewNumber)
	case *types.AttributeValueMemberBS:
		return set(attr.BinarySet, v.Value, func(b []byte) (attr.Value, error) { return attr.NewBinary(b), nil })
	case *types.AttributeValueMemberL:
		elems, err := each(v.Value, Value)
		return attr.NewList(elems...), err
	case *types.AttributeValueMemberM:
		item, err := Item(v.Value)
		if err != nil {
			return attr.Value{}, err
		}
		return attr.NewMap(item), nil
	}
	return attr.Value{}, fmt.Errorf("a value of unknown type %T", value)
}

func set[T any](kind attr.Kind, list []T, value func(T) (attr.Value, error)) (attr.Value, error) {
	elems, err := each(list, value)
	if err != nil {
		return attr.Value{}, err
	}
	return attr.NewSet(kind, elems...)
}

func each[T any](list []T, value func(T) (attr.Value, error)) ([]attr.Value, error) {
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

// Key returns the value of the SDK of a key value: an S, N or B.
func Key(v attr.Value) types.AttributeValue {
	switch v.Kind() {
	case attr.Number:
		return &types.AttributeValueMemberN{Value: string(v.AppendNumber(nil))}
	case attr.Binary:
		return &types.AttributeValueMemberB{Value: v.Raw()}
	}
	return &types.AttributeValueMemberS{Value: string(v.Raw())}
}

// AppendPlainItem appends an item as a plain JSON object.
func AppendPlainItem(dst []byte, it attr.Item) []byte {
	dst = append(dst, '{')
	for i := range it.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		name, v := it.At(i)
		dst = appendText(dst, name)
		dst = append(dst, ':')
		dst = AppendPlain(dst, v)
	}
	return append(dst, '}')
}

// AppendPlain appends a value as plain JSON: numbers as numbers, binary data
// as base64, sets as arrays. What type a value had cannot always be told from
// it.
func AppendPlain(dst []byte, v attr.Value) []byte {
	switch v.Kind() {
	case attr.String:
		return appendText(dst, v.Raw())
	case attr.Number:
		return v.AppendNumber(dst)
	case attr.Binary:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v.Raw())
		return append(dst, '"')
	case attr.Bool:
		if v.Bool() {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case attr.Map:
		return AppendPlainItem(dst, v.Map())
	case attr.List, attr.StringSet, attr.NumberSet, attr.BinarySet:
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendPlain(dst, v.Index(i))
		}
		return append(dst, ']')
	}
	return append(dst, "null"...)
}

func appendText(dst, text []byte) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // fails only after it has replaced bytes that are no UTF-8
	return dst
}
