package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
)

func embeddedCommand(env *app.Env) *cobra.Command {
	f := benchFlags{}
	cmd := &cobra.Command{
		Use:   "embedded",
		Short: "Measure the store in Go beside other embedded stores",
		Long: `Embedded measures package sortkey beside bbolt, Badger and two SQLites, in memory
and on disk. It prints the processor time of an operation in each as a multiple
of Sortkey's. The command takes about ten minutes.

The stores are a module of their own, bench/embedded, which the command builds.
So run it in a checkout of Sortkey, on a system with getrusage, and with Go
installed. SQLite in C is skipped where Go finds no C compiler.

All stores do the same work. Each has an index that holds the keys of items and
nothing else, and the query through it reads only those. Every put changes the
item and moves it in the index. SQLite keeps the index itself, as Sortkey does;
on bbolt and Badger a program keeps items as JSON and the index by hand. In
memory no store waits for a disk; on disk each write is synchronous.

Each store runs in a process of its own, and their rounds alternate. Before the
command measures, it compares the answers of all of them.`,
		Example: `  sortkey bench embedded
  sortkey bench embedded --quick --details`,
		Args:              app.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.config(env, nil)
			if err != nil {
				return err
			}
			if f.rounds == 0 && !f.quick {
				c.Rounds = 0
			}
			if f.duration == 0 && !f.quick {
				c.Duration = 0
			}
			if f.quick {
				c.Size.Items = quickEmbedded
			}
			source, err := embeddedSource()
			if err != nil {
				return err
			}
			return f.measure(cmd, env, func(ctx context.Context) (*bench.Report, error) {
				return runEmbedded(ctx, c, source)
			})
		},
	}
	f.declare(cmd)
	return cmd
}

// quickEmbedded is the number of items of a quick run, a multiple of the sensors' readings.
const quickEmbedded = 4000

// embeddedSource returns the folder bench/embedded of the checkout around the current folder.
func embeddedSource() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		source := filepath.Join(dir, "bench", "embedded")
		if _, err := os.Stat(filepath.Join(source, "go.mod")); err == nil {
			return source, nil
		} else if !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", advice.New("run it in a checkout of Sortkey", "no folder bench/embedded here or above")
		}
		dir = above
	}
}

// runEmbedded builds the stores and measures them.
func runEmbedded(ctx context.Context, c bench.Config, source string) (_ *bench.Report, err error) {
	dir, err := os.MkdirTemp(c.Dir, "sortkey-embedded-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if c.Progress != nil {
		c.Progress("building the stores")
	}
	program, err := bench.BuildEmbedded(ctx, source, dir)
	if err != nil {
		return nil, err
	}
	return bench.RunEmbedded(ctx, c, program)
}
