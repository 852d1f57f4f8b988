package table

import (
	"errors"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/keycond"
)

const msgUpdateSize = "Item size to update has exceeded the maximum allowed size"

// Update changes the item with the given key, or makes it if there is none.
// Right-hand sides read the item as it was. Errors: [Validation] for an update
// that the item or the table does not allow, [ConditionFailed] with
// Change.Capacity still set; then nothing is written, not even an item that
// the update would have made.
func (tx *Tx) Update(t *Table, key attr.Item, update *expr.Update, cond *expr.Condition) (Change, error) {
	partition, sort, err := t.Address(key)
	if err != nil {
		return Change{}, err
	}
	if err := t.checkUpdate(update); err != nil {
		return Change{}, err
	}
	old, err := tx.get(t, partition, sort)
	if err != nil {
		return Change{}, err
	}
	if !cond.Eval(old) {
		change := Change{Old: old, New: old}
		change.Capacity.Table = WriteUnits(old.Size())
		return change, &Error{Kind: ConditionFailed, Msg: "The conditional request failed", Item: old}
	}
	item, err := update.Apply(old, key)
	if err != nil {
		return Change{}, invalid("%s", err.Error())
	}
	if item == nil { // nothing to take away from
		change := Change{}
		change.Capacity.Table = WriteUnits(0)
		return change, nil
	}
	if item.Size() > MaxItemBytes {
		return Change{}, invalid(msgUpdateSize)
	}
	if err := t.checkUpdated(item, update); err != nil {
		return Change{}, err
	}
	return tx.write(t, partition, sort, item, nil)
}

// checkUpdate refuses updates of key attributes. Source: dynalite,
// test/updateItem.js.
func (t *Table) checkUpdate(update *expr.Update) error {
	for name := range update.TopLevel() {
		if t.key.Has(name) {
			return invalid("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key", name)
		}
	}
	return nil
}

// checkUpdated is checkItem in the words of updates. Source: conformance
// suites of dynalite (test/updateItem.js) and alternator (test_gsi.py).
func (t *Table) checkUpdated(item attr.Item, update *expr.Update) error {
	touched := func(name string) bool {
		for n := range update.TopLevel() {
			if n == name {
				return true
			}
		}
		return false
	}
	for _, ix := range t.indexes {
		for _, a := range slices.Concat(ix.key.Hash, ix.key.Range) {
			v := item.Get(a.Name)
			if v.IsZero() || !touched(a.Name) {
				continue
			}
			if v.Kind() != a.Kind {
				return invalid("The update expression attempted to update the secondary index key to unsupported type")
			}
			if err := ix.key.CheckValue(a, v); err != nil {
				return updateKeyError(a, v, err)
			}
		}
	}
	err := t.checkItem(item)
	if e, ok := errors.AsType[*Error](err); ok && e.Msg == msgItemSize {
		return invalid(msgUpdateSize)
	}
	return err
}

// updateKeyError words what is wrong with a value for an index key.
func updateKeyError(a keycond.Attribute, v attr.Value, err error) error {
	if len(v.Raw()) > 0 {
		return invalid("%s", err.Error())
	}
	kind := "string"
	if a.Kind == attr.Binary {
		kind = "binary"
	}
	return invalid("One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty %s value.", kind)
}
