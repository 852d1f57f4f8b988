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
	"github.com/sortkey/sortkey/internal/text"
)

type exportFlags struct {
	format, table string
	outFlags
}

func exportCommand(env *app.Env) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export MODEL --format FORMAT",
		Short: "Convert a model to the format of another tool",
		Long: `Export writes a model in the format of another tool: its tables, keys, indexes and
times to live as a CloudFormation template, as Terraform, or as requests for aws dynamodb
create-table; or the whole design as far as a model of NoSQL Workbench can carry it.

It says on standard error what the file has of the model. Formats with comments begin with
the same sentence.

With a path that ends in a slash, or is a folder, -o writes into that folder, under a name
that no other format has. The format create-table has one file for each table: of a model
with several tables, name one with --table, or give a folder. On standard output it is an
array of their requests.`,
		Example: `  sortkey design export shop.yaml --format terraform -o tables.tf
  sortkey design export shop.yaml --format cloudformation > template.yaml

  sortkey design export shop.yaml --format create-table --table Shop > shop.json
  aws dynamodb create-table --cli-input-json file://shop.json

  sortkey design export shop.yaml --format workbench -o exported/`,
		Args:              app.OneModel,
		ValidArgsFunction: app.Models,
		RunE:              func(_ *cobra.Command, args []string) error { return runExport(env, args[0], &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", "`FORMAT` of the file: "+strings.Join(export.FormatNames(), ", "))
	flags.StringVar(&f.table, "table", "", "export only this `TABLE` with its entities and patterns")
	f.outFlags.declare(cmd, "output `FILE`, or folder")
	app.Complete(cmd, map[string]cobra.CompletionFunc{"format": app.Words(export.FormatNames()...)})
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
	if err := f.writeFiles(env, m, files); err != nil {
		return err
	}

	fmt.Fprintf(env.Stderr, "exported: %s; the rest of the model stays there\n", format.Carries())
	return nil
}

// writeFiles writes the files to the path that the flags name.
func (f *exportFlags) writeFiles(env *app.Env, m *model.Model, files []export.File) error {
	if isFolder(f.path) {
		if err := os.MkdirAll(f.path, 0o777); err != nil {
			return err
		}
		for _, file := range files {
			path := filepath.Join(f.path, file.Name)
			if err := f.writeTo(path, file.Data); err != nil {
				return err
			}
			fmt.Fprintf(env.Stderr, "%s: %s\n", path, export.Format(f.format).Title())
		}
		return nil
	}

	if len(files) == 1 {
		return f.write(env, files[0].Data)
	}
	if f.toFile() {
		return advice.New(
			"name one with --table, such as --table "+m.Tables[0].Name+", or a folder for all with -o FOLDER/",
			"the model has %s, and a request of CreateTable is for one", text.Count(len(files), "table"),
		)
	}
	var all []json.RawMessage
	for _, file := range files {
		all = append(all, file.Data)
	}
	return app.WriteJSON(env.Stdout, all)
}

// isFolder reports whether a path names a folder: an existing folder, or any path that ends with a slash.
func isFolder(path string) bool {
	if strings.HasSuffix(path, "/") || strings.HasSuffix(path, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
