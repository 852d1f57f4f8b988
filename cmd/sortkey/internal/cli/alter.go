package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
)

type alterFlags struct {
	app.SourceFlags
	add, drop        []string
	expiry           string
	noExpiry         bool
	stream, noStream bool
}

func alterCommand(env *app.Env) *cobra.Command {
	f := alterFlags{SourceFlags: app.SourceFlags{Writes: true}}
	cmd := &cobra.Command{
		Use:   "alter TABLE",
		Short: "Add and delete indexes, time to live and the stream of a table",
		Long: `Alter changes a table, while others read and write it. It returns when new indexes are
built. If it is interrupted then, a server goes on building, and a folder is completed when it is
opened next. The key of a table, its local indexes and the key of an index cannot be changed.

` + schemaHelp + f.Help(env),
		Example: `  sortkey alter Orders --add-index 'ByCity: city / placed' --data ./data
  sortkey alter Orders --drop-index ByStatus --ttl expires
  sortkey alter Orders --no-ttl --stream`,
		Args:              oneTable("alter"),
		ValidArgsFunction: completion(env, operation.Tables, &f.SourceFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			return define(cmd, env, f.SourceFlags, args[0], f.alter)
		},
	}
	f.Declare(cmd, env)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.add, "add-index", nil, "add a global index (`NAME: KEY`) and build it; repeatable")
	flags.StringArrayVar(&f.drop, "drop-index", nil, "delete the global index `NAME`; repeatable")
	flags.StringVar(&f.expiry, "ttl", "", "let items expire at the time in `ATTRIBUTE`, in seconds since 1970")
	flags.BoolVar(&f.noExpiry, "no-ttl", false, "let items expire no more")
	flags.BoolVar(&f.stream, "stream", false, "record the changes of items in a stream")
	flags.BoolVar(&f.noStream, "no-stream", false, "record changes no more")
	cmd.MarkFlagsMutuallyExclusive("ttl", "no-ttl")
	cmd.MarkFlagsMutuallyExclusive("stream", "no-stream")
	cmd.MarkFlagsOneRequired("add-index", "drop-index", "ttl", "no-ttl", "stream", "no-stream")
	app.Complete(cmd, map[string]cobra.CompletionFunc{
		"add-index": cobra.NoFileCompletions, "ttl": cobra.NoFileCompletions,
		"drop-index": completion(env, operation.Indexes, &f.SourceFlags),
	})
	return cmd
}

// oneTable returns a check that the command has one argument, the name of a table.
func oneTable(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return app.Usage(command, "%s takes one table, not %d arguments", command, len(args))
		}
		return nil
	}
}

func (f *alterFlags) alter(ctx context.Context, d *definitions) error {
	have, err := d.describe(ctx)
	if err != nil {
		return err
	}

	additions, err := f.check(have) // before any change
	if err != nil {
		return err
	}
	if err := f.changeExpiry(ctx, d); err != nil {
		return err
	}
	if err := f.changeStream(ctx, d); err != nil {
		return err
	}
	for _, name := range f.drop {
		in := &wire.UpdateTableInput{
			TableName: &d.table,
			GlobalSecondaryIndexUpdates: []wire.GlobalSecondaryIndexUpdate{
				{Delete: &wire.DeleteGlobalSecondaryIndexAction{IndexName: &name}},
			},
		}
		if err := d.update(ctx, in, ""); err != nil {
			return err
		}
		if err := d.print("deleted index %s of table %s", name, d.table); err != nil {
			return err
		}
	}
	for _, in := range additions {
		name := *in.GlobalSecondaryIndexUpdates[0].Create.IndexName
		if err := d.update(ctx, in, name); err != nil {
			return err
		}
		now, err := d.describe(ctx)
		if err != nil {
			return err
		}
		if err := d.print("added index %s to table %s: %s", name, d.table, now.keys.Index(name)); err != nil {
			return err
		}
	}
	return nil
}

// check returns one request for each index that the flags add. It returns an error if an index to delete does not
// exist, or if an index to add already exists and the flags do not delete it.
func (f *alterFlags) check(have *described) (additions []*wire.UpdateTableInput, err error) {
	dropped := map[string]bool{}
	for _, name := range f.drop {
		if err := have.indexNamed(name); err != nil {
			return nil, err
		}
		dropped[name] = true
	}

	for _, value := range f.add {
		ix, err := ask.Index(value, false)
		if err != nil {
			return nil, fmt.Errorf("--add-index: %w", err)
		}
		if old := have.keys.Index(ix.Name); old != nil && !dropped[ix.Name] {
			return nil, advice.New("use another name, or delete it with --drop-index",
				"table %s has an index %s already: %s", *have.TableName, ix.Name, old)
		}
		in, err := keyschema.Addition(*have.TableName, have.AttributeDefinitions, ix)
		if err != nil {
			return nil, app.Usage("alter", "--add-index: %v", err)
		}
		have.provision(in)
		additions = append(additions, in)
	}
	return additions, nil
}

func (f *alterFlags) changeExpiry(ctx context.Context, d *definitions) error {
	if f.expiry == "" && !f.noExpiry {
		return nil
	}
	now, err := d.expiry(ctx)
	switch {
	case err != nil:
		return err
	case f.noExpiry && now == "":
		return d.print("table %s had no time to live", d.table)
	case f.expiry == now:
		return d.print("the time to live of table %s was attribute %s already", d.table, now)
	}
	if now != "" {
		if err := d.setExpiry(ctx, now, false); err != nil {
			return err
		}
	}
	if f.noExpiry {
		return d.print("table %s has no time to live", d.table)
	}
	if err := d.setExpiry(ctx, f.expiry, true); err != nil {
		return err
	}
	return d.print("the time to live of table %s is attribute %s", d.table, f.expiry)
}

func (f *alterFlags) changeStream(ctx context.Context, d *definitions) error {
	if !f.stream && !f.noStream {
		return nil
	}
	in := &wire.UpdateTableInput{TableName: &d.table, StreamSpecification: newStream()}
	done := "table %s has a stream"
	if f.noStream {
		in.StreamSpecification, done = &wire.StreamSpecification{StreamEnabled: new(false)}, "table %s has no stream"
	}
	if err := d.update(ctx, in, ""); err != nil {
		return err
	}
	return d.print(done, d.table)
}

func dropCommand(env *app.Env) *cobra.Command {
	source := app.SourceFlags{Writes: true}
	var yes bool
	cmd := &cobra.Command{
		Use:   "drop TABLE --yes",
		Short: "Delete a table with its items",
		Long: `Drop deletes a table with its items and indexes. Without --yes it only says what it would
delete, and the exit code is 2.` + source.Help(env),
		Example:           `  sortkey drop Orders --yes --data ./data`,
		Args:              oneTable("drop"),
		ValidArgsFunction: completion(env, operation.Tables, &source),
		RunE: func(cmd *cobra.Command, args []string) error {
			return define(cmd, env, source, args[0], func(ctx context.Context, d *definitions) error {
				return d.drop(ctx, yes)
			})
		},
	}
	source.Declare(cmd, env)
	cmd.Flags().BoolVar(&yes, "yes", false, "delete the table")
	return cmd
}

// drop deletes the table, or only says what it would delete.
func (d *definitions) drop(ctx context.Context, yes bool) error {
	have, err := d.describe(ctx)
	if err != nil {
		return err
	}
	if !yes {
		return app.UsageError("repeat the command with --yes",
			"nothing is deleted: drop would delete table %s with %s", d.table, have.items())
	}
	in := &wire.DeleteTableInput{TableName: &d.table}
	if _, _, err := d.src.Target.Do(ctx, in); err != nil {
		return err
	}
	return d.print("deleted table %s with %s", d.table, have.items())
}
