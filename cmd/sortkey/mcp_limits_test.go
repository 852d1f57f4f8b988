package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/sortkeytest"
)

// An answer is the answer to a query or a scan.
type answer struct {
	Read struct {
		Examined, Returned int
		Units              float64
		Stop               string
	}
	Items            []map[string]any
	LastEvaluatedKey json.RawMessage
	Note             string
}

// page calls a tool that reads items.
func (c *client) page(tool string, arguments map[string]any) (a answer) {
	c.t.Helper()
	raw, err := json.Marshal(arguments)
	require.NoError(c.t, err)
	text := c.call(tool, string(raw))
	require.NoError(c.t, json.Unmarshal([]byte(text), &a), text)
	return a
}

// TestToolPages tests that cut answers have cursors, and that all pages together have every item once.
func TestToolPages(t *testing.T) {
	t.Parallel()
	o := example(t, "shop", false)
	whole := o
	whole.MaxAnswer = 10 << 20
	o.MaxAnswer = 1000
	c, all := connect(t, o), connect(t, whole)
	for _, tt := range []struct {
		tool      string
		arguments map[string]any
	}{
		{"query", map[string]any{"table": "Shop", "index": "GSI1", "partition": "CATEGORY#Books"}},
		{"query", map[string]any{"table": "Shop", "index": "GSI1", "partition": "CATEGORY#Books", "filter": "price > 100"}},
		{"query", map[string]any{"table": "Shop", "index": "GSI1", "partition": "CATEGORY#Books", "descending": true}},
		{"query", map[string]any{
			"table": "Shop", "index": "GSI1", "partition": "CATEGORY#Books", "project": []string{"price"}, "limit": 30,
		}},
		{"query", map[string]any{"table": "Shop", "partition": "CUSTOMER#C1"}},
		{"scan", map[string]any{
			"table": "Shop", "index": "GSI1", "limit": 100, "filter": "begins_with(GSI1PK, \"WAREHOUSE\")",
		}},
	} {
		name := fmt.Sprint(tt.tool, tt.arguments)
		var got, want []map[string]any
		for _, side := range []struct {
			c     *client
			items *[]map[string]any
		}{{c, &got}, {all, &want}} {
			delete(tt.arguments, "cursor")
			for n := 0; ; n++ {
				require.Less(t, n, 1000, name)
				a := side.c.page(tt.tool, tt.arguments)
				*side.items = append(*side.items, a.Items...)
				if a.LastEvaluatedKey == nil {
					break
				}
				require.Contains(t, a.Note, "lastEvaluatedKey as cursor", name)
				tt.arguments["cursor"] = a.LastEvaluatedKey
			}
		}
		require.NotEmpty(t, want, name)
		require.Equal(t, want, got, name)
	}
}

func TestLargeItem(t *testing.T) {
	t.Parallel()
	o := example(t, "shop", true)
	o.MaxAnswer = 1000
	c := connect(t, o)
	c.call("put", `{"table": "Shop", "item": {"PK": "a", "SK": "b", "text": "`+strings.Repeat("x", 5000)+`", "n": 1}}`)
	for _, text := range []string{
		c.call("get", `{"table": "Shop", "partition": "a", "sort": "b"}`),
		c.call("query", `{"table": "Shop", "partition": "a"}`),
	} {
		require.Less(t, len(text), 1500)
		require.Contains(t, text, `{"PK":"a","SK":"b"}`)
		require.Contains(t, text, "text (5,000 bytes)")
	}
	require.Contains(t, c.call("get", `{"table": "Shop", "partition": "a", "sort": "b", "project": ["n"]}`), `"n":1`)
}

// TestLongReport tests that skip returns the rest of a cut report.
func TestLongReport(t *testing.T) {
	t.Parallel()
	o := example(t, "shop", true)
	raw, err := json.Marshal(string(modelfile.Starter()))
	require.NoError(t, err)
	whole := connect(t, o).call("design_check", fmt.Sprintf(`{"model": %s}`, raw))
	o.MaxAnswer = 1000
	c := connect(t, o)
	got, skip := "", 0
	for {
		part := c.call("design_check", fmt.Sprintf(`{"model": %s, "skip": %d}`, raw, skip))
		require.Less(t, len(part), 1200)
		text, note, cut := strings.Cut(part, "\n(cut here; ")
		got += text
		if !cut {
			break
		}
		_, err := fmt.Sscanf(note, "for the rest call the tool again with skip: %d", &skip)
		require.NoError(t, err, note)
	}
	require.Equal(t, whole, got)
}

// TestNumbers tests that numbers keep all their digits, in every form in which a tool accepts an item.
func TestNumbers(t *testing.T) {
	t.Parallel()
	c := connect(t, example(t, "shop", true))
	const n = "12345678901234567890123456789012345678"
	for _, item := range []string{
		`{"PK": "a", "SK": "b", "n": ` + n + `}`, `{"PK": {"S": "a"}, "SK": {"S": "b"}, "n": {"N": "` + n + `"}}`,
		`"{\"PK\": \"a\", \"SK\": \"b\", \"n\": ` + n + `}"`,
	} {
		c.call("put", `{"table": "Shop", "item": `+item+`}`)
		require.Contains(t, c.call("get", `{"table": "Shop", "partition": "a", "sort": "b"}`), `"n":`+n)
		c.call("delete", `{"table": "Shop", "partition": "a", "sort": "b"}`)
	}
}

// Tools read no files.
func TestNoFiles(t *testing.T) {
	t.Parallel()
	c := connect(t, example(t, "shop", true))
	for _, name := range []string{"x.yaml", "/etc/passwd", "../x", ""} {
		require.Contains(t, c.fail("design_check", `{"model": "`+name+`"}`), "To do: pass the text", name)
	}
	require.Contains(t, c.call("design_check", `{"model": "file-tree", "quiet": true}`), "patterns")
}

// TestManyTables tests that a list of many tables is cut, and that skip returns the rest.
func TestManyTables(t *testing.T) {
	t.Parallel()
	db := sortkeytest.New(t)
	for i := range 30 {
		db.Table(fmt.Sprintf("Table%02d", i), "p")
	}
	o := on(db.DB)
	o.MaxAnswer = 500
	c := connect(t, o)
	names, skip := "", 0
	for {
		part, note, cut := strings.Cut(c.call("tables", fmt.Sprintf(`{"skip": %d}`, skip)), "\n(cut here; ")
		names += part
		if !cut {
			break
		}
		_, err := fmt.Sscanf(note, "for the rest call the tool again with skip: %d", &skip)
		require.NoError(t, err, note)
	}
	var whole struct{ Tables []struct{ Name string } }
	require.NoError(t, json.Unmarshal([]byte(names), &whole), names)
	require.Len(t, whole.Tables, 30)
	require.Equal(t, "Table29", whole.Tables[29].Name)
	require.Equal(t, fmt.Sprintf("(the answer has only %d lines)\n", strings.Count(names, "\n")+1),
		c.call("tables", `{"skip": 1000}`))
}

// TestWrite tests that there are tools that write only if Options.Write is set.
func TestWrite(t *testing.T) {
	t.Parallel()
	o := example(t, "shop", true)
	const item = `{"table": "Shop", "partition": "x", "sort": "y"}`
	c := connect(t, o)
	require.Contains(t, c.call("put", `{"table": "Shop", "item": {"PK": "x", "SK": "y", "n": 1}}`), `"replaced": null`)
	require.Contains(t, c.call("get", item), `"n":1`)
	require.NotContains(t, c.call("tables", ""), `"writes"`)

	o.Write = false
	c = connect(t, o)
	require.Contains(t, c.call("tables", ""), `"writes": "are not allowed`)
	for _, tool := range []string{"put", "update", "delete"} {
		_, err := c.session.CallTool(t.Context(), &protocol.CallToolParams{Name: tool, Arguments: json.RawMessage(item)})
		require.ErrorContains(t, err, "unknown tool")
	}
	require.Contains(t, c.call("get", item), `"n":1`)
}
