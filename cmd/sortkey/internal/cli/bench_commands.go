package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/internal/advice"
)

func (a *App) benchTargetsCommand() *cobra.Command {
	var f benchFlags
	var only []string
	cmd := &cobra.Command{
		Use:   "targets",
		Short: "Measure the figures that Sortkey must reach",
		Long: `Targets measures the figures that Sortkey must reach and prints each beside its
bound. The exit code is 1 if Sortkey misses one. The command takes a few minutes
and a few gigabytes of memory. Run it on a machine that does nothing else.

The figures against other implementations need endpoints called dynalite and
dynoxide; scripts/bench-peers.sh starts them.`,
		Example: `  sortkey bench targets
  sortkey bench targets --only page,GetItem
  sortkey bench targets --endpoint dynalite=http://127.0.0.1:4567 --json targets.json`,
		Args:              noBenchArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.benchTargets(cmd, f, only) },
	}
	f.register(cmd)
	cmd.Flags().StringSliceVar(
		&only, "only", nil, "measure only the groups that contain one of `WORDS`, such as page, GetItem, put, serve",
	)
	mustComplete(cmd, "only", cobra.NoFileCompletions)
	return cmd
}

func noBenchArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("bench "+cmd.Name(), "bench %s takes no arguments, not %q", cmd.Name(), args[0])
	}
	return nil
}

func (a *App) benchTargets(cmd *cobra.Command, f benchFlags, only []string) error {
	c, err := f.config(a, nil)
	if err != nil {
		return err
	}
	if f.rounds == 0 {
		c.Rounds = 0
	}
	if f.duration == 0 {
		c.Duration = 0
	}
	return f.measure(cmd, a, func(ctx context.Context) (*bench.Report, error) {
		r, err := bench.RunTargets(ctx, c, bench.TargetOptions{Quick: f.quick, Only: only})
		if err == nil && len(r.Targets) == 0 {
			return nil, usageError(
				"see sortkey bench targets --help", "--only: no group of targets contains one of these words",
			)
		}
		return r, err
	})
}

func (a *App) benchGrowthCommand() *cobra.Command {
	var f benchFlags
	var most int
	cmd := &cobra.Command{
		Use:   "growth",
		Short: "Measure the time of a 10-row query by the size of its table",
		Long: `Growth doubles a table in memory from 1,000 items up and measures a query of 10
rows at each size, in partitions all over the table. It measures the smallest
table again beside each size, in rounds that alternate, and prints the ratio to
that. It stops before the machine's memory is exhausted.`,
		Example: `  sortkey bench growth
  sortkey bench growth --max 1000000 --html growth.html`,
		Args:              noBenchArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if most < bench.GrowthFrom {
				return usage(
					"bench growth", "--max: %d items are fewer than the smallest table's %d", most, bench.GrowthFrom,
				)
			}
			c, err := f.config(a, nil)
			if err != nil {
				return err
			}
			if len(c.Endpoints) > 0 {
				return usage("bench growth", "growth takes no --endpoint")
			}
			c.Size.Items, c.Size.Bytes = 0, f.size
			return f.measure(cmd, a, func(ctx context.Context) (*bench.Report, error) { return bench.Grow(ctx, c, most) })
		},
	}
	f.register(cmd)
	cmd.Flags().IntVar(&most, "max", bench.GrowthTo, "`ITEMS` of the largest table")
	cmd.Flags().IntVar(&f.size, "size", 0, "size of an item in bytes (default 100)")
	return cmd
}

func (a *App) benchShowCommand() *cobra.Command {
	var o benchOutput
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Print a report from its JSON",
		Example: `  sortkey bench show report.json --details
  sortkey bench show report.json --html report.html`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("bench show", "bench show takes one file, not %d", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			r, err := bench.ReadReport(file)
			if err != nil {
				return advice.New("sortkey bench --json writes reports", "%s: %v", args[0], err)
			}
			if err := o.check(); err != nil {
				return err
			}
			return o.write(a, r)
		},
	}
	o.register(cmd)
	cmd.Flags().BoolVar(&o.markdown, "markdown", false, "print the short tables of bench/README.md")
	return cmd
}
