package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

// scanFlags are the flags of scan.
type scanFlags struct {
	app.SourceFlags
	ask.Query
	outputFlags
	all bool
}

func scanCommand(env *app.Env) *cobra.Command {
	var f scanFlags
	cmd := &cobra.Command{
		Use:   "scan TABLE",
		Short: "Read all partitions of a table or an index",
		Long: `Scan reads the rows of all partitions of a table or an index: one page, or with --all
all pages. Partitions come in no useful order; inside a partition the rows are in order.
To read one partition, use sortkey query: a scan pays for every row that it examines,
whatever the filter.` + env.SourceHelp(),
		Example: `  sortkey scan Drive --model file-tree --limit 10
  sortkey scan Drive --model file-tree --filter 'node_type = "file" AND bytes > 1000' --all
  sortkey scan Orders --index ByDate -o csv --all --data ./data > orders.csv`,
		Args:              app.OneArgument("scan", "a table"),
		ValidArgsFunction: tableArgument(env, &f.SourceFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := app.Interruptible(cmd.Context())
			defer stop()
			return runScan(ctx, env, args[0], &f)
		},
	}
	f.SourceFlags.Declare(cmd, env)
	f.outputFlags.declare(cmd, formatTable)
	declareRead(cmd, env, &f.SourceFlags, &f.Query)
	cmd.Flags().BoolVar(&f.all, "all", false, "read all pages")
	return cmd
}

func runScan(ctx context.Context, env *app.Env, table string, f *scanFlags) error {
	if f.Limit < 0 {
		return app.Usage("scan", "--limit must not be negative")
	}
	if err := f.check("scan"); err != nil {
		return err
	}
	src, err := env.Open(ctx, f.SourceFlags)
	if err != nil {
		return err
	}
	defer src.Close()
	t, err := describe(ctx, src, table)
	if err != nil {
		return err
	}
	in, err := f.ScanInput(t)
	if err != nil {
		return err
	}

	ans, err := readPages(ctx, src, in, f.all)
	if err != nil {
		return filledIn(err, ask.TextsOf(in))
	}
	return ans.write(env, &f.outputFlags, t.Schema(f.Index), false)
}
