package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/keyschema"
)

// describe describes a table. If it does not exist, the error lists the tables that do.
func describe(ctx context.Context, src *app.Source, name string) (*keyschema.Table, error) {
	t, err := explain.Describe(ctx, src.Target, name)
	if !operation.Refused(err, "ResourceNotFoundException") {
		return t, err
	}
	names, listErr := models.Tables(ctx, src.Target)
	switch {
	case listErr != nil:
		return nil, err
	case len(names) == 0 && src.Model == nil:
		help := "there are no tables; create this one with sortkey create " + name +
			" 'PARTITION KEY / SORT KEY' and the same flags"
		if src.DB == nil {
			help += ", or load an example with sortkey serve --load file-tree"
		}
		return nil, advice.New(help, "table %s does not exist", name)
	}
	return nil, noTable(name, names)
}

// noTable returns the error for a table that does not exist. It lists names, which are the existing tables.
func noTable(name string, names []string) error {
	if len(names) == 0 {
		return advice.New("", "table %s does not exist; there are no tables", name)
	}
	const most = 10
	more := ""
	if len(names) > most {
		names, more = names[:most], ", …"
	}
	return advice.New("the tables are "+strings.Join(names, ", ")+more, "table %s does not exist", name)
}

// tableNames returns the names of the tables of a source, for completion.
func tableNames(ctx context.Context, env *app.Env, f app.SourceFlags) []string {
	return complete(ctx, env, f, models.Tables)
}

// indexNames returns the names of the indexes of a table of a source, for completion.
func indexNames(ctx context.Context, env *app.Env, f app.SourceFlags, table string) []string {
	return complete(ctx, env, f, func(ctx context.Context, target explain.Target) ([]string, error) {
		t, err := explain.Describe(ctx, target, table)
		if err != nil {
			return nil, err
		}
		return t.IndexNames(), nil
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

// tableArgument completes the first argument of a command, the name of a table.
func tableArgument(env *app.Env, f *app.SourceFlags) cobra.CompletionFunc {
	return app.Names(func(ctx context.Context, args []string) []string {
		if len(args) > 0 {
			return nil
		}
		return tableNames(ctx, env, *f)
	})
}

// indexFlag completes the name of an index of the table that is the first argument.
func indexFlag(env *app.Env, f *app.SourceFlags) cobra.CompletionFunc {
	return app.Names(func(ctx context.Context, args []string) []string {
		if len(args) == 0 {
			return nil
		}
		return indexNames(ctx, env, *f, args[0])
	})
}
