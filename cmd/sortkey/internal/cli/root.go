package cli

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/hint"
)

func (a *App) root() *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:   "sortkey",
		Short: "An ordered key-value store that answers like DynamoDB",
		Long: `Sortkey is an ordered key-value store that answers like DynamoDB.

Exit codes: 0 all is well, 1 something failed or an answer is not right,
2 the command line makes no sense.`,
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
	// Not cobra's own flag: its template would link text/template, which keeps
	// every method of every type and makes the command larger by a quarter.
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		advice := "see " + cmd.CommandPath() + " --help"
		if cmd.Name() == "query" && strings.HasPrefix(err.Error(), "unknown shorthand flag") {
			advice += "; put -- before values that start with a hyphen"
		}
		return hint.Usage(advice, "%v", err)
	})
	root.AddCommand(a.serveCommand(), a.demoCommand(), a.queryCommand(), a.explainCommand(), a.designCommand(),
		a.importCommand(), a.exportCommand(), a.snapshotCommand(), a.restoreCommand(), a.benchCommand(), a.versionCommand())
	return root
}

func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	advice := "see sortkey --help"
	cmd.SuggestionsMinimumDistance = 2
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		advice = "did you mean " + strings.Join(like, " or ") + "?"
	}
	return hint.Usage(advice, "there is no command %q", args[0])
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

// moduleVersion is the version of the module that was built, "" if it is not
// known.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}

// version says what was built: the module's version, the commit, the compiler.
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
