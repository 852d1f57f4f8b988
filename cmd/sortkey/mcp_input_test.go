package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Errors say what to do.
func TestErrors(t *testing.T) {
	t.Parallel()
	c := connect(t, example(t, "shop", true))
	for _, tt := range []struct{ tool, arguments, want string }{
		{"query", `{}`, "query needs the argument table"},
		{"query", `{"table": "Shop"}`, "query needs the argument partition"},
		{"query", `{"table": "Shop", "partition": null}`, "query needs the argument partition"},
		{"query", `{"tabel": "Shop"}`, "did you mean table?"},
		{"query", `{"table": "Shp", "partition": "x"}`, "did you mean Shop?"},
		{"query", `{"table": "Shop", "partition": ["x"]}`, "partition of query must be of type string"},
		{"query", `{"table": "Shop", "partition": "x", "limit": "many"}`, "limit of query must be of type integer"},
		{"query", `{"table": "Shop", "partition": "x", "limit": 1e99}`, "limit of query must be of type integer"},
		{"query", `{"table": "Shop", "partition": "x", "limit": 0}`, "limit of query must be at least 1"},
		{"explain", `{"table": "Shop", "partition": "x", "pages": -1}`, "pages of explain must be at least 1"},
		{"query", `{"table": "Shop", "partition": "x", "index": "No"}`, "its indexes are"},
		{"query", `{"table": "Shop", "partition": "x", "filter": "price <"}`, "price <"},
		{"query", `{"table": "Shop", "partition": "x", "filter": "a = 'x"}`, "To do"},
		{"query", `{"table": "Shop", "partition": "x", "sort": "contains y"}`, "is not a sort condition"},
		{"query", `{"table": "Shop", "partition": "x", "sort": "> a OR < b"}`, "a query reads one range"},
		{"query", `{"table": "Shop", "partition": "x", "sort": "price < 10"}`, "without its name"},
		{"query", `{"table": "Shop", "partition": "x", "cursor": {"PK": "x"}}`, "ExclusiveStartKey"},
		{"query", `{"table": "Shop", "partition": "x", "cursor": 5}`, "cursor of query must be of type object"},
		{"query", `{"table": "Shop", "partition": "x", "index": "GSI1", "consistent": true}`, "Consistent reads are"},
		{"scan", `{"table": "Shop", "limit": -1}`, "limit of scan must be at least 1"},
		{"get", `{"table": "Shop", "partition": "x"}`, "give a value for each of PK, SK"},
		{"put", `{"table": "Shop", "item": {"PK": "x"}}`, "SK"},
		{"put", `{"table": "Shop", "item": "PK"}`, "item of put must be of type object"},
		{"put", `{"table": "Shop", "item": {"PK": "USER#123", "SK": "PROFILE#"}, "if": "attribute_not_exists(PK)"}`,
			"nothing is written: the condition is false\nTo do: the item is {PK: "},
		{"update", `{"table": "Shop", "partition": "x", "sort": "y", "update": "SET"}`, "SET"},
		{"update", `{"table": "Shop", "partition": "x", "sort": "y", "update": "SET PK = \"z\""}`, "part of the key"},
		{"delete", `{"table": "Shop", "partition": "x", "sort": "y", "if": "n <"}`, "n <"},
		{"explain", `{}`, "explain needs a request"},
		{"explain", `{"table": "Shop", "pattern": "x"}`, "one request"},
		{"explain", `{"table": "Shop"}`, "needs a partition"},
		{"explain", `{"pattern": "orders of a custommer"}`, "did you mean orders of a customer?"},
		{"explain", `{"request": "hello"}`, "neither JSON nor a SELECT"},
		{"explain", `{"request": "{\"TableName\": "}`, "not valid JSON"},
		{"explain", `{"request": {"operation": 5}}`, "the member operation is 5, not the name of an operation"},
		{"explain", `{"request": {"RequestItems": {}}}`, "cannot explain BatchGetItem or BatchWriteItem"},
		{"explain", `{"request": {"TransactStatements": []}}`, "cannot explain ExecuteTransaction"},
		{"explain", `{"request": {"TransactItems": []}}`, "cannot explain TransactGetItems or TransactWriteItems"},
		{"explain", `{"request": {"TableName": "Shop", "Key": {}, "UpdateExpression": "x"}}`, "cannot explain UpdateItem"},
		{"explain", `{"request": {"Table": "Shop"}}`, "the request names no table"},
		{"explain", `{"request": {"operation": "PutItem", "TableName": "Shop"}}`, "explain a Query, Scan, GetItem or"},
		{"design_check", `{}`, "design_check needs the argument model"},
		{"design_check", `{"model": "name: x\ntables: 5\n"}`, "model:2:9"},
		{"tables", `[1]`, "arguments"},
	} {
		answer, failed := c.try(tt.tool, tt.arguments)
		require.True(t, failed, "%s %s: %s", tt.tool, tt.arguments, answer)
		require.Contains(t, answer, tt.want, "%s %s", tt.tool, tt.arguments)
		require.NotContains(t, answer, "--", "%s %s: tools have no flags", tt.tool, tt.arguments)
	}
}

// TestExplain tests that explain answers a request that the service rejects, without an error.
func TestExplain(t *testing.T) {
	t.Parallel()
	c := connect(t, example(t, "shop", true))
	for _, tt := range []struct{ arguments, want string }{
		{`{"table": "Shop", "partition": "x", "sort": "y*"}`, `Query of Shop`},
		{`{"request": "SELECT * FROM Shop WHERE PK = 'USER#123' OR SK = 'x'"}`, "the SELECT is a scan"},
		{
			`{"request": {"TableName": "Shop", "Key": {"PK": {"S": "USER#123"}, "SK": {"S": "PROFILE#"}}}}`,
			"GetItem of Shop",
		},
		{`{"request": {"TableName": "Shop", "KeyConditionExpression": "PK > :p",
			"ExpressionAttributeValues": {":p": {"S": "x"}}}}`, "rule"},
		{`{"table": "Shop", "partition": "x", "filter": "status = = 1"}`, "status = = 1\n"},
		{`{"pattern": "orders of a customer"}`, "Order"},
	} {
		require.Contains(t, c.call("explain", tt.arguments), tt.want, tt.arguments)
	}
}

// FuzzCall calls tools with any arguments, and tests that each call returns an answer or an error.
func FuzzCall(f *testing.F) {
	o := example(f, "shop", true)
	o.MaxAnswer = 2000
	c := connect(f, o)
	var names []string
	for tool, err := range c.session.Tools(context.Background(), nil) {
		require.NoError(f, err)
		if tool.Name != "design_check" { // it takes long
			names = append(names, tool.Name)
		}
	}
	for i, s := range []string{
		`{"table": "Shop", "partition": "CUSTOMER#C1", "sort": "between a and z", "filter": "total > 1"}`,
		`{"table": "Shop", "partition": 5, "cursor": {"PK": {"S": ""}}}`, `{"request": {"TableName": "Shop"}}`,
		`{"request": "SELECT"}`, `{"skip": -1}`,
		`{"table": "Shop", "item": {"PK": null, "SK": {"S": 5}}}`,
		`null`, `[]`, `""`,
	} {
		for tool := range names {
			f.Add(byte(tool+i), s)
		}
	}
	f.Fuzz(func(t *testing.T, tool byte, arguments string) {
		if !json.Valid([]byte(arguments)) {
			return
		}
		c := &client{t, c.session}
		answer, _ := c.try(names[int(tool)%len(names)], arguments)
		require.NotContains(t, answer, "failed inside")
		require.Less(t, len(answer), 3*2000+1000)
	})
}

// TestDescriptions checks what clients show to their language models, and that docs/agents.md lists all tools.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "agents.md"))
	require.NoError(t, err)
	c := connect(t, example(t, "shop", true))
	for tool, err := range c.session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		require.Contains(t, string(page), "`"+tool.Name+"`")
		require.Greater(t, len(tool.Description), 100, tool.Name)
		schema := tool.InputSchema.(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		if schema["required"] != nil {
			require.Contains(t, tool.Description, `{"`, "%s has an example", tool.Name)
		}
		for name, p := range properties {
			require.NotEmpty(t, p.(map[string]any)["description"], "%s.%s", tool.Name, name)
			kind := p.(map[string]any)["type"]
			require.IsType(t, "", kind, "%s.%s has one type: some clients take no more", tool.Name, name)
			require.NotRegexp(t, `\b(N|NAME|VALUE|CONDITION|EXPRESSION|ATTRIBUTES)\b`, p.(map[string]any)["description"],
				"%s.%s names a value as a command line does", tool.Name, name)
			if name == "limit" {
				require.EqualValues(t, 1, p.(map[string]any)["minimum"], tool.Name)
				require.EqualValues(t, math.MaxInt32, p.(map[string]any)["maximum"], tool.Name)
			}
		}
	}
}
