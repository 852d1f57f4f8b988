package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/hint"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/model"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
)

type exportFlags struct {
	targetFlags
	all       bool
	to        string
	format    string
	delimiter string
	plain     bool
	json      bool
}

func (a *App) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export TABLE|--all --to DIR|-",
		Short: "Export a table to files",
		Long: `Export writes the items of a table, or of all tables, into a new folder: data
files packed with gzip and manifests with checksums and counts as the service's
own export has them, and the table's definition in table.json, which is the JSON
of a CreateTable request. sortkey import DIR alone brings the table back with
its indexes and items.

The formats are dynamodb (DynamoDB JSON, which holds everything), json (plain
JSON lines) and csv; types.json beside them tells the types they cannot show.
--to - writes the items alone to standard output.

The folder is there whole or not at all: until the export is done it is called
DIR.partial. From a server it is a scan: what is written to the table meanwhile
may be in it or not. With --data, or of a snapshot that is served, it is of one
moment.`,
		Example: `  sortkey export Orders --to ./orders --data ./sortkey-data
  sortkey export --all --to ./backup
  sortkey export Orders --to - --format json | jq .total
  sortkey export Orders --to - --format csv > orders.csv`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usage("export", "export takes one table, not %d", len(args))
			case f.all && len(args) == 1:
				return usage("export", "export takes a table or --all, not both")
			case !f.all && len(args) == 0:
				return usage("export", "export needs a table, or --all")
			case f.to == "":
				return usage("export", "export needs a folder to write to: --to DIR, or --to - for standard output")
			case f.all && f.to == "-":
				return usage("export", "--all needs a folder to write to")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.export(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	f.add(cmd)
	flags.BoolVar(&f.all, "all", false, "export all tables, each into a folder of its name")
	flags.StringVar(&f.to, "to", "", "new `DIR` to write to, or - for standard output")
	flags.StringVar(&f.format, "format", "dynamodb", "`FORMAT` of the items: dynamodb, json or csv")
	flags.StringVar(&f.delimiter, "delimiter", "", "`CHARACTER` between the cells of CSV; tab for a tab")
	flags.BoolVar(&f.plain, "plain", false, "do not pack the data files with gzip")
	flags.BoolVar(&f.json, "json", false, "print the summary as JSON")
	mustComplete(cmd, "format", cobra.FixedCompletions([]string{"dynamodb", "json", "csv"}, cobra.ShellCompDirectiveNoFileComp))
	mustComplete(cmd, "delimiter", cobra.NoFileCompletions)
	return cmd
}

func (a *App) export(ctx context.Context, args []string, f exportFlags) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the command at once
	bar := a.newBar("see that it runs, or end the export with Ctrl-C")
	o := transfer.ExportOptions{Plain: f.plain, Clock: time.Now, Progress: bar.show, Waiting: bar.wait}
	var err error
	if o.Format, err = transfer.ParseFormat(f.format); err != nil {
		return explainTransfer(err)
	}
	if o.Delimiter, err = parseDelimiter(f.delimiter); err != nil {
		return err
	}
	target, err := a.openTarget(ctx, f.targetFlags, false)
	if err != nil {
		return err
	}
	o.Still = f.data != "" // the folder is locked
	start := time.Now()
	results, err := a.exportFrom(ctx, target, args, f, o)
	bar.end()
	err = target.end(err)
	took := time.Since(start)
	if err != nil {
		h := explain(explainTransfer(err))
		part := filepath.Clean(f.to) + ".partial"
		write, ok := errors.AsType[*fs.PathError](err)
		began := errors.Is(err, context.Canceled) || ok && strings.HasPrefix(write.Path, part+string(filepath.Separator))
		if _, left := os.Stat(part); began && f.to != "-" && errors.Is(left, os.ErrNotExist) {
			h.Msg += "; nothing is left of the export"
		}
		return h
	}
	for _, r := range results {
		for _, w := range r.Warnings {
			fmt.Fprintf(a.Stderr, "sortkey: warning: %s: %s\n", r.Table, w)
		}
	}
	out := a.Stdout
	if f.to == "-" {
		out = a.Stderr // items are on the other
	}
	if f.json {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			Tables  []transfer.ExportResult `json:"tables"`
			Seconds float64                 `json:"seconds"`
		}{results, took.Seconds()})
	}
	if f.to == "-" {
		return nil
	}
	for _, r := range results {
		fmt.Fprintf(out, "%s: %s, %s in %s\n", r.Table, quantity(r.Items, "item"), size(r.Bytes), r.Dir)
	}
	if !o.Still {
		fmt.Fprintf(out, "not of one moment: what was written in the %s it took may be in it or not; see sortkey snapshot\n", took.Round(time.Millisecond))
	}
	return nil
}

func (a *App) exportFrom(ctx context.Context, t *target, args []string, f exportFlags, o transfer.ExportOptions) ([]transfer.ExportResult, error) {
	names, err := model.Tables(ctx, t.client)
	switch {
	case err != nil:
		return nil, err
	case f.all && len(names) == 0:
		return nil, hint.New("", "there are no tables to export")
	case !f.all:
		if err := checkTable(args[0], names); err != nil {
			return nil, err
		}
		names = args
	}
	if f.to == "-" {
		r, err := transfer.ExportTo(ctx, t.client, names[0], a.Stdout, o)
		return []transfer.ExportResult{r}, err
	}
	return transfer.Export(ctx, t.client, names, f.to, f.all, o)
}

func checkTable(name string, names []string) error {
	if slices.Contains(names, name) {
		return nil
	}
	if len(names) == 0 {
		return hint.New("", "there is no table %s: there are no tables", name)
	}
	const most = 10
	list := names
	more := ""
	if len(list) > most {
		list, more = list[:most], ", …"
	}
	return hint.New("the tables are: "+strings.Join(list, ", ")+more, "there is no table %s", name)
}
