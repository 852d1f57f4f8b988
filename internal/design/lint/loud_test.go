package lint_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestLoud checks variants of the hazards in testdata. Each finding must contain a given text.
func TestLoud(t *testing.T) {
	const head = "name: loud\ntables: {Tab: {partition: PK, sort: SK, indexes: {GSI1: {partition: GSI1PK, sort: GSI1SK}}}}\n"
	between := func(a, b string) string {
		return `
patterns: [{name: q, query: {table: Tab, where: {PK: "P#a", SK: {between: ["` + a + `", "` + b + `"]}}}}]`
	}
	for _, tt := range []struct{ name, rule, src, want string }{
		{"decimals", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{x:number}"}, samples: [{p: a, x: 9.5}, {p: a, x: 10.25}]}}`, `{x:decimal(4,2)}`},
		{"text that is numbers", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "O#{o}"}, samples: [{p: a, o: 9}, {p: a, o: 10}]}}`, `note.*"10" sorts before "9"`},
		{"quarters", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{x}"}, samples: [{p: a, x: Q4-2024}, {p: a, x: Q1-2025}]}}`, `is a time.*"Q1-2025" sorts before "Q4-2024".*such as 2025-Q1`},
		{"months", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{x}"}, samples: [{p: a, x: 12/2024}]}}`, `is a time.*would sort before.*write SK: "{x:month}"`},
		{"an address", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{x}"}, samples: [{p: a, x: 10.0.0.9}]}}
patterns: [{name: q, query: {entity: E, where: {p: a}, order: desc}}]`, `"10.0.0.10" would sort before "10.0.0.9"; "q" needs their order.*such as 010.000.000.009`},
		{"hexadecimal numbers", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{x}"}, samples: [{p: a, x: "0xFF"}, {p: a, x: "0x100"}]}}
patterns: [{name: q, query: {entity: E, where: {p: a}, order: desc}}]`, `"0x100" sorts before "0xFF"; "q" needs their order`},
		{"commas between thousands", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{x}"}, samples: [{p: a, x: "999"}, {p: a, x: "1,000"}]}}`, `note x in SK of table Tab is an amount.*"1,000" sorts before "999"`},
		{"sizes with units", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{x}"}, samples: [{p: a, x: 5KB}, {p: a, x: 1MB}]}}`, `"1MB" sorts before "5KB".*in one unit`},
		{"hours with am and pm", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{x}"}, samples: [{p: a, x: 9am}, {p: a, x: 1pm}]}}`, `warning x in SK of table Tab is a time.*"1pm" sorts before "9am".*with leading zeros, such as 13:00`},
		{"a count whose newest is wanted", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "D#{seq}"}, samples: [{p: a, seq: 1}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}, order: desc, limit: 1}}]`, `warning seq in SK`},
		{"levels of a type", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{size:enum(LOW,MEDIUM,HIGH)}#{id}"}, samples: [{p: a, size: LOW, id: x}]}}
patterns: [{name: sizes, query: {entity: E, where: {p: a}, order: desc}}]`, `"HIGH" sorts before "LOW"; "sizes" needs their order.*1-LOW`},
		{"a level before a number", "natural-order", `
entities: {E: {fields: {size: {values: [LOW, HIGH]}, n: {values: ["7", "10"]}}, attributes: {PK: "P#{p}", SK: "{size}#{n}"}, samples: [{p: a, size: LOW, n: 7}]}}
patterns: [{name: sizes, query: {entity: E, where: {p: a}, order: desc}}]`, `"sizes" needs their order.*write the place in the scale before the word: 1-LOW.*write SK: "{size}#{n:int(2)}"`},
		{"a time after a status that nobody gives", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{status}#{at:date}"}, samples: [{p: a, status: x, at: 2025-01-01}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}, order: desc, limit: 1}}]`, `put at before status: write SK: "{at:date}#{status}"`},
		{"a time after a status that another pattern gives", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{status}#{at:date}"}, samples: [{p: a, status: x, at: 2025-01-01}]}}
patterns:
  - {name: newest, query: {entity: E, where: {p: a}, order: desc, limit: 1}}
  - {name: of a status, query: {entity: E, where: {p: a, status: x}}}`, `put at before status: write SK: "{at:date}#{status}", or add an index with that sort key`},
		{"names in an index that are unique in a partition", "overwrite", `
entities: {E: {attributes: {PK: "P#{p}", SK: "N#{n}", GSI1PK: "N#{n}", GSI1SK: E}, samples: [{p: a, n: x}, {p: b, n: x}]}}`, `its key does not include p.*add p at the end of GSI1SK, the sort key of the index`},
		{"two writes of one pattern in one partition", "loads", `
entities:
  E: {attributes: {PK: ALL, SK: "E#{e}"}, count: 10}
  F: {attributes: {PK: ALL, SK: "F#{f}"}, count: 10}
patterns: [{name: both, rate: 300, transact: [{put: E}, {put: F}]}, {name: one, put: F, rate: 10}]`, `gets 1,210 write units.*: 1,200 by "both" and 10 by "one"`},
		{"a filter for live items and more", "filter-for-key", `name: loud
tables: {Tab: {partition: PK, sort: SK, ttl: ends}}
entities: {E: {fields: {p: {values: [a]}, k: {values: [x, y, z]}}, attributes: {PK: "P#{p}", SK: "{e}", k: "{k}", ends: {template: "{ends:epoch}", type: N}}, samples: [{p: a, e: x, k: x, ends: "2026-01-05T10:00:00Z"}], count: 50}}
patterns: [{name: q, query: {entity: E, where: {p: a}, filter: ends > 1 AND k = "x"}}]`, "the filter drops"},
		{"equal keys without other attributes", "overwrite", `
entities:
  E: {attributes: {PK: "P#{p}", SK: A}}
  F: {attributes: {PK: "P#{p}", SK: A}}`, `error the keys of E and F are equal.*begin SK with the entity name, such as F#`},
		{"equal keys without fields", "overwrite", `
entities:
  E: {attributes: {PK: CONFIG, SK: MAIN, a: "{a}"}}
  F: {attributes: {PK: CONFIG, SK: MAIN, b: "{b}"}}`, `error the keys of E and F are equal`},
		{"a time beside the same id", "overwrite", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "{at:date}#{id}", a: "{a}"}}
  F: {attributes: {PK: "P#{p}", SK: "{at:date}#{id}", b: "{b}"}}`, `error`},
		{"a type that one of them names", "overwrite", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "A#{id}", a: "{a}"}}
  F: {attributes: {PK: "P#{p:uuid}", SK: "A#{id}", b: "{b}"}}`, `error`},
		{"a scan without counts", "cost", `
entities: {E: {attributes: {PK: "P#{p}", SK: A}, samples: [{p: a}]}}
patterns: [{name: all, scan: {table: Tab}, rate: 20}]`, `20 times per second: each scan reads all items, however many there will be`},
		{"a range of numbers", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "O#{o:number}"}, samples: [{p: a, o: 9}, {p: a, o: 10}]}}
patterns: [{name: q, query: {entity: E, where: {p: a, o: {">": 5}}}}]`, `error.*"q" needs their order`},
		{"negative decimals", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{x:number}"}, samples: [{p: a, x: -9.5}, {p: a, x: -10.25}]}}`, `{x:decimal(4,2)}`},
		{"seconds as a type, milliseconds as a type", "natural-order", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "AT#{at:epoch}"}}
  F: {attributes: {PK: "P#{q}", SK: "AT#{on:epochms}"}}`, `two formats, 1767607200 in E and 1767607200000 in F.*{on:millis}`},
		{"numbers of both units in one field", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at:number}"}, samples: [{p: a, at: 1767607200}, {p: a, at: 1767607200123}]}}`, `two formats, 1767607200 in E and 1767607200123 in E`},
		{"two directions", "natural-order", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "AT#{at:time}"}}
  F: {attributes: {PK: "P#{q}", SK: "AT#{on:time:desc}"}}`, `two formats`},
		{"text and epoch", "natural-order", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "AT#{at:micros}"}}
  F: {attributes: {PK: "P#{q}", SK: "AT#{on:epoch}"}}`, `two formats, 2026-01-05T10:00:00.000000Z in E and 1767607200 in F`},
		{"text of many formats", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "2026-01-05"}, {p: a, at: "20260105T100000Z"}]}}`, `two formats`},
		{"no zone", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "2026-01-05T10:00"}, {p: a, at: "2026-01-05T10:00Z"}]}}`, `two formats`},
		{"names of months", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "5 Jan 2026"}, {p: a, at: "5 Feb 2026"}]}}`, `"5 Feb 2026" sorts before "5 Jan 2026".*{at:date}`},
		{"the day first", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "05.01.2026"}]}}`, `is a time.*would sort before.*{at:date}`},
		{"dates in words", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "Jan 5 2026"}, {p: a, at: "Feb 12 2026"}]}}`, `"Feb 12 2026" sorts before "Jan 5 2026".*write SK: "{at:date}"`},
		{"weeks under any name that a pattern orders by", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{slot}#{id}"}, samples: [{p: a, slot: W10, id: x}, {p: a, slot: W9, id: x}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}, order: desc, limit: 1}}]`, `"W10" sorts before "W9"; "newest" needs their order.*such as W09`},
		{"months of one and two digits", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{m}"}, samples: [{p: a, m: 2025-9}, {p: a, m: 2025-10}]}}`, `"2025-10" sorts before "2025-9".*2025-09`},
		{"versions behind a v", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "R#{rel}"}, samples: [{p: a, rel: v1}, {p: a, rel: v2}, {p: a, rel: v10}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}, order: desc, limit: 1}}]`, `"v10" sorts before "v2"; "newest" needs their order`},
		{"invoices behind a word", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{inv}"}, samples: [{p: a, inv: INV-9}, {p: a, inv: INV-10}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}, order: desc, limit: 1}}]`, `"INV-10" sorts before "INV-9"`},
		{"ids of two lengths", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{id}"}, samples: [{p: a, id: 9f3}, {p: a, id: 10a2}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}, order: desc, limit: 1}}]`, `error id in SK of table Tab is hexadecimal.*"10a2" sorts before "9f3"; "newest" needs their order`},
		{"leading zeros of two widths", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{n}"}, samples: [{p: a, n: "007"}, {p: a, n: "0010"}]}}`, `"0010" sorts before "007"`},
		{"a value that is none", "no-value", `
entities: {E: {attributes: {PK: "USER#{u}", SK: A}, samples: [{u: undefined}]}}`, `warning u in PK is "undefined": all items without a value of u share that key`},
		{"a time to live that nobody writes", "no-value", `name: loud
tables: {Tab: {partition: PK, sort: SK, ttl: ends}}
entities: {E: {attributes: {PK: "P#{p}", SK: A}, samples: [{p: a}]}}`, `no item has ends, the time to live of table Tab`},
		{"a put that loses an update", "overwrite", `
entities: {E: {attributes: {PK: "P#{p}", SK: A, v: "{v}"}, samples: [{p: a, v: x}]}}
patterns: [{name: save, put: E}, {name: change, update: {entity: E, set: {v: y}}}]`, `"save" puts E without a condition: an item with the same key loses what "change" wrote.*attribute_not_exists(PK)`},
		{"a put whose transaction has a condition that always holds", "overwrite", `
entities:
  E: {attributes: {PK: "P#{p}", SK: A, v: "{v}"}, samples: [{p: a, v: x}]}
  F: {attributes: {PK: "F#{f}", SK: A}, samples: [{f: a}]}
patterns: [{name: save, transact: [{put: E}, {check: {entity: F, if: attribute_exists(PK)}}]}, {name: change, update: {entity: E, set: {v: y}}}]`, `"save" puts E without a condition`},
		{"two writes of one item", "overwrite", `
entities: {E: {attributes: {PK: "P#{p}", SK: A, v: "{v}"}, samples: [{p: a, v: x}]}}
patterns: [{name: both, transact: [{update: {entity: E, where: {p: a}, set: {v: y}}}, {check: {entity: E, where: {p: a}, if: attribute_exists(PK)}}]}]`, `error "both" writes or checks one item of E twice in a transaction`},
		{"a label goes with its field", "component-order", `
entities: {Order: {attributes: {PK: ALL, SK: "ORDER#{order}#USER#{user}"}, samples: [{order: o1, user: u1}]}}
patterns: [{name: orders of a user, query: {entity: Order, where: {user: u1}}}]`, `write SK: "USER#{user}#ORDER#{order}"`},
		{"two entities of one day", "overwrite", `
entities:
  E: {attributes: {PK: "X#{x}", SK: "S#{a:date}"}, samples: [{x: a, a: 2025-01-01}]}
  F: {attributes: {PK: "X#{x}", SK: "S#{b:date}"}, samples: [{x: b, b: 2025-01-02}]}`, "warning the keys of E and F look alike"},
		{"a date and a time with PM", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "2026-01-05 9:00 PM"}, {p: a, at: "2026-01-05 10:00 PM"}]}}`, `"2026-01-05 10:00 PM" sorts before "2026-01-05 9:00 PM"`},
		{"a date without zeros", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "2026-1-5"}]}}`, `"2025-10-2" would sort before "2025-9-30"`},
		{"zzz loses zzzz", "range-end", `
entities: {E: {attributes: {PK: "P#{p}", SK: "N#{n}"}, samples: [{p: a, n: a}, {p: a, n: zzzz}, {p: a, n: "{x"}]}}` +
			between("N#", "N#zzz"), `error.*2 rows are missing`},
		{"U+FFFF is below emoji", "range-end", `
entities: {E: {attributes: {PK: "P#{p}", SK: "N#{n}"}, samples: [{p: a, n: a}]}}` +
			between("N#", "N#\\uffff"), `"P#a", "N#`},
		{"a bound of a range", "range-end", `
entities: {E: {attributes: {PK: "P#{p}", SK: "N#{n}"}, samples: [{p: a, n: "é"}]}}` +
			between("N#k", "N#~"), `end the range with "N$"`},
		{"a version by its prefix", "foreign-rows", `
entities: {E: {attributes: {PK: "P#{p}", SK: "V#{v}#{x}"}, samples: [{p: a, v: 1, x: x}, {p: a, v: 10, x: x}, {p: a, v: 11, x: x}]}}
patterns: [{name: q, query: {table: Tab, where: {PK: "P#a", SK: {begins_with: "V#1"}}}}]`, "also reads siblings: V#10# and V#11#"},
		{"a user whose name begins another's", "foreign-rows", `
entities: {E: {attributes: {PK: "P#{p}", SK: "USER#{u}"}, samples: [{p: a, u: ann}, {p: a, u: anna}]}}
patterns: [{name: q, query: {entity: E, where: {p: a, u: {begins_with: ann}}}}]`, `warning the prefix "USER#ann" also reads siblings: USER#anna.*compare the whole key: SK = "USER#ann"`},
		{"an order whose number begins another's, by its key", "foreign-rows", `
entities: {E: {attributes: {PK: "P#{p}", SK: "ORDER#{o}"}, samples: [{p: a, o: 1}, {p: a, o: 10}]}}
patterns: [{name: q, query: {table: Tab, where: {PK: "P#a", SK: {begins_with: "ORDER#1"}}}}]`, `warning the prefix "ORDER#1" also.*compare the whole key: SK = "ORDER#1"`},
		{"a query of the table for the newest", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "2026-01-05T10:00:00Z"}, {p: a, at: "2026-01-06T10:00:00Z"}]}}
patterns: [{name: the latest event, query: {table: Tab, where: {PK: "P#a"}, limit: 1}}]`, `error.*asks for the latest rows, but its limit keeps those at the other end`},
		{"a key in descending order", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at:time:desc}#{id}"}, samples: [{p: a, id: x, at: "2026-01-05T10:00:00Z"}]}}
patterns: [{name: newest events, query: {entity: E, where: {p: a}, order: desc, limit: 5}}]`, `warning.*read in descending order.*order: asc`},
		{"both units, with a pattern that needs the order", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at:number}#{id}"}, samples: [{p: a, id: x, at: 1767607200}, {p: a, id: y, at: 1767607200123}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}, order: desc, limit: 1}}]`, `error.*"newest" needs the order of time`},
		{"days as text", "time-only-key", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{d}"}, samples: [{p: a, d: 31-01-2025}, {p: a, d: 01-02-2025}]}}
patterns: [{name: log, put: E, rate: 10}]`, "precision of one day: at the declared rates"},
		{"times of day", "time-only-key", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{c}"}, samples: [{p: a, c: "01:00 PM"}, {p: a, c: "11:00 AM"}]}}`, "note.*precision of one minute"},
		{"a date with a time of day", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{c}"}, samples: [{p: a, c: "2025-01-31 1:00 PM"}, {p: a, c: "2025-01-31 11:00 AM"}]}}`, `"2025-09-30 10:00 AM" would sort before "2025-09-30 9:00 AM".*write SK: "{c:time}"`},
		{"more items than moments", "time-only-key", `
entities: {E: {attributes: {PK: "ROOM#{room}", SK: "{at:time}"}, fields: {room: {values: [A]}, at: {type: time, from: "2026-01-05T00:00:00Z", to: "2026-01-05T01:00:00Z"}}, count: 500}}`, "warning.*of the 500 items of a partition, some have the same second"},
		{"a key that moves the hazard to another pattern", "component-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{a}#{b}"}, samples: [{p: a, a: x, b: y}]}}
patterns: [{name: by a, query: {entity: E, where: {p: a, a: x}}}, {name: by b, query: {entity: E, where: {p: a, b: y}}}]`, `no order of these components serves all patterns`},
		{"an index that has the order already", "component-order", `name: m
tables: {Tab: {partition: PK, sort: SK, indexes: {ByB: {partition: PK, sort: b}}}}
entities: {E: {attributes: {PK: "P#{p}", SK: "{a}#{b}", b: "{b}"}, samples: [{p: a, a: x, b: y}]}}
patterns: [{name: by a, query: {entity: E, where: {p: a, a: x}}}, {name: by b, query: {entity: E, where: {p: a, b: y}}}]`, `query index ByB instead`},
		{"a template without the delimiter", "delimiter-in-value", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "{product}"}, samples: [{p: a, product: "TV#55"}]}
  F: {attributes: {PK: "P#{p}", SK: "{product}#V#{v}"}, samples: [{p: a, product: TV, v: red}]}`, `another delimiter in SK`},
		{"a sentinel after a whole key", "range-end", `
entities: {E: {attributes: {PK: "P#{p}", SK: "USER#{u}"}, samples: [{p: a, u: ann}, {p: a, u: anna}]}}` +
			between("USER#ann", "USER#ann~"), `use begins_with(SK, "USER#ann"), which needs no bound`},
		{"not a range, as expected", "component-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{a}#{b}"}, samples: [{p: a, a: x, b: y}]}}
patterns: [{name: q, query: {entity: E, where: {p: a, b: y}}, expect: {error: NotARange}}]`, `note.*write SK: "{b}#{a}"`},
		{"a word goes with its component", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "C#USER#{user}#{at:time}#{n:int(2)}"}, samples: [{p: a, user: x, at: "2026-01-05T10:00:00Z", n: 1}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}}}]`, `write SK: "C#{at:time}#USER#{user}#{n:int(2)}"`},
		{"random text", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "E#{id}"}, samples: [{p: a, id: 4f1c9a7be2d03586}, {p: a, id: 9a7be2d035864f1c}]}}
patterns: [{name: latest, query: {entity: E, where: {p: a}}}]`, "use an id that begins with its time, {id:ulid}"},
		{"a filter without an index", "filter-for-key", `
entities: {E: {attributes: {PK: "P#{p}", SK: "E#{e}", kind: "{kind}"}, samples: [{p: a, e: 1, kind: x}, {p: a, e: 2, kind: x}, {p: a, e: 3, kind: y}]}}
patterns: [{name: q, query: {entity: E, where: {p: a}, filter: kind = "y"}}]`, `ByKind: {partition: [PK, kind], sort: SK}`},
		{"a scan with a filter", "filter-for-key", `
entities: {E: {attributes: {PK: "P#{p}", SK: "E#{e}", kind: "{kind}"}, samples: [{p: a, e: 1, kind: x}, {p: a, e: 2, kind: x}, {p: a, e: 3, kind: y}]}}
patterns: [{name: q, scan: {table: Tab, filter: kind = "y"}}]`, "put the filter's attribute into the key of an index"},
		{"one item that all read", "loads", `
entities: {E: {attributes: {PK: "CONFIG", SK: "MAIN"}, samples: [{}], rates: {reads: 9000}}}`, "keep copies of the item"},
		{"the partition of a listed value gets all requests", "loads", `
fields: {s: {values: [A, B]}}
entities: {E: {attributes: {PK: "S#{s}", SK: "{e}"}, samples: [{s: A, e: x}]}}
patterns: [{name: q, query: {entity: E, where: {s: A}}, rate: 20000}]`, "gets 10,000 read units per second"},
		{"puts of more than one item a day", "time-only-key", `
entities:
  U: {attributes: {PK: "U#{u}", SK: A}, count: 100, samples: [{u: a}]}
  L: {of: U, per: 30, fields: {at: {type: date}}, attributes: {PK: "U#{u}", SK: "LOG#{at:date}"}, samples: [{u: a, at: 2025-01-01}]}
patterns: [{name: log, put: L, rate: 10}]`, "precision of one day: at the declared rates a partition gets 8,637 items each day, of which one stays"},
		{"puts in the partition of a day", "time-only-key", `
fields: {s: {distinct: 10}, at: {type: time, from: "2026-01-01T00:00:00Z", to: "2026-04-01T00:00:00Z"}}
entities: {E: {count: 900, attributes: {PK: "S#{s}#{at:date}", SK: "{at:time}"}}}
patterns: [{name: log, put: E, rate: 20}]`, "a partition gets 2."},
		{"few partitions for many requests", "loads", `
fields: {s: {distinct: 2}}
entities: {E: {attributes: {PK: "S#{s}", SK: "{e}"}, samples: [{s: A, e: x}]}}
patterns: [{name: q, query: {entity: E, where: {s: A}}, rate: 20000}]`, "gets 5,000 read units per second"},
		{"a partition of the current day gets all writes", "loads", `
fields: {at: {type: time, from: 2025-01-01, to: 2025-12-31}}
entities: {Log: {attributes: {PK: "LOG#{at:date}", SK: "{e}"}, count: 5000, rates: {writes: 9000}}}`, `partition "LOG#2025-.*" of table Tab gets 9,000 write units per second`},
		{"and the share of its other components", "loads", `
fields: {at: {type: time, from: 2025-01-01, to: 2025-12-31}, s: {values: [A, A, A, B]}}
entities: {Log: {attributes: {PK: "LOG#{s}#{at:date}", SK: "{e}"}, count: 5000, rates: {writes: 8000}}}`, `"LOG#A#2025-.* gets 6,019 write units per second in its period`},
		{"an update and a check of one item, as nothing says that they are of two", "overwrite", `
entities: {E: {attributes: {PK: "P#{p}", SK: A, n: "{n}"}, samples: [{p: a, n: x}, {p: b, n: x}]}}
patterns: [{name: w, transact: [{update: {entity: E, set: {n: y}}}, {check: {entity: E, if: attribute_exists(PK)}}]}]`, `error "w" writes or checks one item of E twice`},
		{"one month without its zero", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{m}"}, samples: [{p: a, m: 2026-9}]}}`, `"2026-10" would sort before "2026-9".*2026-09`},
		{"days of the week", "natural-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{d}"}, samples: [{p: a, d: Mon}, {p: a, d: Tue}, {p: a, d: Fri}]}}`, `note.*"Fri" sorts before "Mon".*1-Mon`},
		{"listed sizes", "natural-order", `
fields: {s: {values: [S, M, L]}}
entities: {E: {attributes: {PK: "P#{p}", SK: "{s}"}, samples: [{p: a, s: S}]}}`, `note.*"L" sorts before "M"`},
		{"a skewed partition gets its share of requests", "loads", `
fields: {t: {distinct: 100, distribution: zipf(2)}}
entities: {E: {attributes: {PK: "T#{t}", SK: "{e}"}, count: 1000}}
patterns: [{name: q, query: {entity: E, where: {t: a}, limit: 1}, rate: 20000, asked: by_rows}]`, "gets 5,990 read units per second"},
		{"values are asked for equally often", "loads", `
fields: {t: {distinct: 4}, u: {distinct: 3}, big: {size: 4000}}
entities: {E: {attributes: {PK: "T#{t}", SK: "{u}#{e}", big: "{big}"}, count: 1000}}
patterns: [{name: q, query: {entity: E, where: {t: a, u: x}, limit: 2}, rate: 8000}]`, "gets 2,000 read units per second"},
		{"a pattern reads all shards with each request", "loads", `
fields: {s: {values: [A, B, C, D]}}
entities: {E: {attributes: {PK: "S#{s}", SK: "{e}"}, count: 100}}
patterns: [{name: q, query: {entity: E, where: {s: {in: all}}}, rate: 7000}]`, "gets 3,500 read units per second"},
		{"an unfiltered scan", "loads", `
fields: {big: {size: 1000}}
entities: {E: {attributes: {PK: "ALL", SK: "{e}", big: "{big}"}, count: 100}}
patterns: [{name: q, scan: {table: Tab}, rate: 300}]`, "gets 3,743 read units per second"},
		{"a constant partition of raw items", "loads", `
items: {Tab: [{PK: CONFIG, SK: MAIN}, {PK: x, SK: MAIN}]}
patterns: [{name: q, query: {table: Tab, where: {PK: CONFIG}}, rate: 9000}]`, `"CONFIG" of table Tab gets 4,500 read units`},
		{"a get of a constant key", "loads", `
entities: {E: {attributes: {PK: "CONFIG", SK: "MAIN"}, samples: [{}]}}
patterns: [{name: q, get: {entity: E, where: {}}, rate: 9000}]`, `"CONFIG" of table Tab gets 4,500 read units`},
		{"a limit counts rows before the filter", "loads", `
fields: {big: {size: 1000}}
entities: {E: {attributes: {PK: "ALL", SK: "{e}", big: "{big}"}, count: 100}}
patterns: [{name: q, query: {entity: E, where: {}, limit: 50, filter: "big = 'none'"}, rate: 1000}]`, "gets 6,500 read units per second"},
		{"a pattern writes more than the declared rates", "loads", `
entities: {E: {attributes: {PK: "ALL", SK: "{e}"}, count: 10, rates: {writes: 10}}}
patterns: [{name: w, put: E, rate: 5000}]`, `gets 5,010 write units per second.*5,000 by "w" and 10 by the rates of E`},
		{"a local index is read in the partition of its table", "loads", `name: m
tables: {Tab: {partition: PK, sort: SK, indexes: {ByL: {local: true, sort: l, projection: all}}}}
entities: {E: {attributes: {PK: "ALL", SK: "{e}", l: "{e}"}, count: 10}}
patterns: [{name: q, query: {entity: E, index: ByL, where: {}}, rate: 9000}]`, `"ALL" of table Tab gets 4,500 read units per second`},
		{"a scan that is rare and large", "cost", `
fields: {big: {size: 4000}}
entities: {E: {attributes: {PK: "P#{e}", SK: A, big: "{big}"}, count: 300}}
patterns: [{name: q, scan: {table: Tab}, rate: 0.9}]`, "scans table Tab 0.9 times per second.*which makes 1.* units per second"},
		{"half of what a partition serves", "loads", `
entities: {E: {attributes: {PK: "ALL", SK: "{e}"}, samples: [{e: x}, {e: y}], rates: {writes: 600}}}`, "warning"},
	} {
		src := tt.src
		var found []string
		if !strings.HasPrefix(src, "name:") {
			src = head + src
		}
		for _, f := range of(parse(t, src+"\n", 0), tt.rule) {
			found = append(found, f.Severity.String()+" "+f.Message+"\n"+strings.Join(f.Keys, "\n")+"\n"+f.Advice)
		}
		all := strings.Join(found, "\n\n")
		at := 0
		ok := len(found) > 0
		for want := range strings.SplitSeq(tt.want, ".*") {
			i := strings.Index(all[at:], want)
			if ok = ok && i >= 0; !ok {
				break
			}
			at += i + len(want)
		}
		if !ok {
			t.Errorf("%s: no %s that says %q:\n%s", tt.name, tt.rule, tt.want, all)
		}
	}
}

// TestLocalIndexLoad holds that writes to a local index count as load of the table's partition.
func TestLocalIndexLoad(t *testing.T) {
	w := parse(t, `name: m
tables: {Tab: {partition: PK, sort: SK, indexes: {ByL: {local: true, sort: l, projection: all}}}}
entities: {E: {attributes: {PK: "ALL", SK: "{e}", l: "{e}"}, count: 10, rates: {writes: 600}}}
`, 0)
	found := of(w, "loads")
	require.NotEmpty(t, found)
	require.Contains(t, found[0].Message, `partition "ALL" of table Tab gets 1,200 write units`)
	require.Len(t, found, 1, "the index has the load of the table")
}

// TestManyAlike holds that it takes little time to compare the keys of many entities with each other.
func TestManyAlike(t *testing.T) {
	var model strings.Builder
	model.WriteString("name: m\ntables: {Tab: {partition: PK, sort: SK}}\nentities:\n")
	for i := range 500 {
		fmt.Fprintf(&model, "  E%d: {attributes: {PK: \"{id}\", SK: A, a%d: \"{v}\"}, samples: [{id: x%d, v: y}]}\n", i, i, i)
	}
	began := time.Now()
	found := of(parse(t, model.String(), 0), "overwrite")
	require.Len(t, found, 499)
	require.Less(t, time.Since(began), 10*time.Second)
}

// TestManyValues holds that a long list of values takes little time.
func TestManyValues(t *testing.T) {
	proptest.NeedLong(t)
	values := make([]string, 100_000)
	for i := range values {
		values[i] = strconv.Itoa(i)
	}
	began := time.Now()
	parse(t, `name: m
tables: {Tab: {partition: PK, sort: SK}}
entities: {E: {attributes: {PK: "E#{e}", SK: "{k}"}, fields: {k: {values: [`+strings.Join(values, ",")+`]}}, count: 10}}
`, 0)
	require.Less(t, time.Since(began), 10*time.Second)
}
