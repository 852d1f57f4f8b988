package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/report"
)

// designed is a model. running differs from it in everything that a check can find.
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
	r, text := runningOn(t, designed, runningTables, check.RunningOptions{})
	for _, want := range []string{
		"table Gone does not exist there",
		"index ByDay projects ALL there, and KEYS_ONLY in the model",
		"index Lost of table Shop does not exist there",
		"index Extra is there, and not in the model",
		"running tables: looked at 43 items of table Shop, which are all.",
		"3 items of 43 looked at in table Shop are of no entity of the model",
		"table Shop has no items of entity Cart there",
		"total of Order has another form than in the model in 40 items of 40 looked at",
		"✗ orders", "expected at most 0.5 read units, got ",
		"✓ an order",
		"– cart", "– forget", "– gone",
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "of the model\"", "patterns take their values from the items there")
	require.Equal(t, 43, r.Items)
}

// runningOn creates the tables of the model there with its items, and checks the model designed against them.
func runningOn(t *testing.T, designed, there string, o check.RunningOptions) (*check.Result, string) {
	t.Helper()
	m, err := modelfile.Parse("m.yaml", []byte(designed))
	require.NoError(t, err)
	filled, err := modelfile.Parse("r.yaml", []byte(there))
	require.NoError(t, err)
	w, err := dataset.Build(t.Context(), filled, dataset.Options{})
	require.NoError(t, err)
	defer w.Close()
	r, err := check.Running(t.Context(), explain.InProcess(w.DB), m, o)
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, report.Text(&b, r, nil, report.TextOptions{Width: 200}))
	return r, b.String()
}

// TestRunningTables holds that items are counted for each table.
func TestRunningTables(t *testing.T) {
	const tables = "name: m\ntables: {Carts: {partition: id}, Users: {partition: id}, Empty: {partition: id}}\n"
	_, text := runningOn(t, tables+`entities:
  Cart: {table: Carts, attributes: {id: "CART#{cart}"}}
  User: {table: Users, attributes: {id: "USER#{user}"}}
  None: {table: Empty, attributes: {id: "NONE#{none}"}}
patterns:
  - {name: a user, get: {entity: User, where: {user: u}}}
  - {name: none, get: {entity: None, where: {none: n}}}
  - {name: all, scan: {table: Empty}}
`, tables+`entities:
  Cart: {table: Carts, attributes: {id: "CART#{cart}"}, count: 30}
  Guest: {table: Users, attributes: {id: "GUEST#{guest}"}, count: 1}
  User: {table: Users, attributes: {id: "USER#{user}"}, count: 4}
`, check.RunningOptions{})
	for _, want := range []string{
		"looked at 30 items of table Carts, which are all; at 5 items of table Users, which are all; at table Empty, " +
			"which is empty.",
		"1 item of 5 looked at in table Users is of no entity of the model",
		"table Empty is empty there", "fill it: patterns take their values from items",
		"· a user", "– none", "· all", "2 patterns ran, none has expectations; 0 errors, 1 warning, 1 note",
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "of entity None", "that its table is empty says it")
}

// TestRunningSample holds that a check reads as many items as its options say, from all over the table.
func TestRunningSample(t *testing.T) {
	const (
		design = "name: m\ntables: {Shop: {partition: PK, sort: SK}}\nentities:\n" +
			"  Order: {attributes: {PK: \"C#{customer}\", SK: \"O#{order:int(4)}\"}"
		one = "fields: {customer: {values: [only]}}\n"
	)
	for _, tt := range []struct {
		items, count int
		text, fields string
	}{
		{1, 500, "looked at 1 item of table Shop, which has more", one},
		{20, 500, "looked at 20 items of table Shop, which has more", one},
		{400, 500, "looked at 400 items of table Shop, which has more", ""},
		{600, 500, "looked at 500 items of table Shop, which are all", one},
		{2000, 500, "looked at 500 items of table Shop, which are all", ""},
	} {
		there := design + fmt.Sprintf(", count: %d}\n", tt.count) + tt.fields
		r, text := runningOn(t, design+"}\n  Cart: {attributes: {PK: \"C#{customer}\", SK: CART}}\n", there,
			check.RunningOptions{Items: tt.items})
		require.Contains(t, text, tt.text)
		require.Equal(t, min(tt.items, tt.count), r.Items)
		absent := "none of the items looked at is of entity Cart"
		if tt.items > tt.count {
			absent = "table Shop has no items of entity Cart there"
		}
		require.Contains(t, text, absent)
	}
}

// TestRunningFailure holds that a result shows a failing reading even if another one costs more.
func TestRunningFailure(t *testing.T) {
	const tables = "name: m\ntables: {Shop: {partition: PK, sort: SK}}\n"
	_, text := runningOn(t, tables+`entities:
  Order: {attributes: {PK: "C#{customer}", SK: "O#{order:int(4)}"}}
patterns:
  - {name: orders, query: {entity: Order, where: {customer: c}}, expect: {max_rows: 5}}
`, tables+`entities:
  Big: {attributes: {PK: "C#{big}", SK: "O#{order:int(4)}", pad: "{pad}"}, count: 5}
  Small: {attributes: {PK: "C#{small}", SK: "O#{order:int(4)}"}, count: 6}
fields: {big: {values: [big]}, small: {values: [small]}, pad: {size: 30000}}
`, check.RunningOptions{})
	require.Contains(t, text, "expected at most 5 rows, got 6")
}

// TestRunningLimit holds that a pattern with a Limit reads one page, and another pattern at most
// RunningOptions.Pages.
func TestRunningLimit(t *testing.T) {
	const model = `name: m
tables: {Shop: {partition: PK, sort: SK}}
entities:
  Order: {attributes: {PK: "C#{customer}", SK: "O#{order:int(4)}", pad: "{pad}"}, count: 30}
fields: {customer: {values: [only]}, pad: {size: 100000}}
`
	_, text := runningOn(t, model+`patterns:
  - {name: newest, query: {entity: Order, where: {customer: c}, limit: 2, order: desc}, expect: {max_rows: 2, pages: 1}}
  - {name: all, query: {entity: Order, where: {customer: c}}}
`, model, check.RunningOptions{Pages: 2})
	for _, want := range []string{"✓ newest", "· all", "after 2 pages: the pattern reads more, and costs more"} {
		require.Contains(t, text, want)
	}
	require.Equal(t, 1, strings.Count(text, "reads more, and costs more"))
}

// TestRunningBudgets holds that a check of budgets tries the values that most items have, and several others, and
// that p95 excuses one failure in 20.
func TestRunningBudgets(t *testing.T) {
	tables := "name: m\ntables: {Shop: {partition: PK, sort: SK}}\n"
	items := func(large int) string {
		var b strings.Builder
		for customer := range 20 {
			for n := range 1 + 9*min(1, customer/(20-large)) { // the last customers have ten
				fmt.Fprintf(&b, "    - {PK: C#%02d, SK: O#%04d}\n", customer, n)
			}
		}
		return "items:\n  Shop:\n" + b.String()
	}
	order := "entities:\n  Order: {attributes: {PK: \"C#{customer}\", SK: \"O#{order:int(4)}\"}}\n"
	const failed, ok, silent = "expected at most 5 rows, got 10", "✓ orders", "· orders"
	for _, tt := range []struct {
		budget string
		large  int
		want   string
	}{{"worst", 1, failed}, {"p95", 1, ok}, {"p95", 2, failed}, {"sample", 2, silent}} {
		patterns := "patterns:\n" +
			"  - {name: orders, query: {entity: Order, where: {customer: c}}, expect: {max_rows: 5, budget: " + tt.budget + "}}\n"
		_, text := runningOn(t, tables+order+patterns, tables+order+items(tt.large), check.RunningOptions{})
		require.Contains(t, text, tt.want, tt)
	}
}

// TestRunningNames holds that names of the model and the tables are escaped for terminals and Markdown, and that keys
// may be numbers or binary.
func TestRunningNames(t *testing.T) {
	const tables = `name: m
about: "about \e[31m"
tables:
  Shop: {partition: {name: "p|k\e[31m<i>", type: B}, sort: {name: "s` + "`" + `k", type: N}}
  Numbers: {partition: {name: id, type: N}}
entities:
  Order: {table: Shop, attributes: {"p|k\e[31m<i>": {template: "C#{customer}", type: B}, "s` + "`" + `k": {template: "{n:number}", type: N}, "to|tal\e[2m": "%s{total}"}, count: 20}
  Number: {table: Numbers, attributes: {id: {template: "{id:number}", type: N}}, count: 20}
`
	r, text := runningOn(t, fmt.Sprintf(tables, "A")+`patterns:
  - {name: "or|ders\e[31m *of* <b>", query: {entity: Order, where: {customer: c}}, expect: {units: 0.1}}
  - {name: an order, get: {entity: Order, where: {customer: c, n: 1}}}
  - {name: a number, get: {entity: Number, where: {id: 1}}}
`, fmt.Sprintf(tables, "B"), check.RunningOptions{})
	require.NotContains(t, text, "\x1b")
	var b strings.Builder
	require.NoError(t, report.Markdown(&b, r, nil))
	markdown := b.String()
	require.NotContains(t, markdown, "\x1b")
	require.Contains(t, markdown, `| or\|ders\\u{001B}\[31m \*of\* \<b\> |`)
	require.Contains(t, markdown, `to\|tal\\u{001B}\[2m of Order has another form`)
	for _, want := range []string{"✗ or|ders\\u{001B}[31m", "· an order", "· a number", "about \\u{001B}[31m"} {
		require.Contains(t, text, want)
	}
	for i := range r.Patterns {
		require.Equal(t, 1, r.Patterns[i].Total.Returned, "the values of an item find it")
	}
}

// TestRunningSame holds that a check of tables that were made from the model finds nothing.
func TestRunningSame(t *testing.T) {
	m, err := modelfile.Load("../modelfile/testdata/shop.yaml")
	require.NoError(t, err)
	w, err := dataset.Build(t.Context(), m, dataset.Options{MaxItems: 500})
	require.NoError(t, err)
	defer w.Close()
	r, err := check.Running(t.Context(), explain.InProcess(w.DB), m, check.RunningOptions{})
	require.NoError(t, err)
	for _, f := range r.Findings {
		if f.Severity == model.Note {
			continue // about raw items, which the model has too
		}
		t.Errorf("%s %s %s: %s", f.Rule, f.Entity, f.Pattern, f.Message)
	}
}
