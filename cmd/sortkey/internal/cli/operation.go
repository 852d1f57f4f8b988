package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// An itemCommand is the command of an operation on items.
type itemCommand struct {
	env    *app.Env
	op     *operation.Operation
	source app.SourceFlags
	values operation.Values
	output outputFlags
}

func operationCommand(env *app.Env, op *operation.Operation) *cobra.Command {
	c := &itemCommand{env: env, op: op, source: app.SourceFlags{Writes: op.Writes}}
	cmd := &cobra.Command{
		Use:               op.Usage(),
		Short:             op.Short,
		Long:              op.CommandHelp() + c.source.Help(env),
		Example:           op.Command.Example,
		Args:              func(_ *cobra.Command, args []string) error { return op.Place(&c.values, args) },
		ValidArgsFunction: completion(env, op.Params[0].Complete, &c.source),
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	c.source.Declare(cmd, env)
	c.output.declare(cmd, op.Format)
	declareFlags(cmd, env, op, &c.source, &c.values)
	if cmd.Flags().Lookup("trace") != nil {
		app.Needs(cmd, map[string][]string{
			"trace": {"output=table", "output=lines", "output=json", "output=plain-json"},
		})
	}
	return cmd
}

// declareFlags declares the flags of an operation. The default of a flag is the value that v has before.
func declareFlags(
	cmd *cobra.Command, env *app.Env, op *operation.Operation, source *app.SourceFlags, v *operation.Values,
) {
	flags := cmd.Flags()
	for _, p := range op.Params {
		if p.Flag == "" {
			continue
		}
		switch to := p.To(v).(type) {
		case *string:
			flags.StringVarP(to, p.Flag, p.Letter, *to, p.FlagHelp())
		case *[]string:
			flags.StringSliceVarP(to, p.Flag, p.Letter, *to, p.FlagHelp())
		case *int32:
			flags.Int32VarP(to, p.Flag, p.Letter, *to, p.FlagHelp())
		case *bool:
			flags.BoolVarP(to, p.Flag, p.Letter, *to, p.FlagHelp())
		}
		if p.Least != nil {
			app.AtLeast(cmd, map[string]string{p.Flag: fmt.Sprint(*p.Least)})
		}
		if p.Complete != operation.Nothing {
			app.Complete(cmd, map[string]cobra.CompletionFunc{p.Flag: completion(env, p.Complete, source)})
		}
	}
}

// run sends the request of the command, and prints the answer.
func (c *itemCommand) run(ctx context.Context) (err error) {
	v := &c.values
	if string(v.Item) == "-" {
		if v.Item, err = readInput(c.env, "-"); err != nil {
			return advice.New("", "cannot read standard input: %v", err)
		}
	}
	if err := c.op.Parse(v); err != nil {
		return err
	}
	if err := c.output.check(c.op.Name); err != nil {
		return err
	}
	if c.source.Model != "" && c.op.Changes(v) {
		return app.UsageError(
			"load it into a server with sortkey serve --load "+c.source.Model+", and write to that with --endpoint; "+
				"or use sortkey shell "+c.source.Model,
			"%s cannot write to --model: every command makes the items of a model anew", c.op.Name,
		)
	}

	src, err := c.env.Open(ctx, c.source)
	if err != nil {
		return err
	}
	defer func() { err = src.End(err) }()
	// If this command cannot parse a PartiQL statement, it does not know which table to describe. It nevertheless
	// sends the statement, because the server may be able to parse it.
	var t *keyschema.Table
	if v.Wrong() == nil {
		if t, err = describe(ctx, src, v.Table); err != nil {
			return err
		}
	}
	in, err := c.op.Request(v, t)
	if err != nil {
		return err
	}

	ans, err := readPages(ctx, src, in, v)
	if err != nil {
		return c.refused(ctx, src, in, err)
	}
	return c.print(ans, t)
}

// print prints the answer in the format of the flags.
func (c *itemCommand) print(ans *answer, t *keyschema.Table) error {
	ans.wrote = c.op.Changes(&c.values)
	switch {
	case c.op.Rows && ans.wrote && len(ans.items) == 0 && c.output.forPeople():
		_, err := fmt.Fprintf(c.env.Stdout, "executed (%s)\n", text.Amount(fmt.Sprint(ans.units), "write unit"))
		return err
	case c.op.Rows && t == nil:
		return ans.write(c.env, &c.output, nil, false)
	case c.op.Rows:
		return c.printRows(ans, t)
	case c.op.Writes:
		return c.printWrite(ans, t)
	case ans.item == nil:
		return advice.New("", "there is no %s", ask.Item(t.Name, t.Key, ans.key()))
	}
	return c.output.writeItem(c.env, ans.item, t.Key)
}

// printRows prints the rows and, with --trace, the slices that the request read.
func (c *itemCommand) printRows(ans *answer, t *keyschema.Table) error {
	if c.values.Trace && len(ans.slices) == 0 {
		fmt.Fprintln(c.env.Stderr, "sortkey: this server does not report traces (sortkey serve does)")
	}
	return ans.write(c.env, &c.output, t.Schema(c.values.Index), c.values.Trace)
}

// printWrite prints what the command did with the item. If the flags ask for the item, it first prints the item.
func (c *itemCommand) printWrite(ans *answer, t *keyschema.Table) error {
	it := ans.item
	if put, ok := ans.in.(*wire.PutItemInput); ok {
		it = put.Item // ans.item is the item that the put replaced
	}
	if c.output.format != "" && it.Len() > 0 {
		if err := c.output.writeItem(c.env, it, t.Key); err != nil {
			return err
		}
		if c.output.forPeople() {
			fmt.Fprintln(c.env.Stdout)
		}
	}
	if !c.output.forPeople() {
		return nil
	}
	_, err := fmt.Fprintf(
		c.env.Stdout, "%s %s (%s)\n", c.op.Done(ans.item), ask.Item(t.Name, t.Key, ans.key()),
		text.Amount(fmt.Sprint(ans.units), "write unit"),
	)
	return err
}

// key returns the key in the request. For a put it returns the whole item, which contains the key.
func (ans *answer) key() attr.Item {
	for ref := range wire.Refs(ans.in) {
		switch {
		case ref.Key != nil:
			return ref.Key
		case ref.Item != nil:
			return ref.Item
		}
	}
	return nil
}
