package bench

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/placement"
	"github.com/sortkey/sortkey/internal/design/world"
)

type scaleFlags struct {
	options            placement.Options
	seed               uint64
	maxItems, maxBytes int
	json               string
}

func scaleCommand(env *app.Env) *cobra.Command {
	var f scaleFlags
	cmd := &cobra.Command{
		Use:   "scale MODEL",
		Short: "Simulate how a cluster would place the rows and the declared load of a model",
		Long: `Scale lays out the rows of a model in the order of their addresses. It splits them
into ranges by size and by load and spreads the ranges over nodes, with the rules
that CockroachDB documents. It prints the load of the hottest range, partition and
node beside the mean, and the ranges that cannot be split. It measures nothing and
asks no database; docs/scale.md says what it leaves out.

The load is the reads and writes a second in the rates of the model's entities. MODEL
is a model file, a folder with a model.yaml, or the name of an example.`,
		Example: `  sortkey bench scale shop
  sortkey bench scale shop.yaml --nodes 9
  sortkey bench scale shop.yaml --nodes 6 --ranges 64 --json -`,
		Args:              app.OneModel,
		ValidArgsFunction: app.Models,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runScale(cmd.Context(), env, args[0], &f)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.options.Nodes, "nodes", 3, "`NUMBER` of nodes")
	flags.IntVar(&f.options.Ranges, "ranges", 1, "`NUMBER` of ranges, of equal size, at the start")
	flags.Float64Var(
		&f.options.RangeBytes, "range-bytes", placement.DefaultRangeBytes, "`SIZE` in bytes above which a range splits",
	)
	flags.Float64Var(
		&f.options.RangeRequests, "range-requests", placement.DefaultRangeRequests,
		"`REQUESTS` a second at which a range splits",
	)
	flags.Uint64Var(
		&f.seed, "seed", 0, "`SEED` of generated values and of the initial places of ranges (default the model's)",
	)
	flags.IntVar(
		&f.maxItems, "max-items", world.DefaultMaxItems,
		"generate at most `N` items; each represents its share of the declared ones",
	)
	flags.IntVar(
		&f.maxBytes, "max-bytes", world.DefaultMaxBytes, "generate items of at most `N` bytes in tables and indexes",
	)
	flags.StringVar(
		&f.json, "json", "", "write the result as JSON to `FILE`, or, for -, to standard output instead of the text",
	)
	app.Complete(cmd, map[string]cobra.CompletionFunc{"json": app.Paths})
	return cmd
}

func runScale(ctx context.Context, env *app.Env, path string, f *scaleFlags) error {
	for name, n := range map[string]float64{
		"nodes": float64(f.options.Nodes), "ranges": float64(f.options.Ranges), "range-bytes": f.options.RangeBytes,
		"range-requests": f.options.RangeRequests, "max-items": float64(f.maxItems), "max-bytes": float64(f.maxBytes),
	} {
		if !(n > 0) {
			return app.Usage("bench scale", "--%s must be positive", name)
		}
	}

	m, err := app.LoadModel(path)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	w, err := world.Build(ctx, m, world.Options{Seed: f.seed, MaxItems: f.maxItems, MaxBytes: f.maxBytes})
	if list, ok := errors.AsType[model.Errors](err); ok {
		return app.ModelErrors(path, list)
	}
	if err != nil {
		return err
	}
	defer w.Close()
	f.options.Seed = cmp.Or(f.seed, m.Seed)
	r, err := placement.Run(ctx, w, f.options)
	if err != nil {
		return err
	}

	encode := func(w io.Writer) error { return app.WriteJSON(w, r) }
	if f.json == "-" {
		return encode(env.Stdout)
	}
	if f.json != "" {
		if err := app.WriteFile(f.json, encode); err != nil {
			return err
		}
	}
	return r.WriteText(env.Stdout, env.Style().Paint)
}
