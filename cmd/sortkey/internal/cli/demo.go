package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/demo"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

func demoCommand(env *app.Env) *cobra.Command {
	var asJSON, list bool
	var data, url string
	cmd := &cobra.Command{
		Use:   "demo [NAME|FILE]",
		Short: "Run the access patterns of the examples and check their answers",
		Long: `Demo loads each example into its own database in memory and runs its access
patterns through the AWS SDK. For each it prints the request, the slice that it
reads, and up to 25 rows in order. The items are those of design check, generated
ones included.

With --data all examples share one database in a folder, and with --store one in
PostgreSQL. The first run loads them; a second run finds them, loads nothing and
checks all answers again. sortkey serve can serve the database.

The exit code is 0 if every answer is right, and 1 otherwise. Instead of the NAME
of an example you can give a model FILE, or a folder with a model.yaml.`,
		Example: `  sortkey demo                 all examples
  sortkey demo file-tree       one example
  sortkey demo ./model.yaml    a model file
  sortkey demo --data ./demo   a database in a folder; run it twice
  sortkey demo --store postgres://sortkey@db.example.com/app
  sortkey demo --list          the names of the examples
  sortkey demo --json | jq '.models[].patterns[] | select(.right | not)'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return app.Usage("demo", "demo takes one name, not %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return app.ModelNames(cmd, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var designs []*model.Model
			var err error
			if len(args) == 0 {
				designs, err = models.Examples()
			} else {
				var m *model.Model
				m, err = models.Find(args[0])
				designs = []*model.Model{m}
			}
			if err != nil {
				return err
			}
			if list {
				return listExamples(env, designs)
			}
			return runDemo(cmd.Context(), env, designs, data, url, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	cmd.Flags().BoolVar(&list, "list", false, "list the examples instead of running them")
	cmd.Flags().StringVar(&data, "data", "", "`DIR` of the database; created if it does not exist")
	cmd.Flags().StringVar(&url, "store", "", env.StoreUsage())
	cmd.MarkFlagsMutuallyExclusive("data", "store")
	app.Complete(cmd, map[string]cobra.CompletionFunc{"data": app.Folders})
	return cmd
}

func runDemo(
	ctx context.Context, env *app.Env, designs []*model.Model, data, url string, asJSON bool,
) (err error) {
	runOne, where := demo.Run, data
	if data != "" || url != "" {
		var st store.Store
		if data != "" {
			st, err = app.OpenData(data, disk.Options{})
		} else {
			st, err = env.OpenStore(ctx, url, nil)
			where = "the database of --store"
		}
		if err != nil {
			return err
		}
		db, err := sortkey.Open(sortkey.Options{Store: st})
		if err != nil {
			return errors.Join(err, st.Close())
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		runOne = func(ctx context.Context, m *model.Model) (*demo.Report, error) { return demo.RunOn(ctx, db, m) }
	}

	var reports []*demo.Report
	style := env.Style()
	for _, m := range designs {
		r, err := runOne(ctx, m)
		if errors.Is(err, models.ErrOther) {
			return advice.New("name another database, or an empty one", "%s: %v", where, err)
		}
		if err != nil {
			return err
		}
		reports = append(reports, r)
		if !asJSON {
			demo.Print(env.Stdout, r, style)
			fmt.Fprintln(env.Stdout)
		}
	}

	if where != "" && !asJSON {
		fmt.Fprintln(env.Stdout, demo.DataSummary(reports, where))
	}
	summary := demo.Summary(reports)
	right := demo.AllRight(reports)
	switch {
	case asJSON:
		if err := app.WriteJSON(env.Stdout, demo.Document(reports)); err != nil {
			return err
		}
	case right:
		fmt.Fprintln(env.Stdout, style.Paint.Good(summary))
	default:
		fmt.Fprintln(env.Stdout, style.Paint.Bad(summary))
	}

	if !right {
		fmt.Fprintf(env.Stderr, "sortkey: only %s\n", summary)
		return app.ErrWrongAnswers
	}
	return nil
}

func listExamples(env *app.Env, designs []*model.Model) error {
	items := make([]attr.Item, len(designs))
	for i, m := range designs {
		patterns, err := attr.NewNumber(fmt.Sprint(len(m.Patterns)))
		if err != nil {
			return err
		}
		about, _, _ := strings.Cut(m.About, ". ")
		var b attr.Builder
		b.Add("name", attr.NewString(m.Name))
		b.Add("patterns", patterns)
		b.Add("about", attr.NewString(strings.TrimSuffix(about, ".")))
		items[i] = b.Item()
	}
	style := env.Style()
	_, err := fmt.Fprint(
		env.Stdout, show.Rows(items, []string{"name", "patterns", "about"}, style.Width, "", style.Paint),
	)
	return err
}
