package convert_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/export"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// TestExportGolden exports a small model in each format. The files must have different names.
func TestExportGolden(t *testing.T) {
	m, err := modelfile.Load("../export/testdata/orders.yaml")
	require.NoError(t, err)
	var names []string
	for _, f := range export.FormatNames() {
		files, err := export.Export(m, export.Format(f))
		require.NoError(t, err)
		require.Len(t, files, 1)
		compareGolden(t, files[0].Name, files[0].Data)
		names = append(names, files[0].Name)
	}
	require.Equal(t, []string{"orders.template.yaml", "orders.tf", "Orders.create-table.json", "orders.workbench.json"}, names)
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("../export/testdata/golden", name)
	if *rewrite {
		require.NoError(t, os.WriteFile(path, got, 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if string(want) != string(got) {
		t.Errorf("%s is stale: run go test ./internal/design/convert -rewrite and review the difference", path)
	}
}

// TestExportUnknown holds that Export refuses an unknown format.
func TestExportUnknown(t *testing.T) {
	_, err := export.Export(&model.Model{}, "xml")
	require.ErrorContains(t, err, `unknown format "xml"`)
}
