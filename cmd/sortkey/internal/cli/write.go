package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/sdktarget"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/sdkvalue"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// valuesHelp is what the help of a command says about the values in an expression.
const valuesHelp = `Values are text in quotes, numbers, true, false, null, and lists, maps and sets in JSON:
["x", 1], {"city": "Oslo"}, {"SS": ["x", "y"]}. An object with one member that is named
like a type is DynamoDB JSON, as in sortkey put.`

// ifHelp is what the help of a command that writes says about --if.
const ifHelp = `With --if it writes only if the condition is true for the item as it is; otherwise the
exit code is 1. Write names and values as they are: 'attribute_exists(total) AND
status = "NEW"'. 'attribute_not_exists(KEY)' with the name of a key attribute is true if
there is no such item.`

// writeFlags are the flags of commands that write one item.
type writeFlags struct {
	app.SourceFlags
	outputFlags
	condition string
}

// declare declares the flags of a command that prints an item in the format byDefault.
func (f *writeFlags) declare(cmd *cobra.Command, env *app.Env, byDefault string) {
	f.SourceFlags.Declare(cmd, env)
	f.outputFlags.declare(cmd, byDefault)
	cmd.Flags().StringVar(&f.condition, "if", "", "write only if `CONDITION` is true; quote text in it")
	app.Complete(cmd, map[string]cobra.CompletionFunc{"if": expressionFlag(env)})
}

// refuseModel returns the error of a command that writes to a model.
func refuseModel(command, model string) error {
	if model == "" {
		return nil
	}
	return app.UsageError(
		"load it into a server with sortkey serve --load "+model+", and write to that with --endpoint; "+
			"or use sortkey shell "+model,
		"%s cannot write to --model: every command makes the items of a model anew", command,
	)
}

// run opens the source and the table of a command and calls write with it.
func (f *writeFlags) run(
	cmd *cobra.Command, env *app.Env, table string, write func(ctx context.Context, w *writer) error,
) (err error) {
	ctx, stop := app.Interruptible(cmd.Context())
	defer stop()
	if err := f.check(cmd.Name()); err != nil {
		return err
	}
	if err := refuseModel(cmd.Name(), f.Model); err != nil {
		return err
	}
	w := &writer{env: env, flags: f}
	if w.condition, err = ask.Expression(&w.places, f.condition); err != nil {
		return fmt.Errorf("--if: %w", err)
	}
	if w.src, err = env.Open(ctx, f.SourceFlags); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.src.Close()) }()
	if w.table, err = describe(ctx, w.src, table); err != nil {
		return err
	}
	return write(ctx, w)
}

// A writer writes one item of a table.
type writer struct {
	env       *app.Env
	flags     *writeFlags
	src       *app.Source
	table     *keyschema.Table
	condition *string // of --if, or nil
	places    literal.Placeholders
}

// send sends a request. If the condition is false, the error says what the item is.
func (w *writer) send(ctx context.Context, in wire.Input, out wire.Output) error {
	err := sdktarget.Send(ctx, w.src.Client, in, out)
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return filledIn(err, ask.TextsOf(in))
	}

	is := "there is no such item"
	if it, err := sdkvalue.Item(failed.Item); err == nil && it.Len() > 0 {
		is = "the item is " + text.Literal(attr.NewMap(it))
	}
	return &advice.Error{Msg: "nothing is written: the condition of --if is false", Advice: is, Err: err}
}

// report says what was done with an item, and prints the item if the flags ask for it.
func (w *writer) report(done string, key, it attr.Item, used *wire.ConsumedCapacity) error {
	if w.flags.format != "" && it.Len() > 0 {
		if err := w.flags.writeItem(w.env, it, w.table.Key); err != nil {
			return err
		}
		if w.flags.forPeople() {
			fmt.Fprintln(w.env.Stdout)
		}
	}
	if !w.flags.forPeople() {
		return nil
	}
	_, err := fmt.Fprintf(
		w.env.Stdout, "%s %s (%s)\n", done, ask.Item(w.table.Name, w.table.Key, key),
		text.Amount(fmt.Sprint(units(used)), "write unit"),
	)
	return err
}
