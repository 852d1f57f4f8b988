package cli

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *App) root() *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:   "sortkey",
		Short: "An ordered key-value store that answers like DynamoDB",
		Long: `Sortkey is an ordered key-value store that answers like DynamoDB.

Exit codes: 0 success, 1 a failure or a wrong answer, 2 a wrong command line.`,
		Example: `  sortkey demo                       run every example and check its answers
  sortkey serve                      serve on http://127.0.0.1:8000
  sortkey query Drive 'DRIVE#a91' 'root/photos/*' --model file-tree`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if showVersion {
				return a.printVersion()
			}
			return cmd.Help()
		},
	}
	// Cobra's own flag uses text/template, with which the linker keeps every
	// exported method: the command would be a quarter larger.
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		help := "see " + cmd.CommandPath() + " --help"
		if e, ok := errors.AsType[*pflag.NotExistError](err); ok && cmd.Name() == "query" && e.GetSpecifiedShortnames() != "" {
			help += "; put -- before values that start with a hyphen"
		}
		return usageError(help, "%v", err)
	})
	root.AddCommand(a.serveCommand(), a.initCommand(), a.demoCommand(), a.queryCommand(), a.explainCommand(), a.designCommand(),
		a.importCommand(), a.exportCommand(), a.snapshotCommand(), a.restoreCommand(), a.benchCommand(), a.versionCommand())
	return root
}

func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	help := "see sortkey --help"
	cmd.SuggestionsMinimumDistance = 2
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		help = "did you mean " + strings.Join(like, " or ") + "?"
	}
	return usageError(help, "unknown command %q", args[0])
}

func (a *App) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  sortkey version",
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *App) printVersion() error {
	_, err := fmt.Fprintln(a.Stdout, version())
	return err
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(cmd.Name(), "%s takes no arguments, not %q", cmd.Name(), args[0])
	}
	return nil
}

// moduleVersion returns the version of the built module, or "" if it is unknown.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}

// version describes the build: the module's version, the commit, the compiler.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "sortkey (unknown version)"
	}
	v := cmp.Or(moduleVersion(), "(devel)")
	about := info.GoVersion
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			about = s.Value[:12] + ", " + about
		}
	}
	return fmt.Sprintf("sortkey %s (%s)", v, about)
}
