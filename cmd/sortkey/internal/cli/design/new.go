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
	var force bool
	cmd := &cobra.Command{
		Use:   "new [FILE]",
		Short: "Write a first model with comments",
		Long: `New writes a small model whose comments explain the model file, and beside it
` + schemaFile + `, with which editors check and complete the model. Without FILE it
writes the model to standard output. It overwrites an existing model only with --force.`,
		Example: `  sortkey design new shop.yaml
  sortkey design check shop.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return app.Usage("design new", "design new takes one file, not %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: app.Models,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := env.Stdout.Write(modelfile.Starter())
				return err
			}
			if err := writeNew(args[0], modelfile.Starter(), force); err != nil {
				return err
			}
			// The model names the schema in its first line, for editors.
			err := writeNew(filepath.Join(filepath.Dir(args[0]), schemaFile), modelfile.Schema(), false)
			if errors.Is(err, fs.ErrExist) {
				return nil
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "overwrite an existing file")
	return cmd
}

// schemaFile is the schema that the first line of a new model names.
const schemaFile = "model.schema.json"

func schemaCommand(env *app.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of model files, for editors",
		Long: `Schema prints the JSON Schema of model files. An editor with the YAML language
server checks and completes a model with this first line:
  # yaml-language-server: $schema=model.schema.json`,
		Example: "  sortkey design schema > model.schema.json",
		Args:    app.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := env.Stdout.Write(modelfile.Schema())
			return err
		},
	}
}
