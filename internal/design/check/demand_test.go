package check_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	rules "github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/wire"
)

// TestOnDemand holds that a check has the same result if the database creates its items only when requests read them.
func TestOnDemand(t *testing.T) {
	for _, name := range examples.Names()[:min(proptest.Cases(60), 7)] {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var results [2]string
			var counts [2]int64
			for i, onDemand := range []bool{false, true} {
				file, data, err := examples.Read(name)
				require.NoError(t, err)
				m, err := modelfile.Parse(file, data)
				require.NoError(t, err)
				w, err := dataset.Build(t.Context(), m, dataset.Options{MaxItems: 600, OnDemand: onDemand})
				require.NoError(t, err)
				defer w.Close()
				r, err := check.Run(t.Context(), w, check.Options{Lint: rules.Run})
				require.NoError(t, err)
				var text strings.Builder
				require.NoError(t, report.Text(&text, r, nil, report.TextOptions{}))
				findings, err := json.Marshal(r.Findings)
				require.NoError(t, err)
				results[i] = text.String() + string(findings)

				require.NoError(t, w.Fill(t.Context()))
				for _, table := range m.Tables {
					out, _, err := explain.InProcess(w.DB).Do(t.Context(), &wire.DescribeTableInput{TableName: &table.Name})
					require.NoError(t, err)
					counts[i] += *out.(*wire.DescribeTableOutput).Table.ItemCount
				}
			}
			require.Equal(t, results[0], results[1])
			require.Equal(t, counts[0], counts[1])
		})
	}
}
