package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/sdktarget"
	"github.com/sortkey/sortkey/internal/advice"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/literal"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

type queryFlags struct {
	sourceFlags
	ask.Query
	pk, sk                 []string
	all                    bool
	asJSON, plainJSON, why bool
}

func (a *App) queryCommand() *cobra.Command {
	var f queryFlags
	cmd := &cobra.Command{
		Use:   "query TABLE PARTITION [SORT-CONDITION]",
		Short: "Read a slice of a partition",
		Long: `Query reads the rows of one partition of a table or an index, in order.

SORT-CONDITION is one of
  x            = x          the rows at x
  x*           begins_with x
  < x  <= x  > x  >= x
  between x and y           including both ends
Without it, query reads the whole partition. Quote a value that could be read as
something else: '"a*"', 'between "x and y" and z'. Write numbers without quotes,
and binary keys as 0x00ff or in base64.

Separate the values of an index key of several attributes with commas, or repeat
--pk and --sk. Only the last sort condition may be other than =.

Query reads from the server at --endpoint (default AWS_ENDPOINT_URL_DYNAMODB,
AWS_ENDPOINT_URL or http://127.0.0.1:8000), with --model from an example or a model
file, or with --store from a PostgreSQL database without a server.`,
		Example: `  sortkey query Drive 'DRIVE#a91' 'root/photos/*' --model file-tree --trace
  sortkey query Drive 'DRIVE#a91' 'begins_with root/photos/' --desc --limit 2 --model file-tree
  sortkey query Orders 42 '>= 2024-01' --index ByDate --all
  sortkey query Orders 42 'between 2024-01 and 2024-03' --filter 'total > 10 AND contains(tags, "new")'
  sortkey query Matches --index ByRound --pk eu --pk 2026 --sk final --sk '>= 3' --json`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usage("query", "query needs a table and a partition")
			case len(args) == 1 && len(f.pk) == 0:
				return usage("query", "query needs a partition of %s", args[0])
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.completeTables(cmd.Context(), f.sourceFlags, toComplete)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			return a.query(ctx, args, &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.Index, "index", "i", "", "read the index with this `NAME`")
	flags.StringArrayVar(&f.pk, "pk", nil, "`VALUE` of a partition key attribute, instead of PARTITION; repeatable")
	flags.StringArrayVar(&f.sk, "sk", nil, "`CONDITION` on a sort key attribute, instead of SORT-CONDITION; repeatable")
	flags.BoolVar(&f.Backwards, "desc", false, "read backwards")
	flags.Int32Var(&f.Limit, "limit", 0, "read at most `N` rows per page, counted before the filter")
	flags.StringVar(&f.Filter, "filter", "", "return only rows for which `EXPRESSION` is true; quote text in it")
	flags.StringSliceVar(&f.Project, "project", nil, "return only these `ATTRIBUTES`, separated by commas")
	flags.BoolVar(&f.all, "all", false, "read all pages")
	flags.BoolVar(&f.Consistent, "consistent", false, "use consistent reads")
	flags.StringVar(&f.endpoint, "endpoint", "", "`URL` of the server")
	flags.StringVarP(&f.model, "model", "m", "", "read an example or a model file (`NAME|FILE`) instead of a server")
	flags.StringVar(&f.store, "store", "", storeUsage)
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document with values in DynamoDB JSON")
	flags.BoolVar(&f.plainJSON, "plain-json", false, "print one JSON document with values in plain JSON")
	flags.BoolVar(&f.why, "trace", false, "print the slice that was read")
	mustComplete(cmd, "model", completeModelFlag)
	mustComplete(cmd, "index", func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.completeIndexes(cmd.Context(), f.sourceFlags, args[0], toComplete)
	})
	for _, name := range []string{"pk", "sk", "limit", "filter", "project", "endpoint", "store"} {
		mustComplete(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
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
		return usage("query", "give the sort condition with --sk or as an argument, not both")
	}
	f.Sort = []string{strings.Join(args, " ")}
	return nil
}

func (a *App) query(ctx context.Context, args []string, f *queryFlags) error {
	if f.Limit < 0 {
		return usage("query", "--limit must not be negative")
	}
	if err := f.place(args[1:]); err != nil {
		return err
	}
	src, err := a.open(ctx, f.sourceFlags)
	if err != nil {
		return err
	}
	defer src.close()
	t, err := describe(ctx, src, args[0], f.model)
	if err != nil {
		return err
	}
	in, err := f.Input(t)
	if err != nil {
		return err
	}
	ans, err := read(ctx, src, in, f.all)
	if err != nil {
		return restored(err, in)
	}
	if f.why {
		ans.slices = src.tracer.take()
		if len(ans.slices) == 0 {
			fmt.Fprintln(a.Stderr, "sortkey: this server does not report traces (sortkey serve does)")
		}
	}
	if f.asJSON || f.plainJSON {
		return ans.writeJSON(a.Stdout, f.plainJSON)
	}
	ans.print(a.Stdout, t.Schema(f.Index), a.style(), f.why)
	return nil
}

// describe describes a table. If it does not exist, the error lists the others.
func describe(ctx context.Context, src *source, name, inModel string) (*keyschema.Table, error) {
	t, err := models.Describe(ctx, src.client, name)
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok {
		return t, err
	}
	names, listErr := models.Tables(ctx, src.client)
	switch {
	case listErr != nil:
		return nil, err
	case len(names) == 0 && inModel == "":
		return nil, advice.New(
			"the server has no tables; load some with: sortkey serve --load file-tree", "table %s does not exist", name,
		)
	}
	return nil, noTable(name, names)
}

// read runs the query, and with all reads all pages.
func read(ctx context.Context, src *source, in *wire.QueryInput, all bool) (*answer, error) {
	ans := &answer{in: in}
	page := *in
	page.ReturnConsumedCapacity = new("TOTAL")
	for {
		var out wire.QueryOutput
		if err := sdktarget.Send(ctx, src.client, &page, &out); err != nil {
			return nil, err
		}
		ans.add(&out)
		if !all || ans.last == nil {
			return ans, nil
		}
		page.ExclusiveStartKey = ans.last
	}
}

// restored returns the service's error about a request with placeholders replaced
// by the names and values that the user typed.
func restored(err error, in *wire.QueryInput) error {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return err
	}
	fill := func(s string) string {
		return literal.Write(s, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	}
	h := explainAPI(err, &smithy.GenericAPIError{Code: api.ErrorCode(), Message: fill(api.ErrorMessage())})
	if src, pos, ok := fault(in); ok {
		h.Msg += "\n" + text.Caret(fill(src), len(fill(src[:pos])))
	}
	return h
}

// fault returns the filter or projection of a request that cannot be parsed, and
// where.
func fault(in *wire.QueryInput) (src string, pos int, ok bool) {
	env, err := expr.NewEnv(in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	if err != nil {
		return "", 0, false
	}
	if in.FilterExpression != nil {
		src = *in.FilterExpression
		_, err = env.Condition(expr.FilterExpression, src)
	}
	if err == nil && in.ProjectionExpression != nil {
		src = *in.ProjectionExpression
		_, err = env.Projection(src)
	}
	wrong, ok := errors.AsType[*expr.Error](err)
	if !ok || wrong.Pos > len(src) {
		return "", 0, false
	}
	return src, wrong.Pos, true
}

// completionTimeout bounds the time of a completion with a server. Completion
// with a model only reads its file.
const completionTimeout = 5 * time.Second

func (a *App) completeTables(
	ctx context.Context, f sourceFlags, toComplete string,
) ([]string, cobra.ShellCompDirective) {
	names := a.complete(ctx, f, func(m *model.Model) (names []string) {
		for _, t := range m.Tables {
			names = append(names, t.Name)
		}
		return names
	}, models.Tables)
	return withPrefix(names, toComplete), cobra.ShellCompDirectiveNoFileComp
}

func (a *App) completeIndexes(
	ctx context.Context, f sourceFlags, table, toComplete string,
) ([]string, cobra.ShellCompDirective) {
	names := a.complete(ctx, f, func(m *model.Model) (names []string) {
		for _, t := range m.Tables {
			if t.Name != table {
				continue
			}
			for _, x := range t.Indexes {
				names = append(names, x.Name)
			}
		}
		return names
	}, func(ctx context.Context, client *dynamodb.Client) ([]string, error) {
		t, err := models.Describe(ctx, client, table)
		if err != nil {
			return nil, err
		}
		return t.IndexNames(), nil
	})
	return withPrefix(names, toComplete), cobra.ShellCompDirectiveNoFileComp
}

// complete returns names from the model or the server, and no names if there is an
// error: a shell cannot show it.
func (a *App) complete(
	ctx context.Context, f sourceFlags, of func(*model.Model) []string,
	from func(context.Context, *dynamodb.Client) ([]string, error),
) []string {
	if f.model != "" {
		m, err := models.Find(f.model)
		if err != nil {
			return nil
		}
		return of(m)
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	src, err := a.open(ctx, f)
	if err != nil {
		return nil
	}
	defer src.close()
	names, err := from(ctx, src.client)
	if err != nil {
		return nil
	}
	return names
}

func withPrefix(names []string, prefix string) []string {
	var out []string
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			out = append(out, name)
		}
	}
	return out
}
