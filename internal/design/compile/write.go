package compile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/wire"
)

// An Item is the item that a write changes, with its field values and its attributes. For an update, they are the
// values before the update. For a put, they are the values to write.
type Item struct {
	Values     map[string]string
	Attributes attr.Item
}

// Write returns the request of a pattern that writes. items has one item for each of the pattern's writes, in their
// order. An update sets every attribute that depends on a changed field. The error is an [*Error].
func Write(p *model.Pattern, items []Item) (wire.Request, error) {
	var all []wire.TransactWriteItem
	for i := range p.Writes {
		one, err := write(&p.Writes[i], items[i])
		if err != nil {
			err.Pattern = p.Name
			return nil, err
		}

		switch p.Operation {
		case model.Put:
			return members[wire.PutItemInput](one), nil
		case model.Update:
			return members[wire.UpdateItemInput](one), nil
		case model.Delete:
			return members[wire.DeleteItemInput](one), nil
		}
		var of wire.TransactWriteItem
		switch p.Writes[i].Operation {
		case model.Put:
			of.Put = members[wire.Put](one)
		case model.Update:
			of.Update = members[wire.Update](one)
		case model.Delete:
			of.Delete = members[wire.Delete](one)
		default:
			of.ConditionCheck = members[wire.ConditionCheck](one)
		}
		all = append(all, of)
	}
	return &wire.TransactWriteItemsInput{TransactItems: all}, nil
}

// A request has the members of all write operations. Each operation uses some of them.
type request struct {
	TableName                             *string
	Item, Key                             attr.Item
	UpdateExpression, ConditionExpression *string
	ExpressionAttributeNames              map[string]string
	ExpressionAttributeValues             attr.Item
}

// members returns a new T whose fields have the values of the fields of the same name in from.
func members[T any](from any) *T {
	to := new(T)
	for field, v := range reflect.ValueOf(from).Fields() {
		if at := reflect.ValueOf(to).Elem().FieldByName(field.Name); at.IsValid() {
			at.Set(v)
		}
	}
	return to
}

// write returns the members of the request for one write.
func write(w *model.Write, it Item) (in request, _ *Error) {
	c := compiler{p: &model.Pattern{
		Table: w.Entity.Table, Entity: w.Entity, Filter: w.If, Parameters: w.Parameters,
	}}
	c.names.Readable = true
	c.names.Resolve, c.names.Parameter = c.resolve, c.parameter
	fail := func(err error) (request, *Error) {
		e := asError(err)
		e.Pos = w.Pos
		return in, e
	}

	if w.Operation == model.Update {
		text, err := c.update(w, it)
		if err != nil {
			return fail(err)
		}
		in.UpdateExpression = &text
	}
	var q wire.QueryInput // the compiler compiles a filter; a condition has the same form
	if err := c.expressions(&q); err != nil {
		return fail(err)
	}
	in.ConditionExpression = q.FilterExpression
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = q.ExpressionAttributeNames, q.ExpressionAttributeValues

	var key attr.Builder
	for _, a := range w.Entity.Table.Keys() {
		key.Add(a.Name, it.Attributes.Get(a.Name))
	}
	in.TableName, in.Item, in.Key = &w.Entity.Table.Name, it.Attributes, key.Item()
	return in, nil
}

// update returns the update expression for the attributes that depend on a changed field.
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
