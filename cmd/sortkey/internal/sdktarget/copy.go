package sdktarget

import (
	"fmt"
	"reflect"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/sdkvalue"
)

// Copy sets the members of *dst, a shape of package wire or of the SDK, to those of *src,
// the same shape of the other. Members that only one of them has are left as they are.
// Both packages name members as the service does; they differ in how they represent
// attribute values, enumerations, numbers and times.
func Copy(dst, src any) error {
	d, s := reflect.ValueOf(dst).Elem(), reflect.ValueOf(src).Elem()
	if err := set(d, s); err != nil {
		return fmt.Errorf("cannot convert %v to %v: %w", s.Type(), d.Type(), err)
	}
	return nil
}

var (
	itemType     = reflect.TypeFor[attr.Item]()
	valueType    = reflect.TypeFor[attr.Value]()
	sdkItemType  = reflect.TypeFor[map[string]types.AttributeValue]()
	sdkValueType = reflect.TypeFor[types.AttributeValue]()
	timeType     = reflect.TypeFor[time.Time]()
)

// set sets dst to src, unless src is absent: a nil pointer, list, map or value, or an
// empty enumeration.
func set(dst, src reflect.Value) error {
	d, s := dst.Type(), src.Type()
	switch {
	case d == itemType && s == sdkItemType:
		return setFrom(dst, src, sdkvalue.Item)
	case d == valueType && s == sdkValueType:
		return setFrom(dst, src, sdkvalue.Value)
	case d == sdkItemType && s == itemType:
		return setFrom(dst, src, func(it attr.Item) (map[string]types.AttributeValue, error) {
			return sdkvalue.Of(it), nil
		})
	case d == sdkValueType && s == valueType:
		return setFrom(dst, src, func(v attr.Value) (types.AttributeValue, error) { return sdkvalue.OfValue(v), nil })
	case s == timeType && d.Kind() == reflect.Float64:
		return setFrom(dst, src, func(t time.Time) (float64, error) { return float64(t.UnixMilli()) / 1000, nil })
	}

	switch {
	case src.Kind() == reflect.Pointer && src.IsNil():
		return nil
	case dst.Kind() == reflect.Pointer:
		if src.Kind() == reflect.String && src.Len() == 0 {
			return nil
		}
		dst.Set(reflect.New(dst.Type().Elem()))
		return set(dst.Elem(), reflect.Indirect(src))
	case src.Kind() == reflect.Pointer:
		return set(dst, src.Elem())
	}
	switch dst.Kind() {
	case reflect.Struct:
		return setStruct(dst, src)
	case reflect.Slice:
		return setSlice(dst, src)
	case reflect.Map:
		return setMap(dst, src)
	case reflect.String:
		if src.Kind() == reflect.String {
			dst.SetString(src.String())
			return nil
		}
	default:
		if src.Kind() != reflect.String && src.CanConvert(dst.Type()) {
			dst.Set(src.Convert(dst.Type()))
			return nil
		}
	}
	return fmt.Errorf("%v is not %v", src.Type(), dst.Type())
}

// setFrom sets dst to what convert makes of src.
func setFrom[S, D any](dst, src reflect.Value, convert func(S) (D, error)) error {
	if src.IsZero() {
		return nil
	}
	v, err := convert(src.Interface().(S))
	if err == nil {
		dst.Set(reflect.ValueOf(v))
	}
	return err
}

func setStruct(dst, src reflect.Value) error {
	if src.Kind() != reflect.Struct {
		return fmt.Errorf("%v is not %v", src.Type(), dst.Type())
	}
	for field, to := range dst.Fields() {
		from := src.FieldByName(field.Name)
		if !field.IsExported() || !from.IsValid() {
			continue
		}
		if err := set(to, from); err != nil {
			return fmt.Errorf("%s: %w", field.Name, err)
		}
	}
	return nil
}

func setSlice(dst, src reflect.Value) error {
	if src.Kind() != reflect.Slice {
		return fmt.Errorf("%v is not %v", src.Type(), dst.Type())
	}
	if src.IsNil() {
		return nil
	}
	dst.Set(reflect.MakeSlice(dst.Type(), src.Len(), src.Len()))
	for i := range src.Len() {
		if err := set(dst.Index(i), src.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func setMap(dst, src reflect.Value) error {
	if src.Kind() != reflect.Map {
		return fmt.Errorf("%v is not %v", src.Type(), dst.Type())
	}
	if src.IsNil() {
		return nil
	}
	dst.Set(reflect.MakeMapWithSize(dst.Type(), src.Len()))
	for key, from := range src.Seq2() {
		to := reflect.New(dst.Type().Elem()).Elem()
		if err := set(to, from); err != nil {
			return err
		}
		dst.SetMapIndex(key, to)
	}
	return nil
}
