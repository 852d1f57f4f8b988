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
		return query(in)
	case *wire.ScanInput:
		return "everything in " + query(&wire.QueryInput{
			TableName: in.TableName, IndexName: in.IndexName, FilterExpression: in.FilterExpression,
			ProjectionExpression: in.ProjectionExpression, Limit: in.Limit, ConsistentRead: in.ConsistentRead,
			ExpressionAttributeNames:  in.ExpressionAttributeNames,
			ExpressionAttributeValues: in.ExpressionAttributeValues,
		})
	case *wire.GetItemInput:
		return item("", in.TableName, schema, in.Key)
	case *wire.PutItemInput:
		return item("put ", in.TableName, schema, in.Item)
	case *wire.UpdateItemInput:
		return item("update ", in.TableName, schema, in.Key)
	case *wire.DeleteItemInput:
		return item("delete ", in.TableName, schema, in.Key)
	}
	return ""
}

func query(in *wire.QueryInput) string {
	fill := func(e *string) string {
		return literal.Write(*e, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	}
	var b strings.Builder
	b.WriteString(source(in.TableName, in.IndexName))
	if in.KeyConditionExpression != nil {
		b.WriteString(" where " + fill(in.KeyConditionExpression))
	}
	if in.FilterExpression != nil {
		b.WriteString(", keeping " + fill(in.FilterExpression))
	}
	if in.ProjectionExpression != nil {
		b.WriteString(", only " + fill(in.ProjectionExpression))
	}
	if in.ScanIndexForward != nil && !*in.ScanIndexForward {
		b.WriteString(", backwards")
	}
	if in.Limit != nil {
		fmt.Fprintf(&b, ", reading at most %d", *in.Limit)
	}
	if in.ConsistentRead != nil && *in.ConsistentRead {
		b.WriteString(", consistently")
	}
	return b.String()
}

func item(verb string, table *string, schema *keycond.Schema, it attr.Item) string {
	return verb + "the " + Item(source(table, nil), schema, it)
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

func source(table, index *string) string {
	name := ""
	if table != nil {
		name = *table
	}
	if index != nil {
		return name + " by index " + *index
	}
	return name
}
