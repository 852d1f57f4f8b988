package sortkey

import (
	"bytes"
	"context"
	"encoding"
	"reflect"
	"time"

	"github.com/sortkey/sortkey/attr"
)

// decode stores an item, which is valid for the duration of the call, in *dst.
func decode(it attr.Item, dst any) error {
	if dst, ok := dst.(*attr.Item); ok {
		*dst = bytes.Clone(it)
		return nil
	}
	return attr.UnmarshalItem(it, dst)
}

// decoders are the interfaces by which a type decodes itself.
var decoders = []reflect.Type{
	reflect.TypeFor[attr.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
	reflect.TypeFor[encoding.BinaryUnmarshaler](),
}

// hasDecoder reports whether a type, or a part of it, decodes itself. Seen are the types that were looked at.
func hasDecoder(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || t == reflect.TypeFor[time.Time]() {
		return false
	}
	seen[t] = true
	if t.Kind() == reflect.Pointer {
		return hasDecoder(t.Elem(), seen)
	}
	for _, d := range decoders {
		if reflect.PointerTo(t).Implements(d) {
			return true
		}
	}

	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return hasDecoder(t.Elem(), seen)
	case reflect.Map:
		return hasDecoder(t.Key(), seen) || hasDecoder(t.Elem(), seen)
	case reflect.Struct:
		for field := range t.Fields() {
			if hasDecoder(field.Type, seen) {
				return true
			}
		}
	}
	return false
}

// misfit returns the error for an item that does not fit its Go type. The item, or a part of
// it, has the attributes of its primary key; nil stands for the only item that the arguments
// of the call can mean.
func (t *TableOf[T]) misfit(ctx context.Context, c *call, item attr.Item, err error) error {
	e := &DecodeError{Table: t.name, Err: err}
	def, notFound := t.definition(ctx)
	switch {
	case notFound != nil: // since the item was read
	case item == nil:
		e.Key, _ = c.keyItem(nil, def.Key())
	default:
		var b attr.Builder
		for _, a := range def.Key().Attributes() {
			b.Add(a.Name, item.Get(a.Name))
		}
		e.Key = b.Item()
	}
	return e
}

// storeOld stores the item as it was before a write, and nothing if there was none.
func (t *TableOf[T]) storeOld(ctx context.Context, c *call, it attr.Item) error {
	if c.old == nil {
		return nil
	}
	if v, ok := destination(reflect.ValueOf(c.old)); ok { // which was looked at before the write
		v.SetZero()
	}
	if it == nil {
		return nil
	}
	if err := decode(it, c.old); err != nil {
		return t.misfit(ctx, c, it, err)
	}
	return nil
}
