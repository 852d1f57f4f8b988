package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/bench/report"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/hint"
)

func (a *App) benchResultsCommand() *cobra.Command {
	f := benchFlags{forgiving: true}
	var dir, readme string
	var most int
	cmd := &cobra.Command{
		Use:   "results",
		Short: "Measure everything and keep it",
		Long: `Results measures the targets, growth, every workload on the layers of both
engines, and the endpoints named, and writes DATE-MACHINE.json and .html to a
folder. With --readme it puts the short tables between the lines
` + resultsBegin + ` and ` + resultsEnd + ` of a file. It takes a quarter of an hour
and wants a machine that does nothing else. Targets that are missed do not make
it fail.`,
		Example: `  sortkey bench results --dir bench/results --readme bench/README.md
  scripts/bench-peers.sh results`,
		Args:              noBenchArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.config(a, nil)
			if err != nil {
				return err
			}
			f.output.json, f.output.html = dir, filepath.Join(dir, "x.html") // to be checked before measuring
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return hint.Usage("make it, or name another folder", "--dir: there is no folder %s", dir)
			}
			if readme != "" {
				if _, _, err := splitReadme(readme); err != nil {
					return err
				}
			}
			var r *bench.Report
			err = f.measure(cmd, a, func(ctx context.Context) (_ *bench.Report, err error) {
				r, err = bench.RunAll(ctx, c, bench.TargetOptions{Quick: f.quick}, most)
				if err == nil {
					f.output.html = filepath.Join(dir, r.FileName()+".html")
				}
				return r, err
			})
			if r == nil || readme == "" {
				return err
			}
			return writeReadme(readme, r)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&dir, "dir", ".", "`DIR` to write to")
	cmd.Flags().StringVar(&readme, "readme", "", "`FILE` to put the short tables into")
	cmd.Flags().IntVar(&most, "max", bench.GrowthTo, "`ITEMS` of the largest table of growth")
	return cmd
}

// The lines of a README that results stand between.
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
		return nil, nil, hint.New("add both lines where the tables should be", "%s has no line %s followed by %s", name, resultsBegin, resultsEnd)
	}
	return before, after, nil
}

func writeReadme(name string, r *bench.Report) error {
	before, after, err := splitReadme(name)
	if err != nil {
		return err
	}
	return writeFile(name, func(w io.Writer) error {
		fmt.Fprintf(w, "%s%s\n\n", before, resultsBegin)
		report.Markdown(w, r)
		_, err := fmt.Fprintf(w, "\n%s\n%s", resultsEnd, after)
		return err
	})
}
