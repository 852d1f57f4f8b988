package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/aws/smithy-go"
	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/keycond"
)

// readFlags are the flags of query.
type readFlags struct {
	queryFlags
	outputFlags
	all, trace bool
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

A condition that is refused is answered with the rule that it breaks and with requests
that work, as by sortkey explain, which reads up to 200 rows to find them.

Separate the values of an index key of several attributes with commas, or repeat
--pk and --sk. Only the last sort condition may be other than =.` + env.SourceHelp(),
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
		ValidArgsFunction: queryArguments(env, &f.queryFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			return runQuery(ctx, env, args, &f)
		},
	}
	f.queryFlags.declare(cmd, env)
	f.outputFlags.declare(cmd, formatTable)
	flags := cmd.Flags()
	flags.BoolVar(&f.all, "all", false, "read all pages")
	flags.BoolVar(&f.trace, "trace", env.Trace, "print the slice that was read")
	return cmd
}

func runQuery(ctx context.Context, env *app.Env, args []string, f *readFlags) error {
	if f.Limit < 0 {
		return app.Usage("query", "--limit must not be negative")
	}
	if err := f.place(args[1:]); err != nil {
		return err
	}
	if err := f.check("query"); err != nil {
		return err
	}
	src, err := env.Open(ctx, f.SourceFlags)
	if err != nil {
		return err
	}
	defer src.Close()
	in, t, err := f.input(ctx, env, src, args[0])
	if err != nil {
		return err
	}

	src.Traces() // those of a query that failed
	ans, err := readPages(ctx, src, in, f.all)
	if err != nil {
		texts := ask.TextsOf(in)
		api, _ := errors.AsType[smithy.APIError](err)
		err = filledIn(err, texts)
		if _, _, unreadable := texts.Fault(); unreadable || api == nil || api.ErrorCode() != "ValidationException" {
			return err
		}
		return f.explainRefusal(ctx, env, src, in, err)
	}
	slices := src.Traces()
	if f.trace {
		ans.slices = slices
		if len(ans.slices) == 0 {
			fmt.Fprintln(env.Stderr, "sortkey: this server does not report traces (sortkey serve does)")
		}
	}
	if err := ans.write(env, &f.outputFlags, t.Schema(f.Index), f.trace); err != nil {
		return err
	}
	if env.Source == nil || len(slices) == 0 || !f.forPeople() {
		return nil
	}
	return drawSlice(env, slices)
}

// drawSlice draws the slice that the pages of a query have read.
func drawSlice(env *app.Env, pages []sortkey.Trace) error {
	whole := pages[0] // it does not go on after another page, so its range is that of all
	for _, page := range pages[1:] {
		whole.Examined += page.Examined
		whole.Returned += page.Returned
		whole.Bytes += page.Bytes
		whole.Fetched += page.Fetched
		whole.Units += page.Units
		whole.Stop = page.Stop
	}
	top, bottom := "from the start of the partition", "to the end of the partition"
	if whole.Low != nil {
		top = (*keycond.Bound)(whole.Low).Words(whole.SortKey, false)
	}
	if whole.High != nil {
		bottom = (*keycond.Bound)(whole.High).Words(whole.SortKey, true)
	}
	if whole.Reverse {
		top, bottom = bottom, top
	}

	style := env.Style()
	picture := explain.Picture{
		{Kind: explain.Top, Text: top}, {Kind: explain.Gap, Text: whole.Cost()}, {Kind: explain.Bottom, Text: bottom},
	}
	_, err := fmt.Fprintf(env.Stdout, "\n%s", picture.Text(style.Width, style.Paint))
	return err
}
