package convert_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/convert"
	"github.com/sortkey/sortkey/internal/design/export"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/tabledef"
)

// readBack reads a file as the command sortkey design import does.
func readBack(t *testing.T, f export.Format, file export.File) *model.Model {
	t.Helper()
	in := convert.File{Name: file.Name, Data: file.Data}
	if f == export.CloudFormation || f == export.Terraform {
		var err error
		path := filepath.Join(t.TempDir(), file.Name)
		require.NoError(t, os.WriteFile(path, file.Data, 0o600))
		in.Tables, in.Notes, err = tabledef.Read(path, nil)
		require.NoError(t, err, string(file.Data))
		require.Empty(t, in.Notes)
	}
	m, _, err := convert.Import(context.Background(), []convert.File{in}, convert.Options{})
	require.NoError(t, err, string(file.Data))
	return m
}

// TestExportRoundTrip exports each model of the repository in each format, reads the files back, and compares what the
// format carries.
func TestExportRoundTrip(t *testing.T) {
	for name, m := range exampleModels(t) {
		for _, format := range export.FormatNames() {
			f := export.Format(format)
			t.Run(name+"/"+format, func(t *testing.T) {
				t.Parallel()
				files, err := export.Export(m, f)
				require.NoError(t, err)
				for i, file := range files {
					was := m
					if len(files) > 1 { // one for each table
						was = export.Only(m, m.Tables[i])
					}
					compareModels(t, f, was, readBack(t, f, file))
				}
			})
		}
	}
}

// compareModels compares a model with the one that was read back, as far as the format carries it.
func compareModels(t *testing.T, f export.Format, was, is *model.Model) {
	t.Helper()
	require.Len(t, is.Tables, len(was.Tables))
	for i, table := range was.Tables {
		if f != export.CloudFormation { // CloudFormation sorts tables
			require.Equal(t, table.Name, is.Tables[i].Name)
		}
		got := is.Table(table.Name)
		require.NotNil(t, got, table.Name)
		require.JSONEq(t, string(table.CreateRequest()), string(got.CreateRequest()))
		if f == export.CloudFormation || f == export.Terraform {
			require.Equal(t, table.TTL, got.TTL)
		}
	}
	if f == export.Workbench {
		require.Equal(t, was.Name, is.Name)
		require.Equal(t, strings.TrimSpace(was.About), is.About)
		require.Subset(t, itemsOf(is), itemsOf(was))
	}
}

// itemsOf returns the items of a model, each after its table's name.
func itemsOf(m *model.Model) (all []string) {
	for _, e := range m.Entities {
		for _, s := range e.Samples {
			if it, err := e.ItemWith(s.Values, s.Attributes); err == nil {
				all = append(all, e.Table.Name+" "+string(it.AppendJSON(nil)))
			}
		}
	}
	for _, r := range m.Items {
		all = append(all, r.Table.Name+" "+string(r.Item.AppendJSON(nil)))
	}
	return all
}
