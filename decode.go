package sortkey

import (
	"bytes"
	"context"
	"encoding"
	"reflect"
	"time"

	"github.com/sortkey/sortkey/attr"
)

// decode decodes an item into *dst. The item is valid only during the call, so decode copies what it stores in *dst.
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

// hasDecoder reports whether a type, or the type of a part of it, has a method that decodes it. seen holds the types
// that hasDecoder has visited, so that it ends for recursive types.
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

// misfit returns the error for an item that does not fit its Go type. The error has the primary key of the item. If
// item is nil, misfit takes the key from the arguments of the call.
func (t *TableOf[T]) misfit(ctx context.Context, c *call, item attr.Item, err error) error {
	e := &DecodeError{Table: t.name, Err: err}
	def, notFound := t.definition(ctx)
	switch {
	case notFound != nil: // the table was deleted after the read
	case item == nil:
		e.Key, _ = c.keyItem(nil, def.Key())
	default:
		e.Key = def.Key().Key(item)
	}
	return e
}

// storeOld decodes the item as it was before a write into the destination of the option [Old]. If there was no item,
// it sets the destination to its zero value.
func (t *TableOf[T]) storeOld(ctx context.Context, c *call, it attr.Item) error {
	if c.old == nil {
		return nil
	}
	if v, ok := destination(reflect.ValueOf(c.old)); ok { // checkDestination has checked c.old before the write
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
