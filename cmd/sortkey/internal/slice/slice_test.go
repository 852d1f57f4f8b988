package slice_test

import (
	"bytes"
	"testing"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/model"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/slice"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

func testTable() *model.Table {
	a := func(name string, kind attr.Kind) keycond.Attribute { return keycond.Attribute{Name: name, Kind: kind} }
	key := &keycond.Schema{
		Hash:  []keycond.Attribute{a("PK", attr.String)},
		Range: []keycond.Attribute{a("SK", attr.String)},
	}
	return &model.Table{Name: "T", Key: key, Indexes: []*keycond.Schema{
		{Index: "one", Hash: []keycond.Attribute{a("G", attr.Number)}, Range: []keycond.Attribute{a("H", attr.String)}, Table: key},
		{Index: "num", Hash: []keycond.Attribute{a("G", attr.Number)}, Range: []keycond.Attribute{a("N", attr.Number)}, Table: key},
		{Index: "bin", Hash: []keycond.Attribute{a("B", attr.Binary)}, Table: key},
		{
			Index: "multi", Table: key,
			Hash:  []keycond.Attribute{a("state", attr.String), a("year", attr.Number)},
			Range: []keycond.Attribute{a("city", attr.String), a("score", attr.Number)},
		},
	}}
}

// TestOf compiles key conditions as the database does, so that the words are
// about the very ranges it walks.
func TestOf(t *testing.T) {
	const values = `{":s": {"S": "a"}, ":t": {"S": "b/"}, ":n": {"N": "42"}, ":m": {"N": "-1.5"}, ":b": {"B": "AP8="}, ":z": {"S": "a\u0000"}}`
	for _, tt := range []struct{ index, cond, want string }{
		{"", `PK = :s`, `PK = "a", all of it`},
		{"", `PK = :s AND SK = :t`, `PK = "a", SK = "b/"`},
		{"", `PK = :s AND SK < :t`, `PK = "a", SK up to before "b/"`},
		{"", `PK = :s AND SK <= :t`, `PK = "a", SK up to "b/" itself`},
		{"", `PK = :s AND SK > :t`, `PK = "a", SK after "b/"`},
		{"", `PK = :s AND SK >= :t`, `PK = "a", SK from "b/"`},
		{"", `PK = :s AND SK BETWEEN :s AND :t`, `PK = "a", SK from "a" to "b/" itself`},
		{"", `PK = :s AND begins_with(SK, :t)`, `PK = "a", SK from "b/" to before "b0"`},
		{"", `PK = :z AND begins_with(SK, :z)`, `PK = "a\x00", SK after "a" to before "a\x01"`},
		{"one", `G = :n AND H = :t`, `G = 42, H = "b/"`},
		{"one", `G = :n AND H > :t`, `G = 42, H after "b/"`},
		{"one", `G = :m AND begins_with(H, :t)`, `G = -1.5, H from "b/" to before "b0"`},
		{"one", `G = :n AND H BETWEEN :s AND :z`, `G = 42, H from "a" to "a\x00" itself`},
		{"num", `G = :n AND N >= :m`, `G = 42, N from -1.5`},
		{"num", `G = :n AND N BETWEEN :m AND :n`, `G = 42, N from -1.5 to 42 itself`},
		{"bin", `B = :b`, `B = 0x00ff, all of it`},
		{"multi", `#s = :s AND #y = :n`, `state = "a" and year = 42, all of it`},
		{"multi", `#s = :s AND #y = :n AND city = :t`, `state = "a" and year = 42, (city, score) = ("b/")`},
		{"multi", `#s = :s AND #y = :n AND city = :t AND score > :m`, `state = "a" and year = 42, (city, score) after ("b/", -1.5) to ("b/") itself`},
	} {
		tab := testTable()
		schema, _ := tab.Schema(tt.index)
		params, err := attr.ParseItem([]byte(values))
		if err != nil {
			t.Fatal(err)
		}
		env, err := expr.NewEnv(map[string]string{"#s": "state", "#y": "year"}, params)
		if err != nil {
			t.Fatal(err)
		}
		cond, err := env.Condition(expr.KeyConditionExpression, tt.cond)
		if err != nil {
			t.Fatal(err)
		}
		compiled, err := keycond.Compile(schema, cond)
		if err != nil {
			t.Errorf("%s: %v", tt.cond, err)
			continue
		}
		got := slice.Of(table.Trace{Operation: "Query", Index: tt.index, Partition: compiled.Partition, Range: compiled.Range}, tab)
		if got.String() != tt.want {
			t.Errorf("%s by %q = %s, want %s", tt.cond, tt.index, got, tt.want)
		}
	}
}

// TestAfterStart is about pages that start after an item.
func TestAfterStart(t *testing.T) {
	tab := testTable()
	item, err := attr.ParseItem([]byte(`{"PK": {"S": "p"}, "SK": {"S": "s"}, "G": {"N": "1"}, "H": {"S": "h"}, "B": {"B": "AQ=="}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ index, forward, backward string }{
		{"", `PK = "p", SK after "s"`, `PK = "p", SK up to before "s"`},
		{"one", `G = 1, H after "h" at the item ("p", "s")`, `G = 1, H up to before "h" at the item ("p", "s")`},
		{"bin", `B = 0x01, items after the item ("p", "s")`, `B = 0x01, items up to before the item ("p", "s")`},
	} {
		schema, _ := tab.Schema(tt.index)
		partition, _ := schema.AppendPartition(nil, item)
		sort, _ := schema.AppendSort(nil, item)
		tr := table.Trace{Operation: "Query", Index: tt.index, Partition: partition, Range: store.Range{Lo: append(bytes.Clone(sort), 0)}}
		if got := slice.Of(tr, tab).String(); got != tt.forward {
			t.Errorf("after = %s, want %s", got, tt.forward)
		}
		tr.Range = store.Range{Hi: sort}
		if got := slice.Of(tr, tab).String(); got != tt.backward {
			t.Errorf("before = %s, want %s", got, tt.backward)
		}
	}
}

func TestRead(t *testing.T) {
	tr := table.Trace{Operation: "Query", Examined: 1, Returned: 1, Bytes: 1, Units: 1, Stop: table.StopEnd}
	if got, want := slice.Of(tr, testTable()).Read, "1 row examined, 1 returned, 1 byte, 1 read unit"; got != want {
		t.Errorf("Read = %s, want %s", got, want)
	}
	tr = table.Trace{Operation: "Query", Reverse: true, Examined: 9, Returned: 4, Bytes: 900, Fetched: 80, Units: 0.5, Stop: table.StopLimit}
	got := slice.Of(tr, testTable())
	if want := "9 rows examined, 4 returned, 900 bytes and 80 bytes from the table, 0.5 read units, stopped at Limit"; got.Read != want || got.Sort != "all of it, backwards" {
		t.Errorf("Of = %+v, want %s", got, want)
	}
	tr = table.Trace{Operation: "Scan", Span: store.Everything()}
	if got, want := slice.Of(tr, testTable()).String(), "all partitions"; got != want {
		t.Errorf("Of a scan = %s, want %s", got, want)
	}
	tr.Span = store.Segment(1, 2)
	tr.Span.After = &store.Position{Partition: []byte("p")}
	if got, want := slice.Of(tr, testTable()).String(), `hashes 800000 to ffffff, after partition "p"`; got != want {
		t.Errorf("Of a segment = %s, want %s", got, want)
	}
}

func FuzzOf(f *testing.F) {
	f.Add("multi", []byte("a\x00\x01b"), []byte("x\x00\x01\x00\x02"), []byte{0})
	f.Add("", []byte("a"), []byte("x"), []byte{})
	f.Fuzz(func(_ *testing.T, index string, partition, lo, hi []byte) {
		_ = slice.Of(table.Trace{Operation: "Query", Index: index, Partition: partition, Range: store.Range{Lo: lo, Hi: hi}}, testTable()).String()
	})
}
