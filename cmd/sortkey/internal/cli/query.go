package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/aws/smithy-go"
	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/sdktarget"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/literal"
	"github.com/sortkey/sortkey/internal/terminal"
	"github.com/sortkey/sortkey/internal/wire"
)

// readFlags are the flags of query.
type readFlags struct {
	queryFlags
	all, plainJSON, trace bool
}

func queryCommand(env *app.Env) *cobra.Command {
	var f readFlags
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
				return app.Usage("query", "query needs a table and a partition")
			case len(args) == 1 && len(f.pk) == 0:
				return app.Usage("query", "query needs a partition of %s", args[0])
			}
			return nil
		},
		ValidArgsFunction: app.Names(func(ctx context.Context, args []string) []string {
			if len(args) > 0 {
				return nil
			}
			return tableNames(ctx, env, f.SourceFlags)
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			return runQuery(ctx, env, args, &f)
		},
	}
	f.declare(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.all, "all", false, "read all pages")
	flags.StringVar(&f.Store, "store", "", app.StoreUsage)
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document with values in DynamoDB JSON")
	flags.BoolVar(&f.plainJSON, "plain-json", false, "print one JSON document with values in plain JSON")
	flags.BoolVar(&f.trace, "trace", false, "print the slice that was read")
	app.Complete(cmd, map[string]cobra.CompletionFunc{
		"index": app.Names(func(ctx context.Context, args []string) []string {
			if len(args) == 0 {
				return nil
			}
			return indexNames(ctx, env, f.SourceFlags, args[0])
		}),
	})
	return cmd
}

func runQuery(ctx context.Context, env *app.Env, args []string, f *readFlags) error {
	if f.Limit < 0 {
		return app.Usage("query", "--limit must not be negative")
	}
	if err := f.place(args[1:]); err != nil {
		return err
	}
	if f.Model != "" && f.Endpoint != "" || f.Store != "" && f.Model+f.Endpoint != "" {
		return app.Usage("query", "--endpoint, --model and --store exclude each other")
	}
	src, err := env.Open(ctx, f.SourceFlags)
	if err != nil {
		return err
	}
	defer src.Close()
	in, t, err := f.input(ctx, src, args[0])
	if err != nil {
		return err
	}

	ans, err := readPages(ctx, src, in, f.all)
	if err != nil {
		return filledIn(err, in)
	}
	if f.trace {
		ans.slices = src.Traces()
		if len(ans.slices) == 0 {
			fmt.Fprintln(env.Stderr, "sortkey: this server does not report traces (sortkey serve does)")
		}
	}
	if f.asJSON || f.plainJSON {
		return ans.writeJSON(env.Stdout, f.plainJSON)
	}
	ans.print(env.Stdout, t.Schema(f.Index), env.Style(), f.trace)
	return nil
}

// readPages runs the query, and with all reads all pages.
func readPages(ctx context.Context, src *app.Source, in *wire.QueryInput, all bool) (*answer, error) {
	ans := &answer{in: in}
	page := *in
	page.ReturnConsumedCapacity = new("TOTAL")
	for {
		var out wire.QueryOutput
		if err := sdktarget.Send(ctx, src.Client, &page, &out); err != nil {
			return nil, err
		}
		ans.add(&out)
		if !all || ans.last == nil {
			return ans, nil
		}
		page.ExclusiveStartKey = ans.last
	}
}

// filledIn returns the service's error about a request with placeholders replaced
// by the names and values that the user typed.
func filledIn(err error, in *wire.QueryInput) error {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return err
	}
	fill := func(s string) string {
		return literal.Write(s, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	}
	h := app.ExplainAPI(err, &smithy.GenericAPIError{Code: api.ErrorCode(), Message: fill(api.ErrorMessage())})
	if src, pos, ok := fault(in); ok {
		h.Msg += "\n" + terminal.Caret(fill(src), len(fill(src[:pos])))
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
