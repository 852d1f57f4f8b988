package sortkey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
)

// timeAttributes returns the names of the attributes in which a struct stores the text of a time.Time. The fields of
// these attributes do not have the option unixtime, and their texts do not sort as the times do. timeAttributes does
// not look into maps and interfaces.
func timeAttributes(of reflect.Type) (names []string) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(of) {
		typ := f.Type
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		name, options, _ := strings.Cut(f.Tag.Get("dynamodbav"), ",")
		if typ == reflect.TypeFor[time.Time]() && !strings.Contains(options, "unixtime") {
			names = append(names, cmp.Or(name, f.Name))
		}
	}
	return names
}

// checkTimes returns an error if a key attribute of the table or of an index holds the text of a time.Time.
func (t *TableOf[T]) checkTimes(ctx context.Context, it attr.Item) error {
	if len(t.itemType.times) == 0 {
		return nil
	}
	def, err := t.definition(ctx)
	if err != nil {
		return err
	}
	used := def.Definition().Keys()
	for _, name := range t.itemType.times {
		if used[name] && it.Get(name).Kind() == attr.String {
			return misuse("table %s: key attribute %s comes from a time.Time, %s and the tag "+
				"`dynamodbav:\"%s,unixtime\"`",
				t.name, name, timeAdvice, name)
		}
	}
	return nil
}

// refusedItem returns the error for an item that a write has refused. If a key attribute of the table or of an index
// has the wrong type, the text of the error also names the table.
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
			text := fmt.Sprintf("sortkey: table %s: key attribute %s is %s, got %s", t.name, a.Name, kindText(a.Kind),
				v.Kind())
			return &explained{text, refusal}
		}
	}
	return refusal
}
