package shell

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/awscli"
)

// usage is the template of what help says after the description of a command.
const usage = `{{if .HasParent}}Usage:
  {{.Use}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{else}}Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}

help COMMAND has the arguments, flags and examples of a command.{{end}}
`

var (
	continued = regexp.MustCompile(`\\\n\s*`)
	outside   = regexp.MustCompile(`\bsortkey | (?:--(?:data|endpoint|model|store)|-m) \S+`)
)

// examplesIn returns the examples of a command as they are typed in a shell, without those that
// pass something on to another command or file.
func examplesIn(text string) string {
	var kept []string
	for line := range strings.SplitSeq(continued.ReplaceAllString(text, ""), "\n") {
		if _, rest, err := awscli.Split(line); err == nil && rest == "" {
			kept = append(kept, outside.ReplaceAllString(line, ""))
		}
	}
	return strings.Join(kept, "\n")
}

// commands returns the commands of the shell, below one without a name.
func (s *shell) commands() *cobra.Command {
	root := s.root(s.env)
	root.Long = `A line is a command as sortkey has it, without sortkey and without the flags that name the
database: query Orders c1 '>= 2024-01' --limit 10. The tab key completes, ↑ and Ctrl-R find
earlier lines of this shell, Ctrl-C stops a command, Ctrl-D ends the shell.`
	root.SetUsageTemplate(usage)
	for _, cmd := range root.Commands() {
		cmd.Example = examplesIn(cmd.Example)
	}

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
