package load

import (
	"math"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// Describe returns the request in words, with its values in place of placeholders.
func (c *Cost) Describe() string {
	if c.Move != nil {
		return c.Move.describe()
	}
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
			all = append(all, part(one))
		}
		return "TransactWriteItems: " + strings.Join(all, "; ")
	}
	return ""
}

// part describes a write of a transaction.
func part(one wire.TransactWriteItem) string {
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

// describe says what is moved, and how.
func (m *Move) describe() string {
	s := "another " + m.Field.Name + " for one " + m.Entity.Name
	switch {
	case m.Path:
		s += ", and for everything under it"
	case m.Worst.Items > 1:
		s += ", and for the items that carry it"
	}

	how := "an update"
	if m.Rekeyed {
		how = "a delete and a put"
	}
	if m.Worst.Items > 1 {
		how += " of each"
	}
	switch {
	case m.Worst.Transactions == 1:
		how += ", in a transaction"
	case m.Worst.Transactions > 1:
		how += ", in transactions of up to " + text.Count(api.MaxTransactActions, "action")
	}
	return s + ": " + how
}

// String says what a value costs to move.
func (m *Moved) String() string {
	s := text.Count(int(math.Round(m.Items)), "item")
	switch {
	case m.Transactions > 1:
		s += " in " + text.Thousands(int(m.Transactions)) + " transactions, one after the other"
	case m.Transactions > 0:
		s += " in 1 transaction"
	}
	s += ", " + text.Amount(text.Figure(m.Units), "write unit")
	return s
}
