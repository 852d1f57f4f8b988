package cli

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/mcp"
)

type mcpFlags struct {
	app.SourceFlags
	write bool
}

func mcpCommand(env *app.Env) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the Model Context Protocol, for clients with a language model",
		Long: `Mcp is a server of the Model Context Protocol: clients such as Claude Desktop and VS Code
give its tools to a language model, which then queries a database, explains requests and
checks designs of keys.

It talks on standard input and output.

The database is an example or a model file with --model, a folder with --data, that of a
server with --endpoint, or a PostgreSQL database with --store; without any, it is empty and
in memory. There are tools that write only with --write, and for an example or a model file,
whose items are gone when the command ends.

The tools read no files.`,
		Example: `  sortkey mcp --model shop
  sortkey mcp --data ./data
  sortkey mcp --endpoint http://127.0.0.1:8000 --write`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runMCP(cmd.Context(), env, &f) },
	}
	f.Declare(cmd, env)
	cmd.Flags().BoolVar(&f.write, "write", false, "let tools write to the database")
	return cmd
}

func runMCP(ctx context.Context, env *app.Env, f *mcpFlags) (err error) {
	src, err := openForMCP(ctx, env, f.SourceFlags)
	if err != nil {
		return err
	}
	defer src.Close()
	about := "in memory, empty at the start"
	if len(f.Words()) > 0 {
		about = filepath.Base(f.Name()) // without addresses and folders
	}
	s := mcp.New(mcp.Options{
		Target: src.Target, Model: src.Model, About: about,
		Write: f.write || src.Model != nil, Version: app.ModuleVersion(), Explain: app.Explain,
	})
	return s.Connect(ctx, mcp.Lines(env.Stdin, env.Stdout))
}

// openForMCP opens the source that flags select, or an empty database in memory.
func openForMCP(ctx context.Context, env *app.Env, f app.SourceFlags) (*app.Source, error) {
	if len(f.Words()) == 0 {
		return app.OpenEmpty()
	}
	return env.Open(ctx, f)
}
