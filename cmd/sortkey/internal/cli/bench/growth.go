package bench

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

func growthCommand(env *app.Env) *cobra.Command {
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
  sortkey bench growth --max 1000000`,
		Args:              app.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.config(env, nil)
			if err != nil {
				return err
			}
			c.Size.Items, c.Size.Bytes = 0, f.size
			return f.measure(cmd, env, func(ctx context.Context) (*bench.Report, error) {
				return bench.Grow(ctx, c, most)
			})
		},
	}
	f.declare(cmd)
	cmd.Flags().IntVar(&most, "max", bench.GrowthTo, "`ITEMS` of the largest table")
	cmd.Flags().IntVar(&f.size, "size", 0, "size of an item in bytes (default 100)")
	app.AtLeast(cmd, map[string]string{"size": "1", "max": strconv.Itoa(bench.GrowthFrom)})
	return cmd
}
