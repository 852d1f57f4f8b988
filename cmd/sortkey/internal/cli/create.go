package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// schemaHelp is the part about keys and indexes in the help of a command.
const schemaHelp = `A key is the partition key and, after a slash, the sort key. Attributes are strings; :N
after a name stands for a number, and :B for binary data. An index is its name, a colon and
its key, which may have several attributes with commas between them. It holds all attributes,
or only those in parentheses at its end besides the keys: 'ByCity: city / placed (total)'.`

func createCommand(env *app.Env) *cobra.Command {
	f := createFlags{SourceFlags: app.SourceFlags{Writes: true, Create: true}}
	cmd := &cobra.Command{
		Use:   "create TABLE KEY",
		Short: "Create a table",
		Long: `Create creates a table with on-demand billing, and the folder of --data if it is missing.

` + schemaHelp + `
A local index has only its sort key: it orders the items of a partition in another way.` + f.Help(env),
		Example: `  sortkey create Orders 'customer / placed:N' --data ./data
  sortkey create Orders 'customer / placed:N' --index 'ByStatus: status / placed' --ttl expires
  sortkey create Orders 'customer / placed:N' --local 'ByTotal: total:N (status)' --stream`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return app.Usage("create", "create takes a table and its key in quotes, not %s", text.Count(len(args), "argument"))
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, env, args[0], args[1])
		},
	}
	f.Declare(cmd, env)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.global, "index", nil, "add a global index (`NAME: KEY`); repeatable")
	flags.StringArrayVar(&f.local, "local", nil, "add a local index (`NAME: SORT`); repeatable")
	flags.StringVar(&f.expiry, "ttl", "", "let items expire at the time in `ATTRIBUTE`, in seconds since 1970")
	flags.BoolVar(&f.stream, "stream", false, "record the changes of items in a stream")
	app.Complete(cmd, map[string]cobra.CompletionFunc{
		"index": cobra.NoFileCompletions, "local": cobra.NoFileCompletions, "ttl": cobra.NoFileCompletions,
	})
	return cmd
}

type createFlags struct {
	app.SourceFlags
	global, local []string
	expiry        string
	stream        bool
}

// input returns the request to create a table with the key and with the indexes and options of the flags.
func (f *createFlags) input(table, key string) (*wire.CreateTableInput, error) {
	var indexes []keyschema.IndexSpec
	for i, def := range slices.Concat(f.local, f.global) {
		local, flag := i < len(f.local), "--index"
		if local {
			flag = "--local"
		}
		ix, err := ask.Index(def, local)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		indexes = append(indexes, ix)
	}
	in := &wire.CreateTableInput{TableName: &table, BillingMode: new("PAY_PER_REQUEST")}
	if err := keyschema.Define(in, key, indexes); err != nil {
		return nil, app.Usage("create", "%v", err)
	}
	if f.stream {
		in.StreamSpecification = newStream()
	}
	return in, nil
}

func newStream() *wire.StreamSpecification {
	return &wire.StreamSpecification{StreamEnabled: new(true), StreamViewType: new("NEW_AND_OLD_IMAGES")}
}

func (f *createFlags) run(cmd *cobra.Command, env *app.Env, table, key string) error {
	in, err := f.input(table, key)
	if err != nil {
		return err
	}
	return define(cmd, env, f.SourceFlags, table, func(ctx context.Context, d *definitions) error {
		return f.create(ctx, d, in)
	})
}

func (f *createFlags) create(ctx context.Context, d *definitions, in *wire.CreateTableInput) error {
	_, _, err := d.src.Target.Do(ctx, in)
	if operation.Refused(err, "ResourceInUseException") {
		return &advice.Error{
			Msg: "table " + d.table + " exists: nothing is changed", Err: err,
			Advice: "list it with sortkey tables, change it with sortkey alter, or delete it with sortkey drop",
		}
	}
	if err == nil {
		err = d.settle(ctx)
	}
	if err == nil && f.expiry != "" {
		err = d.setExpiry(ctx, f.expiry, true)
	}
	if err != nil {
		return err
	}
	have, err := d.describe(ctx)
	if err != nil {
		return err
	}
	return d.print("created table %s: %s", d.table, have.text)
}
