package item

import (
	"errors"

	"github.com/sortkey/sortkey/attr"
)

// ErrForm is the error for bytes that are not a binary item.
var ErrForm = errors.New("item: not a binary item")

// Check returns b as an item if it is a well-formed item in canonical form, otherwise [ErrForm]. It is for the tests
// of packages that make items. Package attr itself checks all items that come from outside.
func Check(b []byte) (attr.Item, error) {
	if len(b) == 0 {
		return nil, nil
	}
	if _, err := attr.MarshalItem(attr.Item(b)); err != nil {
		return nil, ErrForm
	}
	return attr.Item(b), nil
}
