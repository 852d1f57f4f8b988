package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
)

func tablesCommand(env *app.Env) *cobra.Command {
	var source app.SourceFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tables",
		Short: "List the tables with their keys and indexes",
		Long: `Tables lists the tables with their keys and indexes. A key is written as partition /
sort, with the type after names of numbers (:N) and binary data (:B). After the key of an index that
has not all attributes, those that it has besides keys are in parentheses.` + source.Help(env),
		Example: `  sortkey tables --model file-tree
  sortkey tables --data ./data --json`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runTables(cmd.Context(), env, source, asJSON)
		},
	}
	source.Declare(cmd, env)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func runTables(ctx context.Context, env *app.Env, source app.SourceFlags, asJSON bool) error {
	src, err := env.Open(ctx, source)
	if err != nil {
		return err
	}
	defer src.Close()
	names, err := models.Tables(ctx, src.Target)
	if err != nil {
		return err
	}
	lines, err := models.List(ctx, src.Target, names)
	if err != nil {
		return err
	}
	if asJSON {
		return app.WriteJSON(env.Stdout, map[string][]models.Table{"tables": lines})
	}
	if len(lines) == 0 {
		_, err := fmt.Fprintln(env.Stdout, "no tables")
		return err
	}

	var items []attr.Item
	for _, line := range lines {
		items = append(items, tableRow(line.Name, "", line.Key))
		for _, index := range line.IndexNames {
			items = append(items, tableRow(line.Name, index, line.Indexes[index]))
		}
	}
	style := env.Style()
	_, err = fmt.Fprint(env.Stdout, show.Rows(items, []string{"table", "index", "key"}, style.Width, "", style.Paint))
	return err
}

// tableRow returns the row of a table or, if index is not "", of an index of the table.
func tableRow(table, index, key string) attr.Item {
	var b attr.Builder
	b.Add("table", attr.NewString(table))
	if index != "" {
		b.Add("index", attr.NewString(index))
	}
	b.Add("key", attr.NewString(key))
	return b.Item()
}
