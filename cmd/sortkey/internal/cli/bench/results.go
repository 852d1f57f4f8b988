package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/bench/report"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
)

func resultsCommand(env *app.Env) *cobra.Command {
	f := benchFlags{missesPass: true, output: outputFlags{compact: true}}
	var dir, readme string
	var most int
	cmd := &cobra.Command{
		Use:   "results",
		Short: "Measure everything and write the results to a folder",
		Long: `Results measures the targets, growth, every workload on the layers of both
engines, and the endpoints you name. It writes times and ratios to
DATE-MACHINE.json in a folder; --html writes a page with plots of everything
measured. With --readme it puts the short tables between the lines
` + resultsBegin + ` and ` + resultsEnd + ` of a file. It takes a quarter of an hour.
Run it on a machine that does nothing else. It succeeds even if Sortkey misses
targets.`,
		Example: `  sortkey bench results --dir bench/results --readme bench/README.md
  scripts/bench-peers.sh results`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.config(env, nil)
			if err != nil {
				return err
			}
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return app.UsageError("create it, or name another folder", "--dir: folder %s does not exist", dir)
			}
			f.output.json = dir
			if readme != "" {
				if _, _, err := splitReadme(readme); err != nil {
					return err
				}
			}
			var r *bench.Report
			err = f.measure(cmd, env, func(ctx context.Context) (_ *bench.Report, err error) {
				r, err = bench.RunAll(ctx, c, bench.TargetOptions{Quick: f.quick}, most)
				return r, err
			})
			if r == nil || readme == "" {
				return err
			}
			return writeReadme(readme, r)
		},
	}
	f.declare(cmd)
	cmd.Flags().StringVar(&dir, "dir", ".", "`DIR` to write the report to")
	cmd.Flags().StringVar(&readme, "readme", "", "`FILE` to put the short tables into")
	cmd.Flags().IntVar(&most, "max", bench.GrowthTo, "`ITEMS` of the largest table of growth")
	app.Complete(cmd, map[string]cobra.CompletionFunc{"dir": app.Paths, "readme": app.Paths})
	return cmd
}

// The lines of a README that enclose the results.
const (
	resultsBegin = "<!-- results -->"
	resultsEnd   = "<!-- end of results -->"
)

func splitReadme(name string) (before, after []byte, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	before, rest, ok := bytes.Cut(data, []byte(resultsBegin+"\n"))
	_, after, ok2 := bytes.Cut(rest, []byte(resultsEnd+"\n"))
	if !ok || !ok2 {
		return nil, nil, advice.New(
			"add both lines where the tables should be", "%s lacks the line %s, followed by %s", name, resultsBegin,
			resultsEnd,
		)
	}
	return before, after, nil
}

func writeReadme(name string, r *bench.Report) error {
	before, after, err := splitReadme(name)
	if err != nil {
		return err
	}
	return app.WriteFile(name, func(w io.Writer) error {
		fmt.Fprintf(w, "%s%s\n\n", before, resultsBegin)
		report.Markdown(w, r)
		_, err := fmt.Fprintf(w, "\n%s\n%s", resultsEnd, after)
		return err
	})
}
