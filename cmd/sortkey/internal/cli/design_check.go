package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/design/world"
)

type designCheckFlags struct {
	seed     uint64
	maxItems int
	maxBytes int
	format   string
	failOn   string
	out      string
	quiet    bool
}

func (a *App) designCheckCommand() *cobra.Command {
	var f designCheckFlags
	cmd := &cobra.Command{
		Use:   "check MODEL",
		Short: "Run every access pattern of a model and check its expectations",
		Long: `Check creates the tables of a model in memory, fills them with its samples and
with generated items, and runs every access pattern. For each it reports the slice
that it reads, the rows read and returned, the pages and the read units. It compares
these with the model's expectations and searches for hazards in the keys.

MODEL is a model file, a folder with a model.yaml, or the name of an example.

The exit code is 1 if an expectation is not met or a finding is an error; with
--fail-on warning, also if a finding is a warning.`,
		Example: `  sortkey design check shop.yaml
  sortkey design check file-tree
  sortkey design check shop.yaml --max-items 1000000 --seed 7
  sortkey design check shop.yaml --format sarif -o design.sarif --fail-on warning`,
		Args:              oneModel,
		ValidArgsFunction: modelsAndFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.designCheck(cmd.Context(), args[0], &f) },
	}
	flags := cmd.Flags()
	flags.Uint64Var(&f.seed, "seed", 0, "`SEED` of generated values (default the model's)")
	flags.IntVar(&f.maxItems, "max-items", world.DefaultMaxItems, "generate at most `N` items; 0 for samples only")
	flags.IntVar(
		&f.maxBytes, "max-bytes", world.DefaultMaxBytes, "generate items of at most `N` bytes in tables and indexes",
	)
	flags.StringVar(&f.format, "format", "text", "output `FORMAT`: "+strings.Join(checkFormats(), ", "))
	flags.StringVar(&f.failOn, "fail-on", "error", "lowest `SEVERITY` with exit code 1: error, warning, or never")
	flags.StringVarP(&f.out, "output", "o", "", "output `FILE` (default standard output)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only problems")
	for name, words := range map[string][]string{"format": checkFormats(), "fail-on": {"error", "warning", "never"}} {
		mustComplete(cmd, name, func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			return withPrefix(words, toComplete), cobra.ShellCompDirectiveNoFileComp
		})
	}
	for _, name := range []string{"seed", "max-items", "max-bytes"} {
		mustComplete(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
}

func (a *App) designCheck(ctx context.Context, path string, f *designCheckFlags) error {
	severity := map[string]model.Severity{"error": model.Error, "warning": model.Warning, "never": model.Error + 1}[f.failOn]
	if severity == 0 {
		return usage("design check", "--fail-on is error, warning or never, not %q", f.failOn)
	}
	write, ok := formats[f.format]
	if !ok {
		return usage("design check", "--format is one of %s, not %q", strings.Join(checkFormats(), ", "), f.format)
	}
	if f.maxItems < 0 {
		return usage("design check", "--max-items must not be negative")
	}
	if f.maxBytes <= 0 {
		return usage("design check", "--max-bytes must be positive")
	}
	m, err := loadModel(path)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	o := world.Options{Seed: f.seed, MaxItems: f.maxItems, MaxBytes: f.maxBytes}
	if f.maxItems == 0 {
		o.MaxItems = -1
	}
	w, err := world.Build(ctx, m, o)
	if list, ok := errors.AsType[model.Errors](err); ok {
		return modelErrors(path, list)
	}
	if err != nil {
		return err
	}
	defer w.Close()
	r, err := check.Run(ctx, w, check.Options{Lint: lint.Run})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := write(a, &out, w, r, f); err != nil {
		return err
	}
	if err := a.output(f.out, out.Bytes()); err != nil {
		return err
	}
	if r.Failed(severity) {
		return errWrongAnswers
	}
	return nil
}

// A format writes a result.
type format func(a *App, out *bytes.Buffer, w *world.World, r *check.Result, f *designCheckFlags) error

// sarifRoot returns the folder to which paths in SARIF are relative: the root of
// the file's repository, as code scanning requires, or the working folder.
func sarifRoot(file string) string {
	wd, err := os.Getwd()
	if err != nil {
		return ""
	}
	dir := filepath.Dir(file)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(wd, dir)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return wd
		}
		dir = up
	}
}

// prose returns the width at which to wrap prose: COLUMNS if it is set, or the
// width of the terminal, but at most 100.
func (a *App) prose() int {
	if n, err := strconv.Atoi(a.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if w := a.Width(); w > 0 {
		return min(w, 100)
	}
	return 100
}

// formats are the output formats of design check.
var formats = map[string]format{
	"text": func(a *App, out *bytes.Buffer, _ *world.World, r *check.Result, f *designCheckFlags) error {
		style := a.style()
		o := check.TextOptions{Width: a.prose(), Color: bool(style.Paint) && f.out == "", Quiet: f.quiet}
		return r.WriteText(out, o)
	},
	"html": func(_ *App, out *bytes.Buffer, w *world.World, r *check.Result, _ *designCheckFlags) error {
		return report.HTML(out, w, r)
	},
	"json": func(_ *App, out *bytes.Buffer, _ *world.World, r *check.Result, _ *designCheckFlags) error {
		return report.JSON(out, r)
	},
	"sarif": func(_ *App, out *bytes.Buffer, _ *world.World, r *check.Result, _ *designCheckFlags) error {
		return report.SARIF(out, r, report.SARIFOptions{Root: sarifRoot(r.Model.Pos.File), Version: moduleVersion()})
	},
}

// checkFormats returns the names of formats, the default first.
func checkFormats() []string {
	var names []string
	for _, name := range []string{"text", "json", "html", "sarif"} {
		if formats[name] != nil {
			names = append(names, name)
		}
	}
	return names
}
