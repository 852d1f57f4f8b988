package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/bench"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/design"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/serve"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/shell"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/text"
)

// Main runs the command with args and returns the exit code.
func Main(args []string, env *app.Env) int {
	root := rootCommand(env)
	root.SetArgs(args)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return env.Report(groupError(root.ExecuteContext(ctx)))
}

// groupError rewrites an error about flags that belong together: at least one of them is required, or at most one is
// allowed. Cobra's own text lists the flags in brackets.
func groupError(err error) error {
	if err == nil {
		return nil
	}
	_, rest, grouped := strings.Cut(err.Error(), " flags in the group [")
	if !grouped {
		return err
	}
	names, _, _ := strings.Cut(rest, "]")
	if strings.HasPrefix(err.Error(), "at least one") {
		return app.UsageError("give one of --"+strings.ReplaceAll(names, " ", ", --"), "no change is asked for")
	}
	return app.UsageError(
		"leave out all but one", "--%s exclude each other", strings.ReplaceAll(names, " ", " and --"),
	)
}

// helpCommand makes the command help return a usage error if its arguments do not name a command.
func helpCommand(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Run = nil
	help.RunE = func(_ *cobra.Command, args []string) error {
		cmd, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return app.UnknownCommand(root, args)
		}
		cmd.InitDefaultHelpFlag()
		return cmd.Help()
	}
}

func rootCommand(env *app.Env) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:   "sortkey",
		Short: "An ordered key-value store that answers like DynamoDB",
		Long: `Sortkey is an ordered key-value store that answers like DynamoDB.

Exit codes: 0 success, 1 a failure or a wrong answer, 2 a wrong command line.`,
		Example: `  sortkey demo            run every example and check its answers
  sortkey help test       where to begin if you test a program
  sortkey help design     where to begin if you design keys
  sortkey help measure    where to begin if you measure what requests cost`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          app.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if showVersion {
				return printVersion(env)
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.PersistentPreRunE = app.CheckFlags
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(itemCommands(env)...)
	root.AddCommand(
		serve.Command(env), initCommand(env), demoCommand(env), shell.Command(env, shellRoot),
		design.Command(env), keyCommand(env), consoleCommand(env), mcpCommand(env),
		importCommand(env), exportCommand(env), snapshotCommand(env), restoreCommand(env),
		bench.Command(env), versionCommand(env),
	)
	root.AddCommand(topics()...)
	helpCommand(root)
	app.CompleteNothing(root)
	return root
}

// shellRoot returns the root command of a shell.
func shellRoot(env *app.Env) *cobra.Command {
	root := &cobra.Command{
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          app.UnknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentPreRunE = app.CheckFlags
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(itemCommands(env)...)
	return root
}

// itemCommands returns the commands on tables and items, which a shell has too.
func itemCommands(env *app.Env) []*cobra.Command {
	commands := []*cobra.Command{tablesCommand(env), createCommand(env), alterCommand(env), dropCommand(env)}
	for _, op := range operation.All {
		commands = append(commands, operationCommand(env, op))
	}
	return append(commands, explainCommand(env))
}

// flagError turns Cobra's error about a flag into a usage error with advice.
func flagError(cmd *cobra.Command, err error) error {
	help := "see " + strings.TrimSpace(cmd.CommandPath()) + " --help"
	e, unknown := errors.AsType[*pflag.NotExistError](err)
	if unknown && e.GetSpecifiedShortnames() == "" {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		if nearest, ok := text.Nearest(e.GetSpecifiedName(), known); ok {
			help = "did you mean --" + nearest + "? Otherwise " + help
		}
	}
	if unknown && e.GetSpecifiedShortnames() != "" {
		help += "; put -- before values that start with a hyphen"
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		kind := wrong.GetFlag().Value.Type()
		words := map[string]string{
			"int": "a whole number", "int32": "a whole number", "int64": "a whole number", "bool": "true or false",
			"duration": "a time such as 500ms or 10s", "float64": "a number",
		}
		if want := words[kind]; want != "" {
			return app.UsageError(help, "--%s: %q is not %s", wrong.GetFlag().Name, wrong.GetValue(), want)
		}
	}
	return app.UsageError(help, "%v", err)
}

func versionCommand(env *app.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  sortkey version",
		Args:    app.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return printVersion(env) },
	}
}

func printVersion(env *app.Env) error {
	_, err := fmt.Fprintln(env.Stdout, app.Version())
	return err
}
