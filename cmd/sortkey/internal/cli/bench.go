package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/advice"
)

// benchFlags holds the flags that all bench commands have.
type benchFlags struct {
	engines, layers, endpoints []string
	items, collection, size    int
	rounds, workers            int
	duration                   time.Duration
	temp, store                string
	quick, quiet               bool
	output                     benchOutput
	missesPass                 bool // the command succeeds when targets are missed
}

func (a *App) benchCommand() *cobra.Command {
	var f benchFlags
	var list, targets bool
	cmd := &cobra.Command{
		Use:   "bench [WORKLOAD…]",
		Short: "Compare every layer with the bare engine, and Sortkey with other endpoints",
		Long: `Bench runs workloads on the layers of Sortkey, from a bare B-tree or Pebble up
to the AWS SDK. It prints the time of an operation on each layer as a multiple
of its time on the bare engine. The rounds of the layers alternate, so a machine
that is slow for a while is slow for all of them. A ratio is the median of the
rounds' own ratios. Bench counts the rows of every answer.

With --endpoint, bench sends the same workloads over HTTP to a Sortkey server in
a process of its own and to the endpoints you name. With --store it also measures a
Sortkey server whose rows are in a PostgreSQL database. Times are then multiples of
those of the first server. Bench creates, fills and deletes a table called ` + work.TableName + ` on each
endpoint; the table must not exist before.

If you interrupt it, bench removes its tables and files.`,
		Example: `  sortkey bench                                  every workload, in memory
  sortkey bench query-10 page --engine memory,disk --details
  sortkey bench --list
  sortkey bench get put --layer api,http -c 8 --items 1000000
  sortkey bench --json report.json --html report.html
  sortkey bench get query-10 --endpoint dynalite=http://127.0.0.1:4567
  sortkey bench get put --store postgres://sortkey@127.0.0.1/bench
  sortkey bench targets                          the figures that Sortkey must reach
  sortkey bench growth --max 1000000             the time of a query by the size of its table
  sortkey bench scale shop --nodes 9             a simulated cluster under a model's load`,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return workloadNames(), cobra.ShellCompDirectiveNoFileComp
		},
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if list {
				return a.listWorkloads()
			}
			if targets {
				return a.benchTargets(cmd, f, nil)
			}
			return a.bench(cmd, f, args)
		},
	}
	flags := cmd.Flags()
	f.register(cmd)
	flags.StringSliceVar(&f.engines, "engine", []string{"memory"}, "`ENGINES`: memory, disk or both")
	flags.StringSliceVar(
		&f.layers, "layer", nil, "`LAYERS` to measure: "+strings.Join(layerNames(), ", ")+" (default all)",
	)
	flags.IntVar(&f.items, "items", 0, "number of items in a table (default 100000; 20000 with --endpoint)")
	flags.IntVar(&f.collection, "collection", 0, "number of items in a partition (default depends on the workload)")
	flags.IntVar(&f.size, "size", 0, "size of an item in bytes (default 100)")
	flags.IntVarP(&f.workers, "concurrency", "c", 1, "number of workers that call at the same time")
	flags.StringVar(&f.store, "store", "", storeUsage+", measured beside a server in memory")
	mustComplete(cmd, "store", cobra.NoFileCompletions)
	flags.BoolVar(&list, "list", false, "list the workloads instead of running them")
	flags.BoolVar(&targets, "targets", false, "the same as sortkey bench targets")
	completeWords(cmd, "engine", "memory", "disk")
	completeWords(cmd, "layer", layerNames()...)
	cmd.AddCommand(
		a.benchTargetsCommand(), a.benchGrowthCommand(), a.benchScaleCommand(), a.benchResultsCommand(),
		a.benchShowCommand(),
	)
	return cmd
}

// register adds the flags of all commands that measure.
func (f *benchFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&f.rounds, "rounds", 0, "number of rounds of each layer (default 5; 25 for targets)")
	flags.DurationVar(&f.duration, "duration", 0, "length of a round (default 100ms; 50ms for targets)")
	flags.StringVar(
		&f.temp, "temp", "", "`DIR` for temporary databases on disk (default: the system's temporary folder)",
	)
	flags.BoolVar(&f.quick, "quick", false, "run short rounds on small tables, to check that measuring works")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "suppress progress output")
	flags.StringArrayVar(&f.endpoints, "endpoint", nil, "also measure the endpoint `NAME=URL`; repeatable")
	f.output.register(cmd)
	mustComplete(cmd, "endpoint", cobra.NoFileCompletions)
}

func completeWords(cmd *cobra.Command, flag string, words ...string) {
	mustComplete(cmd, flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	})
}

func workloadNames() (names []string) {
	for _, w := range work.All() {
		names = append(names, w.Name)
	}
	return names
}

func layerNames() (names []string) {
	for _, n := range layer.Names() {
		names = append(names, string(n))
	}
	return names
}

func (a *App) listWorkloads() error {
	width := 0
	for _, w := range work.All() {
		width = max(width, len(w.Name))
	}
	for _, w := range work.All() {
		if _, err := fmt.Fprintf(a.Stdout, "%-*s  %s\n", width, w.Name, w.About); err != nil {
			return err
		}
	}
	return nil
}

// config reads the flags.
func (f *benchFlags) config(a *App, args []string) (c bench.Config, err error) {
	c = bench.Config{
		Size:   work.Size{Items: f.items, Collection: f.collection, Bytes: f.size},
		Rounds: f.rounds, Duration: f.duration, Workers: f.workers, Dir: f.temp, Store: f.store,
	}
	for name, n := range map[string]int{"items": f.items, "collection": f.collection, "size": f.size, "rounds": f.rounds} {
		if n < 0 {
			return c, usage("bench", "--%s: %d is negative", name, n)
		}
	}
	if f.size > maxItem {
		return c, usage("bench", "--size: %d bytes are more than the largest item's %d", f.size, maxItem)
	}
	for _, name := range args {
		w := work.Find(name)
		if w == nil {
			return c, usageError("see sortkey bench --list", "unknown workload %q", name)
		}
		c.Workloads = append(c.Workloads, w)
	}
	for _, name := range f.engines {
		switch e := layer.Engine(name); {
		case e == layer.Memory || e == layer.Disk:
			c.Engines = append(c.Engines, e)
		case name == "both":
			c.Engines = append(c.Engines, layer.Memory, layer.Disk)
		default:
			return c, usageError("the engines are memory and disk", "--engine: unknown engine %q", name)
		}
	}
	for _, name := range f.layers {
		if !slices.Contains(layer.Names(), layer.Name(name)) {
			return c, usageError("the layers are "+strings.Join(layerNames(), ", "), "--layer: unknown layer %q", name)
		}
		c.Layers = append(c.Layers, layer.Name(name))
	}
	for _, text := range f.endpoints {
		e, err := bench.ParseEndpoint(text)
		if err != nil {
			return c, usageError(
				"write a name and an address, as in --endpoint dynalite=http://127.0.0.1:4567", "--endpoint: %v", err,
			)
		}
		c.Endpoints = append(c.Endpoints, e)
	}
	if f.quick {
		c.Calls = 64
		if c.Size.Items == 0 {
			c.Size.Items = 2000
		}
		if c.Rounds == 0 {
			c.Rounds = 2
		}
		if c.Duration == 0 {
			c.Duration = time.Millisecond
		}
		if c.Workloads == nil {
			for _, w := range work.All() {
				if w.Shape(c.Size).Items <= c.Size.Items {
					c.Workloads = append(c.Workloads, w)
				}
			}
		}
	}
	if !f.quiet {
		c.Progress = func(text string) { fmt.Fprintf(a.Stderr, "bench: %s\n", text) }
	}
	exe, err := os.Executable()
	if err != nil {
		return c, fmt.Errorf("cannot find the program's own file to serve with: %w", err)
	}
	c.Serve = []string{exe, "serve", "--addr", "127.0.0.1:0"}
	return c, nil
}

// maxItem leaves room for the keys in the largest item of DynamoDB.
const maxItem = 390 << 10

func (a *App) bench(cmd *cobra.Command, f benchFlags, args []string) error {
	c, err := f.config(a, args)
	if err != nil {
		return err
	}
	return f.measure(cmd, a, func(ctx context.Context) (*bench.Report, error) {
		if len(c.Endpoints) > 0 || c.Store != "" {
			return bench.RunEndpoints(ctx, c)
		}
		return bench.Run(ctx, c)
	})
}

// measure runs until it is done or interrupted, and prints the report.
func (f *benchFlags) measure(cmd *cobra.Command, a *App, run func(context.Context) (*bench.Report, error)) error {
	if err := f.output.check(); err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	report, err := run(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return advice.New("", "interrupted")
		}
		return err
	}
	report.Args = arguments(cmd)
	if err := f.output.write(a, report); err != nil {
		return err
	}
	if missed := bench.Missed(report.Targets); missed > 0 && !f.missesPass {
		return advice.New(
			"the lines below the table give the figures behind each", "%d of %d targets missed", missed,
			len(report.Targets),
		)
	}
	return nil
}
