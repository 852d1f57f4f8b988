package shell

import (
	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

// usage is the template for the part of a command's help below its description.
const usage = `{{if .HasParent}}Usage:
  {{.Use}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{else}}Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}

help COMMAND has the arguments and flags of a command.{{end}}
`

// commands returns the root command of the shell, which has no name.
func (s *shell) commands() *cobra.Command {
	root := s.root(s.env)
	root.Long = `A line is a command as sortkey has it, without sortkey and without the flags that name the
database: query Orders c1 '>= 2024-01' --limit 10. The tab key completes, ↑ and Ctrl-R find
earlier lines of this shell, Ctrl-C stops a command, Ctrl-D ends the shell.`
	root.SetUsageTemplate(usage)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		&cobra.Command{
			Use: "exit", Short: "End the shell", Args: app.NoArgs,
			RunE: func(*cobra.Command, []string) error { return errExit },
		},
	)

	app.CompleteNothing(root)
	return root
}
