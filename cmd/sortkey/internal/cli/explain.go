package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"

	"github.com/aws/smithy-go"
	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/internal/design/awscli"
	report "github.com/sortkey/sortkey/internal/design/explain"
)

// explainFlags holds the flags of explain.
type explainFlags struct {
	queryFlags
	operation, pattern string
	entity             []string
	pages, rows        int
}

func (a *App) explainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain REQUEST | TABLE PARTITION [SORT-CONDITION]",
		Short: "Show what a request reads, or why it is rejected",
		Long: `Explain shows what a Query, Scan or GetItem reads: the range that its key
condition compiles to, with its bounds in bytes, the rows in the range and those
just outside it, the rows read but not returned, the pages, the read units with
either consistency, and the end of the range. For a request that is not one range
it names the broken rule and the nearest requests that work.

REQUEST is one of
  aws dynamodb query --table-name …   a line of the AWS CLI, as it is or in quotes
  '{"TableName": …}'                  the JSON of a request
  'SELECT … FROM … WHERE …'           a PartiQL statement, explained as a Query or Scan
  FILE or -                           any of these in a file or on standard input
or TABLE, PARTITION and SORT-CONDITION as for sortkey query. With --pattern it is
an access pattern of the model.

The request goes to a model loaded into memory (--model), or to the server at
--endpoint (default AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL or
http://127.0.0.1:8000). Any DynamoDB endpoint works. Explain reads more than the
request itself: the rows beside the range, the rows that a filter drops, and for a
rejected request up to 200 rows and one row for each proposed request.

The exit code is 1 if the request is rejected.`,
		Example: `  sortkey explain Drive 'DRIVE#a91' 'root/photos*' --model file-tree
  sortkey explain --model file-tree aws dynamodb query --table-name Drive \
      --key-condition-expression 'begins_with(PK, :p)' --expression-attribute-values '{":p": {"S": "DRIVE#"}}'
  sortkey explain --model file-tree "SELECT * FROM Drive WHERE PK = 'DRIVE#a91' AND begins_with(SK, 'root/')"
  sortkey explain request.json --endpoint http://127.0.0.1:8000 --json
  echo '{"TableName": "Drive", "Key": {"PK": {"S": "DRIVE#a91"}}}' | sortkey explain - --model file-tree
  sortkey explain --model shop.yaml --pattern 'orders of a customer, newest first'`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			names, _ := a.completeTables(cmd.Context(), f.sourceFlags, toComplete)
			return names, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] != "aws" {
				// Flags may follow the arguments, unless these are a command with
				// flags of its own.
				cmd.Flags().SetInterspersed(true)
				if err := cmd.Flags().Parse(args); err != nil {
					return usage("explain", "%v", err)
				}
				if help, err := cmd.Flags().GetBool("help"); err == nil && help {
					return cmd.Help()
				}
				args = cmd.Flags().Args()
			}
			if i := slices.Index(args, "--json"); i >= 0 { // no flag of the AWS CLI
				f.asJSON = true
				args = slices.Delete(slices.Clone(args), i, i+1)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			return a.explain(ctx, args, &f)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false)
	flags.StringVarP(&f.model, "model", "m", "", "read an example or a model file (`NAME|FILE`) instead of a server")
	flags.StringVar(&f.endpoint, "endpoint", "", "`URL` of the server")
	flags.StringVar(
		&f.operation, "operation", "", "`OPERATION` of the JSON: query, scan or get-item (default detected)",
	)
	flags.StringVar(&f.pattern, "pattern", "", "explain the access pattern with this `NAME` in the model")
	flags.StringVarP(&f.Index, "index", "i", "", "read the index with this `NAME`")
	flags.StringArrayVar(&f.pk, "pk", nil, "`VALUE` of a partition key attribute, instead of PARTITION; repeatable")
	flags.StringArrayVar(&f.sk, "sk", nil, "`CONDITION` on a sort key attribute, instead of SORT-CONDITION; repeatable")
	flags.BoolVar(&f.Backwards, "desc", false, "read backwards")
	flags.Int32Var(&f.Limit, "limit", 0, "read at most `N` rows per page, counted before the filter")
	flags.StringVar(&f.Filter, "filter", "", "return only rows for which `EXPRESSION` is true; quote text in it")
	flags.StringSliceVar(&f.Project, "project", nil, "return only these `ATTRIBUTES`, separated by commas")
	flags.BoolVar(&f.Consistent, "consistent", false, "use consistent reads")
	flags.StringSliceVar(
		&f.entity, "entity", defaultEntities,
		"take an item's entity from the first of these `ATTRIBUTES` that it has, unless the model classifies it",
	)
	flags.IntVar(&f.pages, "pages", 0, "read at most `N` pages (default all, or one if the request has a Limit)")
	flags.IntVar(&f.rows, "rows", 0, "show `N` rows at each end of the slice (default 4); negative for none")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document")
	mustComplete(cmd, "model", completeModelFlag)
	mustComplete(
		cmd, "operation",
		cobra.FixedCompletions([]string{"query", "scan", "get-item"}, cobra.ShellCompDirectiveNoFileComp),
	)
	mustComplete(cmd, "pattern", func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return f.completePatterns(toComplete), cobra.ShellCompDirectiveNoFileComp
	})
	for _, name := range []string{"endpoint", "index", "pk", "sk", "limit", "filter", "project", "entity", "pages", "rows"} {
		mustComplete(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
}

// defaultEntities are attributes in which tools and people commonly store the name
// of an item's entity.
var defaultEntities = []string{
	"type", "Type", "_type", "entityType", "EntityType", "entity", "Entity", "_et", "__edb_e__",
}

func (a *App) explain(ctx context.Context, args []string, f *explainFlags) error {
	src, err := a.openExplain(ctx, f)
	if err != nil {
		return err
	}
	defer src.close()
	op, request, err := a.explainRequest(ctx, src, args, f)
	if err != nil {
		return err
	}
	if f.operation != "" {
		op = f.operation
	}
	if name, ok := report.Operation(op); ok {
		op = name
	} else {
		return usage("explain", "cannot explain %s, only query, scan, get-item and the SELECT of execute-statement", op)
	}
	rep, err := report.RunJSON(ctx, src.target, op, request, report.Options{Pages: f.pages, Classify: src.classify})
	if refused, ok := errors.AsType[*report.ServiceError](err); ok {
		return fmt.Errorf("%w", &smithy.GenericAPIError{Code: refused.Code, Message: refused.Message})
	}
	if err != nil {
		return err
	}
	if f.asJSON {
		err = writeJSON(a.Stdout, rep)
	} else {
		style := a.style()
		err = rep.WriteText(
			a.Stdout,
			report.TextOptions{Width: style.Width, Prose: a.prose(), Color: bool(style.Paint), Rows: f.rows, Command: awscli.Format},
		)
	}
	if err == nil && rep.Refused != nil {
		return errWrongAnswers // the report has the reason
	}
	return err
}

// byFlags returns the request that TABLE, PARTITION, SORT-CONDITION and the flags
// describe.
func (f *explainFlags) byFlags(
	ctx context.Context, src *explainSource, args []string,
) (string, json.RawMessage, error) {
	if len(args) == 1 && len(f.pk) == 0 {
		return "", nil, usage("explain", "explain needs a request, or a partition of %s", args[0])
	}
	if f.Limit < 0 {
		return "", nil, usage("explain", "--limit must not be negative")
	}
	if err := f.place(args[1:]); err != nil {
		return "", nil, err
	}
	t, err := describe(ctx, &source{client: src.client}, args[0], f.model)
	if err != nil {
		return "", nil, err
	}
	in, err := f.Input(t)
	if err != nil {
		return "", nil, err
	}
	return "Query", in.AppendJSON(nil), nil
}
