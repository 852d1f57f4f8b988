package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/demo"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/internal/design/model"
)

func demoCommand(env *app.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "demo [NAME|FILE]",
		Short: "Run the access patterns of the examples and check their answers",
		Long: `Demo loads each example into its own database in memory and runs its access
patterns through the AWS SDK. For each it prints the request, the slice that it
reads, and up to 25 rows in order. The items are those of design check, generated
ones included.

The exit code is 0 if every answer is right, and 1 otherwise. Instead of the NAME
of an example you can give a model FILE, or a folder with a model.yaml.`,
		Example: `  sortkey demo                 all examples
  sortkey demo file-tree       one example
  sortkey demo ./model.yaml    a model file`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return app.Usage("demo", "demo takes one name, not %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: app.ModelNames,
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
			summary, right, err := demo.All(cmd.Context(), env.Stdout, designs, env.Style())
			if err == nil && !right {
				fmt.Fprintf(env.Stderr, "sortkey: only %s\n", summary)
				err = app.ErrWrongAnswers
			}
			return err
		},
	}
}
