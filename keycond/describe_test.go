package keycond_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// schemas are those of a table and its indexes.
func schemas() map[string]*keycond.Schema {
	key, err := keycond.ParseSchema("PK / SK")
	if err != nil {
		panic(err)
	}
	all := map[string]*keycond.Schema{"": key}
	for name, spelled := range map[string]string{
		"one": "G:N / H", "num": "G:N / N:N", "bin": "B:B", "multi": "state, year:N / city, score:N",
	} {
		if all[name], err = key.Index(name, spelled); err != nil {
			panic(err)
		}
	}
	return all
}

// compiled compiles a key condition, in which #s stands for state and #y for year.
func compiled(t *testing.T, schema *keycond.Schema, source, values string) *keycond.Slice {
	t.Helper()
	params, err := attr.ParseItem([]byte(values))
	require.NoError(t, err)
	env, err := expr.NewEnv(expr.Params{Names: map[string]string{"#s": "state", "#y": "year"}, Values: params})
	require.NoError(t, err)
	cond, err := env.Condition(expr.KeyConditionExpression, source)
	require.NoError(t, err)
	slice, err := keycond.Compile(schema, cond)
	require.NoError(t, err, source)
	return slice
}

// TestDescribe compiles key conditions as the database does, so that it describes the ranges that a query really
// reads.
func TestDescribe(t *testing.T) {
	const values = `{":s": {"S": "a"}, ":t": {"S": "b/"}, ":n": {"N": "42"}, ":m": {"N": "-1.5"}, ":b": {"B": ` +
		`"AP8="}, ":z": {"S": "a\u0000"}}`
	for _, tt := range []struct{ index, cond, want string }{
		{"", `PK = :s`, `PK = "a", all of it`},
		{"", `PK = :s AND SK = :t`, `PK = "a", SK = "b/"`},
		{"", `PK = :s AND SK < :t`, `PK = "a", SK before "b/"`},
		{"", `PK = :s AND SK <= :t`, `PK = "a", SK up to "b/"`},
		{"", `PK = :s AND SK > :t`, `PK = "a", SK after "b/"`},
		{"", `PK = :s AND SK >= :t`, `PK = "a", SK from "b/"`},
		{"", `PK = :s AND SK BETWEEN :s AND :t`, `PK = "a", SK from "a" up to "b/"`},
		{"", `PK = :s AND begins_with(SK, :t)`, `PK = "a", SK from "b/" to before "b0"`},
		{"", `PK = :z AND begins_with(SK, :z)`, `PK = "a\x00", SK after "a" to before "a\x01"`},
		{"one", `G = :n AND H = :t`, `G = 42, H = "b/"`},
		{"one", `G = :n AND H > :t`, `G = 42, H after "b/"`},
		{"one", `G = :m AND begins_with(H, :t)`, `G = -1.5, H from "b/" to before "b0"`},
		{"one", `G = :n AND H BETWEEN :s AND :z`, `G = 42, H from "a" up to "a\x00"`},
		{"num", `G = :n AND N >= :m`, `G = 42, N from -1.5`},
		{"num", `G = :n AND N BETWEEN :m AND :n`, `G = 42, N from -1.5 up to 42`},
		{"bin", `B = :b`, `B = 0x00ff, all of it`},
		{"multi", `#s = :s AND #y = :n`, `state = "a" and year = 42, all of it`},
		{"multi", `#s = :s AND #y = :n AND city = :t`, `state = "a" and year = 42, (city, score) = ("b/")`},
		{
			"multi", `#s = :s AND #y = :n AND city = :t AND score > :m`,
			`state = "a" and year = 42, (city, score) after ("b/", -1.5) up to ("b/")`,
		},
	} {
		schema := schemas()[tt.index]
		slice := compiled(t, schema, tt.cond, values)
		if got := describe(schema, slice.Partition, slice.Range); got != tt.want {
			t.Errorf("%s by %q = %s, want %s", tt.cond, tt.index, got, tt.want)
		}
	}
}

// TestEnds checks that the condition decides whether a zero byte at the end of a position is part of a value.
func TestEnds(t *testing.T) {
	const values = `{":s": {"S": "a"}, ":n": {"N": "42"}, ":t": {"S": "b/"}, ":z": {"S": "a\u0000"}}`
	for _, tt := range []struct{ index, cond, low, high string }{
		{"", `PK = :s`, "", ""},
		{"", `PK = :s AND SK = :t`, `from "b/"`, `up to "b/"`},
		{"", `PK = :s AND SK = :z`, `from "a\x00"`, `up to "a\x00"`},
		{"", `PK = :s AND SK >= :z`, `from "a\x00"`, ``},
		{"", `PK = :s AND SK > :z`, `after "a\x00"`, ``},
		{"", `PK = :s AND SK < :z`, ``, `before "a\x00"`},
		{"", `PK = :s AND SK <= :z`, ``, `up to "a\x00"`},
		{"", `PK = :s AND SK BETWEEN :s AND :z`, `from "a"`, `up to "a\x00"`},
		{"", `PK = :s AND begins_with(SK, :z)`, `from "a\x00"`, `before "a\x01"`},
		{"one", `G = :n AND H > :z`, `after "a\x00"`, ``},
		{"multi", `#s = :s AND #y = :n AND city = :t AND score > :n`, `after ("b/", 42)`, `up to ("b/")`},
	} {
		slice := compiled(t, schemas()[tt.index], tt.cond, values)
		low, high := slice.Ends()
		names := schemas()[tt.index].SortNames()
		require.Equal(t, []string{tt.low, tt.high}, []string{low.Words(names, false), high.Words(names, true)}, tt.cond)
		require.Equal(t, []bool{slice.Range.Lo == nil, slice.Range.Hi == nil}, []bool{low == nil, high == nil})
		for _, end := range []struct {
			*keycond.Bound
			words, inclusive string
		}{{low, low.Words(names, false), "from "}, {high, high.Words(names, true), "up to "}} {
			require.True(t, strings.HasSuffix(end.words, end.Text(names)))
			if end.Bound != nil {
				require.Equal(t, strings.HasPrefix(end.words, end.inclusive), end.Inclusive)
			}
		}
	}
}

// TestDescribeStart describes pages that start after an item.
func TestDescribeStart(t *testing.T) {
	it, err := attr.ParseItem([]byte(`{"PK": {"S": "p"}, "SK": {"S": "s"}, "G": {"N": "1"}, "H": ` +
		`{"S": "h"}, "B": {"B": "AQ=="}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ index, forward, backward string }{
		{"", `PK = "p", SK after "s"`, `PK = "p", SK before "s"`},
		{"one", `G = 1, H after "h" at the item ("p", "s")`, `G = 1, H before "h" at the item ("p", "s")`},
		{"bin", `B = 0x01, items after the item ("p", "s")`, `B = 0x01, items before the item ("p", "s")`},
	} {
		schema := schemas()[tt.index]
		partition, _ := schema.AppendPartition(nil, it)
		sort, _ := schema.AppendSort(nil, it)
		words := func(r store.Range) string {
			return describe(schema, partition, r)
		}
		require.Equal(t, tt.forward, words(store.Range{Lo: append(bytes.Clone(sort), 0)}))
		require.Equal(t, tt.backward, words(store.Range{Hi: sort}))
	}
}

// TestDescribeAnything checks that no bytes cause a panic.
func TestDescribeAnything(t *testing.T) {
	proptest.Check(t, 500, func(t *proptest.T) {
		for _, s := range schemas() {
			describe(s, t.Bytes(0, 12), store.Range{Lo: t.Bytes(0, 12), Hi: t.Bytes(0, 12)})
		}
	})
}

// describe returns a slice in words.
func describe(s *keycond.Schema, partition []byte, r store.Range) string {
	low, high := s.Bounds(r)
	return keycond.DescribePartition(s.PartitionKey(partition)) + ", " + keycond.DescribeRange(s.SortNames(), low, high)
}
