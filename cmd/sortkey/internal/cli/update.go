package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/wire"
)

func updateCommand(env *app.Env) *cobra.Command {
	var f writeFlags
	cmd := &cobra.Command{
		Use:   "update TABLE KEY… UPDATE",
		Short: "Change attributes of one item",
		Long: `Update changes attributes of the item with a key, creates the item if there is none, and
prints it as it is then. UPDATE is an update expression with names and values written
out: clauses SET, REMOVE, ADD and DELETE. A name such as set can stand in backquotes.
` + valuesHelp + `

` + keyHelp + `

` + ifHelp + env.SourceHelp(),
		Example: `  sortkey update Orders c1 7 'SET status = "PAID", total = total + 1.50 REMOVE coupon'
  sortkey update Orders c1 7 'ADD views 1' --data ./data
  sortkey update Orders c1 7 'SET status = "SENT"' --if 'status = "PAID"' --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return app.Usage("update", "update needs a key and an update in quotes, such as 'SET total = 1'")
			}
			return needKey("update")(cmd, args)
		},
		ValidArgsFunction: itemArguments(env, &f.SourceFlags, true),
		RunE: func(cmd *cobra.Command, args []string) error {
			last := len(args) - 1
			return f.run(cmd, env, args[0], func(ctx context.Context, w *writer) error {
				return w.update(ctx, args[1:last], args[last])
			})
		},
	}
	f.declare(cmd, env, formatLines)
	return cmd
}

func (w *writer) update(ctx context.Context, texts []string, update string) error {
	key, err := ask.Key(w.table, texts)
	if err != nil {
		return err
	}
	in := &wire.UpdateItemInput{
		TableName: &w.table.Name, Key: key, ConditionExpression: w.condition,
		ReturnConsumedCapacity: new("TOTAL"), ReturnValues: new("ALL_NEW"),
	}
	if w.condition != nil {
		in.ReturnValuesOnConditionCheckFailure = new("ALL_OLD")
	}
	if in.UpdateExpression, err = ask.Update(&w.places, update); err != nil {
		return err
	}
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = w.places.Names(), w.places.Values()
	var out wire.UpdateItemOutput
	if err := w.send(ctx, in, &out); err != nil {
		return err
	}
	return w.report("updated the", key, out.Attributes, out.ConsumedCapacity)
}
