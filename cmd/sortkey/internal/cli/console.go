package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/console"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/web"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/wire"
)

func consoleCommand(env *app.Env) *cobra.Command {
	var source app.SourceFlags
	var port int
	var design string
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Look at tables in the browser: items, key space, and what a query reads",
		Long: `Console serves pages about tables to the browser on this machine: their items in a grid to
sort, find, edit and delete, a box that completes keys, partitions and item collections in
order, and the slice of a query or of a SELECT while it is typed.

It prints an address with a token: open that. Others have no access. Interrupt the command
to end it. The requests of a running program are seen with sortkey serve --console.` + source.Help(env),
		Example: `  sortkey console
  sortkey console --model shop
  sortkey console --data ./sortkey-data --design model.yaml
  sortkey console --endpoint http://127.0.0.1:8000 --port 8001`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runConsole(cmd.Context(), env, source, design, port)
		},
	}
	source.Declare(cmd, env)
	cmd.Flags().IntVar(&port, "port", 0, "listen on this `PORT` of 127.0.0.1 (default any that is free)")
	cmd.Flags().StringVar(
		&design, "design", "", "`NAME|FILE` of the model of the tables, by which items are named and linked",
	)
	app.Complete(cmd, map[string]cobra.CompletionFunc{"design": app.ModelNames})
	return cmd
}

func runConsole(ctx context.Context, env *app.Env, source app.SourceFlags, design string, port int) error {
	var designs []*model.Model
	if design != "" {
		m, err := app.LoadModel(design)
		if err != nil {
			return err
		}
		designs = append(designs, m)
	}
	src, err := env.Open(ctx, source)
	if err != nil {
		return err
	}
	defer src.Close()

	// Fail now if there is no server, or if it rejects the credentials: otherwise every page would show an error.
	if _, _, err := src.Target.Do(ctx, &wire.ListTablesInput{Limit: new(int64(1))}); err != nil {
		return err
	}

	if src.Model != nil {
		designs = append(designs, src.Model)
	}
	o := console.Options{Target: src.Target, Name: cmp.Or(src.Endpoint, source.Name()), DB: src.DB, Models: designs}
	site, err := web.Listen(port)
	if err != nil {
		return &advice.Error{Msg: err.Error(), Advice: "give another port with --port, or none", Err: err}
	}

	fmt.Fprintf(env.Stdout, "%s\n", site.URL())
	fmt.Fprintln(env.Stderr, "open this address in the browser; ctrl-c ends")
	pages := console.New(o)
	return errors.Join(site.Serve(ctx, pages.Handler()), pages.Close())
}
