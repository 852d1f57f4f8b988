package check_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/world"
)

// designed is a model, and running differs from it in all that a check can see.
const (
	designed = `name: m
tables:
  Shop: {partition: PK, sort: SK, indexes: {ByDay: {partition: day, sort: SK, projection: keys}, Lost: {partition: SK}}}
  Gone: {partition: id}
entities:
  Order:
    table: Shop
    attributes: {PK: "C#{customer}", SK: "O#{order}", day: "{placed:date}", total: {template: "{total:number}", type: N}}
  Cart: {table: Shop, attributes: {PK: "C#{customer}", SK: CART}}
patterns:
  - {name: orders, query: {entity: Order, where: {customer: of the model}}, expect: {rows: 1, units: 0.5}}
  - {name: an order, get: {entity: Order, where: {customer: c, order: o}}, expect: {units: 0.5}}
  - {name: cart, get: {entity: Cart, where: {customer: c}}}
  - {name: forget, delete: Order}
  - {name: gone, get: {table: Gone, where: {id: 1}}}
`
	runningTables = `name: r
tables:
  Shop: {partition: PK, sort: SK, indexes: {ByDay: {partition: day, sort: SK}, Extra: {partition: total}}}
entities:
  Order:
    attributes: {PK: "C#{customer}", SK: "O#{order}", day: "{placed:date}", total: "{total:int(3)}", pad: "{pad}"}
    fields: {pad: {size: 4000}}
    count: 40
  Other: {attributes: {PK: "X#{x}", SK: "Y#{y}"}, count: 3}
fields: {customer: {values: [a, b]}}
`
)

func TestRunning(t *testing.T) {
	m, err := modelfile.Parse("m.yaml", []byte(designed))
	require.NoError(t, err)
	there, err := modelfile.Parse("r.yaml", []byte(runningTables))
	require.NoError(t, err)
	w, err := world.Build(t.Context(), there, world.Options{})
	require.NoError(t, err)
	defer w.Close()

	r, err := check.Running(t.Context(), explain.InProcess(w.DB), m, check.RunningOptions{})
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, r.WriteText(&b, check.TextOptions{Width: 200}))
	text := b.String()
	for _, want := range []string{
		"table Gone does not exist there",
		"index ByDay projects ALL there, and KEYS_ONLY in the model",
		"index Lost of table Shop does not exist there",
		"index Extra is there, and not in the model",
		"3 items of 43 are of no entity of the model",
		"none of the items looked at is of entity Cart",
		"total of Order has another form than in the model in 40 items of 40",
		"✗ orders", "expected at most 0.5 read units, got ",
		"✓ an order",
		"– cart", "– forget", "– gone",
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "of the model\"", "patterns take their values from the items there")
	require.Equal(t, 43, r.Items)
	require.Equal(t, 40+3, len(w.Items))
}

// TestRunningSame holds that a check of the tables that a model makes finds nothing.
func TestRunningSame(t *testing.T) {
	m, err := modelfile.Load("../modelfile/testdata/shop.yaml")
	require.NoError(t, err)
	w, err := world.Build(t.Context(), m, world.Options{})
	require.NoError(t, err)
	defer w.Close()
	r, err := check.Running(t.Context(), explain.InProcess(w.DB), m, check.RunningOptions{})
	require.NoError(t, err)
	for _, f := range r.Findings {
		if f.Severity == model.Note {
			continue // items of no entity, which the model has too
		}
		t.Errorf("%s %s %s: %s", f.Rule, f.Entity, f.Pattern, f.Message)
	}
}
