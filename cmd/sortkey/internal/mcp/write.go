package mcp

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/sdktarget"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/sdkvalue"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// addWrites adds the tools that write items.
func (s *Server) addWrites() {
	where := "The first write makes a fork, a copy that these tools use from then on; the database itself does not " +
		"change. See fork_diff and fork_discard."
	switch {
	case s.o.Write:
		where = "It writes to the database itself."
	case !s.forkable():
		where = "The user has not allowed writes to this database, so it is refused."
	}
	for _, t := range []*tool{&putTool, &updateTool, &deleteTool} {
		described := *t
		described.description += "\n" + where
		if !s.o.Write {
			described.effect = adds // the fork can be thrown away
		}
		switch t {
		case &putTool:
			add(s, described, s.put)
		case &updateTool:
			add(s, described, s.update)
		case &deleteTool:
			add(s, described, s.delete)
		}
	}
}

type putArgs struct {
	Table word     `json:"table" jsonschema:"name of the table"`
	Item  document `json:"item" jsonschema:"the item with its key, in plain JSON or DynamoDB JSON"`
	If    string   `json:"if,omitempty" jsonschema:"write only if this condition is true for the item that is there"`
}

var putTool = tool{name: "put", title: "Write one item", effect: changes, description: `
Writes a whole item, instead of the one with the same key if there is one, as DynamoDB's PutItem does. The
answer is JSON with the item that was replaced, or null, and the write units, which are those of the table and
all its indexes.
Examples: {"table": "Shop", "item": {"PK": "CUSTOMER#C1", "SK": "ORDER#O9", "total": 12.50}}
{"table": "Shop", "item": {"PK": {"S": "C1"}, "SK": {"S": "x"}, "tags": {"SS": ["new"]}},
"if": "attribute_not_exists(PK)"}`}

func (s *Server) put(ctx context.Context, in putArgs) (string, error) {
	it, err := transfer.DecodeItem(in.Item)
	if err != nil {
		return "", advice.New(
			`write plain JSON such as {"id": "x"}, or DynamoDB JSON such as {"id": {"S": "x"}}`, "the item: %v", err,
		)
	}
	return s.change(ctx, "put", in.Table, in.If, func(w *writer) error {
		var out wire.PutItemOutput
		err := w.send(ctx, it, &wire.PutItemInput{
			TableName: &w.table.Name, Item: it, ConditionExpression: w.condition,
			ExpressionAttributeNames: w.places.Names(), ExpressionAttributeValues: w.places.Values(),
			ReturnConsumedCapacity: new("TOTAL"), ReturnValues: new("ALL_OLD"),
			ReturnValuesOnConditionCheckFailure: w.onFailure(),
		}, &out)
		return w.done("replaced", out.Attributes, out.ConsumedCapacity, err)
	})
}

type updateArgs struct {
	Table     word   `json:"table" jsonschema:"name of the table"`
	Partition word   `json:"partition" jsonschema:"value of the partition key"`
	Sort      word   `json:"sort,omitempty" jsonschema:"value of the sort key, if the table has one"`
	Update    string `json:"update" jsonschema:"clauses SET, REMOVE, ADD and DELETE with names and values written out"`
	If        string `json:"if,omitempty" jsonschema:"write only if this condition is true for the item that is there"`
}

var updateTool = tool{name: "update", title: "Change attributes of one item", effect: changes, description: `
Changes attributes of the item with a key, and creates the item if there is none, as DynamoDB's UpdateItem does.
Key attributes cannot change: put a new item and delete the old one. Text in an update is in double quotes;
lists and maps are JSON. The answer is JSON with the item as it is then and the write units.
Example: {"table": "Shop", "partition": "CUSTOMER#C1", "sort": "ORDER#O1",
"update": "SET total = total + 5, note = \"gift\" REMOVE coupon"}`}

func (s *Server) update(ctx context.Context, in updateArgs) (string, error) {
	return s.change(ctx, "update", in.Table, in.If, func(w *writer) error {
		key, err := keyOf(w.table, in.Partition, in.Sort)
		if err != nil {
			return err
		}
		input := &wire.UpdateItemInput{
			TableName: &w.table.Name, Key: key, ConditionExpression: w.condition,
			ReturnConsumedCapacity: new("TOTAL"), ReturnValues: new("ALL_NEW"),
			ReturnValuesOnConditionCheckFailure: w.onFailure(),
		}
		if input.UpdateExpression, err = ask.Update(&w.places, in.Update); err != nil {
			return asked(err)
		}
		input.ExpressionAttributeNames, input.ExpressionAttributeValues = w.places.Names(), w.places.Values()
		var out wire.UpdateItemOutput
		err = w.send(ctx, key, input, &out)
		return w.done("item", out.Attributes, out.ConsumedCapacity, err)
	})
}

type deleteArgs struct {
	Table     word   `json:"table" jsonschema:"name of the table"`
	Partition word   `json:"partition" jsonschema:"value of the partition key"`
	Sort      word   `json:"sort,omitempty" jsonschema:"value of the sort key, if the table has one"`
	If        string `json:"if,omitempty" jsonschema:"delete only if this condition is true for the item that is there"`
}

var deleteTool = tool{name: "delete", title: "Delete one item", effect: changes, description: `
Deletes the item with a key, as DynamoDB's DeleteItem does. The answer is JSON with the item that was deleted,
or null if there was none, and the write units.
Example: {"table": "Shop", "partition": "CUSTOMER#C1", "sort": "ORDER#O1", "if": "total < 10"}`}

func (s *Server) delete(ctx context.Context, in deleteArgs) (string, error) {
	return s.change(ctx, "delete", in.Table, in.If, func(w *writer) error {
		key, err := keyOf(w.table, in.Partition, in.Sort)
		if err != nil {
			return err
		}
		var out wire.DeleteItemOutput
		err = w.send(ctx, key, &wire.DeleteItemInput{
			TableName: &w.table.Name, Key: key, ConditionExpression: w.condition,
			ExpressionAttributeNames: w.places.Names(), ExpressionAttributeValues: w.places.Values(),
			ReturnConsumedCapacity: new("TOTAL"), ReturnValues: new("ALL_OLD"),
			ReturnValuesOnConditionCheckFailure: w.onFailure(),
		}, &out)
		return w.done("deleted", out.Attributes, out.ConsumedCapacity, err)
	})
}

// A writer writes one item.
type writer struct {
	s         *Server
	side      *side
	tool      string
	table     *keyschema.Table
	condition *string
	places    literal.Placeholders
	question  string
	answer    string
}

// change runs a tool that writes one item of a table.
func (s *Server) change(ctx context.Context, tool string, table word, condition string, run func(*writer) error) (
	answer string, err error,
) {
	err = s.write(ctx, func(d *side) error {
		w := &writer{s: s, side: d, tool: tool}
		if w.table, err = d.describe(ctx, string(table)); err != nil {
			return err
		}
		if w.condition, err = ask.Expression(&w.places, condition); err != nil {
			return asked(err)
		}
		err := run(w)
		answer = w.answer
		return err
	})
	return answer, err
}

// onFailure says that the service returns the item for which a condition is false.
func (w *writer) onFailure() *string {
	if w.condition == nil {
		return nil
	}
	return new("ALL_OLD")
}

// send sends a request about the item with a key.
func (w *writer) send(ctx context.Context, key attr.Item, in wire.Input, out wire.Output) error {
	w.question = w.tool + " the " + ask.Item(w.table.Name, w.table.Key, key)
	err := sdktarget.Send(ctx, w.side.client, in, out)
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		is := "there is no such item"
		if it, err := sdkvalue.Item(failed.Item); err == nil && it.Len() > 0 {
			is, _ = w.s.cut("the item is "+text.Literal(attr.NewMap(it)), 0)
		}
		return &advice.Error{Msg: "nothing is written: the condition is false", Advice: is, Err: err}
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return service(&explain.ServiceError{Code: api.ErrorCode(), Message: api.ErrorMessage()}, in)
	}
	return err
}

// done logs the request, and answers with an item under a name.
func (w *writer) done(name string, it attr.Item, used *wire.ConsumedCapacity, err error) error {
	line := request{Tool: w.tool, Request: w.question, Writes: units(used)}
	if err != nil {
		line.Error = codeOf(err)
		w.s.log.add(line)
		return err
	}
	w.s.log.add(line)
	var o object
	o.add("done", w.question)
	o.add("writeUnits", units(used))
	if it.Len() == 0 {
		o.add(name, nil)
	} else {
		raw, note := w.s.shown(it, nil, w.table.Key)
		o.add(name, raw)
		if note != "" {
			o.add("note", note)
		}
	}
	o.add("writes", w.s.writes(w.side))
	w.answer, err = o.text()
	return err
}
