package lint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// advised are designs for which the obvious advice would be wrong.
var advised = []struct {
	name, rule, src string
	says, never     string // texts in the finding or its advice; if says is "", there must be no finding
}{
	{
		"stock that other patterns read", "sparse-index", `name: stock
tables: {Shop: {partition: PK, sort: SK, indexes: {LowStock: {partition: lowPK, sort: {name: qty, type: N}}}}}
fields: {level: {values: [low, ok, ok, ok, ok, ok, ok, ok, ok]}, qty: {type: number, from: 0, to: 500}}
entities:
  Product:
    attributes:
      PK: "PRODUCT#{product}"
      SK: STOCK
      qty: {template: "{qty}", type: N}
      lowPK: {template: LOW, when: {level: [low]}}
    samples: [{product: p1, qty: 3, level: low}, {product: p2, qty: 300, level: ok}]
    count: 1000
patterns:
  - {name: products that run out, query: {entity: Product, index: LowStock, where: {lowPK: LOW}}}
  - {name: the stock of a product, get: {entity: Product, where: {product: p2}, project: [qty]}}
`, "", "",
	},
	{
		"stock in text that other patterns read", "sparse-index", `name: stock
tables: {Shop: {partition: PK, sort: SK, indexes: {LowStock: {partition: lowPK, sort: stock}}}}
fields: {level: {values: [low, ok, ok, ok, ok, ok, ok, ok, ok]}, qty: {type: int(6), from: 0, to: 500}}
entities:
  Product:
    attributes:
      PK: "PRODUCT#{product}"
      SK: STOCK
      stock: "{qty}"
      lowPK: {template: "LOW", when: {level: [low]}}
    samples: [{product: p1, qty: 3, level: low}, {product: p2, qty: 300, level: ok}]
patterns:
  - {name: products that run out, query: {entity: Product, index: LowStock, where: {lowPK: LOW}}}
  - {name: full stock, scan: {table: Shop, filter: stock > "000100"}}
`, "", "",
	},
	{
		"digits are no delimiters", "natural-order", `name: odd
tables: {Tab: {partition: PK, sort: SK}}
entities: {E: {attributes: {PK: "P#{p}", SK: "{o}_00_{x}"}, samples: [{p: a, o: "1", x: x}, {p: a, o: "11", x: x}, {p: a, o: "12", x: x}]}}
`, `{o:int(4)}_00_{x}`, "keep",
	},
	{
		"a month in a number", "natural-order", `name: months
tables: {Tab: {partition: PK, sort: SK}}
entities: {E: {attributes: {PK: "P#{p}", SK: "M#{birthMonth:number}"}, samples: [{p: a, birthMonth: 9}, {p: a, birthMonth: 10}]}}
`, `"M#{birthMonth:int(4)}"`, "",
	},
	{
		"an epoch in a number", "natural-order", `name: epochs
tables: {Tab: {partition: PK, sort: SK}}
entities: {E: {attributes: {PK: "P#{p}", SK: "E#{createdAt:number}"}, samples: [{p: a, createdAt: 999999999}, {p: a, createdAt: 1767607200}]}}
`, `"E#{createdAt:int(12)}"`, "",
	},
	{
		"two orders, one of which serves both", "component-order", `name: places
tables: {Tab: {partition: PK, sort: SK}}
entities:
  Store:
    attributes: {PK: "C#{country}", SK: "{zip}#{city}#{state}"}
    samples: [{country: US, zip: "98101", city: Seattle, state: WA}, {country: US, zip: "97201", city: Portland, state: OR}]
patterns:
  - {name: stores of a state, query: {entity: Store, where: {country: US, state: WA}}}
  - {name: stores of a city, query: {entity: Store, where: {country: US, state: WA, city: Seattle}}}
  - {name: stores of a zip code, query: {entity: Store, where: {country: US, state: WA, city: Seattle, zip: "98101"}}}
`, `"{state}#{city}#{zip}"`, `"{city}#{state}#{zip}"`,
	},
	{
		"negative points", "natural-order", `name: points
tables: {Tab: {partition: PK, sort: SK, indexes: {ByPoints: {partition: PK, sort: {name: points, type: N}}}}}
entities:
  Entry:
    attributes: {PK: "USER#{user}", SK: "E#{entry}", points: {template: "{points:number}", type: N}}
    samples: [{user: u, entry: a, points: -500}, {user: u, entry: b, points: -20}, {user: u, entry: c, points: 100}]
patterns: [{name: largest redemptions of a user, query: {entity: Entry, index: ByPoints, where: {user: u, points: {"<": 0}}, limit: 2}}]
`, "", "",
	},
	{
		"an empty range", "component-order", `name: empty
tables: {Tab: {partition: PK, sort: SK}}
entities: {E: {attributes: {PK: "P#{p}", SK: "E#{at:date}#{e}"}, samples: [{p: a, at: 2026-01-05, e: x}]}}
patterns: [{name: backwards, query: {entity: E, where: {p: a, at: {between: [2026-02-01, 2026-01-01]}}}}]
`, "", "",
	},
}

// TestAdvised holds that no rule gives the wrong advice that each design invites.
func TestAdvised(t *testing.T) {
	for _, tt := range advised {
		t.Run(tt.name, func(t *testing.T) {
			all := parse(t, tt.src, maxItems)
			found := of(all, tt.rule)
			said := text(found)
			if tt.says == "" {
				require.Empty(t, said)
				return
			}
			require.Contains(t, said, tt.says, text(all))
			if tt.never != "" && strings.Contains(said, tt.never) {
				t.Errorf("%q is said:\n%s", tt.never, said)
			}
		})
	}
}
