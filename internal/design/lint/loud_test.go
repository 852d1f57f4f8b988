package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLoud tests designs with variants of the hazards in testdata, and checks
// part of each finding.
func TestLoud(t *testing.T) {
	const head = "name: loud\ntables: {Tab: {partition: PK, sort: SK, indexes: {GSI1: {partition: GSI1PK, sort: GSI1SK}}}}\n"
	raw := func(cond, a, b string) string {
		return `
patterns: [{name: q, request: {operation: Query, TableName: Tab, KeyConditionExpression: "` + cond + `", ExpressionAttributeNames: {"#s": SK}, ExpressionAttributeValues: {":p": {S: "P#a"}, ":a": {S: "` + a + `"}, ":b": {S: "` + b + `"}}}}]`
	}
	const shelf = `
fields: {t: {size: 50000}}
entities: {Art: {count: 60, fields: {shelf: {values: [a, b]}, title: {size: 30}}, attributes: {PK: "A#{shelf}", SK: "{art}", title: "{title}", text: "{t}"}, samples: [{shelf: a, art: x, title: t, t: z}]}}`
	for _, tt := range []struct{ name, rule, src, want string }{
		{
			"no data: keys of the types", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "V#{v:number}#{at:time}#{id:ulid}#{k:enum(A,B)}#{u:uuid}#{h:hex(8)}#{d:date}"}}}`,
			`such as "P#a1", "V#10#2026-01-05T10:00:00Z#01KE5WGCV08GZZZZZZZZZZZZZZ#A#123e4567-e89b-42d3-a456-426614174000#c0ffee42#2026-01-05"`,
		},
		{"a month is two digits", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{year:number}#{month:number}"}, samples: [{p: a, year: 2025, month: 2}]}}`, `{year:number}#{month:int(2)}`},
		{"decimals", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{x:number}"}, samples: [{p: a, x: 9.5}, {p: a, x: 10.25}]}}`, `{x:decimal(4,2)}`},
		{"text that is numbers", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "O#{o}"}, samples: [{p: a, o: 9}, {p: a, o: 10}]}}`, "note.*10 sorts before 9"},
		{"a count with short samples", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "D#{docVersion}"}, samples: [{p: a, docVersion: 1}, {p: a, docVersion: 2}]}}`, `note docVersion in SK of table Tab is a number that is not padded: 10 would sort before 9.*write SK: "D#{docVersion:int(4)}"`},
		{"versions under another name", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "S#{state}"}, samples: [{p: a, state: 0}, {p: a, state: 1}, {p: a, state: 2}]}}`, `note state in SK of table Tab is a number that is not padded: 10 would sort before 9.*write SK: "S#{state:int(4)}"`},
		{"floors", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{floor}#{door}"}, samples: [{p: a, floor: 1, door: x}, {p: a, floor: 2, door: x}, {p: a, floor: 3, door: x}]}}`, `floor in SK`},
		{"a day of the year", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{dayOfYear:number}"}, samples: [{p: a, dayOfYear: 9}, {p: a, dayOfYear: 10}]}}`, `{dayOfYear:int(3)}`},
		{"a month in text", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "D#{month}"}, samples: [{p: a, month: 1}, {p: a, month: 2}]}}`, `write SK: "D#{month:int(2)}"`},
		{"the highest of negative numbers and others", "wrong-direction", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{degrees:signed(4)}#{id}"}, samples: [{p: a, id: x, degrees: -5}, {p: a, id: y, degrees: 7}]}}
patterns: [{name: the highest temperatures, query: {entity: E, where: {p: a}, limit: 5}}]`, `asks for the highest rows`},
		{"a count whose newest is wanted", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "D#{seq}"}, samples: [{p: a, seq: 1}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}, order: desc, limit: 1}}]`, `warning seq in SK`},
		{"the cheapest by a price in text", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "O#{cost}"}, samples: [{p: a, cost: 9}, {p: a, cost: 10}]}}
patterns: [{name: the cheapest offers, query: {entity: E, where: {p: a}, limit: 3}}]`, `error.*"the cheapest offers" needs numeric order`},
		{"the cheapest by prices of one width in text", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "O#{cost}"}, samples: [{p: a, cost: 12}, {p: a, cost: 15}]}}
patterns: [{name: offers, about: The cheapest first., query: {entity: E, where: {p: a}, limit: 3}}]`, `warning.*would sort before`},
		{"a colon beside a hash", "mixed-delimiter", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "E#{e}"}, samples: [{p: a, e: x}]}
  F: {attributes: {PK: "P#{p}", SK: "F:{f:int(4)}"}, samples: [{p: a, f: 1}]}`, `SK of F uses the delimiter ":", and 3 other keys of the design use "#".*write SK: "F#{f:int(4)}"`},
		{"recent by a day with ties", "tied-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at:date}#{id}"}, samples: [{p: a, at: "2026-01-05", id: x}, {p: a, at: "2026-01-05", id: y}]}}
patterns: [{name: recent orders, query: {entity: E, where: {p: a}, order: desc, limit: 3}}]`, `the same day of at`},
		{"the cheapest of two numbers", "number-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{id}", left: {template: "{left:number}", type: N}, unitPrice: {template: "{unitPrice:number}", type: N}}, samples: [{p: a, id: x, unitPrice: 5, left: 3}]}}
patterns: [{name: the cheapest offers, query: {entity: E, where: {p: a}, limit: 3}}]`, `add an index ByUnitPrice:`},
		{"the largest by a time", "number-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at:time}", total: {template: "{total:number}", type: N}}, samples: [{p: a, at: "2026-01-05T10:00:00Z", total: 5}]}}
patterns: [{name: the largest orders, query: {entity: E, where: {p: a}, limit: 3}}]`, `wants the largest rows, but rows of E are ordered by at in SK.*add an index ByTotal: {partition: PK, sort: {name: total, type: N}}, and query it for "the largest orders" with order: desc`},
		{"levels of a type", "word-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{size:enum(LOW,MEDIUM,HIGH)}#{id}"}, samples: [{p: a, size: LOW, id: x}]}}
patterns: [{name: sizes, query: {entity: E, where: {p: a}, order: desc}}]`, `HIGH, LOW and MEDIUM`},
		{"a filter for live items and more", "filter-for-key", `name: loud
tables: {Tab: {partition: PK, sort: SK, ttl: ends}}
entities: {E: {fields: {p: {values: [a]}, k: {values: [x, y, z]}}, attributes: {PK: "P#{p}", SK: "{e}", k: "{k}", ends: {template: "{ends:epoch}", type: N}}, samples: [{p: a, e: x, k: x, ends: "2026-01-05T10:00:00Z"}], count: 50}}
patterns: [{name: q, query: {entity: E, where: {p: a}, filter: ends > 1 AND k = "x"}}]`, "the filter drops"},
		{"a name before it is put", "unique-by-index", `
entities: {E: {attributes: {PK: "P#{p}", SK: A, GSI1PK: "S#{s}", GSI1SK: A}, samples: [{p: a, s: x}]}}
patterns: [{name: by name, about: Looked up before it creates another., query: {entity: E, index: GSI1, where: {s: x}}}]`, "two programs that look at once"},
		{"a count", "cost", `
entities: {Like: {attributes: {PK: "P#{p}", SK: "{like}"}, fields: {p: {values: [a]}}, samples: [{p: a, like: x}], count: 900}}
patterns: [{name: like count of a post, query: {entity: Like, where: {p: a}}}]`, "reads all rows to count them: 901 rows"},
		{"equal keys without other attributes", "same-shape", `
entities:
  E: {attributes: {PK: "P#{p}", SK: A}}
  F: {attributes: {PK: "P#{p}", SK: A}}`, `error the keys of E and F are equal.*begin SK with the entity name: "F"`},
		{"equal keys without fields", "same-shape", `
entities:
  E: {attributes: {PK: CONFIG, SK: MAIN, a: "{a}"}}
  F: {attributes: {PK: CONFIG, SK: MAIN, b: "{b}"}}`, `error the keys of E and F are equal.*"CONFIG", "MAIN" (F)`},
		{"a time beside the same id", "same-shape", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "{at:date}#{id}", a: "{a}"}}
  F: {attributes: {PK: "P#{p}", SK: "{at:date}#{id}", b: "{b}"}}`, `error`},
		{"a type that one of them names", "same-shape", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "A#{id}", a: "{a}"}}
  F: {attributes: {PK: "P#{p:uuid}", SK: "A#{id}", b: "{b}"}}`, `error`},
		{"milliseconds by value", "ttl-unit", `
entities: {E: {attributes: {PK: "P#{p}", SK: A, expires_at: {template: "{e:number}", type: N}}, samples: [{p: a, e: 1767607200120}]}}`, `warning expires_at of E is in milliseconds`},
		{"a shard by its values", "loads", `
fields: {part: {values: ["0", "1", "2"]}}
entities: {E: {attributes: {PK: "P#{part}", SK: "{id}"}, samples: [{part: "0", id: x}, {part: "1", id: y}]}}
patterns: [{name: all, query: {entity: E, where: {part: "0"}}}]`, `reads only part 0 of 2`},
		{"a scan without counts", "cost", `
entities: {E: {attributes: {PK: "P#{p}", SK: A}, samples: [{p: a}]}}
patterns: [{name: all, scan: {table: Tab}, rate: 20}]`, `20 times per second: each scan reads all items, however many there will be`},
		{"a range of numbers", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "O#{o:number}"}, samples: [{p: a, o: 9}, {p: a, o: 10}]}}
patterns: [{name: q, query: {entity: E, where: {p: a, o: {">": 5}}}}]`, `error.*"q" needs numeric order`},
		{"negative decimals", "negative-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{x:number}"}, samples: [{p: a, x: -9.5}, {p: a, x: -10.25}]}}`, `{x:decimal(4,2)}`},
		{"seconds as a type, milliseconds as a type", "mixed-epoch", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "AT#{at:epoch}"}}
  F: {attributes: {PK: "P#{q}", SK: "AT#{on:epochms}"}}`, `write SK: "AT#{on:epochms}" here, and "AT#{at:epochms}" in E`},
		{"numbers of both units in one field", "mixed-epoch", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at:number}"}, samples: [{p: a, at: 1767607200}, {p: a, at: 1767607200123}]}}`, "seconds since 1970 and milliseconds since 1970"},
		{"two directions", "mixed-time", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "AT#{at:time}"}}
  F: {attributes: {PK: "P#{q}", SK: "AT#{on:time:desc}"}}`, "in two directions: ascending in E, descending in F"},
		{"text and epoch", "mixed-time", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "AT#{at:micros}"}}
  F: {attributes: {PK: "P#{q}", SK: "AT#{on:epoch}"}}`, "in different formats: date T time in E, seconds since 1970 in F"},
		{"text of many formats", "mixed-time", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "2026-01-05"}, {p: a, at: "20260105T100000Z"}]}}`, "different formats"},
		{"no zone", "mixed-time", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "2026-01-05T10:00"}, {p: a, at: "2026-01-05T10:00Z"}]}}`, "no zone and Z"},
		{"names of months", "mixed-time", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "5 Jan 2026"}, {p: a, at: "5 Feb 2026"}]}}`, "with names of months"},
		{"the day first", "mixed-time", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "05.01.2026"}]}}`, "the day first"},
		{"dates in words", "mixed-time", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "Jan 5 2026"}, {p: a, at: "Feb 12 2026"}]}}`, `with names of months.*write SK: "{at:date}"`},
		{"dates in long words", "mixed-time", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "Monday, January 5th, 2026"}]}}`, "with names of months"},
		{"weeks without a year", "mixed-time", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{isoWeek}"}, samples: [{p: a, isoWeek: W10}, {p: a, isoWeek: W9}]}}`, "a week written without padding.*as in 2026-W09"},
		{"weeks under a short name", "mixed-time", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{wk}#{id}"}, samples: [{p: a, wk: W10, id: x}, {p: a, wk: W9, id: x}]}}`, "a week written without padding.*as in 2026-W09"},
		{"weeks under any name that a pattern orders by", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{slot}#{id}"}, samples: [{p: a, slot: W10, id: x}, {p: a, slot: W9, id: x}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}, order: desc, limit: 1}}]`, `"W10" sorts before "W9"; "newest" needs numeric order`},
		{"months of one and two digits", "mixed-time", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{m}"}, samples: [{p: a, m: 2025-9}, {p: a, m: 2025-10}]}}`, "a month written without padding.*as in 2026-09"},
		{"versions behind a v", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "R#{rel}"}, samples: [{p: a, rel: v1}, {p: a, rel: v2}, {p: a, rel: v10}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}, order: desc, limit: 1}}]`, `behind "v": "v10" sorts before "v2"; "newest" needs numeric order.*as in v0001`},
		{"versions that will have ten", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "R#{version}"}, samples: [{p: a, version: v1}, {p: a, version: v2}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}, order: desc, limit: 1}}]`, `v10 would sort before v9`},
		{"invoices behind a word", "unpadded-number", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{inv}"}, samples: [{p: a, inv: INV-9}, {p: a, inv: INV-10}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}, order: desc, limit: 1}}]`, `"INV-10" sorts before "INV-9"`},
		{"a raw projection", "index-cost", shelf + `
patterns: [{name: q, request: {operation: Query, TableName: Tab, KeyConditionExpression: "PK = :p", ProjectionExpression: "#t", ExpressionAttributeNames: {"#t": title}, ExpressionAttributeValues: {":p": {S: "A#a"}}}}]`, "warning \"q\" returns only title, but reads whole items: in partition \"A#a\""},
		{"a get that projects", "index-cost", shelf + `
patterns: [{name: q, get: {entity: Art, where: {shelf: a, art: x}, project: [title]}}]`, "note \"q\" returns only title, but reads the whole item: 48.1 KB on average for 6.5 read units"},
		{"a raw get that projects", "index-cost", shelf + `
patterns: [{name: q, request: {operation: GetItem, TableName: Tab, Key: {PK: {S: "A#a"}, SK: {S: x}}, ProjectionExpression: title}}]`, "reads the whole item"},
		{"a scan that projects", "index-cost", shelf + `
patterns: [{name: q, scan: {table: Tab, project: [title]}}]`, "warning \"q\" returns only title, but reads whole items: 61 rows"},
		{"two entities of one day", "same-shape", `
entities:
  E: {attributes: {PK: "X#{x}", SK: "S#{a:date}"}, samples: [{x: a, a: 2025-01-01}]}
  F: {attributes: {PK: "X#{x}", SK: "S#{b:date}"}, samples: [{x: b, b: 2025-01-02}]}`, "warning the keys of E and F look alike"},
		{"a date and a time with PM", "mixed-time", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "2026-01-05 9:00 PM"}, {p: a, at: "2026-01-05 10:00 PM"}]}}`, "with AM and PM"},
		{"a date without zeros", "mixed-time", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "2026-1-5"}]}}`, "without padding"},
		{"zzz loses zzzz", "high-sentinel", `
entities: {E: {attributes: {PK: "P#{p}", SK: "N#{n}"}, samples: [{p: a, n: a}, {p: a, n: zzzz}, {p: a, n: "{x"}]}}` +
			raw("PK = :p AND #s BETWEEN :a AND :b", "N#", "N#zzz"), "error.*2 keys that begin with"},
		{"U+FFFF is below emoji", "high-sentinel", `
entities: {E: {attributes: {PK: "P#{p}", SK: "N#{n}"}, samples: [{p: a, n: a}]}}` +
			raw("PK = :p AND #s BETWEEN :a AND :b", "N#", "N#\\uffff"), `such as "P#a", "N#😀"`},
		{"a bound of a range", "high-sentinel", `
entities: {E: {attributes: {PK: "P#{p}", SK: "N#{n}"}, samples: [{p: a, n: "é"}]}}` +
			raw("PK = :p AND #s BETWEEN :a AND :b", "N#k", "N#~"), `use the bound "N$"`},
		{"a version by its prefix", "open-prefix", `
entities: {E: {attributes: {PK: "P#{p}", SK: "V#{v}#{x}"}, samples: [{p: a, v: 1, x: x}, {p: a, v: 10, x: x}, {p: a, v: 11, x: x}]}}
patterns: [{name: q, request: {operation: Query, TableName: Tab, KeyConditionExpression: "PK = :p AND begins_with(SK, :a)", ExpressionAttributeValues: {":p": {S: "P#a"}, ":a": {S: "V#1"}}}}]`, "also reads siblings: V#10# and V#11#"},
		{"a node and the rows under it", "open-prefix", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "U#{u}"}, samples: [{p: a, u: 1}, {p: a, u: 10}]}
  F: {attributes: {PK: "P#{p}", SK: "U#{u}#F#{f}"}, samples: [{p: a, u: 1, f: x}]}`, `note.*"1" of u is also a prefix of its siblings.*reads 10`},
		{"a user whose name begins another's", "open-prefix", `
entities: {E: {attributes: {PK: "P#{p}", SK: "USER#{u}"}, samples: [{p: a, u: ann}, {p: a, u: anna}]}}
patterns: [{name: q, query: {entity: E, where: {p: a, u: {begins_with: ann}}}}]`, `warning the prefix "USER#ann" is the whole key of a row and also reads siblings: USER#anna.*compare the whole key: SK = "USER#ann"`},
		{"an order whose number begins another's, raw", "open-prefix", `
entities: {E: {attributes: {PK: "P#{p}", SK: "ORDER#{o}"}, samples: [{p: a, o: 1}, {p: a, o: 10}]}}
patterns: [{name: q, request: {operation: Query, TableName: Tab, KeyConditionExpression: "PK = :p AND begins_with(SK, :a)", ExpressionAttributeValues: {":p": {S: "P#a"}, ":a": {S: "ORDER#1"}}}}]`, `warning the prefix "ORDER#1" is the whole key.*compare the whole key: SK = "ORDER#1"`},
		{"a raw request for the newest", "wrong-direction", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at}"}, samples: [{p: a, at: "2026-01-05T10:00:00Z"}, {p: a, at: "2026-01-06T10:00:00Z"}]}}
patterns: [{name: the latest event, request: {operation: Query, TableName: Tab, Limit: 1, KeyConditionExpression: "PK = :p", ExpressionAttributeValues: {":p": {S: "P#a"}}}}]`, "error.*asks for the latest rows, but its limit keeps the oldest"},
		{"a key in descending order", "wrong-direction", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at:time:desc}#{id}"}, samples: [{p: a, id: x, at: "2026-01-05T10:00:00Z"}]}}
patterns: [{name: newest events, query: {entity: E, where: {p: a}, order: desc, limit: 5}}]`, "warning.*keeps the oldest.*read in descending order.*order: asc"},
		{"the highest score", "wrong-direction", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{score:int(6)}#{id}"}, samples: [{p: a, id: x, score: 5}, {p: a, id: y, score: 7}]}}
patterns: [{name: the highest score, query: {entity: E, where: {p: a}, limit: 1}}]`, "error.*asks for the highest rows, but its limit keeps the lowest"},
		{"a status that nobody declared mutable", "mutable-key", `
entities: {E: {attributes: {PK: "P#{p}", SK: "TASK#{status}#{task}"}, samples: [{p: a, status: open, task: x}]}}`, `warning status in SK, a key of table Tab, looks like a value that changes.*"TASK#{task}"`},
		{"a status as a part of a name", "mutable-key", `
entities: {E: {attributes: {PK: "P#{p}", SK: "TASK#{task_status}#{task}"}, samples: [{p: a, task_status: open, task: x}]}}`, `warning task_status in SK`},
		{"a score", "mutable-key", `
entities: {E: {attributes: {PK: "GAME#{game}", SK: "{highScore:int(6)}#{player}"}, samples: [{game: a, highScore: 7, player: x}]}}`, `warning highScore in SK`},
		{"a time of the last change", "mutable-key", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{updatedAt:time}#{task}"}, samples: [{p: a, updatedAt: "2026-01-05T10:00:00Z", task: x}]}}`, `warning updatedAt in SK`},
		{"states of a life", "mutable-key", `
fields: {state: {values: [OPEN, CLOSED]}}
entities: {E: {attributes: {PK: "P#{p}", SK: "{state}#{task}"}, samples: [{p: a, state: OPEN, task: x}]}}`, `warning state in SK`},
		{"both units, with a pattern that needs the order", "mixed-epoch", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at:number}#{id}"}, samples: [{p: a, id: x, at: 1767607200}, {p: a, id: y, at: 1767607200123}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}, order: desc, limit: 1}}]`, `error.*seconds since 1970 and milliseconds since 1970; "newest" needs the order of time`},
		{"padded epochs of both units", "mixed-epoch", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at:int(13)}"}, samples: [{p: a, at: 1767607200}, {p: a, at: 1767607200123}]}}`, "seconds since 1970 and milliseconds since 1970"},
		{"a range that begins at a fraction", "lost-fraction", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{at:epoch}#{id}"}, samples: [{p: a, id: x, at: "2026-01-05T10:00:00Z"}, {p: a, id: y, at: "2026-01-05T10:00:02Z"}]}}
patterns: [{name: q, query: {entity: E, where: {p: a, at: {">=": "2026-01-05T10:00:00.500Z"}}}}]`, `drops the fraction of the second.*"{at:epochms}#{id}"`},
		{"more items than moments", "time-only-key", `
entities: {E: {attributes: {PK: "ROOM#{room}", SK: "{at:time}"}, fields: {room: {values: [A]}, at: {type: time, from: "2026-01-05T00:00:00Z", to: "2026-01-05T01:00:00Z"}}, count: 500}}`, "warning.*among the 500 items of a partition, some have the same at and replace each other"},
		{"a status key brings a note", "filter-for-key", `
entities: {E: {attributes: {PK: "P#{p}", SK: "E#{e}", status: "{status}"}, mutable: [status], samples: [{p: a, e: 1, status: x}, {p: a, e: 2, status: x}, {p: a, e: 3, status: y}]}}
patterns: [{name: q, query: {entity: E, where: {p: a}, filter: status = "y"}}]`, `ByStatus: {partition: [PK, status], sort: SK}; write units of E 1 → 2; this brings a note of mutable-key: status changes`},
		{"a key that moves the hazard to another pattern", "component-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{a}#{b}"}, samples: [{p: a, a: x, b: y}]}}
patterns: [{name: by a, query: {entity: E, where: {p: a, a: x}}}, {name: by b, query: {entity: E, where: {p: a, b: y}}}]`, `add an index ByB: {partition: PK, sort: b}, store b as an attribute of E, and query it for "by b"`},
		{"two patterns that need two indexes", "component-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{c}#{a}#{b}"}, samples: [{p: a, a: x, b: y, c: z}]}}
patterns: [{name: by a, query: {entity: E, where: {p: a, a: x}}}, {name: by b, query: {entity: E, where: {p: a, b: y}}}]`, `no order of these components serves "by a" and "by b".*add an index ByA: {partition: PK, sort: a}.*no order of these components serves "by b" and "by a".*add an index ByB`},
		{"an index that has the order already", "component-order", `name: m
tables: {Tab: {partition: PK, sort: SK, indexes: {ByB: {partition: PK, sort: b}}}}
entities: {E: {attributes: {PK: "P#{p}", SK: "{a}#{b}", b: "{b}"}, samples: [{p: a, a: x, b: y}]}}
patterns: [{name: by a, query: {entity: E, where: {p: a, a: x}}}, {name: by b, query: {entity: E, where: {p: a, b: y}}}]`, `query index ByB instead`},
		{"a template without the delimiter", "delimiter-in-value", `
entities:
  E: {attributes: {PK: "P#{p}", SK: "{product}"}, samples: [{p: a, product: "TV#55"}]}
  F: {attributes: {PK: "P#{p}", SK: "{product}#V#{v}"}, samples: [{p: a, product: TV, v: red}]}`, `another delimiter in SK for the entities whose keys continue after product`},
		{"rows in an index of the table's own key", "index-cost", `name: m
tables: {Tab: {partition: PK, sort: SK, indexes: {Inverted: {partition: SK, sort: PK}}}}
entities:
  E: {attributes: {PK: "P#{p}", SK: "E#{e}"}, samples: [{p: a, e: x}]}
  F: {attributes: {PK: "P#{p}", SK: "F#{f}"}, samples: [{p: a, f: x}]}
patterns: [{name: q, query: {entity: E, index: Inverted, where: {e: x}}}]`, "no pattern reads the rows of F in index Inverted.*P#a\"\nadd the patterns that need them"},
		{"a sentinel after a whole key", "high-sentinel", `
entities: {E: {attributes: {PK: "P#{p}", SK: "USER#{u}"}, samples: [{p: a, u: ann}, {p: a, u: anna}]}}` +
			raw("PK = :p AND #s BETWEEN :a AND :b", "USER#ann", "USER#ann~"), "use begins_with, which needs no bound, with a prefix that ends with the delimiter"},
		{"an index by part of its partition key", "partition-prefix", `
entities: {E: {attributes: {PK: "P#{p}", SK: A, GSI1PK: "T#{t}#{k}", GSI1SK: "S"}, samples: [{p: a, t: x, k: y}]}}
patterns: [{name: q, query: {entity: E, index: GSI1, where: {t: x}}}]`, `add an index ByT: {partition: t, sort: k}`},
		{"not a range, as expected", "component-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "{a}#{b}"}, samples: [{p: a, a: x, b: y}]}}
patterns: [{name: q, query: {entity: E, where: {p: a, b: y}}, expect: {error: NotARange}}]`, `note.*write SK: "{b}#{a}"`},
		{"a word goes with its component", "component-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "C#USER#{user}#{at:time}#{n:int(2)}"}, samples: [{p: a, user: x, at: "2026-01-05T10:00:00Z", n: 1}]}}
patterns: [{name: newest, query: {entity: E, where: {p: a}}}]`, `write SK: "C#{at:time}#USER#{user}#{n:int(2)}"`},
		{"random text", "random-order", `
entities: {E: {attributes: {PK: "P#{p}", SK: "E#{id}"}, samples: [{p: a, id: 4f1c9a7be2d03586}, {p: a, id: 9a7be2d035864f1c}]}}
patterns: [{name: latest, query: {entity: E, where: {p: a}}}]`, "use an id that begins with its time, {id:ulid}"},
		{"a filter without an index", "filter-for-key", `
entities: {E: {attributes: {PK: "P#{p}", SK: "E#{e}", kind: "{kind}"}, samples: [{p: a, e: 1, kind: x}, {p: a, e: 2, kind: x}, {p: a, e: 3, kind: y}]}}
patterns: [{name: q, query: {entity: E, where: {p: a}, filter: kind = "y"}}]`, `ByKind: {partition: [PK, kind], sort: SK}`},
		{"a scan with a filter", "filter-for-key", `
entities: {E: {attributes: {PK: "P#{p}", SK: "E#{e}", kind: "{kind}"}, samples: [{p: a, e: 1, kind: x}, {p: a, e: 2, kind: x}, {p: a, e: 3, kind: y}]}}
patterns: [{name: q, scan: {table: Tab, filter: kind = "y"}}]`, "add an index with the partition key kind"},
		{"different conditions", "sparse-index", `
fields: {s: {values: [A, B, C]}}
entities: {E: {attributes: {PK: "P#{p}", SK: A, GSI1PK: {template: "S#{s}", when: {s: [A]}}, GSI1SK: {template: "{s}", when: {s: [B]}}}, samples: [{p: a, s: A}]}}`, "different conditions"},
		{"some lack a value", "sparse-index", `
entities: {E: {attributes: {PK: "P#{p}", SK: A, GSI1PK: "S#{s}", GSI1SK: "{d}"}, samples: [{p: a, s: x, d: y}, {p: b}]}}`, "index GSI1 leaves out 1 of 2 items of E because of a missing key attribute"},
		{"one item that all read", "loads", `
entities: {E: {attributes: {PK: "CONFIG", SK: "MAIN"}, samples: [{}], rates: {reads: 9000}}}`, "keep copies of the item"},
		{"few partitions for many requests", "loads", `
fields: {s: {values: [A, B]}}
entities: {E: {attributes: {PK: "S#{s}", SK: "{e}"}, samples: [{s: A, e: x}]}}
patterns: [{name: q, query: {entity: E, where: {s: A}}, rate: 20000}]`, "gets 5,000 read units per second.*spread over 2 partitions at most"},
		{"a partition of the current day gets all writes", "loads", `
fields: {at: {type: time, from: 2025-01-01, to: 2025-12-31}}
entities: {Log: {attributes: {PK: "LOG#{at:date}", SK: "{e}"}, count: 5000, rates: {writes: 9000}}}`, `partition "LOG#2025-.*" of table Tab gets 9,000 write units per second`},
		{"and the share of its other components", "loads", `
fields: {at: {type: time, from: 2025-01-01, to: 2025-12-31}, s: {values: [A, A, A, B]}}
entities: {Log: {attributes: {PK: "LOG#{s}#{at:date}", SK: "{e}"}, count: 5000, rates: {writes: 8000}}}`, `"LOG#A#2025-.* gets 6,019 write units per second in its period`},
		{"a skewed partition gets its share of requests", "loads", `
fields: {t: {distinct: 100, distribution: zipf(2)}}
entities: {E: {attributes: {PK: "T#{t}", SK: "{e}"}, count: 1000}}
patterns: [{name: q, query: {entity: E, where: {t: a}, limit: 1}, rate: 20000, asked: by_rows}]`, "gets 5,990 read units per second"},
		{"values are asked for equally often", "loads", `
fields: {t: {values: [a, b, c, d]}, u: {distinct: 3}, big: {size: 4000}}
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
		{"half of what a partition serves", "loads", `
entities: {E: {attributes: {PK: "ALL", SK: "{e}"}, samples: [{e: x}, {e: y}], rates: {writes: 600}}}`, "warning"},
		{"a multi-attribute index shows the numbers", "multi-attribute", `
entities: {E: {attributes: {PK: "P#{p}", SK: A, GSI1PK: "T#{t}", GSI1SK: "{n:number}#{m}"}, samples: [{p: a, t: x, n: 9, m: x}, {p: b, t: x, n: 10, m: x}]}}`, "in a different order"},
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

// TestLocalIndexLoad holds that writes to a local index count in the partition of
// the table.
func TestLocalIndexLoad(t *testing.T) {
	w := parse(t, `name: m
tables: {Tab: {partition: PK, sort: SK, indexes: {ByL: {local: true, sort: l, projection: all}}}}
entities: {E: {attributes: {PK: "ALL", SK: "{e}", l: "{e}"}, count: 10, rates: {writes: 600}}}
`, 0)
	found := of(w, "loads")
	require.NotEmpty(t, found)
	require.Contains(t, found[0].Message, `partition "ALL" of table Tab gets 1,200 write units`)
}

// TestManyAlike holds that proposals of a large model are tried for its first findings only, as each trial compares
// all entities. The others keep the general advice.
func TestManyAlike(t *testing.T) {
	var model strings.Builder
	model.WriteString("name: m\ntables: {Tab: {partition: PK, sort: SK}}\nentities:\n")
	for i := range 100 {
		fmt.Fprintf(&model, "  E%d: {attributes: {PK: \"{id}\", SK: A, a%d: \"{v}\"}, samples: [{id: x%d, v: y}]}\n", i, i, i)
	}
	found := of(parse(t, model.String(), 0), "same-shape")
	require.Len(t, found, 99)
	for i, f := range found {
		want := fmt.Sprintf("begin SK with the entity name: \"E%d\"", i+1)
		if i >= 30 {
			want = "begin the partition key or the sort key with the entity name"
		}
		require.Equal(t, want, f.Advice)
	}
}
