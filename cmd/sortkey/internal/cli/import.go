package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/text"
)

var importFormats = []string{"auto", "dynamodb", "json", "csv", "requests"}

type importFlags struct {
	source                     app.SourceFlags
	table, schema, key, format string
	types, columns             []string
	delimiter                  string
	resume, restart            bool
	rejects, journal           string
	workers                    int
	json                       bool
}

func importCommand(env *app.Env) *cobra.Command {
	f := importFlags{source: app.SourceFlags{Writes: true, Create: true}}
	cmd := &cobra.Command{
		Use:   "import FILE|DIR…",
		Short: "Import files into a table",
		Long: `Import writes items from files into a table. It uses BatchWriteItem, so it works
with any DynamoDB endpoint. With --data it writes sorted rows to a folder, which
no server may have open.

It reads DynamoDB JSON (lines as the service exports them, with or without
"Item", or the response of a scan), plain JSON (lines or one array) and CSV with
a header, and requests of BatchWriteItem, PutItem and TransactWriteItems, in which
repositories keep seed data: their items go to the tables that they name, or with
--table only those to that table, and their deletes delete. Writes with a condition,
updates and condition checks are rejected. Files may be compressed with gzip or zstd. DIR is an export with its
manifests, whose checksums are verified first, or without them, a folder of such
exports, or a folder of data files. - is standard input.

Import creates a missing table if it knows its definition: from the export, from
--schema or from --key. In CSV all columns are strings, except keys and columns
declared with --type. An empty cell means no attribute, an empty quoted cell ("")
an empty string. Sets, lists and maps are written as DynamoDB JSON.

If several records have the same key, the last one wins. Rejected records go to a
report, as JSON objects with file, line and reason, of up to 64 MiB; the exit code
is 1 then. An interrupted import first writes what it has read. It keeps its position in a
journal beside the input, and --resume continues from there, unless the table was
created anew.`,
		Example: `  sortkey import ./export --data ./sortkey-data
  sortkey import orders.csv --table Orders --key 'customer / placed:N' --type total=N
  sortkey import items.json.gz --schema table.json --endpoint http://127.0.0.1:8000
  sortkey import seeds.json --format requests --schema table.json
  aws dynamodb scan --table-name Orders | sortkey import - --table Orders
  sortkey import ./export --data ./sortkey-data --resume`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return app.Usage("import", "import needs files or folders")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runImport(cmd.Context(), env, args, &f) },
	}
	flags := cmd.Flags()
	f.source.Declare(cmd, env)
	flags.StringVarP(&f.table, "table", "t", "", "`TABLE` to write to (default that of the export or schema)")
	flags.StringVar(&f.schema, "schema", "", "`FILE` with the table's definition: JSON of CreateTable or DescribeTable")
	flags.StringVar(&f.key, "key", "", "`KEY` of a table to create, such as 'customer / placed:N'")
	flags.StringVar(&f.format, "format", "auto", "`FORMAT` of the files: auto, dynamodb, json, csv or requests")
	flags.StringArrayVar(
		&f.types, "type", nil, "type of an attribute in CSV or plain JSON (`NAME=TYPE`), such as qty=N; repeatable",
	)
	flags.StringVar(
		&f.delimiter, "delimiter", "",
		"`CHARACTER` between CSV cells; tab for a tab (default comma, or tab in .tsv files)",
	)
	flags.StringSliceVar(&f.columns, "columns", nil, "comma-separated `NAMES` of the columns of CSV without a header")
	flags.BoolVar(&f.resume, "resume", false, "resume an interrupted import")
	flags.BoolVar(&f.restart, "restart", false, "restart an interrupted import from the beginning")
	flags.StringVar(&f.rejects, "rejects", "", "`FILE` for the report of rejected records (default beside the input)")
	flags.StringVar(&f.journal, "journal", "", "`FILE` for the journal (default beside the input)")
	flags.IntVar(&f.workers, "workers", transfer.DefaultWorkers, "number of concurrent requests; a folder gets none")
	flags.BoolVar(&f.json, "json", false, "print the summary as JSON")
	app.Complete(cmd, map[string]cobra.CompletionFunc{
		"schema": app.Paths, "rejects": app.Paths, "journal": app.Paths,
		"format": app.Words(importFormats...),
	})
	app.AtLeast(cmd, map[string]string{"workers": "1"})
	app.Needs(cmd, map[string][]string{
		"delimiter": {"format=csv", "format=auto"}, "columns": {"format=csv", "format=auto"},
	})
	cmd.MarkFlagsMutuallyExclusive("data", "workers")
	cmd.MarkFlagsMutuallyExclusive("schema", "key")
	cmd.MarkFlagsMutuallyExclusive("resume", "restart")
	return cmd
}

// options returns the options that the flags set.
func (f *importFlags) options(args []string) (o transfer.ImportOptions, err error) {
	if o.Format, err = parseFormat(f.format); err != nil {
		return o, err
	}
	if o.Types, err = transfer.ParseTypes(f.types); err != nil {
		return o, app.UsageError(advice.Of(err), "--type: %v", err)
	}
	if o.Delimiter, err = parseDelimiter(f.delimiter); err != nil {
		return o, err
	}
	o.Columns, o.Workers = f.columns, f.workers
	o.Table, o.Resume, o.Restart = f.table, f.resume, f.restart
	switch {
	case f.schema != "":
		o.Schema, err = transfer.ReadSchema(f.schema)
	case f.key != "":
		if o.Schema, err = transfer.ParseKey(f.key); err != nil {
			err = app.UsageError(advice.Of(err), "--key: %v", err)
		}
	}

	o.Journal, o.Rejects = transfer.Beside(args)
	if f.journal != "" {
		o.Journal = f.journal
	}
	if f.rejects != "" {
		o.Rejects = f.rejects
	}
	return o, err
}

func runImport(ctx context.Context, env *app.Env, args []string, f *importFlags) error {
	o, err := f.options(args)
	if err != nil {
		return explainImport(err)
	}

	sources, err := transfer.Discover(args, o.Format, o.Table)
	if err != nil {
		return explainImport(err)
	}
	newFolder := f.source.Data != "" && !exists(f.source.Data)
	src, err := env.Open(ctx, f.source)
	if err != nil {
		return err
	}
	o.Target, o.DB = cmp.Or(src.Endpoint, f.source.Name()), src.DB
	if f.source.Data != "" {
		if o.Target, err = filepath.Abs(f.source.Data); err != nil {
			return src.End(err)
		}
	}

	// An import into a folder reuses large buffers, so frequent garbage collections save memory and take little time.
	// An import into a server creates much garbage and keeps little memory, so collect garbage less often there.
	garbage := 50
	if o.DB == nil {
		garbage = 400
	}
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	help := "check that it is running; Ctrl-C stops the import, and --resume resumes it"
	if o.Journal == "" {
		help = "check that it is running, or stop the import with Ctrl-C"
	}

	bar := newBar(env, help)
	o.Progress, o.Waiting = bar.show, bar.wait
	start := time.Now()
	result, err := transfer.Import(ctx, src.Client, sources, o)
	bar.end()
	err = src.End(err)
	took := time.Since(start)
	made := func(t transfer.TableResult) bool { return t.Created || t.Read > 0 }
	if err != nil && newFolder && !slices.ContainsFunc(result.Tables, made) {
		// the import failed before it created a table or read an item
		err = errors.Join(err, os.RemoveAll(f.source.Data))
	}
	if f.json {
		if err := app.WriteJSON(env.Stdout, struct {
			*transfer.ImportResult
			Total   transfer.TableResult `json:"total"`
			Seconds float64              `json:"seconds"`
		}{result, result.Sum(), took.Seconds()}); err != nil {
			return err
		}
	} else if err == nil || result.Read > 0 {
		printImport(env, result, took)
	}
	left := transfer.LeftOut(args, sources)
	for i, file := range left {
		if i == 10 {
			fmt.Fprintf(env.Stderr, "sortkey: not imported: %s more\n", text.Thousands(len(left)-i))
			break
		}
		fmt.Fprintf(env.Stderr, "sortkey: not imported: %s\n", text.Visible(file))
	}
	if f.resume && result.Read > 0 && result.Read == result.Sum().Read {
		fmt.Fprintf(
			env.Stderr, "sortkey: began at the first line: the journal %s has no records of an interrupted import\n"+
				"hint: if there was one, resume it with the same files, or with its --journal\n", o.Journal,
		)
	}
	return endImport(env, result, err)
}

// endImport prints the rejected lines and returns the error of the command.
func endImport(env *app.Env, r *transfer.ImportResult, err error) error {
	for _, x := range r.First {
		fmt.Fprintf(env.Stderr, "%s:%d: %s\n", x.File, x.Line, x.Reason)
	}

	for _, x := range r.Broken {
		fmt.Fprintf(env.Stderr, "%s: after line %d: %s\n", x.File, x.Line, x.Reason)
	}
	sum := r.Sum()
	report := ""
	if r.Rejects != "" {
		report = "; see the report " + r.Rejects
		if r.Unreported > 0 {
			report += ", which is full: it leaves out " + text.Thousands(r.Unreported)
		}
	}

	if err != nil {
		h := explainImport(err)
		if errors.Is(err, transfer.ErrInterrupted) || errors.Is(err, transfer.ErrRestart) {
			return h // no advice to resume: this run has nothing to resume
		}
		if sum.Written > 0 { // the requests of a failed write may have written more items
			h.Msg += fmt.Sprintf("; at least %s items written", text.Thousands(sum.Written))
		}
		if r.Journal != "" {
			if r.Line > 0 {
				h.Msg += fmt.Sprintf(", all up to line %d of %s", r.Line, r.File)
			}
			if h.Advice != "" {
				h.Advice += "; then "
			}
			h.Advice += "resume with the same command and --resume"
		}
		return h
	}

	switch {
	case len(r.Broken) > 0:
		return advice.New(
			"repair the file and import it again; items written twice are replaced", "%s incomplete%s",
			text.Count(len(r.Broken), "file"), report,
		)
	case sum.Rejected > 0:
		help := "correct those records and import only them; all others are written"
		if sum.Rejected == sum.Read {
			help = "check that --format, --key and --type match the input"
		}
		return advice.New(
			help, "%s of %s rejected%s", text.Thousands(sum.Rejected), text.Count(sum.Read, "record"), report,
		)
	}
	return nil
}

func printImport(env *app.Env, r *transfer.ImportResult, took time.Duration) {
	for _, t := range r.Tables {
		fmt.Fprintf(env.Stdout, "%s: %s written", t.Table, text.Count(t.Written, "item"))
		if t.Deleted > 0 {
			fmt.Fprintf(env.Stdout, ", %s deleted", text.Thousands(t.Deleted))
		}
		fmt.Fprintf(env.Stdout, ", %s rejected", text.Thousands(t.Rejected))
		if t.Created {
			fmt.Fprint(env.Stdout, " (table created)")
		}
		fmt.Fprintln(env.Stdout)
	}
	fmt.Fprintf(env.Stdout, "%s read", text.Count(r.Read, "record"))
	if before := r.Sum().Read - r.Read; before > 0 {
		fmt.Fprintf(env.Stdout, " after the first %s", text.Thousands(before))
	}
	fmt.Fprintf(env.Stdout, ", %s in %s", text.Size(r.Bytes), took.Round(time.Millisecond))
	if s := took.Seconds(); s > 0 && r.Read > 0 {
		fmt.Fprintf(env.Stdout, ", %s a second", text.Thousands(int64(float64(r.Read)/s)))
	}
	fmt.Fprintln(env.Stdout)
}
