package load

import (
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// Describe returns the request in words, with its values in place of placeholders.
func (c *Cost) Describe() string {
	switch in := c.Request.(type) {
	case *wire.PutItemInput:
		return put(&wire.Put{
			TableName: in.TableName, Item: in.Item, ConditionExpression: in.ConditionExpression,
			ExpressionAttributeNames:  in.ExpressionAttributeNames,
			ExpressionAttributeValues: in.ExpressionAttributeValues,
		})
	case *wire.UpdateItemInput:
		return update(&wire.Update{
			TableName: in.TableName, Key: in.Key, UpdateExpression: in.UpdateExpression,
			ConditionExpression:       in.ConditionExpression,
			ExpressionAttributeNames:  in.ExpressionAttributeNames,
			ExpressionAttributeValues: in.ExpressionAttributeValues,
		})
	case *wire.DeleteItemInput:
		return "DeleteItem " + *in.TableName + " " + values(in.Key) +
			condition(in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	case *wire.TransactWriteItemsInput:
		var all []string
		for _, one := range in.TransactItems {
			all = append(all, written(one))
		}
		return "TransactWriteItems: " + strings.Join(all, "; ")
	}
	return ""
}

// written describes a write of a transaction.
func written(one wire.TransactWriteItem) string {
	switch {
	case one.Put != nil:
		return put(one.Put)
	case one.Update != nil:
		return update(one.Update)
	case one.Delete != nil:
		d := one.Delete
		return "DeleteItem " + *d.TableName + " " + values(d.Key) +
			condition(d.ConditionExpression, d.ExpressionAttributeNames, d.ExpressionAttributeValues)
	}
	c := one.ConditionCheck
	return "ConditionCheck " + *c.TableName + " " + values(c.Key) +
		condition(c.ConditionExpression, c.ExpressionAttributeNames, c.ExpressionAttributeValues)
}

func put(p *wire.Put) string {
	return "PutItem " + *p.TableName + ", " + text.Count(p.Item.Size(), "byte") +
		condition(p.ConditionExpression, p.ExpressionAttributeNames, p.ExpressionAttributeValues)
}

func update(u *wire.Update) string {
	return "UpdateItem " + *u.TableName + " " + values(u.Key) + " " +
		literal.Write(*u.UpdateExpression, u.ExpressionAttributeNames, u.ExpressionAttributeValues) +
		condition(u.ConditionExpression, u.ExpressionAttributeNames, u.ExpressionAttributeValues)
}

// condition describes the condition of a write, if it has one.
func condition(expression *string, names map[string]string, values attr.Item) string {
	if expression == nil {
		return ""
	}
	return ", if " + literal.Write(*expression, names, values)
}

// values returns the values of a key.
func values(key attr.Item) string {
	var all []string
	for _, v := range key.All() {
		all = append(all, text.Literal(v))
	}
	return strings.Join(all, ", ")
}
