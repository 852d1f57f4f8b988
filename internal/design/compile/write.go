package compile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/wire"
)

// An Item is the item that a write of a pattern concerns: the values of its fields, and the item
// before an update, or the one to put.
type Item struct {
	Values     map[string]string
	Attributes attr.Item
}

// Write returns the request of a pattern that writes, for one item of each of its writes. An update
// sets every attribute that depends on a field that it changes. The error is an [*Error].
func Write(p *model.Pattern, items []Item) (wire.Request, error) {
	var all []wire.TransactWriteItem
	for i := range p.Writes {
		one, err := write(&p.Writes[i], items[i])
		if err != nil {
			err.Pattern = p.Name
			return nil, err
		}
		all = append(all, one)
	}
	if p.Operation == model.Transaction {
		return &wire.TransactWriteItemsInput{TransactItems: all}, nil
	}

	one := all[0]
	switch {
	case one.Put != nil:
		return &wire.PutItemInput{
			TableName: one.Put.TableName, Item: one.Put.Item, ConditionExpression: one.Put.ConditionExpression,
			ExpressionAttributeNames:  one.Put.ExpressionAttributeNames,
			ExpressionAttributeValues: one.Put.ExpressionAttributeValues,
		}, nil
	case one.Update != nil:
		return &wire.UpdateItemInput{
			TableName: one.Update.TableName, Key: one.Update.Key, UpdateExpression: one.Update.UpdateExpression,
			ConditionExpression:       one.Update.ConditionExpression,
			ExpressionAttributeNames:  one.Update.ExpressionAttributeNames,
			ExpressionAttributeValues: one.Update.ExpressionAttributeValues,
		}, nil
	default:
		return &wire.DeleteItemInput{
			TableName: one.Delete.TableName, Key: one.Delete.Key, ConditionExpression: one.Delete.ConditionExpression,
			ExpressionAttributeNames:  one.Delete.ExpressionAttributeNames,
			ExpressionAttributeValues: one.Delete.ExpressionAttributeValues,
		}, nil
	}
}

// write returns one write as part of a transaction.
func write(w *model.Write, it Item) (wire.TransactWriteItem, *Error) {
	c := compiler{p: &model.Pattern{Table: w.Entity.Table, Entity: w.Entity, Parameters: w.Parameters}}
	c.names.Readable = true
	c.names.Resolve, c.names.Parameter = c.resolve, c.parameter
	fail := func(err error) (wire.TransactWriteItem, *Error) {
		e := asError(err)
		e.Pos = w.Pos
		return wire.TransactWriteItem{}, e
	}

	var update, condition *string
	if w.Operation == model.Update {
		text, err := c.update(w, it)
		if err != nil {
			return fail(err)
		}
		update = &text
	}
	if w.If != "" {
		text, err := c.names.Expression(w.If)
		if err != nil {
			return fail(err)
		}
		condition = &text
		env, err := expr.NewEnv(expr.Params{Names: c.names.Names(), Values: c.names.Values()})
		if err != nil {
			return fail(err)
		}
		if _, err := env.Condition(expr.ConditionExpression, text); err != nil {
			return fail(err)
		}
	}

	var key attr.Builder
	for _, a := range w.Entity.Table.Keys() {
		key.Add(a.Name, it.Attributes.Get(a.Name))
	}
	table, names, values := &w.Entity.Table.Name, c.names.Names(), c.names.Values()
	switch w.Operation {
	case model.Put:
		return wire.TransactWriteItem{Put: &wire.Put{
			TableName: table, Item: it.Attributes, ConditionExpression: condition,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		}}, nil
	case model.Update:
		return wire.TransactWriteItem{Update: &wire.Update{
			TableName: table, Key: key.Item(), UpdateExpression: update, ConditionExpression: condition,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		}}, nil
	case model.Delete:
		return wire.TransactWriteItem{Delete: &wire.Delete{
			TableName: table, Key: key.Item(), ConditionExpression: condition,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		}}, nil
	}
	return wire.TransactWriteItem{ConditionCheck: &wire.ConditionCheck{
		TableName: table, Key: key.Item(), ConditionExpression: condition,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}}, nil
}

// update returns the update expression that gives the attributes of an item the values that they have
// with the changed fields.
func (c *compiler) update(w *model.Write, it Item) (string, error) {
	values := maps.Clone(it.Values)
	for _, s := range w.Set {
		values[s.Field] = s.Args[0]
	}

	after, err := w.Entity.Item(values)
	if err != nil {
		return "", err
	}
	var set, remove []string
	for _, t := range w.Entity.Attributes {
		if !slices.ContainsFunc(w.Changes(), t.DependsOn) {
			continue
		}
		v := after.Get(t.Name)
		switch {
		case w.Entity.Table.Has(t.Name):
			return "", &Error{
				Attribute: t.Name,
				Msg: fmt.Sprintf(
					"%s is in %s, a key of table %s: an update cannot change a key",
					strings.Join(w.Changes(), ", "), t.Name, w.Entity.Table.Name,
				),
				Advice: "delete the item and put another in a transaction, or leave the field out of the key",
			}
		case v.Kind() != 0:
			set = append(set, c.names.Name(t.Name)+" = "+c.names.ValueLike(v, t.Name))
		case it.Attributes.Get(t.Name).Kind() != 0:
			remove = append(remove, c.names.Name(t.Name))
		}
	}

	var clauses []string
	if len(set) > 0 {
		clauses = append(clauses, "SET "+strings.Join(set, ", "))
	}
	if len(remove) > 0 {
		clauses = append(clauses, "REMOVE "+strings.Join(remove, ", "))
	}
	if len(clauses) == 0 {
		return "", &Error{
			Msg: fmt.Sprintf(
				"no attribute of entity %s depends on %s", w.Entity.Name, strings.Join(w.Changes(), ", "),
			),
			Advice: "add an attribute with the field, such as " + w.Changes()[0] + `: "{` + w.Changes()[0] + `}"`,
		}
	}
	return strings.Join(clauses, " "), nil
}
