package api

import (
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

const msgDuplicateKeys = "Provided list of item keys contains duplicates"

// An itemSet is a set of items. Its keys are the ids that [itemID] returns.
type itemSet map[string]bool

// add adds the item with a key and reports whether the item is new. If two keys differ only in their spelling, such
// as the numbers 1 and 1.0, they are keys of the same item. If the key does not match the schema of the table, add
// returns an error.
func (s itemSet) add(t *table.Table, key attr.Item) (bool, error) {
	id, err := itemID(t, key)
	if err != nil || s[id] {
		return false, err
	}
	s[id] = true
	return true, nil
}

// itemID returns a string that identifies an item among the items of all tables.
func itemID(t *table.Table, key attr.Item) (string, error) {
	partition, sort, err := t.Address(key)
	if err != nil {
		return "", err
	}
	return idAt(t, partition, sort), nil
}

// idAt returns the [itemID] of the item whose partition key and sort key have these encodings.
func idAt(t *table.Table, partition, sort []byte) string {
	var buf [256]byte
	id := append(append(buf[:0], t.Name()...), 0)
	id = item.AppendKey(id, attr.MakeValue(attr.Binary, partition))
	return string(append(id, sort...))
}

// addAll adds the items with these keys. It returns an error if an item is already in the set.
func (s itemSet) addAll(t *table.Table, keys []attr.Item) error {
	for _, key := range keys {
		ok, err := s.add(t, key)
		if err != nil {
			return err
		}
		if !ok {
			return wire.Validation(msgDuplicateKeys)
		}
	}
	return nil
}
