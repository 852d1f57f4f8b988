package bench

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
)

// Command returns the command bench.
func Command(env *app.Env) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench [WORKLOAD…]",
		Short: "Compare every layer with the bare engine",
		Long: `Bench runs workloads on the layers of Sortkey, from the bare engine, which is
google/btree or Pebble, up to the AWS SDK. It prints the time of an operation on
each layer as a multiple of its time on the bare engine. The rounds of the layers alternate, so a machine
that is slow for a while is slow for all of them. A ratio is the median of the
rounds' own ratios. Bench counts the rows of every answer.

If you interrupt it, bench removes its tables and files.

The workloads are:` + workloadHelp(),
		Example: `  sortkey bench                                  every workload, in memory
  sortkey bench query-10 page --engine memory,disk --details
  sortkey bench get put --layer api,http -c 8 --items 1000000`,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return workloadNames(), cobra.ShellCompDirectiveNoFileComp
		},
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return measureWorkloads(cmd, env, f, args)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.engines, "engine", []string{"memory"}, "`ENGINES`: memory, disk")
	flags.StringSliceVar(
		&f.layers, "layer", nil, "`LAYERS` to measure: "+strings.Join(layerNames(), ", ")+" (default all)",
	)
	flags.IntVar(&f.items, "items", 0, "number of items in a table (default 100000)")
	flags.IntVar(&f.collection, "collection", 0, "number of items in a partition (default depends on the workload)")
	flags.IntVar(&f.size, "size", 0, "size of an item in bytes (default 100)")
	flags.IntVarP(&f.workers, "concurrency", "c", 1, "number of workers that call at the same time")
	flags.IntVar(&f.rounds, "rounds", 0, "number of rounds of each layer (default 5)")
	flags.DurationVar(&f.duration, "duration", 0, "length of a round (default 100ms)")
	flags.StringVar(
		&f.temp, "temp", "", "`DIR` for temporary databases on disk (default: the system's temporary folder)",
	)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "suppress progress output")
	flags.BoolVar(&f.details, "details", false, "also print rates, percentiles and allocations")
	app.AtLeast(cmd, map[string]string{
		"items": "1", "collection": "1", "size": "1", "concurrency": "1", "rounds": "1", "duration": "1ns",
	})
	app.Complete(cmd, map[string]cobra.CompletionFunc{
		"engine": app.Words("memory", "disk"), "layer": app.Words(layerNames()...), "temp": app.Paths,
	})
	return cmd
}

// workloadHelp returns a line for each workload.
func workloadHelp() string {
	var b strings.Builder
	for _, w := range work.All() {
		fmt.Fprintf(&b, "\n  %-16s %s", w.Name, w.About)
	}
	return b.String()
}

func measureWorkloads(cmd *cobra.Command, env *app.Env, f benchFlags, args []string) error {
	c, err := f.config(env, args)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	report, err := bench.Run(ctx, c)
	if err != nil {
		if ctx.Err() != nil {
			return advice.New("", "interrupted")
		}
		return err
	}
	report.Print(env.Stdout, f.details)
	return nil
}
