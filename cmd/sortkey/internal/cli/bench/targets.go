package bench

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/bench/report"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

func targetsCommand(env *app.Env) *cobra.Command {
	var f benchFlags
	var o bench.TargetOptions
	var history string
	cmd := &cobra.Command{
		Use:   "targets",
		Short: "Measure the figures that Sortkey must reach",
		Long: `Targets measures the figures that Sortkey must reach and prints each beside its
bound. The exit code is 1 if Sortkey misses one. The command takes a few minutes
and a few gigabytes of memory. Run it on a machine that does nothing else.

The figures against other implementations need endpoints called dynalite and
dynoxide; scripts/bench-peers.sh starts them. The time of a first build needs
--sources.`,
		Example: `  sortkey bench targets
  sortkey bench targets --only page,GetItem
  sortkey bench targets --endpoint dynalite=http://127.0.0.1:4567 --json targets.json`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Quick = f.quick
			return measureTargets(cmd, env, f, o, history)
		},
	}
	f.declare(cmd)
	cmd.Flags().StringSliceVar(
		&o.Only, "only", nil, "measure only the groups that contain one of `WORDS`, such as page, GetItem, put, serve",
	)
	cmd.Flags().StringVar(
		&o.Sources, "sources", "", "also measure a first build of the sources in `FOLDER`",
	)
	cmd.Flags().StringVar(
		&history, "append", "", "append a line for each figure to `FILE`, in Go's benchmark format for benchstat",
	)
	return cmd
}

func measureTargets(cmd *cobra.Command, env *app.Env, f benchFlags, o bench.TargetOptions, history string) error {
	c, err := f.config(env, nil)
	if err != nil {
		return err
	}
	if f.rounds == 0 {
		c.Rounds = 0
	}
	if f.duration == 0 {
		c.Duration = 0
	}
	return f.measure(cmd, env, func(ctx context.Context) (*bench.Report, error) {
		r, err := bench.RunTargets(ctx, c, o)
		if err == nil && len(r.Targets) == 0 {
			return nil, app.UsageError(
				"see sortkey bench targets --help", "--only: no group of targets contains one of these words",
			)
		}
		if err == nil && history != "" {
			err = appendHistory(history, r)
		}
		return r, err
	})
}

func appendHistory(file string, r *bench.Report) (err error) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // others may read figures
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return report.History(f, r)
}
