package load

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// Describe returns the request as text for people to read, with values instead of placeholders.
func (c *Cost) Describe() string {
	raw := wire.AppendJSON(nil, c.Request)
	if _, ok := c.Request.(*wire.TransactWriteItemsInput); !ok {
		return described(c.Request.Op().String(), raw)
	}
	var in struct{ TransactItems []map[string]json.RawMessage }
	_ = json.Unmarshal(raw, &in) // cannot fail, because package wire wrote the JSON
	var all []string
	for _, one := range in.TransactItems {
		for name, raw := range one {
			operation := map[string]string{"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}[name]
			all = append(all, described(cmp.Or(operation, name), raw))
		}
	}
	return "TransactWriteItems: " + strings.Join(all, "; ")
}

// described returns the text of one write from its JSON. It serves single writes and the writes in a transaction,
// because both have the same members.
func described(operation string, raw []byte) string {
	var in struct {
		TableName, UpdateExpression, ConditionExpression string
		Item, Key, ExpressionAttributeValues             json.RawMessage
		ExpressionAttributeNames                         map[string]string
	}
	_ = json.Unmarshal(raw, &in)
	out := operation + " " + in.TableName
	if it, err := attr.ParseItem(in.Item); err == nil {
		out += ", " + text.Count(it.Size(), "byte")
	}
	if key, err := attr.ParseItem(in.Key); err == nil {
		var all []string
		for _, v := range key.All() {
			all = append(all, text.Literal(v))
		}
		out += " " + strings.Join(all, ", ")
	}
	values, _ := attr.ParseItem(in.ExpressionAttributeValues)
	if in.UpdateExpression != "" {
		out += " " + literal.Write(in.UpdateExpression, in.ExpressionAttributeNames, values)
	}
	if in.ConditionExpression != "" {
		out += ", if " + literal.Write(in.ConditionExpression, in.ExpressionAttributeNames, values)
	}
	return out
}
