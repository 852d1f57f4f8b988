package check_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/report"
)

// TestSliceRows holds that the rows in a slice and beside it show their whole keys and their attributes.
func TestSliceRows(t *testing.T) {
	long := strings.Repeat("a-long-name-", 5)
	w, r := linted(t, parsed(t, `
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
`), dataset.Options{})
	slice := inspect(t, render(t, w, r)).id("slice-1")
	require.Contains(t, slice.text, "ORDER#2"+long, "whole")

	var titles []string
	for _, th := range slice.all(func(n *node) bool { return n.name == "th" && n.attrs["scope"] == "col" }) {
		titles = append(titles, th.text)
	}
	require.Equal(t, []string{"SK", "total", "day", "name", "tags", "bytes"}, titles, "by frequency, documents last")
	require.Contains(t, slice.text, "Monday")
	require.Contains(t, slice.text, "Ada", "of the row beside the slice")
}

// TestNothing holds that an answer without rows advises what to do.
func TestNothing(t *testing.T) {
	w, _ := linted(t, parsed(t, `
name: nothing
tables: {Shop: {partition: PK, sort: SK}}
items: {Shop: [{PK: a, SK: m, x: 1}]}
`), dataset.Options{})
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
