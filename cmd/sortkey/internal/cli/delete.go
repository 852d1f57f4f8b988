package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/wire"
)

func deleteCommand(env *app.Env) *cobra.Command {
	var f writeFlags
	cmd := &cobra.Command{
		Use:   "delete TABLE KEY…",
		Short: "Delete one item",
		Long: `Delete deletes the item with a key. If there is none, it says so, and the exit code is 0.
With -o or --json it prints the item that it deleted.

` + keyHelp + `

` + ifHelp + env.SourceHelp(),
		Example: `  sortkey delete Orders c1 7
  sortkey delete Orders c1 7 --if 'status = "NEW"' --json --data ./data`,
		Args:              needKey("delete"),
		ValidArgsFunction: itemArguments(env, &f.SourceFlags, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, env, args[0], func(ctx context.Context, w *writer) error {
				return w.delete(ctx, args[1:])
			})
		},
	}
	f.declare(cmd, env, "")
	return cmd
}

func (w *writer) delete(ctx context.Context, texts []string) error {
	key, err := ask.Key(w.table, texts)
	if err != nil {
		return err
	}
	in := &wire.DeleteItemInput{
		TableName: &w.table.Name, Key: key, ConditionExpression: w.condition,
		ExpressionAttributeNames: w.places.Names(), ExpressionAttributeValues: w.places.Values(),
		ReturnConsumedCapacity: new("TOTAL"), ReturnValues: new("ALL_OLD"),
	}
	if w.condition != nil {
		in.ReturnValuesOnConditionCheckFailure = new("ALL_OLD")
	}
	var out wire.DeleteItemOutput
	if err := w.send(ctx, in, &out); err != nil {
		return err
	}
	done := "deleted the"
	if out.Attributes.Len() == 0 {
		done = "deleted nothing: there is no"
	}
	return w.report(done, key, out.Attributes, out.ConsumedCapacity)
}
