package convert_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/convert"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// imported returns the model imported from the generated items of another model.
func imported(t *testing.T, src string, o convert.Options) *model.Model {
	t.Helper()
	m, err := modelfile.Parse("m.yaml", []byte(src))
	require.NoError(t, err)
	w, err := dataset.Build(t.Context(), m, dataset.Options{})
	require.NoError(t, err)
	defer w.Close()
	var items bytes.Buffer
	for _, it := range w.Items {
		fmt.Fprintf(&items, `{"Item":%s}`+"\n", it.Attributes.AppendJSON(nil))
	}
	table := fmt.Sprintf(`{"Table":%s}`, m.Tables[0].CreateRequest())
	got, _, err := convert.Import(t.Context(), []convert.File{
		{Name: "table.json", Data: []byte(table)}, {Name: "items.json", Data: items.Bytes()},
	}, o)
	require.NoError(t, err)
	return got
}

// TestBelongs checks that an import finds the parents of entities and the number of items per parent, from items
// whose components repeat the keys of others.
func TestBelongs(t *testing.T) {
	const src = `name: m
tables: {Shop: {partition: PK, sort: SK}}
fields: {user: {type: int(5)}, order: {type: int(7)}, product: {type: int(4)}}
entities:
  User: {count: 40, attributes: {PK: "USER#{user}", SK: PROFILE}}
  Order: {of: User, per: {min: 1, p50: 3, p95: 6, max: 20}, fields: {status: {values: [NEW, PAID]}}, attributes: {PK: "USER#{user}", SK: "ORDER#{order}"}}
  Line: {of: [Order, Product], per: [1..5, even], attributes: {PK: "ORDER#{order}", SK: "PRODUCT#{product}"}}
  Product: {count: 30, attributes: {PK: "PRODUCT#{product}", SK: META}}
  Event: {count: 50, attributes: {PK: "EVENT#{event:ulid}", SK: "{at:time}"}}
`
	belongs := func(m *model.Model) string {
		var all []string
		for _, e := range m.Entities {
			for _, p := range e.Parents {
				per := p.Per.String()
				if p.Per.P50 != nil {
					per = fmt.Sprintf("%d %d %d %d", p.Per.Min, *p.Per.P50, *p.Per.P95, p.Per.Max)
				}
				all = append(all, fmt.Sprintf("%s of %s: %s", e.Name, p.Entity.Name, per))
			}
		}
		return strings.Join(all, "\n")
	}
	require.Equal(t, strings.Join([]string{
		"Order of User: 1 3 6 20", "Product2 of Order: 1 3 5 5", "Product2 of Product: 14 15 15 15",
	}, "\n"), belongs(imported(t, src, convert.Options{Items: 10_000})))

	// Samples show the parents, but not the number of items per parent. The counts are of all items.
	m := imported(t, src, convert.Options{Items: 150})
	require.Equal(t, "Order of User: \nProduct2 of Order: ", belongs(m))
	orders := m.Entity("Order")
	require.Equal(t, 147, orders.Count+len(orders.Samples))
	require.Equal(t, []string{"NEW", "PAID"}, orders.Field("status").Values)
}
