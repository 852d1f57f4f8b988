package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/hint"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/store/disk"
)

type importFlags struct {
	targetFlags
	table, schema, key, format string
	types, columns             []string
	delimiter                  string
	create, resume, restart    bool
	rejects, journal           string
	noJournal, noVerify        bool
	workers, maxLine           int
	json                       bool
}

func (a *App) importCommand() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE|DIR…",
		Short: "Import files into a table",
		Long: `Import writes items from files into a table, with the service's own batches of
puts, so it works on any DynamoDB endpoint; --data writes to a folder instead,
which no server may have open.

It reads DynamoDB JSON (lines as the service exports them, with or without
"Item", or the answer of a scan), plain JSON (lines or one array) and CSV with a
header, packed with gzip or zstd or not. A DIR is an export with its manifests,
whose checksums are verified first, a folder of such exports, or a folder of
data files. - is standard input.

The table is made if its definition is known: from the export, or from --schema,
or from --key. In CSV every column is a string but for keys and for columns
declared with --type; an empty cell is no attribute, an empty quoted cell ("")
an empty string; cells of sets, lists and maps are DynamoDB JSON.

Of several lines with one key the last wins. Lines that cannot be written go
to a report, one JSON object each with file, line and reason, and the exit code
is 1. When it is interrupted, what has been read is written, a journal beside
the input says how far that was, and --resume goes on from there.`,
		Example: `  sortkey import ./export --data ./sortkey-data
  sortkey import orders.csv --table Orders --key customer:S,placed:N --type total=N
  sortkey import items.json.gz --schema table.json --endpoint http://127.0.0.1:8000
  aws dynamodb scan --table-name Orders | sortkey import - --table Orders
  sortkey import ./export --data ./sortkey-data --resume`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("import", "import needs files or folders")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.runImport(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	f.add(cmd)
	flags.StringVarP(&f.table, "table", "t", "", "`TABLE` to write to; by default what the export or schema says")
	flags.StringVar(&f.schema, "schema", "", "`FILE` with the table's definition: JSON of CreateTable or DescribeTable")
	flags.StringVar(&f.key, "key", "", "the table's key when it has to be made, such as pk:S,sk:N (`NAME:TYPE`…)")
	flags.StringVar(&f.format, "format", "auto", "`FORMAT` of the files: auto, dynamodb, json or csv")
	flags.StringArrayVar(&f.types, "type", nil, "type of an attribute in CSV or plain JSON (`NAME=TYPE`), such as qty=N; may be repeated")
	flags.StringVar(&f.delimiter, "delimiter", "", "`CHARACTER` between the cells of CSV; tab for a tab")
	flags.StringSliceVar(&f.columns, "columns", nil, "`NAMES` of the columns of CSV without a header, separated by commas")
	flags.BoolVar(&f.create, "create", false, "make the table, and fail if it is there already")
	flags.BoolVar(&f.resume, "resume", false, "go on with an import that was interrupted")
	flags.BoolVar(&f.restart, "restart", false, "start an import that was interrupted over")
	flags.StringVar(&f.rejects, "rejects", "", "`FILE` for the report of rejected lines; by default beside the input")
	flags.StringVar(&f.journal, "journal", "", "`FILE` for the journal; by default beside the input")
	flags.BoolVar(&f.noJournal, "no-journal", false, "keep no journal: the import cannot be resumed")
	flags.BoolVar(&f.noVerify, "no-verify", false, "do not hold an export to its checksums and counts")
	flags.IntVar(&f.workers, "workers", transfer.DefaultWorkers, "requests at a time")
	flags.IntVar(&f.maxLine, "max-line", transfer.DefaultMaxLine, "longest line in bytes; longer ones are rejected")
	flags.BoolVar(&f.json, "json", false, "print the summary as JSON")
	mustComplete(cmd, "format", cobra.FixedCompletions([]string{"auto", "dynamodb", "json", "csv"}, cobra.ShellCompDirectiveNoFileComp))
	for _, name := range []string{"table", "key", "type", "delimiter", "columns", "workers", "max-line"} {
		mustComplete(cmd, name, cobra.NoFileCompletions)
	}
	cmd.MarkFlagsMutuallyExclusive("schema", "key")
	cmd.MarkFlagsMutuallyExclusive("resume", "restart")
	return cmd
}

// options returns what the flags ask for.
func (f *importFlags) options(args []string) (o transfer.ImportOptions, err error) {
	if o.Format, err = transfer.ParseFormat(f.format); err != nil {
		return o, err
	}
	if o.Types, err = transfer.ParseTypes(f.types); err != nil {
		return o, err
	}
	if o.Delimiter, err = parseDelimiter(f.delimiter); err != nil {
		return o, err
	}
	if f.workers < 1 || f.maxLine < 1 {
		return o, usage("import", "--workers and --max-line must be positive")
	}
	o.Columns, o.MaxLine, o.Workers = f.columns, f.maxLine, f.workers
	o.Table, o.Create, o.Resume, o.Restart, o.NoVerify = f.table, f.create, f.resume, f.restart, f.noVerify
	switch {
	case f.schema != "":
		o.Schema, err = transfer.ReadSchema(f.schema)
	case f.key != "":
		o.Schema, err = transfer.ParseKey(f.key)
	}
	o.Journal, o.Rejects = transfer.Beside(args)
	if f.journal != "" {
		o.Journal = f.journal
	}
	if f.noJournal {
		o.Journal = ""
	}
	if f.rejects != "" {
		o.Rejects = f.rejects
	}
	return o, err
}

func parseDelimiter(text string) (byte, error) {
	switch {
	case text == "":
		return 0, nil
	case text == "tab" || text == `\t`:
		return '\t', nil
	case len(text) == 1 && strings.Contains(",;:| \t", text):
		return text[0], nil
	}
	return 0, hint.Usage("the delimiters are those of the service: , ; : | tab and space", "--delimiter: %q is none", text)
}

func (a *App) runImport(ctx context.Context, args []string, f importFlags) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the command at once
	o, err := f.options(args)
	if err != nil {
		return explainTransfer(err)
	}
	sources, err := transfer.Discover(args)
	if err != nil {
		return explainTransfer(err)
	}
	target, err := a.openTarget(ctx, f.targetFlags, true)
	if err != nil {
		return err
	}
	o.Target = target.name
	advice := "see that it runs; Ctrl-C ends the import, and --resume goes on with it"
	if o.Journal == "" {
		advice = "see that it runs, or end the import with Ctrl-C"
	}
	bar := a.newBar(advice)
	o.Progress, o.Waiting = bar.show, bar.wait
	start := time.Now()
	result, err := transfer.Import(ctx, target.client, sources, o)
	bar.end()
	err = target.end(err)
	took := time.Since(start)
	if f.json {
		if err := a.writeImport(result, took); err != nil {
			return err
		}
	} else if err == nil || result.Read > 0 {
		a.printImport(result, took)
	}
	return a.endImport(result, err)
}

// endImport says what went wrong, if anything did.
func (a *App) endImport(r *transfer.ImportResult, err error) error {
	for _, x := range r.First {
		fmt.Fprintf(a.Stderr, "%s:%d: %s\n", x.File, x.Line, x.Reason)
	}
	for _, x := range r.Broken {
		fmt.Fprintf(a.Stderr, "%s: after line %d: %s\n", x.File, x.Line, x.Reason)
	}
	sum := r.Sum()
	report := ""
	if r.Rejects != "" {
		report = "; the report is " + r.Rejects
	}
	if err != nil {
		h := explain(explainTransfer(err))
		if strings.Contains(h.Hint, "--restart") { // there is nothing to go on with
			return h
		}
		if sum.Written+sum.Deleted > 0 || r.Journal != "" {
			h.Msg += fmt.Sprintf("; %s items are written", count(sum.Written))
		}
		if r.Journal != "" {
			if r.Line > 0 {
				h.Msg += fmt.Sprintf(", all up to line %d of %s", r.Line, r.File)
			}
			const resume = "go on with the same command and --resume"
			switch {
			case h.Hint == "", strings.Contains(h.Hint, "--resume"):
				h.Hint = resume
			default:
				h.Hint += "; then " + resume
			}
		}
		return h
	}
	switch {
	case len(r.Broken) > 0:
		return hint.New("import the whole file again when it is mended: what is written already is written over", "%s not whole%s", are(len(r.Broken), "file"), report)
	case sum.Rejected > 0:
		advice := "mend those lines and import them alone; all others are written"
		if sum.Rejected == sum.Read {
			advice = "see whether --format, --key and --type say what the input is like"
		}
		return hint.New(advice, "%s of %s rejected%s", count(sum.Rejected), quantity(sum.Read, "record"), report)
	}
	return nil
}

func (a *App) printImport(r *transfer.ImportResult, took time.Duration) {
	for _, t := range r.Tables {
		fmt.Fprintf(a.Stdout, "%s: %s written", t.Table, quantity(t.Written, "item"))
		if t.Deleted > 0 {
			fmt.Fprintf(a.Stdout, ", %s deleted", count(t.Deleted))
		}
		fmt.Fprintf(a.Stdout, ", %s rejected", count(t.Rejected))
		if t.Created {
			fmt.Fprint(a.Stdout, " (table created)")
		}
		fmt.Fprintln(a.Stdout)
	}
	fmt.Fprintf(a.Stdout, "%s read", quantity(r.Read, "record"))
	if before := r.Sum().Read - r.Read; before > 0 {
		fmt.Fprintf(a.Stdout, " after the first %s", count(before))
	}
	fmt.Fprintf(a.Stdout, ", %s in %s", size(r.Bytes), took.Round(time.Millisecond))
	if s := took.Seconds(); s > 0 && r.Read > 0 {
		fmt.Fprintf(a.Stdout, ", %s a second", count(int64(float64(r.Read)/s)))
	}
	fmt.Fprintln(a.Stdout)
}

func (a *App) writeImport(r *transfer.ImportResult, took time.Duration) error {
	enc := json.NewEncoder(a.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		*transfer.ImportResult
		Total   transfer.TableResult `json:"total"`
		Seconds float64              `json:"seconds"`
	}{r, r.Sum(), took.Seconds()})
}

// explainTransfer gives an error of package transfer, or of the way to an
// endpoint, its advice.
func explainTransfer(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok && errors.Is(err, syscall.ECONNREFUSED) {
		if _, known := errors.AsType[*transfer.Error](err); !known {
			return &hint.Error{
				Msg: "nothing listens at " + strings.TrimSuffix(u.URL, "/"), Err: err,
				Hint: "start a server with: sortkey serve — or name another with --endpoint, or a folder with --data",
			}
		}
	}
	if e, ok := errors.AsType[*transfer.Error](err); ok {
		h := hint.New(e.Hint, "%s", err)
		h.Err = err
		return h
	}
	return err
}

// targetFlags choose the database an import or export works on.
type targetFlags struct {
	data, endpoint string
}

func (f *targetFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.data, "data", "", "`DIR` of a database, rather than an endpoint; no server may have it open")
	cmd.Flags().StringVar(&f.endpoint, "endpoint", "", "`URL` of the server; by default AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, or this machine's")
	cmd.MarkFlagsMutuallyExclusive("data", "endpoint")
	mustComplete(cmd, "endpoint", cobra.NoFileCompletions)
}

// A target is that database.
type target struct {
	client *dynamodb.Client
	name   string
	close  func() error
}

// end closes it after what was done gave err. A disk that refused a write is the
// cause of all that failed after it.
func (t *target) end(err error) error {
	closed := t.close()
	if failed, ok := errors.AsType[*disk.FailedError](closed); ok {
		return &hint.Error{
			Msg: fmt.Sprintf("the disk refused a write: %v", failed.Err), Err: closed,
			Hint: "see that there is room where --data is, and that it can be written to",
		}
	}
	if err == nil {
		err = closed
	}
	return err
}

// openTarget opens it. Create makes a folder that is not there.
func (a *App) openTarget(ctx context.Context, f targetFlags, create bool) (*target, error) {
	if f.data == "" {
		src, err := a.open(ctx, sourceFlags{endpoint: f.endpoint})
		if err != nil {
			return nil, err
		}
		o := src.client.Options()
		o.HTTPClient = awshttp.NewBuildableClient().WithTimeout(requestTimeout)
		return &target{client: dynamodb.New(o), name: aws.ToString(o.BaseEndpoint), close: src.close}, nil
	}
	abs, err := filepath.Abs(f.data)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(f.data); err != nil && !create {
		return nil, hint.New("name the folder that was given to serve or import", "--data: there is no database in %s", f.data)
	}
	st, err := openData(f.data, slog.New(slog.DiscardHandler))
	if h, ok := errors.AsType[*hint.Error](err); ok && errors.Is(err, disk.ErrLocked) {
		h.Hint = "go through the server that has it open with --endpoint instead of --data, or stop that one"
	}
	if err != nil {
		return nil, err
	}
	db, err := sortkey.Open(sortkey.Options{Store: st})
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	// A disk that refused a write will refuse the next.
	client := sdk.Direct(db, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	return &target{client: client, name: abs, close: db.Close}, nil
}

// count writes a number with its thousands apart.
func count(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// are is quantity with the verb.
func are(n int, noun string) string {
	if n == 1 {
		return quantity(1, noun) + " is"
	}
	return quantity(int64(n), noun) + " are"
}

func quantity(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// size writes a number of bytes.
func size(n int64) string {
	const unit = 1000
	switch {
	case n < unit:
		return quantity(n, "byte")
	case n < unit*unit:
		return fmt.Sprintf("%.1f kB", float64(n)/unit)
	case n < unit*unit*unit:
		return fmt.Sprintf("%.1f MB", float64(n)/(unit*unit))
	}
	return fmt.Sprintf("%.2f GB", float64(n)/(unit*unit*unit))
}
