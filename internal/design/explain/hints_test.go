package explain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// A tree is a random condition on SK, both as text and as a function.
type tree struct {
	text  string
	holds func(sk attr.Value) bool
}

func drawTree(t *proptest.T, depth int, values *attr.Builder, n *int) tree {
	value := func() (string, attr.Value) {
		*n++
		name, v := fmt.Sprintf(":v%d", *n), attr.NewString(proptest.Pick(t, "a", "a#", "a#1", "a#2", "b", "é", "z"))
		values.Add(name, v)
		return name, v
	}
	kind := proptest.Pick(t, "=", "<>", "<", "<=", ">", ">=", "between", "begins_with", "in", "contains")
	if depth > 0 && t.Bool() {
		kind = proptest.Pick(t, "and", "or", "not")
	}
	switch kind {
	case "and", "or":
		l, r := drawTree(t, depth-1, values, n), drawTree(t, depth-1, values, n)
		if kind == "and" {
			return tree{"(" + l.text + ") AND (" + r.text + ")", func(v attr.Value) bool { return l.holds(v) && r.holds(v) }}
		}
		return tree{"(" + l.text + ") OR (" + r.text + ")", func(v attr.Value) bool { return l.holds(v) || r.holds(v) }}
	case "not":
		x := drawTree(t, depth-1, values, n)
		return tree{"NOT (" + x.text + ")", func(v attr.Value) bool { return !x.holds(v) }}
	}
	p, v := value()
	c := cond{a: sk, op: kind, args: []attr.Value{v}}
	switch kind {
	case "between":
		p2, v2 := value()
		if m, _ := attr.Compare(v, v2); m > 0 {
			p, p2, v, v2 = p2, p, v2, v
		}
		c.args = []attr.Value{v, v2}
		return tree{"SK BETWEEN " + p + " AND " + p2, c.holds}
	case "in":
		p2, v2 := value()
		return tree{"SK IN (" + p + ", " + p2 + ")", func(x attr.Value) bool { return attr.Equal(x, v) || attr.Equal(x, v2) }}
	case "contains":
		return tree{"contains(SK, " + p + ")", func(x attr.Value) bool { return strings.Contains(string(x.Raw()), string(v.Raw())) }}
	case "begins_with":
		return tree{"begins_with(SK, " + p + ")", c.holds}
	case "<>":
		return tree{"SK <> " + p, func(x attr.Value) bool { return !attr.Equal(x, v) }}
	}
	return tree{"SK " + kind + " " + p, c.holds}
}

// TestHints explains random conditions in one partition and runs the requests that the hints describe. If a hint says
// to combine several requests, these together must find exactly the rows that a scan finds. Any other request must
// find at least these rows.
func TestHints(t *testing.T) {
	db := makeDB(t, "table Things PK SK\nlocal Mine (PK) (n:N) keys\nitem {\"PK\": \"q\", \"SK\": \"a\"}")
	defer db.Close()
	var all []attr.Value
	for _, text := range []string{"a", "a#", "a#1", "a#10", "a#2", "a$", "b", "c", "z", "zz", "é", "ê"} {
		v := attr.NewString(text)
		all = append(all, v)
		serve(t, db, "PutItem", `{"TableName":"Things","Item":{"PK":{"S":"p"},"n":{"N":"1"},"SK":`+string(v.AppendJSON(nil))+`}}`)
	}
	proptest.Check(t, 100, func(t *proptest.T) {
		var values attr.Builder
		values.Add(":p", attr.NewString("p"))
		n := 0
		c := drawTree(t, 2, &values, &n)
		request, err := json.Marshal(map[string]any{
			"TableName": "Things", "KeyConditionExpression": "PK = :p AND (" + c.text + ")", "ExpressionAttributeValues": json.RawMessage(values.Item().AppendJSON(nil)),
		})
		require.NoError(t, err)
		t.Logf("%s", request)
		r, err := runJSON(context.Background(), explain.InProcess(db), "Query", request, explain.Options{})
		require.NoError(t, err)
		var want []string
		for _, v := range all {
			if c.holds(v) {
				want = append(want, string(v.Raw()))
			}
		}
		if r.Refused == nil {
			require.Equal(t, want, sortKeys(t, r.Items), c.text)
			return
		}
		require.NotEmpty(t, r.Refused.Rule, c.text)
		require.NotEmpty(t, r.Hints, c.text)
		checkHints(t, db, r.Hints, want, c.text)
	})
}

func checkHints(t *proptest.T, db *sortkey.DB, hints []string, want []string, text string) {
	var together []string
	parts, inexact := 0, false
	for _, h := range hints {
		body, operation := requestIn(t, h)
		if body == "" {
			continue
		}
		found := find(t, db, operation, body)
		inProgram := strings.Contains(h, "in the program")
		if strings.HasPrefix(h, "send ") {
			parts++
			inexact = inexact || inProgram
			together = append(together, found...)
			continue
		}
		for _, key := range want {
			require.Contains(t, found, key, "%s: %s", text, h)
		}
		if !inProgram {
			require.Equal(t, want, found, "%s: %s", text, h)
		}
	}
	if parts == 0 {
		return
	}
	slices.Sort(together)
	together = slices.Compact(together)
	if inexact {
		for _, key := range want {
			require.Contains(t, together, key, text)
		}
		return
	}
	require.ElementsMatch(t, want, together, text)
}

// inHint matches the place and the conditions of the request that a hint describes.
var inHint = regexp.MustCompile(
	`(query|scan) (?:the table|index (\w+)) with (?:the filter )?([^;]+?)(?:, and the filter ([^;]+))?(?:;|$)`)

// requestIn returns the request that a hint describes, or "".
func requestIn(t *proptest.T, hint string) (body, operation string) {
	m := inHint.FindStringSubmatch(hint)
	if m == nil {
		return "", ""
	}
	place := literal.Placeholders{}
	members := map[string]any{"TableName": "Things"}
	put := func(member, condition string) {
		if condition != "" {
			expression, err := place.Expression(condition)
			require.NoError(t, err, hint)
			members[member] = expression
		}
	}
	operation = "Query"
	if m[1] == "scan" {
		operation = "Scan"
		put("FilterExpression", m[3])
	} else {
		put("KeyConditionExpression", m[3])
		put("FilterExpression", m[4])
	}
	if m[2] != "" {
		members["IndexName"] = m[2]
	}
	if names := place.Names(); len(names) > 0 {
		members["ExpressionAttributeNames"] = names
	}
	members["ExpressionAttributeValues"] = json.RawMessage(place.Values().AppendJSON(nil))
	out, err := json.Marshal(members)
	require.NoError(t, err)
	return string(out), operation
}

// find runs a request and returns the sort keys that it finds in partition p.
func find(t *proptest.T, db *sortkey.DB, operation, body string) []string {
	answer, status := engine.Of(db).Service.Serve(context.Background(), "DynamoDB_20120810."+operation, []byte(body), nil)
	require.Equal(t, 200, status, "%s: %s", body, answer)
	var out struct{ Items []json.RawMessage }
	require.NoError(t, json.Unmarshal(answer, &out))
	var items []attr.Item
	for _, raw := range out.Items {
		it, err := attr.ParseItem(raw)
		require.NoError(t, err)
		items = append(items, it)
	}
	return sortKeys(t, items)
}

func sortKeys(_ *proptest.T, items []attr.Item) (keys []string) {
	for _, it := range items {
		if string(it.Get("PK").Raw()) == "p" {
			keys = append(keys, string(it.Get("SK").Raw()))
		}
	}
	slices.Sort(keys)
	return keys
}

// FuzzRun holds that every request gives an error, or a report that can be written.
func FuzzRun(f *testing.F) {
	db, err := sortkey.Open(sortkey.Options{})
	if err != nil {
		f.Fatal(err)
	}
	defer db.Close()
	body, status := engine.Of(db).Service.Serve(context.Background(), "DynamoDB_20120810.CreateTable", createRequest(places()), nil)
	if status != 200 {
		f.Fatalf("%s", body)
	}
	for _, item := range []string{
		`{"PK":{"S":"p"},"SK":{"S":"a"},"G":{"S":"g"},"N":{"N":"1"},"T":{"S":"t"}}`,
		`{"PK":{"S":"p"},"SK":{"S":"b"},"G":{"S":"g"},"N":{"N":"20"},"T":{"S":"u"},"x":{"N":"1"}}`,
	} {
		if body, status := engine.Of(db).Service.Serve(context.Background(), "DynamoDB_20120810.PutItem", []byte(`{"TableName":"Things","Item":`+item+`}`), nil); status != 200 {
			f.Fatalf("%s", body)
		}
	}
	f.Add("query", `{"TableName":"Things","KeyConditionExpression":"begins_with(PK, :p) OR NOT SK IN (:a, :b)","FilterExpression":"N <> :n","ExpressionAttributeValues":{":p":{"S":"p"},":a":{"S":"a"},":b":{"S":""},":n":{"N":"1"}}}`)
	f.Add("query", `{"TableName":"Things","IndexName":"many","KeyConditionExpression":"G = :g AND PK = :p AND begins_with(N, :n) AND T > \"x\"","ExpressionAttributeValues":{":p":{"S":"p"},":g":{"S":"g"},":n":{"N":"2"}}}`)
	f.Add("scan", `{"TableName":"Things","FilterExpression":"PK = :p AND size(SK) > :n","Limit":1,"ExpressionAttributeValues":{":p":{"S":"p"},":n":{"N":"0"}}}`)
	f.Add("get-item", `{"TableName":"Things","Key":{"PK":{"S":"p"},"N":{"N":"1"}}}`)
	f.Add("query", `{"TableName":"Things","KeyConditions":{"PK":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"p"}]}},"Select":"COUNT"}`)
	f.Add("", `{"TableName":"Things","KeyConditionExpression":"PK = :p","ExpressionAttributeValues":{":p":"p"},"Limit":"5"}`)
	f.Add("", `{"operation":"get-item","TableName":5,"Key":{"PK":["p"],"SK":true}}`)
	f.Fuzz(func(t *testing.T, op, request string) {
		r, err := runJSON(context.Background(), explain.InProcess(db), op, json.RawMessage(request), explain.Options{})
		if err != nil {
			return
		}
		if len(r.Notes) > 0 && !strings.Contains(r.Notes[0], "cannot query the row outside") {
			t.Errorf("%s %s: %q", op, request, r.Notes)
		}
		var out strings.Builder
		if err := r.WriteText(&out, explain.TextOptions{Prose: 60, Color: true}); err != nil {
			t.Error(err)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	})
}
