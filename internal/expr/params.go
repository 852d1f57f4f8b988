package expr

import "github.com/sortkey/sortkey/attr"

// Params are the names and values that the placeholders of expressions stand for. The zero Params have none. Parsed
// expressions keep the values, which nobody may change afterwards. Source:
// DG/Expressions.ExpressionAttributeNames.html, DG/Expressions.ExpressionAttributeValues.html.
type Params struct {
	// Names are names of attributes by placeholder, such as "#n"; nil for none.
	Names map[string]string
	// Values has an attribute for each placeholder of a value, such as ":v"; nil for none.
	Values attr.Item
}
