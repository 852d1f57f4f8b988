package dataset_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/wire"
)

// TestHolding checks that a dataset has the given items, and of two with the same key the last.
func TestHolding(t *testing.T) {
	t.Parallel()
	table := &model.Table{Name: "Tab", Partition: []model.Attribute{{Name: "PK", Kind: attr.String}}}
	item := func(key, value string) dataset.Item {
		var b attr.Builder
		b.Add("PK", attr.NewString(key))
		b.Add("v", attr.NewString(value))
		return dataset.Item{Table: table, Attributes: b.Item()}
	}
	items := []dataset.Item{item("a", "1"), item("b", "2"), item("a", "3")}
	w, err := dataset.Holding(t.Context(), []*model.Table{table}, items)
	require.NoError(t, err)
	defer w.Close()

	out, _, err := explain.InProcess(w.DB).Do(t.Context(), &wire.ScanInput{TableName: &table.Name})
	require.NoError(t, err)
	var values []string
	for _, it := range out.(*wire.ScanOutput).Items {
		values = append(values, string(it.Get("v").Raw()))
	}
	require.ElementsMatch(t, []string{"2", "3"}, values)
}
