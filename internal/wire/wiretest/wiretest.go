// Package wiretest encodes wire shapes as JSON for tests, by reflection.
package wiretest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"reflect"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/wire"
)

// JSON encodes a shape as a JSON object. It leaves out absent (nil) members.
func JSON(shape any) []byte {
	text, err := json.Marshal(plain(reflect.ValueOf(shape)))
	if err != nil {
		panic(err)
	}
	return text
}

// plain converts a value to one that encoding/json can encode.
func plain(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case attr.Value:
		return json.RawMessage(x.AppendJSON(nil))
	case attr.Item:
		return json.RawMessage(x.AppendJSON(nil))
	case []byte:
		return base64.StdEncoding.EncodeToString(x)
	}
	switch v.Kind() {
	case reflect.Pointer:
		return plain(v.Elem())
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plain(v.Index(i))
		}
		return list
	case reflect.Map:
		m := map[string]any{}
		for _, k := range v.MapKeys() {
			m[k.String()] = plain(v.MapIndex(k))
		}
		return m
	case reflect.Struct:
		m := map[string]any{}
		for field, value := range v.Fields() {
			if field.Type != reflect.TypeFor[wire.Faults]() && present(value) {
				m[cmp.Or(field.Tag.Get("json"), field.Name)] = plain(value)
			}
		}
		return m
	}
	return v.Interface()
}

// present reports whether a member is present, according to its field.
func present(v reflect.Value) bool {
	if x, ok := v.Interface().(attr.Value); ok {
		return x.Kind() != 0
	}
	return !v.IsNil()
}
