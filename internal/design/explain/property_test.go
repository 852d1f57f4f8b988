package explain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
)

// A side is a key attribute in the simple model.
type side struct {
	name string
	kind attr.Kind
}

// A place is the key of a table or an index in the simple model.
type place struct {
	index      string
	local      bool
	hash, sort []side
	holds      []string // attributes besides the keys; nil means all
}

var (
	pk = side{"PK", attr.String}
	sk = side{"SK", attr.String}
	gp = side{"G", attr.String}
	gn = side{"N", attr.Number}
	gs = side{"T", attr.String}
)

func places() []place {
	return []place{
		{hash: []side{pk}, sort: []side{sk}},
		{index: "one", hash: []side{gp}, sort: []side{gs}},
		{index: "number", hash: []side{gp}, sort: []side{gn}, holds: []string{}},
		{index: "many", hash: []side{gp, pk}, sort: []side{gn, gs}, holds: []string{"x"}},
		{index: "mine", local: true, hash: []side{pk}, sort: []side{gn}, holds: []string{}},
		{index: "full", local: true, hash: []side{pk}, sort: []side{gs}},
	}
}

func createRequest(list []place) json.RawMessage {
	seen := map[string]bool{}
	var defs []any
	schema := func(p place) (out []any) {
		for i, a := range slices.Concat(p.hash, p.sort) {
			if !seen[a.name] {
				seen[a.name] = true
				defs = append(defs, map[string]any{"AttributeName": a.name, "AttributeType": a.kind.String()})
			}
			kind := "HASH"
			if i >= len(p.hash) {
				kind = "RANGE"
			}
			out = append(out, map[string]any{"AttributeName": a.name, "KeyType": kind})
		}
		return out
	}
	req := map[string]any{"TableName": "Things", "BillingMode": "PAY_PER_REQUEST", "KeySchema": schema(list[0])}
	var local, global []any
	for _, p := range list[1:] {
		projection := map[string]any{"ProjectionType": "ALL"}
		if p.holds != nil {
			projection["ProjectionType"] = "KEYS_ONLY"
			if len(p.holds) > 0 {
				projection = map[string]any{"ProjectionType": "INCLUDE", "NonKeyAttributes": p.holds}
			}
		}
		d := map[string]any{"IndexName": p.index, "KeySchema": schema(p), "Projection": projection}
		if p.local {
			local = append(local, d)
		} else {
			global = append(global, d)
		}
	}
	req["LocalSecondaryIndexes"], req["GlobalSecondaryIndexes"], req["AttributeDefinitions"] = local, global, defs
	raw, _ := json.Marshal(req)
	return raw
}

// texts are sort keys that are close to each other, or at boundaries of byte values.
var texts = []string{"", "a", "a#", "a#1", "a#10", "a#2", "a$", "b", "b\x00", "\x7f", "é", "é1", "ê", "\ue000", "\U0010ffff", "\U0010ffff\U0010ffff", "z"}

func drawValue(t *proptest.T, k attr.Kind) attr.Value {
	if k == attr.Number {
		v, _ := attr.NewNumber(proptest.Pick(t, "0", "0.5", "1", "2", "10", "99", "1e20", "-1.5", "-10"))
		return v
	}
	return attr.NewString(proptest.Pick(t, texts[1:]...))
}

func drawItems(t *proptest.T) []attr.Item {
	byKey := map[string]attr.Item{}
	for range t.Between(0, 60) {
		var b attr.Builder
		b.Add("PK", attr.NewString(proptest.Pick(t, "p", "q")))
		b.Add("SK", drawValue(t, attr.String))
		for _, a := range []side{gp, gn, gs} {
			if t.IntN(6) > 0 {
				v := drawValue(t, a.kind)
				if a == gp {
					v = attr.NewString(proptest.Pick(t, "g", "h"))
				}
				b.Add(a.name, v)
			}
		}
		b.Add("x", drawValue(t, attr.Number))
		fill := proptest.Pick(t, 1, 100, 5000, 60000)
		t.Logf("%s and %d bytes", b.Item().AppendJSON(nil), fill)
		b.Add("fill", attr.NewString(strings.Repeat("f", fill)))
		it := b.Item()
		byKey[it.Get("PK").String()+it.Get("SK").String()] = it
	}
	items := make([]attr.Item, 0, len(byKey))
	for _, it := range byKey {
		items = append(items, it)
	}
	return items
}

func serve(t require.TestingT, db *sortkey.DB, target, body string) {
	out, status := engine.Of(db).Service.Serve(context.Background(), "DynamoDB_20120810."+target, []byte(body), nil)
	require.Equal(t, 200, status, "%s", out)
}

// A cond is a random condition on one attribute.
type cond struct {
	a    side
	op   string
	args []attr.Value
}

func (c cond) holds(v attr.Value) bool {
	n, _ := attr.Compare(v, c.args[0])
	switch c.op {
	case "=":
		return n == 0
	case "<":
		return n < 0
	case "<=":
		return n <= 0
	case ">":
		return n > 0
	case ">=":
		return n >= 0
	case "begins_with":
		return bytes.HasPrefix(v.Raw(), c.args[0].Raw())
	}
	m, _ := attr.Compare(v, c.args[1])
	return n >= 0 && m <= 0
}

func (c cond) text(i int) string {
	switch c.op {
	case "begins_with":
		return fmt.Sprintf("begins_with(%s, :c%d)", c.a.name, i)
	case "between":
		return fmt.Sprintf("%s BETWEEN :c%d AND :d%d", c.a.name, i, i)
	}
	return fmt.Sprintf("%s %s :c%d", c.a.name, c.op, i)
}

func drawConds(t *proptest.T, p place) []cond {
	var out []cond
	for _, a := range p.hash {
		v := attr.NewString(proptest.Pick(t, map[string][]string{"PK": {"p", "q", "r"}, "G": {"g", "h"}}[a.name]...))
		out = append(out, cond{a, "=", []attr.Value{v}})
	}
	n := t.Between(0, len(p.sort))
	for i, a := range p.sort[:n] {
		ops := []string{"="}
		if i == n-1 {
			ops = []string{"=", "<", "<=", ">", ">=", "between"}
			if a.kind == attr.String {
				ops = append(ops, "begins_with")
			}
		}
		c := cond{a, proptest.Pick(t, ops...), []attr.Value{drawValue(t, a.kind)}}
		if c.op == "between" {
			c.args = append(c.args, drawValue(t, a.kind))
			slices.SortFunc(c.args, func(v, w attr.Value) int { n, _ := attr.Compare(v, w); return n })
		}
		out = append(out, c)
	}
	return out
}

// in returns the items that a place holds, unsorted: those that have all its key attributes.
func (p place) in(items []attr.Item) (rows []attr.Item) {
	for _, it := range items {
		if !slices.ContainsFunc(slices.Concat(p.hash, p.sort), func(a side) bool { return it.Get(a.name).Kind() != a.kind }) {
			rows = append(rows, it)
		}
	}
	return rows
}

func (p place) compare(x, y attr.Item) int {
	for _, a := range p.sort {
		if n, _ := attr.Compare(x.Get(a.name), y.Get(a.name)); n != 0 {
			return n
		}
	}
	if p.index == "" {
		return 0
	}
	hash := func(it attr.Item) uint32 { return store.Hash(slices.Concat(it.Get("PK").Raw(), it.Get("SK").Raw())) }
	if a, b := hash(x), hash(y); a != b {
		return int(a) - int(b)
	}
	if n, _ := attr.Compare(x.Get("PK"), y.Get("PK")); n != 0 {
		return n
	}
	n, _ := attr.Compare(x.Get("SK"), y.Get("SK"))
	return n
}

// size returns the size that the documentation gives to an item's row in a place.
func (p place) size(it attr.Item) int {
	if p.holds == nil {
		return it.Size()
	}
	n := 0
	for i := range it.Len() {
		name, v := it.At(i)
		s := string(name)
		key := s == "PK" || s == "SK" || slices.ContainsFunc(slices.Concat(p.hash, p.sort), func(a side) bool { return a.name == s })
		if key || slices.Contains(p.holds, s) {
			n += len(name) + v.Size()
		}
	}
	return n
}

// TestRun compares reports with a simple model that filters all items: the examined rows, their order, the adjacent
// rows and the cost.
func TestRun(t *testing.T) {
	list := places()
	create := createRequest(list)
	property := func(t *proptest.T) {
		db, err := sortkey.Open(sortkey.Options{})
		require.NoError(t, err)
		defer db.Close()
		serve(t, db, "CreateTable", string(create))
		items := drawItems(t)
		for _, it := range items {
			serve(t, db, "PutItem", `{"TableName":"Things","Item":`+string(it.AppendJSON(nil))+`}`)
		}
		for range 5 {
			checkRun(t, db, items, proptest.Pick(t, list...))
		}
	}
	proptest.CheckTapes(t, 100, 1000, 1500, func(tape []byte) string { return proptest.Play(t, tape, property) }, nil)
}

func checkRun(t *proptest.T, db *sortkey.DB, items []attr.Item, p place) {
	conds := drawConds(t, p)
	req := map[string]any{"TableName": "Things"}
	if p.index != "" {
		req["IndexName"] = p.index
	}
	var b attr.Builder
	text := ""
	for i, c := range conds {
		if i > 0 {
			text += " AND "
		}
		text += c.text(i)
		b.Add(fmt.Sprintf(":c%d", i), c.args[0])
		if len(c.args) > 1 {
			b.Add(fmt.Sprintf(":d%d", i), c.args[1])
		}
	}
	req["KeyConditionExpression"] = text
	filter := p.index != "number" && p.index != "mine" && t.Bool()
	if filter {
		req["FilterExpression"] = "x > :zero"
		zero, _ := attr.NewNumber("0")
		b.Add(":zero", zero)
	}
	reverse := t.Bool()
	req["ScanIndexForward"] = !reverse
	limit := proptest.Pick(t, 0, 0, 1, 3)
	if limit > 0 {
		req["Limit"] = limit
	}
	consistent := (p.index == "" || p.local) && t.Bool()
	if consistent {
		req["ConsistentRead"] = true
	}
	if t.Bool() {
		req["ProjectionExpression"] = "PK, SK"
	}
	req["ExpressionAttributeValues"] = json.RawMessage(b.Item().AppendJSON(nil))
	raw, err := json.Marshal(req)
	require.NoError(t, err)
	t.Logf("%s", raw)
	r, err := runJSON(context.Background(), explain.InProcess(db), "Query", raw, explain.Options{Items: 100})
	require.NoError(t, err)
	require.Nil(t, r.Refused, "%s", raw)
	require.Empty(t, r.Notes, "%s", raw)
	checkTraces(t, r)

	// rows are all rows of the partition in order, and want those that the conditions select.
	rows := slices.DeleteFunc(p.in(items), func(it attr.Item) bool {
		return slices.ContainsFunc(conds[:len(p.hash)], func(c cond) bool { return !c.holds(it.Get(c.a.name)) })
	})
	slices.SortFunc(rows, p.compare)
	inside := func(it attr.Item) bool {
		return !slices.ContainsFunc(conds, func(c cond) bool { return !c.holds(it.Get(c.a.name)) })
	}
	first := slices.IndexFunc(rows, inside)
	key := func(it attr.Item) string {
		if it == nil {
			return ""
		}
		return fmt.Sprint(it.Get("PK"), it.Get("SK"))
	}
	if first >= 0 {
		last := first
		for last < len(rows) && inside(rows[last]) {
			last++
		}
		want := rows[first:last]
		var before, after attr.Item
		if first > 0 {
			before = rows[first-1]
		}
		if last < len(rows) {
			after = rows[last]
		}
		require.Equal(t, key(before), key(r.Before), "%s", raw)
		require.Equal(t, key(after), key(r.After), "%s", raw)
		checkRows(t, p, r, want, reverse, limit, filter, consistent)
		return
	}
	require.Zero(t, r.Examined)
	// The range is empty, so the rows on both sides of it are neighbours.
	at := slices.IndexFunc(rows, func(it attr.Item) bool { return r.After != nil && key(it) == key(r.After) })
	switch {
	case r.After == nil && r.Before == nil:
		require.True(t, len(rows) == 0 || len(conds) == len(p.hash), "%s", raw)
	case r.After == nil:
		require.Equal(t, key(rows[len(rows)-1]), key(r.Before), "%s", raw)
	case at == 0:
		require.Nil(t, r.Before)
	default:
		require.Equal(t, key(rows[at-1]), key(r.Before), "%s", raw)
	}
}

// checkTraces holds that the service counts the same rows, bytes and units as the report.
func checkTraces(t require.TestingT, r *explain.Report) {
	examined, size, units := 0, 0, 0.0
	for _, tr := range r.Traces {
		examined, size, units = examined+tr.Examined, size+tr.Bytes, units+tr.Units
	}
	require.Len(t, r.Traces, r.Pages)
	require.Equal(t, r.Stop, r.Traces[r.Pages-1].Stop.String())
	require.Equal(t, []any{r.Examined, r.Bytes, r.Units(false)}, []any{examined, size, units})
}

func checkRows(t *proptest.T, p place, r *explain.Report, want []attr.Item, reverse bool, limit int, filter, consistent bool) {
	if reverse {
		want = slices.Clone(want)
		slices.Reverse(want)
	}
	if limit > 0 && len(want) >= limit {
		if len(want) > limit {
			require.Equal(t, fmt.Sprint(want[limit].Get("PK"), want[limit].Get("SK")), fmt.Sprint(r.Next.Get("PK"), r.Next.Get("SK")))
		}
		want = want[:limit]
		require.Equal(t, "Limit", r.Stop)
		require.NotNil(t, r.Last)
	} else {
		require.Nil(t, r.Last)
	}
	require.Len(t, r.Rows, len(want))
	returned, size := 0, 0
	for i, it := range want {
		require.Equal(t, it.Get("PK").String()+it.Get("SK").String(), r.Rows[i].Key.Get("PK").String()+r.Rows[i].Key.Get("SK").String())
		n, _ := attr.Compare(it.Get("x"), zero)
		kept := !filter || n > 0
		require.Equal(t, kept, r.Rows[i].Returned)
		if kept {
			returned++
		}
		size += p.size(it)
	}
	require.Equal(t, len(want), r.Examined)
	require.Equal(t, returned, r.Returned)
	require.Equal(t, size, r.Bytes)
	if !filter {
		require.Zero(t, r.Wasted)
	}
	if r.Pages == 1 && r.Fetched == 0 {
		require.Equal(t, math.Max(1, math.Ceil(float64(size)/4096))/2, r.Eventual)
	}
	used := r.Eventual
	if consistent {
		used = r.Strong
	}
	require.Equal(t, used, r.Consumed)
}

var zero, _ = attr.NewNumber("0")
