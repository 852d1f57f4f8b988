package design

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/diff"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
)

type diffFlags struct {
	format, out string
	maxItems    int
	renames     []string
	priceFlags
}

// diffFormats are the values of --format, the default first.
var diffFormats = []string{"text", "markdown", "json"}

func diffCommand(env *app.Env) *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two versions of a model, and plan the way from one to the other",
		Long: `Diff checks two versions of a model and says what is different: tables, indexes,
entities and their keys; what each access pattern costs before and after; the
findings that came and went; money; and the steps from one version to the other, with
the items, write units, time and money that they take.

OLD and NEW are model files, folders with a model.yaml, or examples. A file of a revision
of git is what git show REVISION:FILE prints.

An entity or a table that is gone while another is new is a question, and until it is
answered there is no plan: --rename OLD=NEW says that it is the same, and --rename OLD=
that what it holds is to be deleted.

The exit code is 1 if a pattern fails that did not fail before, if a finding is a new
error, or if a question is open.`,
		Example: `  sortkey design diff old.yaml new.yaml
  git show main:shop.yaml > old.yaml && sortkey design diff old.yaml shop.yaml --format markdown
  sortkey design diff old.yaml new.yaml --rename Purchase=Order`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return app.Usage("design diff", "design diff needs two models")
			}
			return nil
		},
		ValidArgsFunction: app.Models,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDiff(cmd.Context(), env, args[0], args[1], &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "text", "output `FORMAT`: "+strings.Join(diffFormats, ", "))
	flags.StringVarP(&f.out, "output", "o", "", "output `FILE` (default standard output)")
	flags.IntVar(&f.maxItems, "max-items", dataset.DefaultMaxItems, "generate at most `N` items of each version")
	flags.StringArrayVar(
		&f.renames, "rename", nil,
		"new name of an entity or a table, as `OLD=NEW`; OLD= if it is gone; repeatable",
	)
	f.priceFlags.declare(cmd)
	app.AtLeast(cmd, map[string]string{"max-items": "0"})
	app.Complete(cmd, map[string]cobra.CompletionFunc{"format": app.Words(diffFormats...), "output": app.Paths})
	return cmd
}

func runDiff(ctx context.Context, env *app.Env, old, made string, f *diffFlags) error {
	var write func(d *diff.Diff, w io.Writer) error
	switch f.format {
	case "text":
		write = func(d *diff.Diff, w io.Writer) error { return d.WriteText(w, env.Prose()) }
	case "markdown":
		write = func(d *diff.Diff, w io.Writer) error { return d.WriteMarkdown(w, "Design: "+old+" → "+made) }
	case "json":
		write = func(d *diff.Diff, w io.Writer) error { return app.WriteJSON(w, d) }
	default:
		return app.Usage("design diff", "--format is one of %s, not %q", strings.Join(diffFormats, ", "), f.format)
	}
	renames := diff.Renames{}
	for _, one := range f.renames {
		old, made, ok := strings.Cut(one, "=")
		if !ok || old == "" {
			return app.Usage("design diff", "--rename is OLD=NEW, or OLD= for what is gone, not %q", one)
		}
		if _, twice := renames[old]; twice {
			return app.Usage("design diff", "--rename says twice what became of %s", old)
		}
		renames[old] = made
	}

	var models [2]*model.Model
	for i, name := range []string{old, made} {
		var err error
		if models[i], err = app.LoadModel(name); err != nil {
			return err
		}
	}
	diff.Align(models[0], models[1], renames)
	var sides [2]diff.Side
	for i, name := range []string{old, made} {
		var err error
		if sides[i], err = checkedSide(ctx, env, name, models[i], f); err != nil {
			return err
		}
		defer sides[i].Dataset.Close()
	}
	d, err := diff.Of(ctx, sides[0], sides[1], renames)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := write(d, &out); err != nil {
		return err
	}
	if err := (&outFlags{f.out, true}).write(env, out.Bytes()); err != nil {
		return err
	}
	if d.Worse() {
		return app.ErrWrongAnswers
	}
	return nil
}

// checkedSide checks one of the two versions of a model, and computes its bill. The caller closes the dataset of the
// side.
func checkedSide(
	ctx context.Context, env *app.Env, name string, m *model.Model, f *diffFlags,
) (s diff.Side, err error) {
	status := env.Status()
	defer status.Clear()
	o := dataset.Options{MaxItems: f.maxItems, Progress: func(items int) { status.Show("%s: %d items", name, items) }}
	if f.maxItems == 0 {
		o.MaxItems = -1
	}
	s.Dataset, err = dataset.Build(ctx, m, o)
	if list, ok := errors.AsType[model.Errors](err); ok {
		return s, app.ModelErrors(name, list)
	}
	if err != nil {
		return s, err
	}
	s.Result, err = check.Run(ctx, s.Dataset, check.Options{
		Lint: lint.Run, Progress: func(pattern string) { status.Show("%s: %s", name, pattern) },
	})
	if err == nil {
		s.Bill, err = f.bill(s.Result)
	}
	if err != nil {
		s.Dataset.Close()
	}
	return s, err
}
