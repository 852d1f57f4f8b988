package check_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/report"
)

// FuzzRun checks random models, starting with those of the tests, and writes the results. No model may panic, and Run
// may return only the context's error.
func FuzzRun(f *testing.F) {
	files, err := filepath.Glob("../report/testdata/scripts/*")
	require.NoError(f, err)
	models := regexp.MustCompile(`(?ms)^(?:check|markdown)[^\n]*\n(.*?)^----$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a folder
		}
		for _, m := range models.FindAllSubmatch(text, -1) {
			f.Add(m[1])
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := modelfile.Parse("m.yaml", src)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		w, err := dataset.Build(ctx, m, dataset.Options{MaxItems: 20, MaxBytes: 1 << 20})
		if err != nil {
			return
		}
		defer w.Close()
		r, err := check.Run(ctx, w, check.Options{})
		if ctx.Err() != nil {
			return // the pattern makes many requests
		}
		require.NoError(t, err)
		require.NoError(t, report.Text(io.Discard, r, nil, report.TextOptions{}))
		require.NoError(t, report.Markdown(io.Discard, r, nil))
	})
}
