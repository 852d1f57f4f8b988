package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/wire"
)

func putCommand(env *app.Env) *cobra.Command {
	var f writeFlags
	cmd := &cobra.Command{
		Use:   "put TABLE ITEM|-",
		Short: "Write one item",
		Long: `Put writes an item, instead of the one with the same key if there is one. ITEM is a JSON
object, or - for one on standard input: DynamoDB JSON such as {"id": {"S": "x"}}, or plain
JSON such as {"id": "x"}, which has neither sets nor binary data. For many items, use
sortkey import.

` + ifHelp + env.SourceHelp(),
		Example: `  sortkey put Orders '{"customer": "c1", "order": 7, "total": 12.50}'
  sortkey put Orders '{"customer": {"S": "c1"}, "order": {"N": "8"}, "tags": {"SS": ["new"]}}'
  sortkey put Orders - --if 'attribute_not_exists(customer)' --data ./data < order.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return app.Usage("put", "put takes a table and an item in quotes, not %d arguments", len(args))
			}
			return nil
		},
		ValidArgsFunction: tableArgument(env, &f.SourceFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			it, err := readItem(env, args[1])
			if err != nil {
				return err
			}
			return f.run(cmd, env, args[0], func(ctx context.Context, w *writer) error { return w.put(ctx, it) })
		},
	}
	f.declare(cmd, env, "")
	return cmd
}

// readItem returns the item in an argument, or on standard input.
func readItem(env *app.Env, arg string) (attr.Item, error) {
	data, name := []byte(arg), "the item"
	switch {
	case arg == "-":
		name = "standard input"
		var err error
		if data, err = readInput(env, "-"); err != nil {
			return nil, advice.New("", "cannot read %s: %v", name, err)
		}
	case !strings.HasPrefix(strings.TrimSpace(arg), "{"):
		return nil, app.UsageError(
			`write the item as {"name": "value"}, or - and a file after <`, "%q is not an item", arg,
		)
	}
	it, err := transfer.DecodeItem(data)
	if err != nil {
		return nil, app.UsageError(
			`write plain JSON such as {"id": "x"}, or DynamoDB JSON such as {"id": {"S": "x"}}`, "%s: %v", name, err,
		)
	}
	return it, nil
}

func (w *writer) put(ctx context.Context, it attr.Item) error {
	in := &wire.PutItemInput{
		TableName: &w.table.Name, Item: it, ConditionExpression: w.condition,
		ExpressionAttributeNames: w.places.Names(), ExpressionAttributeValues: w.places.Values(),
		ReturnConsumedCapacity: new("TOTAL"), ReturnValues: new("ALL_OLD"),
	}
	if w.condition != nil {
		in.ReturnValuesOnConditionCheckFailure = new("ALL_OLD")
	}
	var out wire.PutItemOutput
	if err := w.send(ctx, in, &out); err != nil {
		return err
	}
	done := "created the"
	if out.Attributes.Len() > 0 {
		done = "replaced the"
	}
	return w.report(done, it, it, out.ConsumedCapacity)
}
