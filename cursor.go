package sortkey

import (
	"encoding/base64"
	"encoding/json"

	"github.com/sortkey/sortkey/attr"
)

// A cursor is the place where a page ends, as JSON in base64.
type cursor struct {
	Table string          `json:"t"`
	Index string          `json:"i,omitempty"`
	Key   json.RawMessage `json:"k"` // the LastEvaluatedKey in DynamoDB JSON
}

// cursor returns the text for a page that ended at a key; "" for the last page.
func (t *TableOf[T]) cursor(key attr.Item) string {
	if key == nil {
		return ""
	}
	text, err := json.Marshal(cursor{t.name, t.index, key.AppendJSON(nil)})
	if err != nil {
		return "" // AppendJSON writes valid JSON
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// startOf returns the key in a cursor, nil for "".
func (t *TableOf[T]) startOf(text string) (attr.Item, error) {
	if text == "" {
		return nil, nil
	}
	var c cursor
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(decoded, &c)
	}
	if err != nil {
		return nil, badCursor("After(%q): this is not the cursor of a page", text)
	}
	if c.Table != t.name || c.Index != t.index {
		return nil, badCursor("the cursor is of %s, not of %s", placeOf(c.Table, c.Index), placeOf(t.name, t.index))
	}
	key, err := attr.ParseItem(c.Key)
	if err != nil {
		return nil, badCursor("After(%q): %w", text, err)
	}
	return key, nil
}

func placeOf(table, index string) string {
	if index == "" {
		return "table " + table
	}
	return "index " + index + " of table " + table
}
