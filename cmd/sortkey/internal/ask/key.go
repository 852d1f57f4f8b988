package ask

import (
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

// Key returns the key of an item of table t, from one text for each attribute of the key.
func Key(t *keyschema.Table, texts []string) (attr.Item, error) {
	attributes := t.Key.Attributes()
	if len(texts) != len(attributes) {
		return nil, UsageError("give a value for each of "+names(attributes), "the key of table %s has %s, not %d",
			t.Name, text.Count(len(attributes), "attribute"), len(texts))
	}
	var b attr.Builder
	for i, a := range attributes {
		v, err := keyValue(a, texts[i])
		if err != nil {
			return nil, err
		}
		b.Add(a.Name, v)
	}
	return b.Item(), nil
}

// keyValue returns the value of a key attribute from its text, which may be in quotes.
func keyValue(a keycond.Attribute, text string) (attr.Value, error) {
	operand, err := unquote(text)
	if err != nil {
		return attr.Value{}, err
	}
	return value(a, operand)
}
