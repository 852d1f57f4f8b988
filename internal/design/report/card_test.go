package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/design/world"
)

// TestSliceRows holds that the rows of a slice and those beside it lead to their items on the page, with attributes.
func TestSliceRows(t *testing.T) {
	long := strings.Repeat("a-long-name-", 5)
	w, r := checked(t, parse(t, `
name: orders
tables: {Shop: {partition: PK, sort: SK}}
items:
  Shop:
    - {PK: c1, SK: "ORDER#1", total: 10, tags: [a, b]}
    - {PK: c1, SK: "ORDER#2`+long+`", total: 20, day: Monday}
    - {PK: c1, SK: "ORDER#3", total: 30, day: Tuesday}
    - {PK: c1, SK: "PROFILE#", name: Ada}
patterns:
  - {name: some, query: {table: Shop, where: {PK: c1, SK: {between: ["ORDER#2", "ORDER#3"]}}}}
`), world.Options{})
	page := inspect(t, render(t, w, r))
	slice := page.id("slice-1")

	links := slice.all(func(n *node) bool { return n.name == "a" })
	require.Len(t, links, 4, "two rows, and one at each side")
	for _, a := range links {
		to := page.id(strings.TrimPrefix(a.attrs["href"], "#"))
		require.NotNil(t, to, a.attrs["href"])
		require.Contains(t, to.text, a.text)
	}
	require.Equal(t, "ORDER#2"+long, links[1].text, "whole")

	var titles []string
	for _, th := range slice.all(func(n *node) bool { return n.name == "th" && n.attrs["scope"] == "col" }) {
		titles = append(titles, th.text)
	}
	require.Equal(t, []string{"SK", "total", "day", "name", "tags", "bytes"}, titles, "by frequency, documents last")
	require.Contains(t, slice.text, "Monday")
	require.Contains(t, slice.text, "Ada", "of the row beside the slice")
}

// TestNarrowKeys holds that a column of attributes needs more room the longer the keys are.
func TestNarrowKeys(t *testing.T) {
	class := func(key string) string {
		w, r := checked(t, parse(t, `
name: keys
tables: {Shop: {partition: PK, sort: SK}}
items: {Shop: [{PK: a, SK: "`+key+`", total: 10}]}
patterns: [{name: all, query: {table: Shop, where: {PK: a}}}]
`), world.Options{})
		for _, th := range inspect(t, render(t, w, r)).id("slice-1").all(func(n *node) bool { return n.name == "th" }) {
			if th.text == "total" {
				return th.attrs["class"]
			}
		}
		return "none"
	}
	require.Equal(t, "w4 n", class("k"))
	require.Equal(t, "w7 n", class(strings.Repeat("k", 50)))
	require.Equal(t, "none", class(strings.Repeat("k", 500)), "a key is worth more than an attribute")
}

// TestWasteBar holds that the bar is as long as the waste.
func TestWasteBar(t *testing.T) {
	w, r := checked(t, parse(t, `
name: waste
tables: {Shop: {partition: PK, sort: SK}}
items: {Shop: [{PK: a, SK: "1", x: 1}, {PK: a, SK: "2", x: 2}, {PK: a, SK: "3", x: 2}, {PK: a, SK: "4", x: 2}]}
patterns:
  - {name: none, query: {table: Shop, where: {PK: a}}}
  - {name: quarter, query: {table: Shop, where: {PK: a}, filter: "x > 1"}}
  - {name: all, query: {table: Shop, where: {PK: a}, filter: "x > 9"}}
`), world.Options{})
	page := inspect(t, render(t, w, r))
	for id, want := range map[string][]string{
		"pattern-1": nil, "pattern-2": {"59", "14.8"}, "pattern-3": {"59", "59"},
	} {
		var got []string
		for _, bar := range page.id(id).class("waste") {
			for _, box := range bar.all(func(n *node) bool { return n.name == "rect" }) {
				got = append(got, box.attrs["width"])
			}
		}
		require.Equal(t, want, got, id)
	}
	require.Contains(t, page.id("pattern-1").class("waste")[0].text, "0%")
}

// TestNothing holds that an answer without rows says what to do.
func TestNothing(t *testing.T) {
	w, _ := checked(t, parse(t, `
name: nothing
tables: {Shop: {partition: PK, sort: SK}}
items: {Shop: [{PK: a, SK: m, x: 1}]}
`), world.Options{})
	answer := func(op, request string) string {
		q, err := explain.Parse(op, json.RawMessage(request))
		require.NoError(t, err)
		pr, err := check.Explain(t.Context(), explain.InProcess(w.DB), q, explain.Options{})
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, report.Answer(&b, &pr, nil, func(attr.Item) string { return "javascript:alert(1)" }))
		require.NotContains(t, b.String(), "javascript:", "html/template refuses such an address")
		return b.String()
	}
	const query = `"TableName": "Shop", "ExpressionAttributeValues": {":p": {"S": "%s"}%s}, "KeyConditionExpression": "PK = :p`
	for _, tt := range []struct{ op, request, want string }{
		{"Query", `{` + fmt.Sprintf(query, "b", "") + `"}`, "No rows have this partition key."},
		{"Query", `{` + fmt.Sprintf(query, "a", `, ":s": {"S": "x"}`) + ` AND SK > :s"}`, "No rows are in this range. Change"},
		{"Query", `{` + fmt.Sprintf(query, "b", `, ":s": {"S": "x"}`) + ` AND SK > :s"}`, "nor beside it"},
		{"Query", `{` + fmt.Sprintf(query, "a", `, ":n": {"N": "5"}`) + `", "FilterExpression": "x > :n"}`, "The filter drops all"},
		{"GetItem", `{"TableName": "Shop", "Key": {"PK": {"S": "a"}, "SK": {"S": "n"}}}`, "No item has this key"},
		{"Query", `{` + fmt.Sprintf(query, "a", "") + `"}`, ""},
	} {
		page := answer(tt.op, tt.request)
		if tt.want == "" {
			require.NotContains(t, page, `class="empty"`)
			continue
		}
		require.Contains(t, page, tt.want, tt.request)
	}
}
