package design

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

func newCommand(env *app.Env) *cobra.Command {
	var out outFlags
	cmd := &cobra.Command{
		Use:   "new [FILE]",
		Short: "Write a first model with comments",
		Long: `New writes a small model whose comments explain the model file, and beside it
` + schemaFile + `, the JSON Schema with which editors check and complete models.
FILE can also be given with -o. Without it, new writes the model to standard output. It
overwrites an existing model only with --force.

An editor with the YAML language server uses the schema for a file with this first line,
which a new model has:
  # yaml-language-server: $schema=model.schema.json`,
		Example: `  sortkey design new shop.yaml
  sortkey design check shop.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return app.Usage("design new", "design new takes one file, not %d", len(args))
			}
			if len(args) == 1 && out.path != "" {
				return app.Usage("design new", "give the file as an argument or with -o, not both")
			}
			return nil
		},
		ValidArgsFunction: app.Models,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				out.path = args[0]
			}
			if err := out.write(env, modelfile.Starter()); err != nil || !out.toFile() {
				return err
			}
			schema := outFlags{path: filepath.Join(filepath.Dir(out.path), schemaFile)}
			if err := schema.write(env, modelfile.Schema()); !errors.Is(err, fs.ErrExist) {
				return err
			}
			return nil
		},
	}
	out.declare(cmd, "output `FILE`")
	return cmd
}

// schemaFile is the JSON schema that the first line of a new model names.
const schemaFile = "model.schema.json"
