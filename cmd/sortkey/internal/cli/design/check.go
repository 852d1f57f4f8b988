package design

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

type checkFlags struct {
	seed     uint64
	maxItems int
	maxBytes int
	format   string
	failOn   string
	out      string
	quiet    bool
	items    int
	priceFlags
	app.SourceFlags
}

func checkCommand(env *app.Env) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check MODEL",
		Short: "Run every access pattern of a model and check its expectations",
		Long: `Check creates the tables of a model in memory, fills them with its samples and
with generated items, and runs every access pattern. For each it reports the slice
that it reads, the rows read and returned, the pages and the read units. It compares
these with the model's expectations and searches for hazards in the keys.

MODEL is a model file, a folder with a model.yaml, or the name of an example.

With --endpoint, --data or --store it compares the model with running tables instead:
their keys and indexes, the items of a sample, and the budgets of the patterns, each
with the values of several items of its entity. It only reads.

The exit code is 1 if an expectation is not met or a finding is an error; with
--fail-on warning, also if a finding is a warning.`,
		Example: `  sortkey design check shop.yaml
  sortkey design check file-tree
  sortkey design check shop.yaml --max-items 1000000 --seed 7
  sortkey design check shop.yaml --endpoint http://127.0.0.1:8000
  sortkey design check shop.yaml --format sarif -o design.sarif --fail-on warning`,
		Args:              app.OneModel,
		ValidArgsFunction: app.Models,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.fit(cmd.Flags().Changed); err != nil {
				return err
			}
			return runCheck(cmd.Context(), env, args[0], &f)
		},
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
	f.priceFlags.declare(cmd)
	flags.StringVar(&f.Endpoint, "endpoint", "", "compare with the tables of the server at this `URL`")
	flags.StringVar(&f.Data, "data", "", "compare with the tables in this `FOLDER`")
	flags.StringVar(&f.Store, "store", "", "compare with the tables in the database at this `URL`")
	flags.IntVar(&f.items, "items", 2000, "look at `N` items of each running table")
	app.Complete(cmd, map[string]cobra.CompletionFunc{
		"format": app.Words(checkFormats()...), "fail-on": app.Words("error", "warning", "never"), "output": app.Paths,
		"data": app.Paths,
	})
	return cmd
}

// fit refuses flags that would have no effect.
func (f *checkFlags) fit(given func(flag string) bool) error {
	running := len(f.Words()) > 0
	for _, name := range []string{"seed", "max-items", "max-bytes"} {
		if running && given(name) {
			return app.Usage(
				"design check",
				"--%s is about generated items, and running tables have their own: --items says how many "+
					"to look at",
				name,
			)
		}
	}
	if !running && given("items") {
		return app.Usage(
			"design check", "--items is about running tables: give --endpoint, --data or --store, or --max-items to "+
				"generate fewer",
		)
	}
	return nil
}

// manyItems is the number of items from which a check saves memory.
const manyItems = 200_000

// severities are the values of --fail-on.
var severities = map[string]model.Severity{
	"error": model.Error, "warning": model.Warning, "never": model.Error + 1,
}

func runCheck(ctx context.Context, env *app.Env, path string, f *checkFlags) error {
	severity, ok := severities[f.failOn]
	if !ok {
		return app.Usage("design check", "--fail-on is error, warning or never, not %q", f.failOn)
	}

	write, ok := formats[f.format]
	if !ok {
		return app.Usage("design check", "--format is one of %s, not %q", strings.Join(checkFormats(), ", "), f.format)
	}
	if f.maxItems < 0 {
		return app.Usage("design check", "--max-items must not be negative")
	}
	if f.maxBytes <= 0 {
		return app.Usage("design check", "--max-bytes must be positive")
	}

	m, err := app.LoadModel(path)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	if len(f.Words()) > 0 {
		return runRunning(ctx, env, m, write, severity, f)
	}

	o := world.Options{Seed: f.seed, MaxItems: f.maxItems, MaxBytes: f.maxBytes, OnDemand: true}
	if f.maxItems == 0 {
		o.MaxItems = -1
	}
	status := env.Status()
	defer status.Clear()
	o.Progress = func(items int) { status.Show("generated %s", text.Count(items, "item")) }
	w, err := world.Build(ctx, m, o)
	if list, ok := errors.AsType[model.Errors](err); ok {
		return app.ModelErrors(path, list)
	}
	if err != nil {
		return err
	}
	defer w.Close()
	if len(w.Items) > manyItems {
		// Most of the memory is what lives until the end, so more collections cost little. While the items were
		// made there was less of it.
		defer debug.SetGCPercent(debug.SetGCPercent(10))
	}
	r, err := check.Run(ctx, w, check.Options{Lint: lint.Run, Progress: func(pattern string) {
		if pattern == "" {
			pattern = "hazards"
		}
		status.Show("%s, checking %s", text.Count(len(w.Items), "item"), pattern)
	}})

	status.Clear()
	if err != nil {
		return err
	}
	return writeResult(env, write, w, r, severity, f)
}

// runRunning compares a model with running tables.
func runRunning(
	ctx context.Context, env *app.Env, m *model.Model, write format, severity model.Severity, f *checkFlags,
) error {
	switch {
	case f.format == "html":
		return app.Usage("design check", "the page shows a world; use text, markdown, json or sarif for running tables")
	case f.items <= 0:
		return app.Usage("design check", "--items must be positive")
	}
	src, err := env.Open(ctx, f.SourceFlags)
	if err != nil {
		return err
	}
	defer src.Close()
	r, err := check.Running(ctx, src.Target, m, check.RunningOptions{Items: f.items})
	if err != nil {
		return err
	}
	return writeResult(env, write, nil, r, severity, f)
}

// writeResult writes the result of a check, and returns an error if that is as severe as the user said.
func writeResult(
	env *app.Env, write format, w *world.World, r *check.Result, severity model.Severity, f *checkFlags,
) error {
	var out bytes.Buffer
	if err := write(env, &out, w, r, f); err != nil {
		return err
	}
	if err := output(env, f.out, out.Bytes()); err != nil {
		return err
	}
	if r.Failed(severity) {
		return app.ErrWrongAnswers
	}
	return nil
}

// A format writes a result.
type format func(env *app.Env, out *bytes.Buffer, w *world.World, r *check.Result, f *checkFlags) error

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

// formats are the output formats of design check.
var formats = map[string]format{
	"text": func(env *app.Env, out *bytes.Buffer, _ *world.World, r *check.Result, f *checkFlags) error {
		style := env.Style()
		o := check.TextOptions{Width: env.Prose(), Color: bool(style.Paint) && f.out == "", Quiet: f.quiet}
		if err := r.WriteText(out, o); err != nil || f.quiet {
			return err
		}
		return f.writeBill(out, r)
	},
	"html": func(_ *app.Env, out *bytes.Buffer, w *world.World, r *check.Result, f *checkFlags) error {
		cost, err := f.bill(r)
		if err != nil {
			return err
		}
		return report.HTML(out, w, r, cost)
	},
	"json": func(_ *app.Env, out *bytes.Buffer, w *world.World, r *check.Result, f *checkFlags) error {
		if w == nil { // running tables declare no rates
			return report.JSON(out, r, nil)
		}
		cost, err := f.bill(r)
		if err != nil {
			return err
		}
		return report.JSON(out, r, cost)
	},
	"markdown": func(_ *app.Env, out *bytes.Buffer, _ *world.World, r *check.Result, f *checkFlags) error {
		if err := r.WriteMarkdown(out); err != nil {
			return err
		}
		return f.writeBill(out, r)
	},
	"sarif": func(_ *app.Env, out *bytes.Buffer, _ *world.World, r *check.Result, _ *checkFlags) error {
		o := report.SARIFOptions{Root: sarifRoot(r.Model.Pos.File), Version: app.ModuleVersion()}
		return report.SARIF(out, r, o)
	},
}

// checkFormats returns the names of formats, the default first.
func checkFormats() []string {
	var names []string
	for _, name := range []string{"text", "markdown", "json", "html", "sarif"} {
		if formats[name] != nil {
			names = append(names, name)
		}
	}
	return names
}
