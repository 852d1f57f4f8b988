package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/sdktarget"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/wire"
)

// keyHelp is what the help of a command on one item says about its key.
const keyHelp = `KEY is the partition key and, if the table has one, the sort key, each an argument of
its own. Write numbers as they are, and binary keys as 0x00ff or in base64. Put -- before
values that start with a hyphen.`

func getCommand(env *app.Env) *cobra.Command {
	var source app.SourceFlags
	var output outputFlags
	var consistent bool
	cmd := &cobra.Command{
		Use:   "get TABLE KEY…",
		Short: "Read one item",
		Long: `Get reads the item with a key. The exit code is 1 if there is none.

` + keyHelp + env.SourceHelp(),
		Example: `  sortkey get Drive 'DRIVE#a91' root/photos --model file-tree
  sortkey get Orders c1 7 --consistent --json
  sortkey get Orders c1 7 --json --data ./data | sortkey put Orders -`,
		Args:              needKey("get"),
		ValidArgsFunction: itemArguments(env, &source, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := app.Interruptible(cmd.Context())
			defer stop()
			if err := output.check("get"); err != nil {
				return err
			}
			return runGet(ctx, env, args, source, &output, consistent)
		},
	}
	source.Declare(cmd, env)
	output.declare(cmd, formatLines)
	cmd.Flags().BoolVar(&consistent, "consistent", false, "use consistent reads")
	return cmd
}

// needKey checks that the arguments of a command are a table and a key.
func needKey(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return app.Usage(command, "%s needs a table and a key", command)
		case 1:
			return app.Usage(command, "%s needs the key of an item of %s", command, args[0])
		}
		return nil
	}
}

func runGet(
	ctx context.Context, env *app.Env, args []string, source app.SourceFlags, output *outputFlags, consistent bool,
) error {
	src, err := env.Open(ctx, source)
	if err != nil {
		return err
	}
	defer src.Close()
	t, err := describe(ctx, src, args[0])
	if err != nil {
		return err
	}
	in := &wire.GetItemInput{TableName: &t.Name}
	if in.Key, err = ask.Key(t, args[1:]); err != nil {
		return err
	}
	if consistent {
		in.ConsistentRead = new(true)
	}

	var out wire.GetItemOutput
	if err := sdktarget.Send(ctx, src.Client, in, &out); err != nil {
		return err
	}
	if out.Item == nil {
		return advice.New("", "there is no %s", ask.Item(t.Name, t.Key, in.Key))
	}
	return output.writeItem(env, out.Item, t.Key)
}
