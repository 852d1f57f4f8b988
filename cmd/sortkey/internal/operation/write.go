package operation

import (
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
)

// expressions is the help about values in an expression.
const expressions = `Values are text in double quotes, numbers, true, false, null, and lists, maps and sets in JSON:
["x", 1], {"city": "Oslo"}, {"SS": ["x", "y"]}. An object with one member that is named like a type is DynamoDB JSON, as
in put.`

// ifs is the help about the condition of a write.
const ifs = `A condition (--if) is checked against the item that is there. If it is false, nothing is written, and that
is an error. Write names and values as they are: attribute_exists(total) AND status = "NEW". attribute_not_exists(KEY)
with the name of a key attribute is true if there is no such item.`

// Put writes one item.
var Put = &Operation{
	Name:  "put",
	Short: "Write one item",
	Does:  `writes an item, instead of the one with the same key if there is one, as DynamoDB's PutItem does`,
	Notes: []string{`The item is a JSON object: DynamoDB JSON such as {"id": {"S": "x"}}, or plain JSON such as
{"id": "x"}, which has neither sets nor binary data.`, ifs},
	Command: Help{
		More: `With - instead of the item, put reads it from standard input. For many items, use sortkey import.`,
		Example: `  sortkey put Orders '{"customer": "c1", "order": 7, "total": 12.50}'
  sortkey put Orders '{"customer": {"S": "c1"}, "order": {"N": "8"}, "tags": {"SS": ["new"]}}'
  sortkey put Orders - --if 'attribute_not_exists(customer)' --data ./data < order.json`,
	},
	Tool: Help{
		More: `The answer is JSON with the item that was replaced, or null, and the write units, which are those of the
table and all its indexes.`,
		Example: `{"table": "Shop", "item": {"PK": "CUSTOMER#C1", "SK": "ORDER#O9", "total": 12.50}}
{"table": "Shop", "item": {"PK": {"S": "C1"}, "SK": {"S": "x"}, "tags": {"SS": ["new"]}},
"if": "attribute_not_exists(PK)"}`,
	},
	Params: []*Param{
		table,
		{
			Name: "item", Arg: "ITEM|-", What: "an item in quotes", Kind: Object, Required: true,
			Help: "the item with its key, in plain JSON or DynamoDB JSON", To: func(v *Values) any { return &v.Item },
		},
		condition,
	},
	Writes: true, Returned: "replaced",
	Done: func(replaced attr.Item) string {
		if replaced.Len() > 0 {
			return "replaced the"
		}
		return "created the"
	},
	request: func(v *Values, t *keyschema.Table) (wire.Request, error) {
		return &wire.PutItemInput{
			TableName: &t.Name, Item: v.item, ConditionExpression: v.condition,
			ExpressionAttributeNames: v.places.Names(), ExpressionAttributeValues: v.places.Values(),
			ReturnConsumedCapacity: new("TOTAL"), ReturnValues: new("ALL_OLD"),
			ReturnValuesOnConditionCheckFailure: v.onFailure(),
		}, nil
	},
}

// Update changes attributes of one item.
var Update = &Operation{
	Name:  "update",
	Short: "Change attributes of one item",
	Does: `changes attributes of the item with a key, and creates the item if there is none, as DynamoDB's
UpdateItem does`,
	Notes: []string{
		`An update has clauses SET, REMOVE, ADD and DELETE, with names and values written out. A name such as set can
stand in backquotes. Key attributes cannot change: put a new item and delete the old one. ` + expressions, keys, ifs,
	},
	Command: Help{
		Lead: `It prints the item as it is then.`,
		More: hyphens,
		Example: `  sortkey update Orders c1 7 'SET status = "PAID", total = total + 1.50 REMOVE coupon'
  sortkey update Orders c1 7 'ADD views 1' --data ./data
  sortkey update Orders c1 7 'SET status = "SENT"' --if 'status = "PAID"' --json`,
	},
	Tool: Help{
		More: `The answer is JSON with the item as it is then and the write units.`,
		Example: `{"table": "Shop", "partition": "CUSTOMER#C1", "sort": "ORDER#O1",
"update": "SET total = total + 5, note = \"gift\" REMOVE coupon"}`,
	},
	Params: []*Param{
		table, keyPartition, keySort,
		{
			Name: "update", Arg: "UPDATE", What: "an update in quotes, such as 'SET total = 1'", Required: true,
			Help: "clauses SET, REMOVE, ADD and DELETE with names and values written out",
			To:   func(v *Values) any { return &v.Update },
		},
		condition,
	},
	Writes: true, Format: "lines", Returned: "item",
	Done: func(attr.Item) string { return "updated the" },
	request: func(v *Values, t *keyschema.Table) (wire.Request, error) {
		in := &wire.UpdateItemInput{
			TableName: &t.Name, ConditionExpression: v.condition,
			ReturnConsumedCapacity: new("TOTAL"), ReturnValues: new("ALL_NEW"),
			ReturnValuesOnConditionCheckFailure: v.onFailure(),
		}
		var err error
		if in.Key, err = v.key(t); err != nil {
			return nil, err
		}
		if in.UpdateExpression, err = ask.Update(&v.places, v.Update); err != nil {
			return nil, err
		}
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = v.places.Names(), v.places.Values()
		return in, nil
	},
}

// Delete deletes one item.
var Delete = &Operation{
	Name:  "delete",
	Short: "Delete one item",
	Does:  `deletes the item with a key, as DynamoDB's DeleteItem does`,
	Notes: []string{keys, ifs},
	Command: Help{
		Lead: `If there is none, it says so, and the exit code is 0. With -o or --json it prints the item that it
deleted.`,
		More: hyphens,
		Example: `  sortkey delete Orders c1 7
  sortkey delete Orders c1 7 --if 'status = "NEW"' --json --data ./data`,
	},
	Tool: Help{
		More:    `The answer is JSON with the item that was deleted, or null if there was none, and the write units.`,
		Example: `{"table": "Shop", "partition": "CUSTOMER#C1", "sort": "ORDER#O1", "if": "total < 10"}`,
	},
	Params: []*Param{table, keyPartition, keySort, condition},
	Writes: true, Returned: "deleted",
	Done: func(deleted attr.Item) string {
		if deleted.Len() > 0 {
			return "deleted the"
		}
		return "deleted nothing: there is no"
	},
	request: func(v *Values, t *keyschema.Table) (wire.Request, error) {
		key, err := v.key(t)
		return &wire.DeleteItemInput{
			TableName: &t.Name, Key: key, ConditionExpression: v.condition,
			ExpressionAttributeNames: v.places.Names(), ExpressionAttributeValues: v.places.Values(),
			ReturnConsumedCapacity: new("TOTAL"), ReturnValues: new("ALL_OLD"),
			ReturnValuesOnConditionCheckFailure: v.onFailure(),
		}, err
	},
}

// onFailure returns the value of ReturnValuesOnConditionCheckFailure: if the condition is false, the error then
// contains the item. Without a condition, onFailure returns nil.
func (v *Values) onFailure() *string {
	if v.condition == nil {
		return nil
	}
	return new("ALL_OLD")
}
