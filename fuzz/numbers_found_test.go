package fuzz_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestNumbersFound has small models whose figures were once wrong, with the figures that a count of their items gives. A
// short run takes only the last model, because the others have 100,000 items or more.
func TestNumbersFound(t *testing.T) {
	slow(t)
	const tasks = `  Org: {attributes: {PK: "ORG#{org}", SK: META}, count: 50, samples: [{org: o1}]}
  Project: {of: Org, per: 20, attributes: {PK: "ORG#{org}", SK: "PROJ#{project}"}, samples: [{org: o1, project: p1}]}
  Task: {of: Project, per: {min: 1, p50: 20, p95: 200, max: 3000}, fields: {body: {size: 300}}, attributes: {PK: "ORG#{org}", SK: "TASK#{project}#{task}"}, samples: [{org: o1, project: p1, task: t1}]}
`
	const big = `  Big: {attributes: {PK: "B#{b}", SK: X}, samples: [{b: b1}], count: 150000}
`
	for _, tt := range []struct {
		name, entities, pattern string
		rows                    [3]float64 // p50, p95 and worst
		mean                    float64    // read units
		met                     bool
		rule                    string // of the only finding, or ""
	}{
		{
			"an index that a condition on another field keeps sparse", `  Item: {attributes: {PK: "I#{i}", SK: A, HP: {template: "HOT#{w}", when: {qty: {"<": 500}}}, HS: "{i}"}, count: 240000, fields: {w: {distinct: 40}, qty: {type: number, from: 0, to: 9999}}, samples: [{i: i1, w: w1, qty: 1}]}
`, `query: {entity: Item, index: ByH, where: {w: w1}}, expect: {max_rows: 500}`, [3]float64{302, 331, 352}, 2.4, true, "",
		},
		{
			"a value that is listed twice", `  Item: {attributes: {PK: "I#{i}", SK: A, HP: "S#{w}#{state}", HS: "{i}"}, count: 240000, fields: {w: {distinct: 40}, state: {values: [OPEN, OPEN, CLOSED, WAIT]}}, samples: [{i: i1, w: w1, state: OPEN}]}
`, `query: {entity: Item, index: ByH, where: {w: w1, state: OPEN}}`, [3]float64{3007, 3062, 3127}, 19.55, true, "",
		},
		{
			"the choosing value is in the sort key", tasks, `query: {entity: Task, where: {org: o1, project: p1}}, expect: {max_rows: 500}`, [3]float64{20, 198, 2970}, 6.2, false, "",
		},
		{
			"a partition that few requests ask for, because each project is asked for equally often", tasks,
			`query: {entity: Task, where: {org: o1, project: p1}}, rate: 550`, [3]float64{20, 198, 2970}, 6.2, true, "",
		},
		{
			"the same, asked for by rows", tasks,
			`query: {entity: Task, where: {org: o1, project: p1}}, rate: 550, asked: by_rows`, [3]float64{1250, 2859, 2970}, 55, true, "loads",
		},
		{
			"projects without tasks", `  Project: {attributes: {PK: "P#{project}", SK: META}, count: 20000, samples: [{project: p1}]}
  Task: {of: Project, per: {min: 0, p50: 0, p95: 30, max: 100}, fields: {body: {size: 600}}, attributes: {PK: "P#{project}", SK: "TASK#{task}", body: "{body}"}, samples: [{project: p1, task: t1, body: x}]}
`, `query: {entity: Task, where: {project: p1}}, expect: {max_rows: 100}`, [3]float64{0, 30, 100}, 1.22, true, "",
		},
		{
			"products in all categories of a shop", `  Shop: {attributes: {PK: "SHOP#{shop}", SK: META}, count: 300, samples: [{shop: s1}]}
  Category: {of: Shop, per: 0..9, attributes: {PK: "SHOP#{shop}", SK: "CAT#{category}"}, samples: [{shop: s1, category: c1}]}
  Product: {of: Category, per: {min: 0, p50: 30, p95: 200, max: 2000}, fields: {body: {size: 300}}, attributes: {PK: "SHOP#{shop}", SK: "PROD#{category}#{product}", body: "{body}"}, samples: [{shop: s1, category: c1, product: p1, body: x}]}
` + big, `query: {entity: Product, where: {shop: s1}}, expect: {max_rows: 3800}`, [3]float64{308, 2029, 3798}, 22.5, true, "",
		},
		{
			"one partition for all tenants", `  Invoice: {attributes: {PK: INVOICE, SK: "T#{t}#{i}"}, count: 50000, fields: {t: {distinct: 100}, body: {size: 500}}, samples: [{t: t1, i: i1}]}
`, `query: {entity: Invoice, where: {t: t1}, limit: 50}, rate: 2000, expect: {units: 1}`, [3]float64{50, 50, 50}, 3.47, false, "loads",
		},
		{
			"a budget equal to the declared maximum", `  Order: {attributes: {PK: "O#{order}", SK: A}, samples: [{order: o1}], count: 100001}
  Line: {of: Order, per: 1..4, attributes: {PK: "O#{order}", SK: "L#{line}"}, samples: [{order: o1, line: l1}]}
`, `query: {entity: Line, where: {order: o1}}, expect: {max_rows: 4}`, [3]float64{2, 4, 4}, 0.5, true, "",
		},
		{
			"few items of skewed keys beside many", `  Position: {fields: {cell: {distinct: 300, distribution: zipf(1.05)}}, attributes: {PK: "CELL#{cell}", SK: "DRIVER#{driver}"}, samples: [{driver: d1, cell: x}], count: 1000, rates: {writes: 6000}}
` + big, `query: {entity: Position, where: {cell: x}}`, [3]float64{2, 16, 175}, 0.5, true, "loads",
		},
		{
			"a limit larger than what the sample has of a shard", `  Outbox: {fields: {shard: {values: [0, 1, 2, 3, 4, 5, 6, 7]}}, attributes: {PK: "OUTBOX#{shard}", SK: "{id}"}, count: 1500, samples: [{shard: 2, id: a}]}
` + big, `query: {entity: Outbox, where: {shard: 2}, limit: 100}, expect: {max_rows: 50}`, [3]float64{100, 100, 100}, 0.5, false, "",
		},
		{
			"the largest of few values, which a finding names", `  Shop: {count: 40, attributes: {PK: "S#{shop}", SK: SHOP}, samples: [{shop: s1}]}
  Order: {of: Shop, per: zipf(1.1), count: 300000, attributes: {PK: "S#{shop}", SK: "O#{order}"}, samples: [{shop: s1, order: o1}]}
`, `query: {entity: Order, where: {shop: s1}}, rate: 3`, [3]float64{2865, 24359, 81566}, 28.8, true, "cost",
		},
		{
			"all shards of a day", `  Post: {fields: {shard: {values: [0, 1, 2, 3]}, day: {type: date, from: 2026-01-01, to: 2026-01-31}}, attributes: {PK: "F#{day:date}#{shard}", SK: "{post}"}, samples: [{day: 2026-02-05, shard: 1, post: a}], count: 1000}
`, `query: {entity: Post, where: {day: 2026-02-05, shard: {in: all}}}`, [3]float64{32, 43, 43}, 2, true, "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name != "all shards of a day" {
				proptest.NeedLong(t)
			}
			t.Parallel()
			index := ""
			if strings.Contains(tt.pattern, "ByH") {
				index = ", indexes: {ByH: {partition: HP, sort: HS}}"
			}
			r, _ := numbersOf(t, "name: m\ntables: {Tab: {partition: PK, sort: SK"+index+"}}\nentities:\n"+
				tt.entities+"patterns:\n  - {name: p, "+tt.pattern+"}\n", dataset.Options{})
			p := r.Patterns[0]
			got := figuresOf(p.Spread)
			for i, want := range tt.rows {
				require.True(t, near(want, got.rows[i], 1), "%v, want %v", got.rows, tt.rows)
			}
			require.True(t, near(tt.mean, got.mean, 0.05), "%v units, want %v", math.Round(got.mean*100)/100, tt.mean)
			require.Equal(t, tt.met, p.OK(), "%v", p.Failures)
			var rules []string
			for _, f := range r.Findings {
				if f.Rule != check.Rule {
					rules = append(rules, f.Rule)
				}
			}
			if tt.rule == "" {
				require.Empty(t, rules)
			} else {
				require.Equal(t, []string{tt.rule}, rules)
			}
		})
	}
}
