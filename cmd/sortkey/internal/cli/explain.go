package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/aws/smithy-go"
	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/design/awscli"
	report "github.com/sortkey/sortkey/internal/design/explain"
)

// explainFlags are those of explain.
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
		Short: "Show what a request reads, or why it is refused",
		Long: `Explain shows what a Query, Scan or GetItem reads: the range that its key
condition compiles to, with its bounds in bytes, the rows in it and the rows just
outside it, what is read and thrown away, the pages, the read units with either
consistency, and where it stops. For a request that is not one range it names the
rule that is broken and the nearest requests that work.

REQUEST is one of
  aws dynamodb query --table-name …   a line of the AWS CLI, as it is or in quotes
  '{"TableName": …}'                  the JSON of a request
  'SELECT … FROM … WHERE …'           a statement of PartiQL, told as the Query or the Scan it is
  FILE or -                           any of them in a file or on standard input
or it is put together of TABLE, PARTITION and SORT-CONDITION as for sortkey query.
With --pattern it is an access pattern of the model.

The request goes to a model that is loaded into memory (--model), or to the server
at --endpoint, by default AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL or
http://127.0.0.1:8000. Any endpoint of DynamoDB will do. Explaining reads more than
the request itself: the rows beside the range, what a filter left out, and for a
refused request up to 200 rows and one for each request that is proposed.

The exit code is 1 when the request is refused.`,
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
				// Flags may stand after the arguments, unless these are a command
				// with flags of its own.
				cmd.Flags().SetInterspersed(true)
				if err := cmd.Flags().Parse(args); err != nil {
					return usage("explain", "%v", err)
				}
				if help, err := cmd.Flags().GetBool("help"); err == nil && help {
					return cmd.Help()
				}
				args = cmd.Flags().Args()
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			return a.explain(ctx, args, &f)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false)
	flags.StringVarP(&f.model, "model", "m", "", "ask an example or a model file (`NAME|FILE`) instead of a server")
	flags.StringVar(&f.endpoint, "endpoint", "", "`URL` of the server")
	flags.StringVar(&f.operation, "operation", "", "query, scan or get-item: what `OPERATION` the JSON is for, when it does not show")
	flags.StringVar(&f.pattern, "pattern", "", "explain the access pattern of that `NAME` in the model")
	flags.StringVarP(&f.Index, "index", "i", "", "read the index of that `NAME`")
	flags.StringArrayVar(&f.pk, "pk", nil, "`VALUE` of a partition key attribute, instead of PARTITION; may be repeated")
	flags.StringArrayVar(&f.sk, "sk", nil, "`CONDITION` on a sort key attribute, instead of SORT-CONDITION; may be repeated")
	flags.BoolVar(&f.Backwards, "desc", false, "read backwards")
	flags.Int32Var(&f.Limit, "limit", 0, "read at most `N` rows in one page, counted before the filter")
	flags.StringVar(&f.Filter, "filter", "", "return only rows for which `EXPRESSION` holds; text in it stands in quotes")
	flags.StringSliceVar(&f.Project, "project", nil, "return only these `ATTRIBUTES`, separated by commas")
	flags.BoolVar(&f.Consistent, "consistent", false, "read consistently")
	flags.StringSliceVar(&f.entity, "entity", defaultEntities, "tell entities apart by the first of these `ATTRIBUTES` that an item has, where the model does not tell")
	flags.IntVar(&f.pages, "pages", 0, "read at most `N` pages (default all, or one if the request has a Limit)")
	flags.IntVar(&f.rows, "rows", 0, "show `N` rows at each end of the slice (default 4), none if negative")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document")
	mustComplete(cmd, "model", completeModelFlag)
	mustComplete(cmd, "operation", cobra.FixedCompletions([]string{"query", "scan", "get-item"}, cobra.ShellCompDirectiveNoFileComp))
	mustComplete(cmd, "pattern", func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return f.completePatterns(toComplete), cobra.ShellCompDirectiveNoFileComp
	})
	for _, name := range []string{"endpoint", "index", "pk", "sk", "limit", "filter", "project", "entity", "pages", "rows"} {
		mustComplete(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
}

// defaultEntities are the attributes that tools and people commonly keep the
// name of an item's entity in.
var defaultEntities = []string{"type", "Type", "_type", "entityType", "EntityType", "entity", "Entity", "_et", "__edb_e__"}

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
		return usage("explain", "%s is not explained, only query, scan, get-item and the SELECT of execute-statement", op)
	}
	rep, err := report.Run(ctx, src.target, op, request, report.Options{Pages: f.pages, Classify: src.classify})
	if refused, ok := errors.AsType[*report.ServiceError](err); ok {
		return fmt.Errorf("%w", &smithy.GenericAPIError{Code: refused.Code, Message: refused.Message})
	}
	if err != nil {
		return err
	}
	if f.asJSON {
		enc := json.NewEncoder(a.Stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err = enc.Encode(rep)
	} else {
		style := a.style()
		err = rep.WriteText(a.Stdout, report.TextOptions{Width: style.Width, Prose: a.prose(), Color: bool(style.Paint), Rows: f.rows, Command: awscli.Format})
	}
	if err == nil && rep.Refused != nil {
		return errWrongAnswers // it has been said what
	}
	return err
}

// byFlags returns the request of TABLE PARTITION SORT-CONDITION and flags.
func (f *explainFlags) byFlags(ctx context.Context, src *explainSource, args []string) (string, json.RawMessage, error) {
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
	request, err := ask.Request(in)
	return "Query", request, err
}
