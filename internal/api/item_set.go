package api

import (
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

const msgDuplicateKeys = "Provided list of item keys contains duplicates"

// An itemSet holds the items that a request has named.
type itemSet map[string]bool

// add adds the item with a key, however the key and its table are written, and
// reports whether it is new. It returns an error for a key that does not match the
// table's schema.
func (s itemSet) add(t *table.Table, key attr.Item) (bool, error) {
	id, err := itemID(t, key)
	if err != nil || s[id] {
		return false, err
	}
	s[id] = true
	return true, nil
}

// itemID returns a text that no other item of any table has.
func itemID(t *table.Table, key attr.Item) (string, error) {
	partition, sort, err := t.Address(key)
	if err != nil {
		return "", err
	}
	return idAt(t, partition, sort), nil
}

// idAt returns the text of itemID for the item at an address.
func idAt(t *table.Table, partition, sort []byte) string {
	var buf [256]byte
	id := append(append(buf[:0], t.Name()...), 0)
	id = item.AppendKey(id, attr.MakeValue(attr.Binary, partition))
	return string(append(id, sort...))
}

// addAll adds the items with these keys and refuses two keys of one item.
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
