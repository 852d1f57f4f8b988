package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/gen"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

func explainCommand(env *app.Env) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain REQUEST | TABLE PARTITION [SORT-CONDITION]",
		Short: operation.Explain.Short,
		Long: `Explain shows what a Query, Scan or GetItem reads: the range that its key
condition compiles to, the rows in the range and those just outside it, the rows read
but not returned, the pages, the read units with either consistency, and the end of
the range. For a request that is not one range it names the broken rule and what to
ask instead.

REQUEST is one of
  '{"TableName": …}'          the JSON of a request; a member operation such as "scan" names its operation
  'SELECT … FROM … WHERE …'   a PartiQL statement, explained as a Query or Scan
  FILE or -                   either in a file or on standard input
or TABLE, PARTITION and SORT-CONDITION as for sortkey query, or TABLE alone for a
Scan. With --pattern it is an access pattern of the model.` + f.Help(env) + `
Any DynamoDB endpoint works. Explain reads more than the
request itself: the rows beside the range, and the rows that a filter drops.

With --pattern and --lang it writes the request of an access pattern as code, with its
key condition, names and values, and reads nothing.

The exit code is 1 if the request is rejected.`,
		Example: `  sortkey explain Drive 'DRIVE#a91' 'root/photos*' --model file-tree
  sortkey explain --model file-tree '{"TableName": "Drive", "KeyConditionExpression": "begins_with(PK, :p)",
      "ExpressionAttributeValues": {":p": {"S": "DRIVE#"}}}'
  sortkey explain --model file-tree "SELECT * FROM Drive WHERE PK = 'DRIVE#a91' AND begins_with(SK, 'root/')"
  sortkey explain request.json --endpoint http://127.0.0.1:8000 --json
  echo '{"TableName": "Drive", "Key": {"PK": {"S": "DRIVE#a91"}}}' | sortkey explain - --model file-tree
  sortkey explain --model shop.yaml --pattern 'orders of a customer, newest first'
  sortkey explain --model shop.yaml --pattern 'a customer' --lang python`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if len(args) == 0 {
				names = complete(cmd.Context(), env, f.SourceFlags, models.Tables)
			}
			return app.WithPrefix(names, prefix), cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runExplain(cmd.Context(), env, args, &f)
		},
	}
	f.SourceFlags.Declare(cmd, env)
	declareFlags(cmd, env, operation.Explain, &f.SourceFlags, &f.values)
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON document")
	cmd.Flags().StringVarP(
		&f.lang, "lang", "l", "", "write the request of --pattern in this `LANGUAGE`: "+strings.Join(languages(), ", "),
	)
	app.Complete(cmd, map[string]cobra.CompletionFunc{"lang": app.Words(languages()...)})
	return cmd
}

// languages are the values of --lang.
func languages() []string { return append(gen.Languages(), "json") }

// patternsOf returns the names of the access patterns of a model, for completion.
func patternsOf(env *app.Env, name string) []string {
	if env.Source != nil && env.Source.Model != nil {
		return models.PatternNames(env.Source.Model)
	}
	if name == "" {
		return nil
	}
	m, err := models.Find(name)
	if err != nil {
		return nil
	}
	return models.PatternNames(m)
}

func runExplain(ctx context.Context, env *app.Env, args []string, f *explainFlags) error {
	if f.lang != "" {
		return writeCode(env, args, f)
	}
	src, err := env.Open(ctx, f.SourceFlags)
	if err != nil {
		return err
	}
	defer src.Close()
	q, err := f.question(ctx, env, src, args)
	if err != nil {
		return err
	}

	o := explain.Options{Pages: int(f.values.Pages)}
	if src.Model != nil {
		o.Classify = src.Model.EntityName
	}
	report, err := explain.Run(ctx, src.Target, q, o)
	if err != nil {
		return err
	}
	if f.asJSON {
		err = app.WriteJSON(env.Stdout, report)
	} else {
		err = report.WriteText(env.Stdout, explain.TextOptions{
			Prose: env.Prose(), Color: bool(env.Style().Paint), Rows: int(f.values.Rows),
		})
	}
	if err == nil && report.Refused != nil {
		return app.ErrWrongAnswers // the report has the reason
	}
	return err
}

// writeCode writes the request of an access pattern as code in the language of --lang, or as JSON.
func writeCode(env *app.Env, args []string, f *explainFlags) error {
	m, err := (*model.Model)(nil), error(nil)
	switch {
	case f.values.Pattern == "" || len(args) > 0:
		return app.Usage("explain", "--lang writes the request of an access pattern: give --pattern, and no request")
	case env.Source != nil:
		m = env.Source.Model
	case f.Model != "":
		m, err = models.Find(f.Model)
	}
	if err != nil {
		return err
	}
	if m == nil {
		return app.Usage("explain", "--pattern needs --model")
	}
	p, err := models.Pattern(m, f.values.Pattern)
	if err != nil {
		return err
	}

	parts, err := compile.Split(p)
	if err != nil {
		return models.Refused(p, err)
	}
	if n := len(parts); n > 1 {
		return advice.New(
			"sortkey design gen writes a function that sends all of them", "%s is %s", p.Name, text.Count(n, "request"),
		)
	}

	code := ""
	if f.lang == "json" {
		var request []byte
		request, err = compile.PatternJSON(p)
		code = string(request) + "\n"
	} else {
		code, err = gen.Expression(p, f.lang)
	}
	if refused, ok := errors.AsType[*compile.Error](err); ok {
		return models.Refused(p, refused)
	}
	if err != nil {
		return app.Usage("explain", "%v", err)
	}
	_, err = io.WriteString(env.Stdout, code)
	return err
}
