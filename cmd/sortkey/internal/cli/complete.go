package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
)

// argumentsOf completes the arguments of an operation's command. It completes only the name of a table, if that is
// the first argument.
func argumentsOf(env *app.Env, op *operation.Operation, f *app.SourceFlags) cobra.CompletionFunc {
	if op.Params[0].Complete == operation.Tables {
		return tableArgument(env, f)
	}
	return cobra.NoFileCompletions
}

// flagCompletion returns the function that completes the flag of a parameter, or nil.
func flagCompletion(env *app.Env, p *operation.Param, f *app.SourceFlags) cobra.CompletionFunc {
	switch p.Complete {
	case operation.Indexes:
		return indexFlag(env, f)
	case operation.Patterns:
		return app.Names(func(context.Context, []string) []string { return patternsOf(env, f.Model) })
	}
	return nil
}
