package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

// readFlags are the flags of query.
type readFlags struct {
	queryFlags
	outputFlags
	all, trace bool
}

func queryCommand(env *app.Env) *cobra.Command {
	var f readFlags
	cmd := &cobra.Command{
		Use:   "query TABLE PARTITION [SORT-CONDITION]",
		Short: "Read a slice of a partition",
		Long: `Query reads the rows of one partition of a table or an index, in order.

SORT-CONDITION is one of
  x            = x          the rows at x
  x*           begins_with x
  < x  <= x  > x  >= x
  between x and y           including both ends
Without it, query reads the whole partition. Quote a value that could be read as
something else: '"a*"', 'between "x and y" and z'. Write numbers without quotes,
and binary keys as 0x00ff or in base64.

Separate the values of an index key of several attributes with commas, or repeat
--pk and --sk. Only the last sort condition may be other than =.

` + app.SourceHelp,
		Example: `  sortkey query Drive 'DRIVE#a91' 'root/photos/*' --model file-tree --trace
  sortkey query Drive 'DRIVE#a91' 'begins_with root/photos/' --desc --limit 2 --model file-tree
  sortkey query Orders 42 '>= 2024-01' --index ByDate --all
  sortkey query Orders 42 'between 2024-01 and 2024-03' --filter 'total > 10 AND contains(tags, "new")'
  sortkey query Matches --index ByRound --pk eu --pk 2026 --sk final --sk '>= 3' --json`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return app.Usage("query", "query needs a table and a partition")
			case len(args) == 1 && len(f.pk) == 0:
				return app.Usage("query", "query needs a partition of %s", args[0])
			}
			return nil
		},
		ValidArgsFunction: tableArgument(env, &f.SourceFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			return runQuery(ctx, env, args, &f)
		},
	}
	f.queryFlags.declare(cmd)
	f.outputFlags.declare(cmd, formatTable)
	flags := cmd.Flags()
	flags.BoolVar(&f.all, "all", false, "read all pages")
	flags.BoolVar(&f.trace, "trace", false, "print the slice that was read")
	app.Complete(cmd, map[string]cobra.CompletionFunc{"index": indexFlag(env, &f.SourceFlags)})
	return cmd
}

func runQuery(ctx context.Context, env *app.Env, args []string, f *readFlags) error {
	if f.Limit < 0 {
		return app.Usage("query", "--limit must not be negative")
	}
	if err := f.place(args[1:]); err != nil {
		return err
	}
	if err := f.check("query"); err != nil {
		return err
	}
	src, err := env.Open(ctx, f.SourceFlags)
	if err != nil {
		return err
	}
	defer src.Close()
	in, t, err := f.input(ctx, src, args[0])
	if err != nil {
		return err
	}

	ans, err := readPages(ctx, src, in, f.all)
	if err != nil {
		return filledIn(err, textsOf(in))
	}
	if f.trace {
		ans.slices = src.Traces()
		if len(ans.slices) == 0 {
			fmt.Fprintln(env.Stderr, "sortkey: this server does not report traces (sortkey serve does)")
		}
	}
	return ans.write(env, &f.outputFlags, t.Schema(f.Index), f.trace)
}
