package sortkey

import (
	"context"
	"errors"
	"fmt"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/untagged"
)

// checkTimes refuses an item of which a key attribute, also one of an index, comes from a
// time.Time without a form.
func (t *TableOf[T]) checkTimes(ctx context.Context, item any, it attr.Item) error {
	if !t.itemType.hasTimes {
		return nil
	}
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
			return misuse("table %s: key attribute %s comes from a time.Time, %s and the tag "+
				"`dynamodbav:\"%s,unixtime\"`",
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
			text := fmt.Sprintf("sortkey: table %s: key attribute %s is %s, got %s", t.name, a.Name, kindText(a.Kind),
				v.Kind())
			return &explained{text, refusal}
		}
	}
	return refusal
}
