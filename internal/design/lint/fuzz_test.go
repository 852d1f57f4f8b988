package lint_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// FuzzRun holds that no valid model makes a rule fail, and that findings have all their parts.
func FuzzRun(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*.yaml", "testdata/*.yaml", "../../../design/examples/*/model.yaml"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for i, file := range files {
			if !proptest.Long() && i%5 != 0 {
				continue
			}
			data, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(data)
		}
	}
	known := map[string]bool{}
	for _, r := range lint.Rules() {
		known[r.ID] = true
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := modelfile.Parse("m.yaml", data)
		if err != nil {
			return
		}
		w, err := dataset.Build(context.Background(), m, dataset.Options{MaxItems: 30})
		if err != nil {
			return
		}
		defer w.Close()
		found, err := lint.RunAlone(context.Background(), w)
		require.NoError(t, err)
		for _, f := range found {
			if !known[f.Rule] || f.Severity == 0 || f.Message == "" || f.Advice == "" {
				t.Errorf("%+v", f)
			}
		}
	})
}
