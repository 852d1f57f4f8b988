package shell

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/advice"
)

// Command returns the command shell. For each line of a shell, root returns a root command. It has no name, and its
// subcommands are the commands on tables and items.
func Command(env *app.Env, root func(*app.Env) *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "shell [MODEL|URL|FOLDER]",
		Short: "Work with one database line by line",
		Long: `Shell opens a database and runs the commands on its tables and items: tables, create,
alter, drop, get, put, update, delete, query, scan, sql and explain, each on a line of its own, without
sortkey and without the flags that name the database. The database is an example or a model file, whose
items stay in memory until the shell ends; the URL of a server or of a PostgreSQL database;
or a folder that no server has open. Without an argument it is the server that
AWS_ENDPOINT_URL_DYNAMODB or AWS_ENDPOINT_URL names, or http://127.0.0.1:8000.

The tab key completes commands, flags, tables and indexes.

Ctrl-C stops the running command, Ctrl-D ends the shell. If standard input is not a
terminal, its lines are a script: it ends at the first error.`,
		Example: `  sortkey shell file-tree
  sortkey shell ./data
  sortkey shell http://127.0.0.1:8000
  printf '%s\n' "put Orders '{\"customer\": \"c1\", \"order\": 1}'" | sortkey shell ./data`,
		Args:              atMostOneSource,
		ValidArgsFunction: app.ModelNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return run(cmd.Context(), env, root, name)
		},
	}
}

func atMostOneSource(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return app.Usage("shell", "shell takes one model, URL or folder, not %d", len(args))
	}
	return nil
}

// run opens a database and runs a shell on it.
func run(ctx context.Context, env *app.Env, root func(*app.Env) *cobra.Command, name string) (err error) {
	src, err := env.Open(ctx, env.SourceNamed(name))
	if errors.Is(err, models.ErrNotFound) {
		return advice.New(
			"the examples are "+strings.Join(examples.Names(), ", ")+
				"; a folder is one that serve or import has written",
			"%s is neither an example, nor a model file, nor a folder, nor a URL", name,
		)
	}
	if err != nil {
		return err
	}
	own := *env
	own.Source, own.Stdin = src, linesOnly{}
	s := &shell{env: &own, root: root, name: name}
	defer func() { err = src.End(err) }()
	if isTerminal(env.Stdin) && env.Width() > 0 {
		return s.converse(ctx)
	}
	return s.script(ctx, env.Stdin)
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// linesOnly is the standard input of a command in a shell. Reading it fails, because the shell itself reads its
// commands from standard input.
type linesOnly struct{}

func (linesOnly) Read([]byte) (int, error) {
	return 0, errors.New("it has the lines of the shell; write the item or the request on the line")
}
