package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

// The formats of items.
const (
	formatTable     = "table"
	formatLines     = "lines"
	formatJSON      = "json"
	formatPlainJSON = "plain-json"
	formatCSV       = "csv"
)

// outputFlags say how a command prints items.
type outputFlags struct {
	format    string // after check: one of the formats, or "" to print no items
	byDefault string
	asJSON    bool
}

// declare declares the flags. The default of --output is byDefault. If byDefault is "", the command prints no items
// by default.
func (f *outputFlags) declare(cmd *cobra.Command, byDefault string) {
	f.byDefault = byDefault
	usage := "print items as `FORMAT`: table, lines, json, plain-json or csv"
	flags := cmd.Flags()
	flags.StringVarP(&f.format, "output", "o", byDefault, usage)
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document with values in DynamoDB JSON, as -o json")
	app.Complete(cmd, map[string]cobra.CompletionFunc{
		"output": app.Words(formatTable, formatLines, formatJSON, formatPlainJSON, formatCSV),
	})
}

// check sets f.format from --output and --json. It returns an error if the user gave both, or an unknown format.
func (f *outputFlags) check(command string) error {
	if f.asJSON && f.format != f.byDefault {
		return app.Usage(command, "--output and --json exclude each other")
	}
	if f.asJSON {
		f.format = formatJSON
	}
	switch f.format {
	case formatTable, formatLines, formatJSON, formatPlainJSON, formatCSV, f.byDefault:
		return nil
	}
	return app.UsageError("the formats are table, lines, json, plain-json and csv; see sortkey "+command+" --help",
		"--output: unknown format %q", f.format)
}

// forPeople reports whether a command may print sentences beside the items.
func (f *outputFlags) forPeople() bool {
	return f.format == formatTable || f.format == formatLines || f.format == ""
}

// appendItem appends an item in JSON.
func (f *outputFlags) appendItem(dst []byte, it attr.Item) []byte {
	if f.format == formatPlainJSON {
		return item.AppendPlain(dst, it)
	}
	return it.AppendJSON(dst)
}

// writeItem writes one item. In a JSON format, the output is an argument that sortkey put accepts.
func (f *outputFlags) writeItem(env *app.Env, it attr.Item, schema *keycond.Schema) error {
	if f.format == formatJSON || f.format == formatPlainJSON {
		_, err := env.Data(text.VisibleJSON).Write(append(f.appendItem(nil, it), '\n'))
		return err
	}
	return f.writeItems(env, []attr.Item{it}, schema)
}

// writeItems writes items as a table, in lines or as CSV.
func (f *outputFlags) writeItems(env *app.Env, items []attr.Item, schema *keycond.Schema) error {
	style, rows := env.Style(), ""
	switch f.format {
	case formatCSV:
		return transfer.WriteCSV(env.Data(text.VisibleLines), items, show.KeyNames(schema))
	case formatTable:
		rows = show.Items(items, schema, style)
	case formatLines:
		rows = show.Lines(items, show.KeyNames(schema), style.Paint)
	}
	_, err := io.WriteString(env.Stdout, rows)
	return err
}
