package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/bench"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/design"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/serve"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // the command failed, or found a wrong answer
	exitUsage  = 2 // the command line is wrong
)

// Main runs the command with args and returns the exit code.
func Main(args []string, env *app.Env) int {
	root := rootCommand(env)
	root.SetArgs(args)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		return exitOK
	}

	e := app.Explain(err)
	if !errors.Is(err, app.ErrWrongAnswers) {
		fmt.Fprintf(env.Stderr, "sortkey: %s\n", e.Msg)
	}
	if e.Advice != "" {
		fmt.Fprintf(env.Stderr, "hint: %s\n", e.Advice)
	}
	if errors.Is(err, ask.ErrUsage) {
		return exitUsage
	}
	return exitFailed
}

func rootCommand(env *app.Env) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:   "sortkey",
		Short: "An ordered key-value store that answers like DynamoDB",
		Long: `Sortkey is an ordered key-value store that answers like DynamoDB.

Exit codes: 0 success, 1 a failure or a wrong answer, 2 a wrong command line.`,
		Example: `  sortkey demo                       run every example and check its answers
  sortkey serve                      serve on http://127.0.0.1:8000
  sortkey query Drive 'DRIVE#a91' 'root/photos/*' --model file-tree
  sortkey put Things '{"PK": "a", "SK": "b"}' --data ./data`,
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
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		help := "see " + cmd.CommandPath() + " --help"
		e, unknown := errors.AsType[*pflag.NotExistError](err)
		takesValues := slices.Contains([]string{"query", "get", "update", "delete"}, cmd.Name())
		if unknown && takesValues && e.GetSpecifiedShortnames() != "" {
			help += "; put -- before values that start with a hyphen"
		}
		return app.UsageError(help, "%v", err)
	})
	root.AddCommand(
		serve.Command(env), initCommand(env), demoCommand(env),
		tablesCommand(env), getCommand(env), putCommand(env), updateCommand(env), deleteCommand(env),
		queryCommand(env), scanCommand(env), sqlCommand(env), explainCommand(env), design.Command(env),
		importCommand(env), exportCommand(env), snapshotCommand(env), restoreCommand(env),
		bench.Command(env), versionCommand(env),
	)
	app.CompleteNothing(root)
	return root
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
