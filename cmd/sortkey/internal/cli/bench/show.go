package bench

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
)

func showCommand(env *app.Env) *cobra.Command {
	var o outputFlags
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Print a report from its JSON",
		Example: `  sortkey bench show report.json --details
  sortkey bench show report.json --html report.html`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return app.Usage("bench show", "bench show takes one file, not %d", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			r, err := bench.ReadReport(file)
			if err != nil {
				return advice.New("sortkey bench --json writes reports", "%s: %v", args[0], err)
			}
			if err := o.check(); err != nil {
				return err
			}
			return o.write(env, r)
		},
	}
	o.declare(cmd)
	cmd.Flags().BoolVar(&o.markdown, "markdown", false, "print the short tables of bench/README.md")
	return cmd
}
