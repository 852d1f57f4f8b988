package ask

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// Question describes a Query, a Scan or a request about one item in one line, with values in
// place of placeholders. The attributes of a key are in the order of the schema, which is nil
// if the table does not exist.
func Question(in wire.Request, schema *keycond.Schema) string {
	switch in := in.(type) {
	case *wire.QueryInput:
		return query(TextsOf(in))
	case *wire.ScanInput:
		return "everything in " + query(TextsOf(in))
	case *wire.GetItemInput:
		return item("", in, schema, in.Key)
	case *wire.PutItemInput:
		return item("put ", in, schema, in.Item)
	case *wire.UpdateItemInput:
		return item("update ", in, schema, in.Key)
	case *wire.DeleteItemInput:
		return item("delete ", in, schema, in.Key)
	}
	return ""
}

func query(t *Texts) string {
	var b strings.Builder
	b.WriteString(t.TableName)
	values := t.values()
	if t.IndexName != "" {
		b.WriteString(" by index " + t.IndexName)
	}
	for _, part := range []struct{ word, expression string }{
		{" where ", t.KeyConditionExpression}, {", keeping ", t.FilterExpression}, {", only ", t.ProjectionExpression},
	} {
		if part.expression != "" {
			b.WriteString(part.word + literal.Write(part.expression, t.ExpressionAttributeNames, values))
		}
	}
	if t.ScanIndexForward != nil && !*t.ScanIndexForward {
		b.WriteString(", backwards")
	}
	if t.Limit != nil {
		fmt.Fprintf(&b, ", reading at most %d", *t.Limit)
	}
	if t.ConsistentRead {
		b.WriteString(", consistently")
	}
	return b.String()
}

func item(verb string, in wire.Request, schema *keycond.Schema, it attr.Item) string {
	return verb + "the " + Item(TextsOf(in).TableName, schema, it)
}

// Item describes an item of a table by its key attributes. It ignores the other attributes of the item.
func Item(table string, schema *keycond.Schema, it attr.Item) string {
	var attributes []keycond.Attribute
	if schema != nil {
		attributes = schema.Attributes()
	}
	var parts []string
	for _, a := range attributes {
		if v := it.Get(a.Name); !v.IsZero() {
			parts = append(parts, text.Name(a.Name)+" = "+text.Literal(v))
		}
	}
	return "item of " + table + " with " + strings.Join(parts, " and ")
}
