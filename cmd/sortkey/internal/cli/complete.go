package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/explain"
)

// completion completes the name of a table as the first argument of a command, or as the value of a flag the name of
// an index of that table, or of an access pattern. It completes no other values.
func completion(env *app.Env, kind operation.Completion, f *app.SourceFlags) cobra.CompletionFunc {
	return app.Names(func(ctx context.Context, args []string) []string {
		switch {
		case kind == operation.Tables && len(args) == 0:
			return complete(ctx, env, *f, models.Tables)
		case kind == operation.Indexes && len(args) > 0:
			return complete(ctx, env, *f, func(ctx context.Context, target explain.Target) ([]string, error) {
				t, err := explain.Describe(ctx, target, args[0])
				if err != nil {
					return nil, err
				}
				return t.IndexNames(), nil
			})
		case kind == operation.Patterns:
			return patternsOf(env, f.Model)
		}
		return nil
	})
}

// completionTimeout bounds the time of a completion.
const completionTimeout = 5 * time.Second

// complete opens the database that f selects, and returns the names that the function from reads there. After an
// error it returns no names, because a shell cannot show the error.
func complete(
	ctx context.Context, env *app.Env, f app.SourceFlags,
	from func(context.Context, explain.Target) ([]string, error),
) []string {
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	src, err := env.Open(ctx, f)
	if err != nil {
		return nil
	}
	defer src.Close()
	names, err := from(ctx, src.Target)
	if err != nil {
		return nil
	}
	return names
}
