package app

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Complete sets the functions that complete the values of flags.
func Complete(cmd *cobra.Command, values map[string]cobra.CompletionFunc) {
	for flag, f := range values {
		if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
			panic(err) // the command does not have the flag
		}
	}
}

// CompleteNothing turns off completion for those flags of a command, and of its subcommands, that have no completion
// function. Otherwise shells would offer files for them.
func CompleteNothing(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_, set := cmd.GetFlagCompletionFunc(f.Name)
		if !set && f.NoOptDefVal == "" { // a boolean flag takes no value
			Complete(cmd, map[string]cobra.CompletionFunc{f.Name: cobra.NoFileCompletions})
		}
	})
	for _, below := range cmd.Commands() {
		CompleteNothing(below)
	}
}

// needsKey is the annotation that [Needs] sets.
const needsKey = "needs"

// Needs declares flags that have an effect only together with one of several other flags. The map lists these other
// flags for each such flag. An entry such as format=csv means that the other flag must have that value.
func Needs(cmd *cobra.Command, needs map[string][]string) {
	for flag, others := range needs {
		if err := cmd.Flags().SetAnnotation(flag, needsKey, others); err != nil {
			panic(err) // the command does not have the flag
		}
	}
}

// leastKey is the annotation that [AtLeast] sets.
const leastKey = "least"

// AtLeast declares the minimum of flags that take a number or a duration, such as 1 or 0s.
func AtLeast(cmd *cobra.Command, least map[string]string) {
	for flag, value := range least {
		if err := cmd.Flags().SetAnnotation(flag, leastKey, []string{value}); err != nil {
			panic(err) // the command does not have the flag
		}
	}
}

// CheckFlags returns a usage error if a flag or argument is empty, if a value is less than its minimum ([AtLeast]),
// or if a flag lacks the flag that it needs ([Needs]). An empty value is usually a mistake: if a script has not set
// CONDITION, the command would ignore --if "$CONDITION" and do more than the user meant.
func CheckFlags(cmd *cobra.Command, args []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil {
			err = checkFlag(cmd, f)
		}
	})
	// The command that completes words takes an empty word, and a PartiQL statement takes an empty parameter.
	takesEmpty := cmd.DisableFlagParsing || cmd.Name() == "sql"
	if empty := slices.Index(args, ""); err == nil && empty >= 0 && !takesEmpty {
		err = UsageError("give it a value, or leave it out", "argument %d is empty", empty+1)
	}
	return err
}

func checkFlag(cmd *cobra.Command, f *pflag.Flag) error {
	if isBlank(f) {
		return UsageError("give it a value, or leave it out", "--%s is empty", f.Name)
	}
	if least := f.Annotations[leastKey]; least != nil && below(f, least[0]) {
		return UsageError("give at least "+least[0]+", or leave it out", "--%s: %s is too small", f.Name, f.Value)
	}

	needs := f.Annotations[needsKey]
	met := func(need string) bool {
		name, value, one := strings.Cut(need, "=")
		other := cmd.Flags().Lookup(name)
		return one && other.Value.String() == value || !one && other.Changed
	}
	if needs != nil && !slices.ContainsFunc(needs, met) {
		want := "--" + strings.Join(needs, " or --")
		return UsageError("add "+want+", or leave out --"+f.Name, "--%s has no effect without %s", f.Name, want)
	}
	return nil
}

// isBlank reports whether a flag has a blank value. It also does so if one of several values is blank, or if the list
// of values is empty.
func isBlank(f *pflag.Flag) bool {
	values := []string{f.Value.String()}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		values = list.GetSlice()
	} else if f.Value.Type() != "string" {
		return false
	}
	blank := func(value string) bool {
		return value == "" || strings.TrimSpace(value) == "" && f.Name != "delimiter" // which may be a space
	}
	return len(values) == 0 || slices.ContainsFunc(values, blank)
}

// below reports whether the value of a flag, a number or a duration, is less than least.
func below(f *pflag.Flag, least string) bool {
	if f.Value.Type() == "duration" {
		given, _ := time.ParseDuration(f.Value.String()) // pflag has parsed it
		lowest, err := time.ParseDuration(least)
		return err != nil || given < lowest
	}
	given, _ := strconv.ParseFloat(f.Value.String(), 64)
	lowest, err := strconv.ParseFloat(least, 64)
	return err != nil || given < lowest
}

// Words completes a value to one of words.
func Words(words ...string) cobra.CompletionFunc {
	return Names(func(context.Context, []string) []string { return words })
}

// Names completes an argument or flag to one of the names that list returns. It calls list with the arguments before
// the cursor.
func Names(list func(ctx context.Context, args []string) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return WithPrefix(list(cmd.Context(), args), toComplete), cobra.ShellCompDirectiveNoFileComp
	}
}

// Paths completes files and folders.
func Paths(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// Folders completes folders.
func Folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// WithPrefix returns those of names that begin with prefix.
func WithPrefix(names []string, prefix string) []string {
	var out []string
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			out = append(out, name)
		}
	}
	return out
}

// NoArgs checks the arguments of a command that takes none.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var help []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.NoOptDefVal != "" && f.Value.Type() != "bool" {
			help = append(help, "write --"+f.Name+"="+args[0])
		}
	})
	name := strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), "sortkey "))
	help = append(help, "see sortkey "+name+" --help")
	return UsageError(strings.Join(help, ", or "), "%s takes no arguments, not %q", name, args[0])
}

// OneArgument returns a check that the command has one argument. Error messages call the argument what.
func OneArgument(command, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return Usage(command, "%s takes one argument, %s, not %d", command, what, len(args))
		}
		return nil
	}
}

// UnknownCommand returns an error if a command that has only subcommands has arguments. Cobra passes an argument on
// if it is not the name of a subcommand.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	help := "see sortkey --help"
	cmd.SuggestionsMinimumDistance = 2
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		help = "did you mean " + strings.Join(like, " or ") + "?"
	} else if cmd.HasParent() {
		var names []string
		for _, below := range cmd.Commands() {
			names = append(names, below.Name())
		}
		help = "the commands of " + cmd.CommandPath() + " are " + strings.Join(names, ", ")
	}
	return UsageError(help, "unknown command %q", args[0])
}
