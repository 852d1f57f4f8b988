package sortkey

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/untagged"
	"github.com/sortkey/sortkey/keycond"
)

// keyValue returns the stored form of the value of a key attribute.
func (c *call) keyValue(a keycond.Attribute, arg any) (attr.Value, error) {
	v, err := c.attribute(arg)
	switch {
	case err != nil:
		return v, misuse("%s: key attribute %s: %w", placeOf(c.table, c.index), a.Name, err)
	case v.Kind() == a.Kind && !isTime(arg):
		return v, nil
	}

	got := fmt.Sprintf("%T", arg)
	if t, ok := arg.(taken); ok {
		got = t.of.String()
	}
	if isTime(arg) {
		return v, misuse("%s: key attribute %s is %s, got %s, %s",
			placeOf(c.table, c.index), a.Name, kindText(a.Kind), got, timeAdvice)
	}
	return v, misuse("%s: key attribute %s is %s, got %s", placeOf(c.table, c.index), a.Name, kindText(a.Kind), got)
}

// timeAdvice is what messages say about times in keys.
const timeAdvice = "whose text does not sort as times do; " +
	"use keys.TimestampOf, which does, or Unix seconds in an attribute of type N"

// timeType is the type of times.
var timeType = reflect.TypeFor[time.Time]()

// isTime reports whether an argument is a time without a form.
func isTime(arg any) bool {
	var of reflect.Type
	switch arg := arg.(type) {
	case string, int, nil:
		return false
	case taken:
		of = arg.of
	default:
		of = reflect.TypeOf(arg)
	}
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return of.Kind() == reflect.Struct && of.ConvertibleTo(timeType) && !reflect.PointerTo(of).Implements(marshaler)
}

var marshaler = reflect.TypeFor[attr.Marshaler]()

// kindText names the type of a key attribute: "a number (N)".
func kindText(k attr.Kind) string {
	word := "a string"
	switch k {
	case attr.Number:
		word = "a number"
	case attr.Binary:
		word = "binary data"
	}
	return word + " (" + k.String() + ")"
}

// checkTimes refuses an item of which a key attribute, also one of an index, comes from a
// time.Time without a form.
func (t *TableOf[T]) checkTimes(ctx context.Context, item any, it attr.Item) error {
	names := untagged.Times(item)
	if len(names) == 0 {
		return nil
	}
	def, err := t.definition(ctx)
	if err != nil {
		return err
	}
	used := def.Definition().Keys()
	for _, name := range names {
		if used[name] && it.Get(name).Kind() == attr.String {
			return misuse("table %s: key attribute %s comes from a time.Time, %s and the tag `dynamodbav:\"%s,unixtime\"`",
				t.name, name, timeAdvice, name)
		}
	}
	return nil
}

// refusedItem returns the error for an item that was refused. If that is because a key attribute,
// also one of an index, has another type, its text names the table too.
func (t *TableOf[T]) refusedItem(ctx context.Context, it attr.Item, refusal error) error {
	refusal = failed(refusal)
	if !errors.Is(refusal, ErrUsage) {
		return refusal
	}
	def, err := t.definition(ctx)
	if err != nil {
		return refusal //nolint:nilerr // the table has been deleted since
	}
	used := def.Definition().Keys()
	for _, a := range def.Definition().Attributes {
		if v := it.Get(a.Name); used[a.Name] && !v.IsZero() && v.Kind() != a.Kind {
			text := fmt.Sprintf("sortkey: table %s: key attribute %s is %s, got %s", t.name, a.Name, kindText(a.Kind), v.Kind())
			return &explained{text, refusal}
		}
	}
	return refusal
}
