package design

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/text"
)

type checkFlags struct {
	maxItems int
	format   string
	failOn   string
	out      string
	quiet    bool
	against  string
	priceFlags
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

With --against it compares the model with running tables instead: those of a server, by
its URL, of a folder with a database, or of a PostgreSQL database. It looks at their keys
and indexes, at 2,000 items of each table, and at the budgets of the patterns, each with
the values of several items of its entity. It only reads.

The exit code is 1 if an expectation is not met or a finding is an error; with
--fail-on warning, also if a finding is a warning.`,
		Example: `  sortkey design check shop.yaml
  sortkey design check file-tree
  sortkey design check shop.yaml --max-items 1000000
  sortkey design check shop.yaml --against http://127.0.0.1:8000
  sortkey design check shop.yaml -o shop.html --fail-on warning`,
		Args:              app.OneModel,
		ValidArgsFunction: app.Models,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCheck(cmd.Context(), env, args[0], &f)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.maxItems, "max-items", dataset.DefaultMaxItems, "generate at most `N` items; 0 for samples only")
	flags.StringVar(
		&f.format, "format", "",
		"output `FORMAT`: "+strings.Join(checkFormats, ", ")+" (default that of the output file, or text)",
	)
	flags.StringVar(&f.failOn, "fail-on", "error", "lowest `SEVERITY` with exit code 1: error, warning, or never")
	flags.StringVarP(&f.out, "output", "o", "", "output `FILE` (default standard output)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only problems")
	f.priceFlags.declare(cmd)
	flags.StringVar(&f.against, "against", "", "compare with the running tables at this `URL|FOLDER`")
	app.AtLeast(cmd, map[string]string{"max-items": "0"})
	cmd.MarkFlagsMutuallyExclusive("against", "max-items")
	cmd.MarkFlagsMutuallyExclusive("against", "prices")
	app.Complete(cmd, map[string]cobra.CompletionFunc{
		"format": app.Words(checkFormats...), "fail-on": app.Words("error", "warning", "never"), "output": app.Paths,
		"against": app.Folders,
	})
	return cmd
}

// manyItems is the number of items above which a check collects garbage more often, to save memory.
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

	if f.format == "" {
		f.format = cmp.Or(formatOf[filepath.Ext(f.out)], checkFormats[0])
	}
	if !slices.Contains(checkFormats, f.format) {
		return app.Usage("design check", "--format is one of %s, not %q", strings.Join(checkFormats, ", "), f.format)
	}

	m, err := app.LoadModel(path)
	if err != nil {
		return err
	}
	if f.against != "" {
		return runRunning(ctx, env, m, severity, f)
	}

	o := dataset.Options{MaxItems: f.maxItems, OnDemand: true}
	if f.maxItems == 0 {
		o.MaxItems = -1
	}
	status := env.Status()
	defer status.Clear()
	o.Progress = func(items int) { status.Show("generated %s", text.Count(items, "item")) }
	w, err := dataset.Build(ctx, m, o)
	if list, ok := errors.AsType[model.Errors](err); ok {
		return app.ModelErrors(path, list)
	}
	if err != nil {
		return err
	}
	defer w.Close()
	if len(w.Items) > manyItems {
		// From here on, the items take most of the memory until the check ends. Frequent garbage collections limit
		// the memory beyond the items. They cost little time now, which they would not while Build is still
		// generating items.
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
	return writeResult(env, w, r, severity, f)
}

// runRunning compares a model with the running tables at the URL or folder of --against.
func runRunning(
	ctx context.Context, env *app.Env, m *model.Model, severity model.Severity, f *checkFlags,
) error {
	if f.format == "html" {
		return app.Usage("design check", "--against has no page: use text, markdown or json")
	}
	src, err := env.OpenRunning(ctx, f.against)
	if err != nil {
		return err
	}
	defer src.Close()
	r, err := check.Running(ctx, src.Target, m, check.RunningOptions{Items: runningItems})
	if err != nil {
		return err
	}
	return writeResult(env, nil, r, severity, f)
}

// runningItems is the number of items that a check reads from each running table.
const runningItems = 2000

// writeResult writes the result of a check. It returns [app.ErrWrongAnswers] if the result has a finding of at least
// the given severity. For a check of running tables the dataset is nil. The result then has no bill, because running
// tables declare no request rates.
func writeResult(
	env *app.Env, w *dataset.Dataset, r *check.Result, severity model.Severity, f *checkFlags,
) (err error) {
	var cost *bill.Bill
	if w != nil {
		if cost, err = f.bill(r); err != nil {
			return err
		}
	}
	var out bytes.Buffer
	switch f.format {
	case "html":
		err = report.HTML(&out, w, r, cost)
	case "json":
		err = report.JSON(&out, r, cost)
	case "markdown":
		err = report.Markdown(&out, r, cost)
	default:
		err = report.Text(&out, r, cost, report.TextOptions{
			Width: env.Prose(), Color: bool(env.Style().Paint) && f.out == "", Quiet: f.quiet,
		})
	}
	if err != nil {
		return err
	}
	if err := (&outFlags{f.out, true}).write(env, out.Bytes()); err != nil {
		return err
	}
	if r.Failed(severity) {
		return app.ErrWrongAnswers
	}
	return nil
}

// checkFormats are the names of the formats, the default first.
var checkFormats = []string{"text", "markdown", "json", "html"}

// formatOf maps the extensions of output files to formats.
var formatOf = map[string]string{".md": "markdown", ".json": "json", ".html": "html"}
