package export

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected files")

// TestGolden exports a small model in each format. The files must have different names.
func TestGolden(t *testing.T) {
	m, err := modelfile.Load("testdata/orders.yaml")
	require.NoError(t, err)
	var names []string
	for _, w := range writers {
		files, err := Export(m, w.format)
		require.NoError(t, err)
		require.Len(t, files, 1)
		compare(t, files[0].Name, files[0].Data)
		names = append(names, files[0].Name)
	}
	require.Equal(t, []string{"orders.template.yaml", "orders.tf", "Orders.create-table.json", "orders.workbench.json"}, names)
}

func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata/golden", name)
	if *rewrite {
		require.NoError(t, os.WriteFile(path, got, 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if string(want) != string(got) {
		t.Errorf("%s is stale: run go test ./internal/design/export -rewrite and review the difference", path)
	}
}

// TestUnknown holds that Export refuses an unknown format.
func TestUnknown(t *testing.T) {
	_, err := Export(&model.Model{}, "xml")
	require.ErrorContains(t, err, `unknown format "xml"`)
}
