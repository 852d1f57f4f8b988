package table

import (
	"errors"
	"iter"
	"slices"

	"github.com/sortkey/sortkey/internal/expr/ast"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
)

const msgUpdateSize = "Item size to update has exceeded the maximum allowed size"

// Update changes the item with the given key, or creates it. All operands of the update are evaluated on the item as
// it was before. The error has kind [Validation] if the item or the table does not allow the update. It has kind
// [ConditionFailed] if the condition does not hold; Change.Capacity is then set. After an error nothing is written.
func (tx *Tx) Update(t *Table, key attr.Item, update *expr.Update, cond *expr.Condition) (Change, error) {
	partition, sort, err := t.Address(key)
	if err != nil {
		return Change{}, err
	}
	if err := t.checkActions(update); err != nil {
		return Change{}, err
	}
	old, err := tx.get(t, partition, sort)
	if err != nil {
		return Change{}, err
	}

	if !cond.Match(old) {
		return t.conditionFailed(old)
	}
	item, err := update.Apply(old, key)
	if err != nil {
		return Change{}, &Error{Kind: Validation, Msg: err.Error(), Err: err}
	}
	if item == nil { // there is no item, and all actions only remove something
		return t.unchanged(nil), nil
	}
	if item.Size() > MaxItemBytes {
		return Change{}, invalid(msgUpdateSize)
	}
	if err := t.checkUpdated(item, update); err != nil {
		return Change{}, err
	}
	return tx.write(t, partition, sort, item, nil)
}

// CheckUpdate returns an error if the update would fail for every item: because the key is invalid, because the
// update changes a key attribute, or because it gives an index key a value of the wrong kind. The error has kind
// [Validation]. Source: dynalite, test/updateItem.js.
func (t *Table) CheckUpdate(key attr.Item, update *expr.Update) error {
	if err := t.CheckKey(key); err != nil {
		return err
	}
	return t.checkActions(update)
}

// checkActions does the checks of CheckUpdate that concern only the update, not the key.
func (t *Table) checkActions(update *expr.Update) error {
	refused := "" // the first key attribute by name that the update changes
	for _, action := range expr.Actions(update) {
		if name := action.Path.Path[0].Name; t.key.Has(name) && (refused == "" || name < refused) {
			refused = name
		}
	}
	if refused != "" {
		return invalid(
			"One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key",
			refused,
		)
	}

	if slices.ContainsFunc(expr.Actions(update), isNested) {
		if err := t.CheckPaths(expr.Paths(update)); err != nil {
			return err
		}
	}
	for _, action := range expr.Actions(update) {
		kind := action.Kind()
		if kind == 0 {
			continue
		}
		err := t.firstRefusal(func(ix *Index) error {
			for _, a := range ix.own {
				if a.Name == action.Path.Path[0].Name && a.Kind != kind {
					return errIndexKind(ix, a, kind)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// isNested reports whether an action changes or reads a path into a map or list.
func isNested(a ast.Action) bool {
	if len(a.Path.Path) > 1 {
		return true
	}
	for o := range ast.Inside(a.Value) {
		if path, ok := o.(*ast.PathOperand); ok && len(path.Path) > 1 {
			return true
		}
	}
	return false
}

// CheckPaths returns an error if a path leads into a key attribute of the table or of an index. Key attributes are
// scalars, so such a path cannot exist. The error has kind [Validation]. Source: dynalite, test/getItem.js, query.js,
// scan.js and updateItem.js.
func (t *Table) CheckPaths(paths iter.Seq[ast.Path]) error {
	index := ""
	for path := range paths {
		if len(path) == 1 {
			continue
		}
		const text = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
		switch name := path[0].Name; {
		case t.key.Has(name):
			return invalid(text+"Key: %s", name)
		case index == "" && t.isIndexKey(name):
			index = text + "IndexKey: " + name
		}
	}
	if index != "" {
		return invalid("%s", index)
	}
	return nil
}

// isIndexKey reports whether an attribute is part of the key of an index.
func (t *Table) isIndexKey(name string) bool {
	return slices.ContainsFunc(t.indexes, func(ix *Index) bool { return ix.key.Has(name) })
}

// checkUpdated is checkItem with the messages of updates. It checks the index keys of the whole item, even those that
// the update does not change, as the item may be older than the index. Source: conformance suites of dynalite
// (test/updateItem.js) and alternator (test_gsi.py); the list of messages in API_TransactWriteItems,
// CancellationReasons.
func (t *Table) checkUpdated(item attr.Item, update *expr.Update) error {
	changed := func(name string) bool {
		return slices.ContainsFunc(expr.Actions(update), func(a ast.Action) bool { return a.Path.Path[0].Name == name })
	}
	for _, ix := range t.indexes {
		for _, a := range ix.own {
			v := item.Get(a.Name)
			if v.IsZero() {
				continue
			}
			if v.Kind() != a.Kind {
				return invalid("The update expression attempted to update the secondary index key to unsupported type")
			}
			if ix.key.CheckValue(a, v) != nil {
				return errUpdatedKey(v, changed(a.Name))
			}
		}
	}

	for _, ix := range t.all[len(t.indexes):] {
		for _, a := range ix.key.Partition() {
			if v := item.Get(a.Name); v.Kind() == a.Kind && changed(a.Name) && ix.key.CheckValue(a, v) != nil {
				return errUpdatedKey(v, true)
			}
		}
		if err := ix.checkVectorEntry(item, changed); err != nil {
			return err
		}
	}

	err := t.checkSize(item)
	if e, ok := errors.AsType[*Error](err); ok && e.Msg == msgItemSize {
		return invalid(msgUpdateSize)
	}
	return err
}

// errUpdatedKey returns the error for an index key whose value is empty or too long. changed reports whether the
// update has set the value. An empty value that the update has set gets an error with [Error.Whole].
func errUpdatedKey(v attr.Value, changed bool) error {
	if len(v.Raw()) > 0 {
		return invalid("The update expression attempted to update the secondary index key beyond allowed size limits")
	}
	kind := "string"
	if v.Kind() == attr.Binary {
		kind = "binary"
	}
	const text = "One or more parameter values are not valid. The update expression attempted to update a secondary " +
		"index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty " +
		"%s value."
	if changed {
		return invalidWhole(text, kind)
	}
	return invalid(text, kind)
}
