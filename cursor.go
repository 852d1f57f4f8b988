package sortkey

import (
	"encoding/base64"
	"encoding/json"

	"github.com/sortkey/sortkey/attr"
)

// A cursor is the position at which a page ends. [Page].Cursor is the JSON of a cursor in base64.
type cursor struct {
	Table string          `json:"t"`
	Index string          `json:"i,omitempty"`
	Key   json.RawMessage `json:"k"` // the LastEvaluatedKey in DynamoDB JSON
}

// cursorOf returns the text of the cursor for a page of a table or index. key is the key at which the page ended. A
// nil key means that the page was the last one, and gives "".
func cursorOf(table, index string, key attr.Item) string {
	if key == nil {
		return ""
	}
	return encodeCursor(cursor{table, index, key.AppendJSON(nil)})
}

// encodeCursor returns the text of a cursor, which is its JSON in base64.
func encodeCursor(c any) string {
	text, err := json.Marshal(c)
	if err != nil {
		return "" // cannot happen, as cursors can always be encoded
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// decodeCursor decodes the text of a cursor into what c points to.
func decodeCursor(text string, c any) error {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	return json.Unmarshal(decoded, c)
}

// startOf returns the key at which the page with this cursor ended, or nil for "". It returns an error if the cursor
// belongs to another table or index.
func startOf(table, index, text string) (attr.Item, error) {
	if text == "" {
		return nil, nil
	}
	var c cursor
	if decodeCursor(text, &c) != nil || c.Table == "" {
		return nil, badCursor("After(%q): this is not the cursor of a page", text)
	}
	if c.Table != table || c.Index != index {
		return nil, badCursor("the cursor is of %s, not of %s", placeOf(c.Table, c.Index), placeOf(table, index))
	}
	key, err := attr.ParseItem(c.Key)
	switch {
	case err != nil:
		return nil, badCursor("After(%q): %w", text, err)
	case key == nil: // a cursor with {"k":null}, which would silently begin at the start of the table
		return nil, badCursor("After(%q): it has no key", text)
	}
	return key, nil
}
