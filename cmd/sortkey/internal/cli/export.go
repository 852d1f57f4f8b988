package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/mask"
	"github.com/sortkey/sortkey/internal/text"
)

type exportFlags struct {
	source app.SourceFlags
	all    bool
	to     string
	json   bool
	mask   string
}

func exportCommand(env *app.Env) *cobra.Command {
	f := exportFlags{source: app.SourceFlags{Writes: true}} // without --model
	cmd := &cobra.Command{
		Use:   "export TABLE|--all --to DIR|-",
		Short: "Export a table to files",
		Long: `Export writes the items of a table, or of all tables, into a new folder, in the
layout of the service's own exports: data files compressed with gzip, and
manifests with checksums and counts. table.json holds the table's definition, as
the JSON of a CreateTable request. sortkey import DIR restores the table with its
indexes and items.

--to - writes the items to standard output, as lines of DynamoDB JSON. For plain JSON
or CSV, use sortkey scan --all with -o plain-json or -o csv.

The folder appears when the export is complete. From a server an
export is a scan: it may or may not include concurrent writes. With --data, or
from a server of a snapshot, it is of one point in time.`,
		Example: `  sortkey export Orders --to ./orders --data ./sortkey-data
  sortkey export --all --to ./backup
  sortkey export Orders --to - | jq .Item.total.N
  sortkey export Orders --to ./test-orders --mask mask.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return app.Usage("export", "export takes one table, not %d", len(args))
			case f.all && len(args) == 1:
				return app.Usage("export", "export takes a table or --all, not both")
			case !f.all && len(args) == 0:
				return app.Usage("export", "export needs a table, or --all")
			case f.to == "":
				return app.Usage("export", "export needs a folder to write to: --to DIR, or --to - for standard output")
			case f.all && f.to == "-":
				return app.Usage("export", "--all needs a folder to write to")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runExport(cmd.Context(), env, args, &f)
		},
	}
	flags := cmd.Flags()
	f.source.Declare(cmd, env)
	flags.BoolVar(&f.all, "all", false, "export all tables, each into a folder with its name")
	flags.StringVar(&f.to, "to", "", "new `DIR` to write to, or - for standard output")
	flags.StringVar(&f.mask, "mask", "", maskUsage)
	flags.BoolVar(&f.json, "json", false, "print the summary as JSON")
	app.Complete(cmd, map[string]cobra.CompletionFunc{"to": app.Paths})
	return cmd
}

func runExport(ctx context.Context, env *app.Env, args []string, f *exportFlags) error {
	bar := newBar(env, "check that it is running, or stop the export with Ctrl-C")
	o := transfer.ExportOptions{Clock: time.Now, Progress: bar.show, Waiting: bar.wait}
	var rules *mask.Rules
	if f.mask != "" {
		var err error
		if rules, err = readMask(f.mask); err != nil {
			return err
		}
	}
	src, err := env.Open(ctx, f.source)
	if err != nil {
		return err
	}
	o.DB = src.DB
	o.Still = src.DB != nil && f.source.Store == "" // others may write to the database of --store
	names, err := exportedTables(ctx, src, args, f)
	if err == nil && rules != nil {
		o.Keys = rules.Keys
		o.Mask = rules.Item
		err = transfer.CheckExport(ctx, src.Client, names, o)
		bar.end()
		if err == nil {
			err = covered(env, rules, f.mask)
		}
		o.Mask = rules.Covered
	}
	if err != nil {
		return explainTransfer(src.End(err))
	}

	start := time.Now()
	results, err := exportTables(ctx, env, src, names, f, o)
	bar.end()
	err = src.End(err)
	took := time.Since(start)
	if err != nil {
		return explainTransfer(err)
	}

	out := env.Stdout
	if f.to == "-" {
		out = env.Stderr // Stdout has the items
	}
	if f.json {
		return app.WriteJSON(out, struct {
			Tables  []transfer.ExportResult `json:"tables"`
			Seconds float64                 `json:"seconds"`
		}{results, took.Seconds()})
	}

	if f.to == "-" {
		return nil
	}
	for _, r := range results {
		fmt.Fprintf(out, "%s: %s, %s in %s\n", r.Table, text.Count(r.Items, "item"), text.Size(r.Bytes), r.Dir)
	}

	if !o.Still {
		fmt.Fprintf(
			out,
			"not of one point in time: writes during the %s of the export may or may not be included; "+
				"see sortkey snapshot\n",
			took.Round(time.Millisecond),
		)
	}
	return nil
}

// exportedTables returns the names of the tables to export.
func exportedTables(ctx context.Context, src *app.Source, args []string, f *exportFlags) ([]string, error) {
	names, err := models.Tables(ctx, src.Target)
	switch {
	case err != nil:
		return nil, err
	case f.all && len(names) == 0:
		return nil, advice.New("", "no tables to export")
	case !f.all && !slices.Contains(names, args[0]):
		return nil, noTable(args[0], names)
	case !f.all:
		names = args
	}
	return names, nil
}

func exportTables(
	ctx context.Context, env *app.Env, src *app.Source, names []string, f *exportFlags, o transfer.ExportOptions,
) ([]transfer.ExportResult, error) {
	if f.to == "-" {
		r, err := transfer.ExportTo(ctx, src.Client, names[0], env.Data(text.VisibleJSON), o)
		return []transfer.ExportResult{r}, err
	}
	return transfer.Export(ctx, src.Client, names, f.to, f.all, o)
}
