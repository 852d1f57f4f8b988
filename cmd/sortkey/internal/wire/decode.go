package wire

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Decode decodes the JSON of a request into in, a pointer such as a
// *dynamodb.QueryInput. Members have the names of the API. The error has the path
// of a member that is unknown or has the wrong type.
func Decode(data []byte, in any) error {
	v := reflect.ValueOf(in)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return fmt.Errorf("wire: cannot decode into %T", in)
	}
	return decode(data, v.Elem(), "request")
}

var attributeValue = reflect.TypeFor[types.AttributeValue]()

func decode(data []byte, v reflect.Value, path string) error {
	if v.Type() == attributeValue {
		value, err := parseValue(data)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		v.Set(reflect.ValueOf(value))
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if string(data) == "null" {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return decode(data, v.Elem(), path)
	case reflect.Struct:
		return decodeStruct(data, v, path)
	case reflect.Map:
		return decodeMap(data, v, path)
	case reflect.Slice:
		return decodeSlice(data, v, path)
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		if json.Unmarshal(data, v.Addr().Interface()) != nil {
			return fmt.Errorf("%s: %s is not of type %s", path, data, v.Kind())
		}
		return nil
	}
	return fmt.Errorf("%s is not supported in JSON", path)
}

func decodeStruct(data []byte, v reflect.Value, path string) error {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return fmt.Errorf("%s: %s is not an object", path, data)
	}
	for _, name := range sorted(members) {
		field, ok := v.Type().FieldByName(name)
		if !ok || !field.IsExported() || field.Anonymous {
			return fmt.Errorf("%s has no member %q", path, name)
		}
		if err := decode(members[name], v.FieldByIndex(field.Index), path+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func decodeMap(data []byte, v reflect.Value, path string) error {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return fmt.Errorf("%s: %s is not an object", path, data)
	}
	m := reflect.MakeMapWithSize(v.Type(), len(members))
	for _, name := range sorted(members) {
		elem := reflect.New(v.Type().Elem()).Elem()
		if err := decode(members[name], elem, path+"."+name); err != nil {
			return err
		}
		m.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), elem)
	}
	v.Set(m)
	return nil
}

func decodeSlice(data []byte, v reflect.Value, path string) error {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return fmt.Errorf("%s is not supported in JSON", path)
	}
	var elems []json.RawMessage
	if json.Unmarshal(data, &elems) != nil {
		return fmt.Errorf("%s: %s is not an array", path, data)
	}
	s := reflect.MakeSlice(v.Type(), len(elems), len(elems))
	for i, elem := range elems {
		if err := decode(elem, s.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	v.Set(s)
	return nil
}

func sorted(m map[string]json.RawMessage) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// parseValue decodes a value in DynamoDB JSON. It does not check numbers: the
// service rejects those it does not support.
func parseValue(data []byte) (types.AttributeValue, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil || len(members) != 1 {
		return nil, fmt.Errorf(`%s is not a value such as {"S": "text"} or {"N": "1"}`, data)
	}
	for kind, data := range members {
		v, err := parseKind(kind, data)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", kind, data, err)
		}
		return v, nil
	}
	return nil, errors.New("unreachable")
}

func parseKind(kind string, data []byte) (types.AttributeValue, error) {
	switch kind {
	case "S":
		return parseAs(data, func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} })
	case "N":
		return parseAs(data, func(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} })
	case "B":
		return parseAs(data, func(b blob) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} })
	case "SS":
		return parseAs(data, func(s []string) types.AttributeValue { return &types.AttributeValueMemberSS{Value: s} })
	case "NS":
		return parseAs(data, func(s []string) types.AttributeValue { return &types.AttributeValueMemberNS{Value: s} })
	case "BS":
		return parseAs(data, func(list []blob) types.AttributeValue {
			out := make([][]byte, len(list))
			for i, b := range list {
				out[i] = b
			}
			return &types.AttributeValueMemberBS{Value: out}
		})
	case "BOOL":
		return parseAs(data, func(b bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: b} })
	case "NULL":
		return parseAs(data, func(b bool) types.AttributeValue { return &types.AttributeValueMemberNULL{Value: b} })
	case "L":
		return parseAs(data, func(list []nested) types.AttributeValue {
			out := make([]types.AttributeValue, len(list))
			for i, v := range list {
				out[i] = v.AttributeValue
			}
			return &types.AttributeValueMemberL{Value: out}
		})
	case "M":
		return parseAs(data, func(m map[string]nested) types.AttributeValue {
			out := make(map[string]types.AttributeValue, len(m))
			for name, v := range m {
				out[name] = v.AttributeValue
			}
			return &types.AttributeValueMemberM{Value: out}
		})
	}
	return nil, errors.New("unknown type")
}

func parseAs[T any](data []byte, value func(T) types.AttributeValue) (types.AttributeValue, error) {
	var t *T
	if err := json.Unmarshal(data, &t); err != nil {
		if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); wrong {
			return nil, errors.New("the value has another type")
		}
		return nil, err
	}
	if t == nil {
		return nil, errors.New("null is not a value")
	}
	return value(*t), nil
}

// A nested value of a list or map.
type nested struct{ types.AttributeValue }

// UnmarshalJSON implements [json.Unmarshaler].
func (n *nested) UnmarshalJSON(data []byte) (err error) {
	n.AttributeValue, err = parseValue(data)
	return err
}

// A blob is binary data, base64 in JSON.
type blob []byte

// UnmarshalJSON implements [json.Unmarshaler].
func (b *blob) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		return errors.New("binary data must be a string in base64")
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return errors.New("binary data must be in base64")
	}
	*b = raw
	return nil
}
