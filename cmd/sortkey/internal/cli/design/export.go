package design

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/export"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

type exportFlags struct {
	format, table, out string
	force              bool
}

func exportCommand(env *app.Env) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export MODEL --format FORMAT",
		Short: "Convert a model to the format of another tool",
		Long: `Export writes a model in the format of another tool: its tables, keys, indexes and
times to live as a CloudFormation template, as Terraform, as a construct of the AWS CDK
in TypeScript, or as requests for aws dynamodb create-table; or the whole design as far
as a model of NoSQL Workbench, a OneTable schema or ElectroDB schemas can carry it.

It lists on standard error what the file lacks of the model. Formats with comments have
the same list at their beginning.

The formats create-table, onetable and electrodb have one file for each table. Of a
model with several tables, name one with --table, or write all of them to a folder: -o
with a path that ends in a slash, or is a folder. On standard output, create-table
writes the requests of several tables as an array.`,
		Example: `  sortkey design export shop.yaml --format terraform -o tables.tf
  sortkey design export shop.yaml --format cloudformation > template.yaml

  sortkey design export shop.yaml --format create-table --table Shop > shop.json
  aws dynamodb create-table --cli-input-json file://shop.json

  sortkey design export shop.yaml --format onetable -o schemas/`,
		Args:              app.OneModel,
		ValidArgsFunction: app.Models,
		RunE:              func(_ *cobra.Command, args []string) error { return runExport(env, args[0], &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", "`FORMAT` of the file: "+strings.Join(export.FormatNames(), ", "))
	flags.StringVar(&f.table, "table", "", "export only this `TABLE` with its entities and patterns")
	flags.StringVarP(
		&f.out, "output", "o", "", "output `FILE`, or folder for a file of each table (default standard output)",
	)
	flags.BoolVar(&f.force, "force", false, "overwrite existing files")
	app.Complete(cmd, map[string]cobra.CompletionFunc{
		"format": app.Words(export.FormatNames()...), "output": app.Paths,
	})
	return cmd
}

func runExport(env *app.Env, path string, f *exportFlags) error {
	names := strings.Join(export.FormatNames(), ", ")
	format := export.Format(f.format)
	switch {
	case f.format == "":
		return app.Usage("design export", "design export needs --format, one of %s", names)
	case format.Title() == "":
		return app.Usage("design export", "--format is one of %s, not %q", names, f.format)
	}

	m, err := app.LoadModel(path)
	if err != nil {
		return err
	}
	if f.table != "" {
		t := m.Table(f.table)
		if t == nil {
			var known []string
			for _, t := range m.Tables {
				known = append(known, t.Name)
			}
			return advice.New(text.DidYouMean(f.table, known), "the model has no table %s", f.table)
		}
		m = export.Only(m, t)
	}

	files, err := export.Export(m, export.Format(f.format))
	if err != nil {
		return err
	}
	if err := f.write(env, m, files); err != nil {
		return err
	}

	for i, file := range files {
		if len(file.Losses) == 0 {
			continue
		}
		of := ""
		if len(files) > 1 {
			of = " of table " + m.Tables[i].Name
		}
		fmt.Fprintf(env.Stderr, "not exported%s:\n", of)
		for _, l := range file.Losses {
			fmt.Fprintln(env.Stderr, strings.Join(l.Lines("  "), "\n"))
		}
	}
	for _, file := range files {
		if file.Advice != "" { // the same of each
			fmt.Fprintln(env.Stderr, strings.Join(terminal.Wrap(file.Advice, 100), "\n"))
			break
		}
	}
	return nil
}

// write writes the files to where the flags say.
func (f *exportFlags) write(env *app.Env, m *model.Model, files []export.File) error {
	if isFolder(f.out) {
		if err := os.MkdirAll(f.out, 0o777); err != nil {
			return err
		}
		for _, file := range files {
			if file.Data == nil {
				continue
			}
			path := filepath.Join(f.out, file.Name)
			if err := writeNew(path, file.Data, f.force); err != nil {
				return err
			}
			fmt.Fprintf(env.Stderr, "%s: %s\n", path, export.Format(f.format).Title())
		}
		return nil
	}

	data := files[0].Data
	if len(files) == 1 && data == nil {
		return advice.New(
			"add entities to the model", "the model has no entities to write as %s", export.Format(f.format).Title(),
		)
	}
	if len(files) > 1 {
		if f.format != string(export.CreateTable) || f.out != "" && f.out != "-" {
			return advice.New(
				"name one with --table, such as --table "+m.Tables[0].Name+", or a folder for all with -o FOLDER/",
				"the model has %s, and %s is for one", text.Count(len(files), "table"), export.Format(f.format).Title(),
			)
		}
		var all []json.RawMessage
		for _, file := range files {
			all = append(all, file.Data)
		}
		return app.WriteJSON(env.Stdout, all)
	}
	if f.out == "" || f.out == "-" {
		_, err := env.Stdout.Write(data)
		return err
	}
	return writeNew(f.out, data, f.force)
}

// isFolder reports whether a path names a folder: one that exists, or by a slash at its end.
func isFolder(path string) bool {
	if strings.HasSuffix(path, "/") || strings.HasSuffix(path, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
