package sortkey

import (
	"reflect"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keycond"
)

// A Key holds the values of an item's key, in the order of the table's key, or only the first of these values. Every
// operation that takes the values of a key one by one also takes a Key. Operations that take the key as one argument,
// such as [TableOf.Update], take only a Key.
type Key []any

func placeOf(table, index string) string {
	if index == "" {
		return "table " + table
	}
	return "index " + index + " of table " + table
}

func namesOf(list []keycond.Attribute) string {
	names := make([]string, len(list))
	for i, a := range list {
		names[i] = a.Name
	}
	return strings.Join(names, " / ")
}

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

// timeAdvice is the advice that error messages give about times in keys.
const timeAdvice = "whose text does not sort as times do; " +
	"use keys.TimestampOf, which does, or Unix seconds in an attribute of type N"

// timeType is the type of times.
var timeType = reflect.TypeFor[time.Time]()

// isTime reports whether an argument is a time.Time, or of a type made from it, such as type Day time.Time. It
// returns false if the type has an [attr.Marshaler] of its own.
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
