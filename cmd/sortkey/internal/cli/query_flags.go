package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
)

// queryFlags say what query and explain read, and from where.
type queryFlags struct {
	app.SourceFlags
	ask.Query
	pk, sk []string
}

func (f *queryFlags) declare(cmd *cobra.Command, env *app.Env) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.pk, "pk", nil, "`VALUE` of a partition key attribute, instead of PARTITION; repeatable")
	flags.StringArrayVar(&f.sk, "sk", nil, "`CONDITION` on a sort key attribute, instead of SORT-CONDITION; repeatable")
	flags.BoolVar(&f.Backwards, "desc", false, "read backwards")
	declareRead(cmd, env, &f.SourceFlags, &f.Query)
	f.SourceFlags.Declare(cmd, env)
}

// declareRead declares the options that queries and scans share.
func declareRead(cmd *cobra.Command, env *app.Env, source *app.SourceFlags, q *ask.Query) {
	flags := cmd.Flags()
	flags.StringVarP(&q.Index, "index", "i", "", "read the index with this `NAME`")
	flags.Int32Var(&q.Limit, "limit", 0, "read at most `N` rows per page, counted before the filter")
	flags.StringVar(&q.Filter, "filter", "", "return only rows for which `EXPRESSION` is true; quote text in it")
	flags.StringSliceVar(&q.Project, "project", nil, "return only these `ATTRIBUTES`, separated by commas")
	flags.BoolVar(&q.Consistent, "consistent", false, "use consistent reads")
	app.Complete(cmd, map[string]cobra.CompletionFunc{
		"index": indexFlag(env, source), "filter": expressionFlag(env), "project": expressionFlag(env),
	})
}

// place assigns the arguments after the table to partition and sort.
func (f *queryFlags) place(args []string) error {
	f.Partition, f.Sort = f.pk, f.sk
	if len(f.pk) == 0 {
		f.Partition, args = args[:1], args[1:]
	}
	if len(args) == 0 {
		return nil
	}
	if len(f.sk) > 0 {
		return app.Usage("query", "give the sort condition with --sk or as an argument, not both")
	}
	f.Sort = []string{strings.Join(args, " ")}
	return nil
}

// input returns the request for a table of src, and the table.
func (f *queryFlags) input(
	ctx context.Context, env *app.Env, src *app.Source, name string,
) (*wire.QueryInput, *keyschema.Table, error) {
	t, err := describe(ctx, src, name)
	if err != nil {
		return nil, nil, err
	}
	in, err := f.Input(t)
	if err != nil {
		err = f.explainMeant(ctx, env, src, t, err)
	}
	return in, t, err
}
