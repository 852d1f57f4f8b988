package lint_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

func parse(t *testing.T, src string, items int) []model.Finding {
	t.Helper()
	m, err := modelfile.Parse("m.yaml", []byte(src))
	require.NoError(t, err)
	w, err := dataset.Build(context.Background(), m, dataset.Options{MaxItems: items})
	require.NoError(t, err)
	defer w.Close()
	found, err := lint.RunAlone(context.Background(), w)
	require.NoError(t, err)
	return found
}

// of returns the findings of one rule.
func of(found []model.Finding, rule string) (all []model.Finding) {
	for _, f := range found {
		if f.Rule == rule {
			all = append(all, f)
		}
	}
	return all
}

func TestAllow(t *testing.T) {
	const src = `name: docs
tables: {Docs: {partition: PK, sort: SK}}
entities:
  Version:
    attributes: {PK: "DOC#{doc}", SK: "V#{version:number}"}
  Page:
    attributes: {PK: "BOOK#{book}", SK: "P#{page:number}"}
`
	before := of(parse(t, src, 0), "natural-order")
	require.Len(t, before, 2)
	after := of(parse(t, src+"allow: [{rule: natural-order, on: Page, why: a leaflet}]\n", 0), "natural-order")
	require.Len(t, after, 2)
	require.Equal(t, []any{model.Warning, ""}, []any{after[0].Severity, after[0].Accepted})
	require.Equal(t, []any{model.Note, "a leaflet"}, []any{after[1].Severity, after[1].Accepted})
}

func TestContext(t *testing.T) {
	m, err := modelfile.Load("testdata/clean.yaml")
	require.NoError(t, err)
	w, err := dataset.Build(context.Background(), m, dataset.Options{MaxItems: 10})
	require.NoError(t, err)
	defer w.Close()
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	_, err = lint.RunAlone(ctx, w)
	require.ErrorIs(t, err, why)
}

// TestScale holds that rules extrapolate sizes and rates, so these do not depend on the number of generated items.
func TestScale(t *testing.T) {
	for rule, file := range map[string]string{"limits": "bad-collection", "loads": "bad-volume"} {
		m, err := modelfile.Load("testdata/" + rule + "/" + file + ".yaml")
		require.NoError(t, err)
		for _, n := range []int{300, 900} {
			w, err := dataset.Build(context.Background(), m, dataset.Options{MaxItems: n})
			require.NoError(t, err)
			found, err := lint.RunAlone(context.Background(), w)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			all := of(found, rule)
			require.Len(t, all, 1, "%s of %d items", rule, n)
			want := map[string]string{"limits": " GB with", "loads": " items, 50% of all"}[rule]
			require.Contains(t, all[0].Message, want)
		}
	}
}

// TestQuiet checks designs that look hazardous but are not. They must have no findings.
func TestQuiet(t *testing.T) {
	const head = "name: quiet\ntables: {Tab: {partition: PK, sort: SK, indexes: {GSI1: {partition: GSI1PK, sort: GSI1SK}}}}\n"
	for _, tt := range []struct{ name, rule, src string }{
		{"a year has four digits", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "Y#{y:number}"}, samples: [{p: a, y: 2025}, {p: a, y: 2026}]}}`},
		{"numbers of one width, declared", "natural-order", `
entities: {E: {fields: {y: {type: number, from: 10, to: 99}}, attributes: {PK: "P#{p}", SK: "Y#{y}"}}}`},
		{"a count that is padded by hand", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "V#{version}"}, samples: [{p: a, version: "001"}, {p: a, version: "002"}]}}`},
		{"a level that the model lists", "natural-order", `
entities: {E: {fields: {level: {values: ["1", "2", "3"]}}, attributes: {PK: "P#{p}", SK: "L#{level}"}, samples: [{p: a, level: "1"}]}}`},
		{"numbers that do not count", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "R#{room}"}, samples: [{p: a, room: 1}, {p: a, room: 2}]}}`},
		{"ids that are numbered in samples", "natural-order", `
entities: {Order: {attributes: {PK: "P#{p}", SK: "O#{order}"}, samples: [{p: a, order: 1}, {p: a, order: 2}, {p: a, order: 3}]}}`},
		{"ids behind a word that no pattern orders by", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{order}"}, samples: [{p: a, order: o9}, {p: a, order: o10}]}}
patterns: [{name: q, query: {entity: E, where: {p: a}, limit: 5}}]`},
		{"padded numbers behind a word", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{v}"}, samples: [{p: a, v: v009}, {p: a, v: v010}]}}
patterns: [{name: q, query: {entity: E, where: {p: a}, order: desc, limit: 1}}]`},
		{"terms of a year", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{term}"}, samples: [{p: a, term: 2025-1}, {p: a, term: 2025-2}]}}`},
		{"numbers of invoices are no months", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{x}"}, samples: [{p: a, x: 12-3456}, {p: a, x: 12-3457}]}}`},
		{"two values are a flag", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "O#{open}"}, samples: [{p: a, open: 0}, {p: a, open: 1}]}}`},
		{"words that are no months", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "Mars 5 2026"}, {p: a, at: "Expo 2026"}]}}`},
		{"levels that are read one by one", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{level}#{id}"}, samples: [{p: a, level: LOW, id: x}, {p: a, level: HIGH, id: x}]}}
patterns: [{name: highest, query: {entity: E, where: {p: a, level: HIGH}, order: desc}}]`},
		{"words of no scale", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{city}#{id}"}, samples: [{p: a, city: London, id: x}, {p: a, city: Bath, id: x}]}}
patterns: [{name: all, query: {entity: E, where: {p: a}, order: desc}}]`},
		{"the largest of something else", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{id}"}, samples: [{p: a, id: x}]}}
patterns: [{name: members of the largest team, query: {entity: E, where: {p: a}}}]`},
		{"two accounts in a transaction", "overwrite", `
entities: {E: {attributes: {PK: "P#{p}", SK: A, v: "{v}"}, samples: [{p: a, v: x}, {p: b, v: x}]}}
patterns: [{name: transfer, transact: [{update: {entity: E, where: {p: a}, set: {v: y}}}, {update: {entity: E, where: {p: b}, set: {v: z}}}]}]`},
		{"a put that another member's condition protects", "overwrite", `
entities:
  E: {attributes: {PK: "P#{p}", SK: A, v: "{v}"}, samples: [{p: a, v: x}]}
  F: {attributes: {PK: "F#{f}", SK: A}, samples: [{f: a}]}
patterns: [{name: save, transact: [{put: E}, {put: {entity: F, if: attribute_not_exists(PK)}}]}, {name: change, update: {entity: E, set: {v: y}}}]`},
		{"one item in each partition", "time-only-key", `
entities: {E: {fields: {at: {type: time}}, attributes: {PK: "P#{p}", SK: "{at:time}"}, count: 400}}`},
		{"the end of a part is the compiler's", "natural-order", `
entities: {E: {fields: {at: {type: time}}, attributes: {PK: "P#{at:month}", SK: "{at:time}#{id}"}, samples: [{at: "2026-01-05T10:00:00Z", id: x}]}}
patterns: [{name: a quarter, query: {entity: E, where: {at: {between: [2026-01-01, 2026-03-31]}}}}]`},
		{"a projection that a pattern needs", "index-cost", `
fields: {body: {size: 3000}}
entities: {E: {attributes: {PK: "P#{p}", SK: A, GSI1PK: "G#{g}", GSI1SK: A, body: "{body}"}, samples: [{p: a, g: x}], count: 20}}
patterns: [{name: all, query: {entity: E, index: GSI1, where: {g: x}, project: [body]}}]`},
		{"a number that is data", "sparse-index", `name: quiet
tables: {Tab: {partition: PK, indexes: {Low: {partition: low, sort: {name: stock, type: N}}}}}
fields: {level: {values: [low, high]}}
entities: {E: {attributes: {PK: "P#{p}", stock: {template: "{qty:number}", type: N}, low: {template: LOW, when: {level: [low]}}}, samples: [{p: a, qty: 1, level: low}, {p: b, qty: 9, level: high}]}}`},
		{"the price of a price", "mutable-key", `
entities: {Price: {attributes: {PK: "P#{p}", SK: "{price:int(4)}"}, samples: [{p: a, price: 5}]}}`},
		{"an id of a status", "mutable-key", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{statusId}"}, samples: [{p: a, statusId: x}]}}`},
		{"a partition key has no order", "natural-order", `
entities: {E: {attributes: {PK: "P#{p:number}", SK: A}, samples: [{p: 9}, {p: 10}]}}`},
		{"ids of one width", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "O#{o}"}, samples: [{p: a, o: 456}, {p: a, o: 457}]}}`},
		{"an attribute of type N", "natural-order", `name: quiet
tables: {Tab: {partition: PK, sort: {name: n, type: N}}}
entities: {E: {attributes: {PK: "P#{p}", n: {template: "{n:number}", type: N}}, samples: [{p: a, n: 9}, {p: a, n: 10}]}}`},
		{"names that all begin with a capital", "invisible-difference", `
entities: {E: {attributes: {PK: "P#{p}", SK: "N#{n}"}, samples: [{p: a, n: SeaTac}, {p: a, n: Seattle}]}}`},
		{"words that the model lists", "invisible-difference", `
entities: {E: {fields: {status: {values: [OPEN, Closed]}}, attributes: {PK: "S#{status}", SK: "{n}"}, samples: [{status: OPEN, n: x}, {status: Closed, n: x}]}}`},
		{"generated words prove nothing", "invisible-difference", `
entities: {E: {attributes: {PK: "P#{p}", SK: "N#{n}"}, samples: [{p: A1, n: Zoe}], count: 50}}`},
		{"a day is a prefix of its times", "natural-order", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "AT#{at:date}"}}
  F: {attributes: {PK: "P#{p}", SK: "AT#{at:time}"}}`},
		{"times in different partitions", "natural-order", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "AT#{at:time}"}}
  F: {attributes: {PK: "Q#{p}", SK: "AT#{at:millis}"}}`},
		{"a path may have delimiters", "delimiter-in-value", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{a}#{c:path}"}, samples: [{p: a, a: x, c: "b#c"}]}}`},
		{"the last part may contain what is not a delimiter", "delimiter-in-value", `
entities: {E: {attributes: {PK: "P#{p}", SK: "N#{n}"}, samples: [{p: a, n: "b#c"}]}}`},
		{"a bound above digits", "range-end", `
entities: {E: {attributes: {PK: "P#{p}", SK: "AT#{at:date}"}, samples: [{p: a, at: 2026-01-05}]}}
patterns: [{name: q, query: {table: Tab, where: {PK: "P#a", SK: {between: ["AT#", "AT#~"]}}}}]`},
		{"a prefix of a name", "foreign-rows", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{city}#{d}"}, samples: [{p: a, city: SeaTac, d: x}, {p: a, city: Seattle, d: x}]}}
patterns: [{name: q, query: {entity: E, where: {p: a, city: {begins_with: Sea}}}}]`},
		{"a prefix of a date", "foreign-rows", `
entities: {E: {attributes: {PK: "P#{p}", SK: "O#{at:date}-{id}"}, samples: [{p: a, at: 2026-01-05, id: x}, {p: a, at: 2026-10-05, id: x}]}}
patterns: [{name: q, query: {entity: E, where: {p: a, at: {begins_with: 2026-1}}}}]`},
		{"the pattern expects rows of both", "foreign-rows", `
entities:
  O: {attributes: {PK: "P#{p}", SK: "O#{o}"}, samples: [{p: a, o: x}]}
  L: {attributes: {PK: "P#{p}", SK: "O#{o}#L#{l}"}, samples: [{p: a, o: x, l: y}]}
patterns: [{name: q, query: {entity: O, where: {p: a}}, expect: {entities: [O, L]}}]`},
		{"an id that begins with its time", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "E#{id:uuid}"}, samples: [{p: a, id: 019449a0-1c2d-7e4f-8a9b-1c2d3e4f5a6b}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}, order: desc, limit: 1}}]`},
		{"no order of time is wanted", "component-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "E#{id}#{at:time}"}, samples: [{p: a, id: x, at: "2026-01-05T10:00:00Z"}]}}
patterns: [{name: all, query: {entity: E, where: {p: a}}}]`},
		{"the same item, two views of it", "overwrite", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "E#{e}"}}
  F: {attributes: {PK: "P#{p}", SK: "E#{e}", more: "{more}"}}`},
		{"a filter for live items", "filter-for-key", `name: quiet
tables: {Tab: {partition: PK, sort: SK, ttl: ends}}
entities: {E: {fields: {p: {values: [a]}}, attributes: {PK: "P#{p}", SK: "{e}", ends: {template: "{ends:epoch}", type: N}}, samples: [{p: a, e: x, ends: "2026-01-05T10:00:00Z"}], count: 50}}
patterns: [{name: q, query: {entity: E, where: {p: a}, filter: ends > 1767607200}}]`},
		{"rows with a number", "cost", `
entities: {Room: {attributes: {PK: "P#{p}", SK: "{beds:int(2)}#{room}"}, fields: {p: {values: [a]}}, samples: [{p: a, beds: 2, room: x}], count: 300}}
patterns: [{name: rooms by number of beds, query: {entity: Room, where: {p: a}}}, {name: rooms by count, query: {entity: Room, where: {p: a}}}]`},
		{"equal keys in two tables", "overwrite", `name: quiet
tables: {Tab: {partition: PK}, Other: {partition: PK}}
entities:
  E: {table: Tab, attributes: {PK: "P#{p}", a: "{a}"}}
  F: {table: Other, attributes: {PK: "P#{p}", b: "{b}"}}`},
		{"events that are equal only at one moment", "overwrite", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "AT#{at:millis}", a: "{a}"}}
  F: {attributes: {PK: "P#{p}", SK: "AT#{at:millis}", b: "{b}"}}`},
		{"one item that two entities describe", "overwrite", `
entities:
  E: {attributes: {PK: CONFIG, SK: MAIN, a: "{a}"}}
  F: {attributes: {PK: CONFIG, SK: MAIN, a: "{a}", b: "{b}"}}`},
		{"an id that is unique everywhere", "overwrite", `
entities: {E: {attributes: {PK: "P#{p}", SK: "E#{e}", GSI1PK: "S#{s}", GSI1SK: "E#{e}"}, samples: [{p: a, e: x, s: n}, {p: b, e: y, s: n}]}}`},
		{"the beginning of several names", "foreign-rows", `
entities: {E: {attributes: {PK: "P#{p}", SK: "USER#{u}"}, samples: [{p: a, u: anna}, {p: a, u: annette}]}}
patterns: [{name: q, query: {entity: E, where: {p: a, u: {begins_with: ann}}}}]`},
		{"a whole key", "foreign-rows", `
entities: {E: {attributes: {PK: "P#{p}", SK: "USER#{u}"}, samples: [{p: a, u: ann}, {p: a, u: anna}]}}
patterns: [{name: q, query: {entity: E, where: {p: a, u: ann}}}]`},
		{"a page in ascending order", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at:time}#{id}"}, samples: [{p: a, id: x, at: "2026-01-05T10:00:00Z"}]}}
patterns: [{name: events of the last 7 days, query: {entity: E, where: {p: a}, limit: 5}}, {name: "events, oldest to newest", query: {entity: E, where: {p: a}, limit: 5}}]`},
		{"the newest of a descending key", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at:time:desc}#{id}"}, samples: [{p: a, id: x, at: "2026-01-05T10:00:00Z"}]}}
patterns: [{name: newest events, query: {entity: E, where: {p: a}, limit: 5}}]`},
		{"a change of status, which is an event", "mutable-key", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at:time}#{status}"}, samples: [{p: a, status: open, at: "2026-01-05T10:00:00Z"}]}}`},
		{"a state of a country", "mutable-key", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{state}#{city}"}, samples: [{p: a, state: WA, city: Seattle}, {p: a, state: CA, city: Fresno}]}}`},
		{"a status in the key of an index", "mutable-key", `
entities: {E: {attributes: {PK: "P#{p}", SK: A, GSI1PK: "S#{status}", GSI1SK: "{p}"}, samples: [{p: a, status: open}]}}`},
		{"seconds alone", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at:number}"}, samples: [{p: a, at: 1767607200}, {p: a, at: 1767607201}]}}`},
		{"an order has its own id in the partition key", "time-only-key", `
entities: {Order: {attributes: {PK: "ORDER#{order}", SK: "{at:time}"}, samples: [{order: a, at: "2026-01-05T10:00:00Z"}]}}`},
		{"fewer items than moments", "time-only-key", `
entities: {E: {attributes: {PK: "DEVICE#{device}", SK: "{at:time}"}, fields: {device: {values: [A, B]}}, count: 500}}`},
		{"an index that only raw items enter", "sparse-index", `
entities: {E: {attributes: {PK: "P#{p}", SK: A}, samples: [{p: a}]}}
items: {Tab: [{PK: x, SK: y, GSI1PK: a, GSI1SK: b}]}`},
		{"a space that is not in a common prefix", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{c}#{d}"}, samples: [{p: a, c: New York, d: x}, {p: a, c: Boston, d: x}]}}`},
	} {
		src := tt.src
		if !strings.HasPrefix(src, "name:") {
			src = head + src
		}
		if all := of(parse(t, src+"\n", 0), tt.rule); len(all) > 0 {
			t.Errorf("%s:\n%s", tt.name, text(all))
		}
	}
}

// TestCaseAlone holds that words that differ only in case are reported as two values of a field, but not also as
// being out of alphabetical order.
func TestCaseAlone(t *testing.T) {
	all := of(parse(t, `name: names
tables: {Tab: {partition: PK, sort: SK}}
entities: {E: {attributes: {PK: "P#{p}", SK: "N#{n}"}, samples: [{p: a, n: Ann}, {p: a, n: ann}]}}
`, 0), "invisible-difference")
	require.Len(t, all, 1)
	require.Contains(t, all[0].Message, `"Ann" and "ann" are two values of n`)
}

// TestMany holds that one cause gives one finding, which counts the other cases.
func TestMany(t *testing.T) {
	var b strings.Builder
	b.WriteString("name: many\ntables: {Docs: {partition: PK, sort: SK}}\nentities: {V: {attributes: {PK: \"D#{d}\", SK: \"V#{v:number}\"}, samples: [")
	for i := range 40 {
		fmt.Fprintf(&b, "{d: x, v: %d}, {d: y, v: %d},", i, i)
	}
	b.WriteString("]}}\n")
	all := of(parse(t, b.String(), 0), "natural-order")
	require.Len(t, all, 1)
	require.Contains(t, all[0].Message, `"19" sorts before "2", and 2 more`)
}

// TestOddModels holds that no valid model makes a rule fail.
func TestOddModels(t *testing.T) {
	for _, src := range []string{
		"name: a\ntables: {Tab: {partition: PK}}\n",
		"name: a\ntables: {Tab: {partition: {name: PK, type: B}, sort: {name: SK, type: B}}}\nitems: {Tab: [{PK: {B: AP8=}, SK: {B: AP8=}}]}\n",
		"name: a\ntables: {Tab: {partition: PK}}\nentities: {E: {attributes: {PK: \"{{{x}}}\"}, samples: [{x: \"{\"}], count: 3}}\n",
		"name: a\ntables: {Tab: {partition: PK, sort: SK}}\nentities: {E: {attributes: {PK: A, SK: B}, samples: [{}]}}\npatterns: [{name: q, query: {entity: E, where: {}}}, {name: s, scan: {table: Tab, filter: 'x = 1'}}, {name: r, query: {table: Tab}}]\n",
		"name: a\ntables: {Tab: {partition: PK, sort: SK, indexes: {Loc: {local: true, sort: x}}}}\nentities: {E: {attributes: {PK: \"{a}\", SK: \"{b:path}\", x: \"{b:path}\"}, samples: [{a: x, b: /}, {a: x, b: //}, {a: x, b: \"/a\"}]}}\npatterns: [{name: q, query: {entity: E, where: {a: x, b: {begins_with: a}}}}]\n",
	} {
		parse(t, src, 0)
	}
}
