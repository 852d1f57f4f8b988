package explain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/wire"
)

// A predicate is a random condition of a statement, with what it means.
type predicate struct {
	text  string
	holds func(attr.Item) bool
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// drawLeaf draws a condition on one attribute.
func drawLeaf(t *proptest.T, p place) predicate {
	switch t.IntN(8) {
	case 0:
		n := t.IntN(4)
		return predicate{fmt.Sprintf("x > %d", n), func(it attr.Item) bool {
			limit, _ := attr.NewNumber(fmt.Sprint(n))
			c, ok := attr.Compare(it.Get("x"), limit)
			return ok && c > 0
		}}
	case 1:
		missing := proptest.Pick(t, "G", "T", "x")
		return predicate{missing + " IS MISSING", func(it attr.Item) bool { return it.Get(missing).IsZero() }}
	}
	name := p.hash[0].name
	if t.IntN(3) > 0 {
		name = p.sort[0].name
	}
	a, b := proptest.Pick(t, "a", "b", "c", "d"), proptest.Pick(t, "a", "b", "c", "d")
	get := func(it attr.Item) (string, bool) { return string(it.Get(name).Raw()), !it.Get(name).IsZero() }
	on := func(text string, holds func(string) bool) predicate {
		return predicate{text, func(it attr.Item) bool { v, ok := get(it); return ok && holds(v) }}
	}
	switch t.IntN(8) {
	case 0:
		return on(fmt.Sprintf("%s IN [%s, %s]", name, quoted(a), quoted(b)), func(v string) bool { return v == a || v == b })
	case 1:
		lo, hi := min(a, b), max(a, b)
		return on(fmt.Sprintf("%s BETWEEN %s AND %s", name, quoted(lo), quoted(hi)), func(v string) bool { return lo <= v && v <= hi })
	case 2:
		return on(fmt.Sprintf("begins_with(%s, %s)", name, quoted(a)), func(v string) bool { return strings.HasPrefix(v, a) })
	case 3:
		return on(fmt.Sprintf("%s >= %s", name, quoted(a)), func(v string) bool { return v >= a })
	case 4:
		return on(fmt.Sprintf("%s > %s", quoted(a), name), func(v string) bool { return v < a })
	}
	return on(fmt.Sprintf("%s = %s", name, quoted(a)), func(v string) bool { return v == a })
}

// drawPredicate draws a condition. The partition key is fixed more often than
// chance would have it.
func drawPredicate(t *proptest.T, p place, depth int) predicate {
	switch choice := t.IntN(8); {
	case depth == 0 || choice == 0:
		return drawLeaf(t, p)
	case choice == 1:
		x := drawPredicate(t, p, depth-1)
		return predicate{"NOT (" + x.text + ")", func(it attr.Item) bool { return !x.holds(it) }}
	case choice < 4:
		l, r := drawPredicate(t, p, depth-1), drawPredicate(t, p, depth-1)
		return predicate{"(" + l.text + " OR " + r.text + ")", func(it attr.Item) bool { return l.holds(it) || r.holds(it) }}
	}
	v, name := proptest.Pick(t, "a", "b", "c"), p.hash[0].name
	r := drawPredicate(t, p, depth-1)
	return predicate{name + " = " + quoted(v) + " AND " + r.text, func(it attr.Item) bool { return string(it.Get(name).Raw()) == v && r.holds(it) }}
}

// TestSelect compares a SELECT, page by page, with a filter over all items and
// with what its explanation says: the Query or Scan that it is, or the queries.
func TestSelect(t *testing.T) {
	list := places()
	create := createRequest(list)
	property := func(t *proptest.T) {
		db, err := sortkey.Open(sortkey.Options{})
		require.NoError(t, err)
		defer db.Close()
		serve(t, db, "CreateTable", string(create))
		byKey := map[string]attr.Item{}
		for range t.Between(0, 25) {
			var b attr.Builder
			for _, name := range []string{"PK", "SK", "G", "T"} {
				if v := proptest.Pick(t, "a", "b", "c", "ab"); len(name) == 2 || t.Often(80) {
					b.Add(name, attr.NewString(v))
				}
			}
			if t.Often(80) {
				x, _ := attr.NewNumber(fmt.Sprint(t.IntN(5)))
				b.Add("x", x)
			}
			byKey[keyText(b.Item())] = b.Item()
			serve(t, db, "PutItem", `{"TableName":"Things","Item":`+string(b.Item().AppendJSON(nil))+`}`)
		}
		for range 5 {
			checkSelect(t, db, byKey, proptest.Pick(t, list[0], list[1], list[5]))
		}
	}
	proptest.CheckTapes(t, 150, 500, 1500, func(tape []byte) string { return proptest.Play(t, tape, property) }, nil)
}

func keyText(it attr.Item) string { return fmt.Sprint(it.Get("PK"), it.Get("SK")) }

func checkSelect(t *proptest.T, db *sortkey.DB, byKey map[string]attr.Item, p place) {
	where := drawPredicate(t, p, t.Between(0, 3))
	from := "Things"
	if p.index != "" {
		from += `."` + p.index + `"`
	}
	statement := "SELECT PK, SK FROM " + from + " WHERE " + where.text
	desc := t.Bool()
	ordered := t.Often(30)
	if ordered {
		statement += " ORDER BY " + p.hash[0].name + ", " + p.sort[0].name
		if desc {
			statement += " DESC"
		}
	}
	t.Logf("%s", statement)
	want := []string{}
	for key, it := range byKey {
		if !it.Get(p.hash[0].name).IsZero() && !it.Get(p.sort[0].name).IsZero() && where.holds(it) {
			want = append(want, key)
		}
	}
	slices.Sort(want)

	got, refused := selected(t, db, statement, proptest.Pick(t, 0, 1, 3))
	if refused != "" {
		known := []string{"Overlapping conditions with range keys", "Must have at least one non-optional hash key condition"}
		require.True(t, slices.ContainsFunc(known, func(text string) bool { return strings.Contains(refused, text) }), refused)
		return
	}
	if ordered {
		require.True(t, slices.IsSortedFunc(got, func(a, b string) int {
			x, y := byKey[a], byKey[b]
			if n, _ := attr.Compare(x.Get(p.hash[0].name), y.Get(p.hash[0].name)); n != 0 {
				return n
			}
			n, _ := attr.Compare(x.Get(p.sort[0].name), y.Get(p.sort[0].name))
			if desc {
				return -n
			}
			return n
		}), "%v", got)
	}
	slices.Sort(got)
	require.Equal(t, want, got)

	request, err := json.Marshal(map[string]string{"Statement": statement})
	require.NoError(t, err)
	r, err := runJSON(context.Background(), explain.InProcess(db), "ExecuteStatement", request, explain.Options{Items: 100})
	var queries []explain.Advice
	switch {
	case err != nil:
		require.Contains(t, err.Error(), "no row can satisfy all conditions")
		require.Empty(t, want)
		return
	case r.Refused == nil && r.Operation == "Query":
		queries = r.Advice[:1]
	case r.Refused == nil:
		require.Equal(t, len(want), r.Returned)
		return
	case strings.Contains(r.Refused.Message, "queries, one for each range"):
		queries = r.Refused.Advice
	default:
		require.True(t, ordered, r.Refused.Message)
		return
	}
	// A Query has no filter on its own key attributes; the statement has. Queries
	// for the two sides of an OR may find the same item.
	union := []string{}
	for _, a := range queries {
		require.Equal(t, wire.OpQuery, a.Request.Op())
		for _, key := range answered(t, db, "Query", a.Request.AppendJSON(nil)) {
			if where.holds(byKey[key]) {
				union = append(union, key)
			}
		}
	}
	slices.Sort(union)
	require.Equal(t, want, slices.Compact(union))
}

// selected returns the keys that a SELECT returns, in their order, reading page
// by page, or the error.
func selected(t *proptest.T, db *sortkey.DB, statement string, limit int) (keys []string, refused string) {
	request := map[string]any{"Statement": statement}
	if limit > 0 {
		request["Limit"] = limit
	}
	keys = []string{}
	for {
		body, err := json.Marshal(request)
		require.NoError(t, err)
		raw, status := inside.Service(db).Serve(context.Background(), "DynamoDB_20120810.ExecuteStatement", body, nil)
		if status != 200 {
			return nil, string(raw)
		}
		var page struct {
			Items     []json.RawMessage
			NextToken string
		}
		require.NoError(t, json.Unmarshal(raw, &page))
		for _, item := range page.Items {
			it, err := attr.ParseItem(item)
			require.NoError(t, err)
			keys = append(keys, keyText(it))
		}
		if page.NextToken == "" {
			return keys, ""
		}
		request["NextToken"] = page.NextToken
	}
}

// answered returns the keys of the items that a request finds.
func answered(t *proptest.T, db *sortkey.DB, op string, body []byte) (keys []string) {
	raw, status := inside.Service(db).Serve(context.Background(), "DynamoDB_20120810."+op, body, nil)
	require.Equal(t, 200, status, "%s", raw)
	var page struct{ Items []json.RawMessage }
	require.NoError(t, json.Unmarshal(raw, &page))
	for _, item := range page.Items {
		it, err := attr.ParseItem(item)
		require.NoError(t, err)
		keys = append(keys, keyText(it))
	}
	return keys
}
