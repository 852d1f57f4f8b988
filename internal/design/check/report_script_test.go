package check_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/report"
)

// TestText checks the models in testdata and compares the printed results.
func TestText(t *testing.T) {
	datadriven.Walk(t, "../report/testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			m, err := modelfile.Parse("m.yaml", []byte(d.Input))
			if err != nil {
				return err.Error() + "\n"
			}
			o := check.Options{}
			if d.HasArg("lint") {
				o.Lint = hazards
			}
			w, err := dataset.Build(t.Context(), m, dataset.Options{MaxItems: 20})
			require.NoError(t, err)
			defer w.Close()
			r, err := check.Run(t.Context(), w, o)
			require.NoError(t, err)
			var b strings.Builder
			if d.Cmd == "markdown" {
				require.NoError(t, report.Markdown(&b, r, nil))
				return b.String()
			}
			require.NoError(t, report.Text(&b, r, nil, report.TextOptions{Quiet: d.HasArg("quiet"), Color: d.HasArg("color")}))
			return strings.ReplaceAll(b.String(), "\x1b", "ESC")
		})
	})
}

// hazards returns a finding of each severity.
func hazards(_ context.Context, w *dataset.Dataset, _ []check.PatternResult) ([]model.Finding, error) {
	t := w.Model.Tables[0]
	return []model.Finding{
		{Rule: "a-note", Severity: model.Note, Pos: t.Pos, Table: t.Name, Message: "the table is small", Advice: "wait", Accepted: "it is new"},
		{Rule: "a-warning", Severity: model.Warning, Pos: t.Pos, Message: "the keys are long", Keys: []string{`"one"`, `"two"`}, Advice: "shorten them"},
		{Rule: "an-error", Severity: model.Error, Pos: t.Pos, Message: "the keys are too long"},
	}, nil
}
