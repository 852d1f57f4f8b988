package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/smithy-go"
	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/partiql"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// sqlFlags are the flags of sql.
type sqlFlags struct {
	app.SourceFlags
	outputFlags
	all, consistent bool
	limit           int32
}

func sqlCommand(env *app.Env) *cobra.Command {
	var f sqlFlags
	cmd := &cobra.Command{
		Use:   "sql STATEMENT [VALUE…]",
		Short: "Execute a PartiQL statement",
		Long: `Sql executes a statement of PartiQL: a SELECT, or an INSERT, UPDATE or DELETE of one
item. Text stands in single quotes, names of tables and attributes in double quotes
if they are no plain words. Lists, maps and sets are [1, 2], {'a': 1} and <<'x', 'y'>>. Each ? stands for one of the values after the
statement: a number, true, false, null, JSON such as ["x"] or {"SS": ["x"]}, or text.
Text that looks like another value stands in quotes: '"42"'.

A SELECT without a condition on the partition key is a scan: sortkey explain shows what
a SELECT reads.` + env.SourceHelp(),
		Example: `  sortkey sql "SELECT SK, bytes FROM Drive WHERE PK = 'DRIVE#a91' AND SK > 'root/p'" --model file-tree
  sortkey sql "INSERT INTO Orders VALUE {'customer': 'c1', 'order': 7, 'tags': <<'new'>>}" --data ./data
  sortkey sql "UPDATE Orders SET tags = <<'paid'>> WHERE customer = 'c1' AND \"order\" = 7" --data ./data`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return app.Usage("sql", "sql needs a statement in quotes")
			}
			return nil
		},
		ValidArgsFunction: statementArgument(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := app.Interruptible(cmd.Context())
			defer stop()
			return runSQL(ctx, env, args[0], args[1:], &f)
		},
	}
	f.SourceFlags.Declare(cmd, env)
	f.outputFlags.declare(cmd, formatTable)
	flags := cmd.Flags()
	flags.BoolVar(&f.all, "all", false, "read all pages")
	flags.BoolVar(&f.consistent, "consistent", false, "use consistent reads")
	flags.Int32Var(&f.limit, "limit", 0, "read at most `N` rows per page, counted before the filter")
	return cmd
}

func runSQL(ctx context.Context, env *app.Env, statement string, values []string, f *sqlFlags) (err error) {
	if f.limit < 0 {
		return app.Usage("sql", "--limit must not be negative")
	}
	if err := f.check("sql"); err != nil {
		return err
	}
	in := &wire.ExecuteStatementInput{Statement: &statement}
	for _, text := range values {
		v, err := ask.Parameter(text)
		if err != nil {
			return err
		}
		in.Parameters = append(in.Parameters, v)
	}
	selects := partiql.IsSelect(statement)
	if !selects {
		if err := refuseModel("sql", f.Model); err != nil {
			return err
		}
	}
	src, err := env.Open(ctx, f.SourceFlags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()

	if f.limit != 0 {
		in.Limit = new(int64(f.limit))
	}
	if f.consistent {
		in.ConsistentRead = new(true)
	}
	// A statement that only the server can parse is executed without a schema.
	var schema *keycond.Schema
	parsed, wrong := partiql.Parse(statement, in.Parameters)
	if wrong == nil {
		t, err := describe(ctx, src, parsed.Table)
		if err != nil {
			return err
		}
		schema = t.Schema(parsed.Index)
	}

	ans, err := readPages(ctx, src, in, f.all)
	if err != nil {
		return explainStatement(err, statement, wrong)
	}
	ans.wrote = !selects
	if selects || len(ans.items) > 0 || !f.forPeople() {
		return ans.write(env, &f.outputFlags, schema, false)
	}
	_, err = fmt.Fprintf(env.Stdout, "executed (%s)\n", text.Amount(fmt.Sprint(ans.units), "write unit"))
	return err
}

// explainStatement adds to an error of the service the place where the statement is wrong,
// if our parser found one.
func explainStatement(err error, statement string, wrong error) error {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return err
	}
	h := app.ExplainAPI(err, api)
	if e, ok := errors.AsType[*partiql.Error](wrong); ok && e.Pos >= 0 && e.Pos <= len(statement) {
		h.Msg += "\n" + terminal.Caret(statement, e.Pos)
	}
	return &advice.Error{Msg: h.Msg, Advice: h.Advice, Err: err}
}
