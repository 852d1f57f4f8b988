package design

import (
	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

// Command returns the command design with its subcommands.
func Command(env *app.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "design",
		Short: "Work on a key design before its tables exist",
		Long: `Design works on a key design before its tables exist. A model file in YAML
describes the tables, the items and their keys, and the access patterns. All
commands run in memory, offline. MODEL is such a file, a folder with a model.yaml,
or the name of an example.`,
		Example: `  sortkey design new shop.yaml
  sortkey design check shop.yaml
  sortkey design open shop.yaml
  sortkey design gen shop.yaml -o keys/keys.go
  sortkey design export shop.yaml --format terraform -o tables.tf`,
		Args: app.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newCommand(env), checkCommand(env), openCommand(env), diffCommand(env), genCommand(env), importCommand(env),
		exportCommand(env),
	)
	return cmd
}
