package mcp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/mcp"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// An answer is that of a query or a scan.
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

// Answers that are cut have cursors, and all pages together have every item once.
func TestPages(t *testing.T) {
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

// A report that is cut goes on where it stopped.
func TestLongReport(t *testing.T) {
	t.Parallel()
	o := example(t, "shop", true)
	raw, err := json.Marshal(string(modelfile.Starter()))
	require.NoError(t, err)
	whole := connect(t, o).call("design_check", fmt.Sprintf(`{"content": %s}`, raw))
	o.MaxAnswer = 1000
	c := connect(t, o)
	got, skip := "", 0
	for {
		part := c.call("design_check", fmt.Sprintf(`{"content": %s, "skip": %d}`, raw, skip))
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

// Numbers keep all their digits, whichever way they come.
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

// Whatever tools name as a file, they read and write only in the folder.
func TestFiles(t *testing.T) {
	t.Parallel()
	_, model, err := examples.Read("file-tree")
	require.NoError(t, err)
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	require.NoError(t, os.WriteFile(outside, model, 0o600))
	o := example(t, "shop", true)
	var dir string
	o.Folder, dir = folder(t)
	c := connect(t, o)

	names := []string{
		outside, "../secret.yaml", "a/../../secret.yaml", "/etc/passwd", ".", "..", "", "no.yaml", "nul\x00.yaml",
		"~/x.yaml", "file:///etc/passwd",
	}
	if runtime.GOOS != "windows" {
		for name, to := range map[string]string{"link.yaml": outside, "up": filepath.Dir(outside), "dev.yaml": "/dev/zero"} {
			require.NoError(t, os.Symlink(to, filepath.Join(dir, name)))
			names = append(names, name)
		}
		names = append(names, "up/secret.yaml")
	}
	for _, name := range names {
		raw, err := json.Marshal(name)
		require.NoError(t, err)
		for _, call := range [][2]string{
			{"design_check", `{"model": %s}`}, {"design_load", `{"model": %s}`},
			{"design_diff", `{"old": "shop", "new": %s}`},
		} {
			text := c.fail(call[0], fmt.Sprintf(call[1], raw))
			require.NotContains(t, text, dir, "%s %s", call[0], name)
			require.Contains(t, text, "To do: ", "%s %s", call[0], name)
		}
		if name == "" || name == "no.yaml" {
			continue
		}
		for _, overwrite := range []bool{false, true} {
			c.fail("design_new", fmt.Sprintf(`{"file": %s, "overwrite": %v}`, raw, overwrite))
		}
	}
	now, err := os.ReadFile(outside)
	require.NoError(t, err)
	require.Equal(t, model, now)
	entries, err := os.ReadDir(filepath.Dir(outside))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func TestNoFolder(t *testing.T) {
	t.Parallel()
	c := connect(t, example(t, "shop", true))
	require.Contains(t, c.fail("design_check", `{"model": "x.yaml"}`), "--dir")
	require.Contains(t, c.fail("design_new", `{"file": "x.yaml"}`), "--dir")
	require.Contains(t, c.call("design_check", `{"model": "file-tree", "quiet": true}`), "patterns")
}

func TestDesignNew(t *testing.T) {
	t.Parallel()
	o := example(t, "shop", true)
	var dir string
	o.Folder, dir = folder(t)
	c := connect(t, o)
	starter := c.call("design_new", "")
	require.Contains(t, starter, "tables:")
	c.call("design_new", `{"file": "a.yaml"}`)
	require.FileExists(t, filepath.Join(dir, "model.schema.json"))
	c.call("design_check", `{"model": "a.yaml"}`)
	require.Contains(t, c.fail("design_new", `{"file": "a.yaml"}`), "is there")
	require.Contains(t, c.fail("design_new", `{"file": "a.sh"}`), "no name of a model file")
	require.Contains(t, c.fail("design_new", `{"file": "b.yaml", "content": "run: rm"}`), "nothing is written: b.yaml has")
	require.NoFileExists(t, filepath.Join(dir, "b.yaml"))
	const other = `"content": "name: x\ntables: {Things: {partition: p}}\n"`
	require.Contains(t, c.fail("design_new", `{`+other+`}`), "no file")
	c.call("design_new", `{"file": "a.yaml", "overwrite": true, `+other+`}`)
	data, err := os.ReadFile(filepath.Join(dir, "a.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(data), "Things")

	// A file that another process left behind is not in the way and does not change; the mode stays.
	file, left := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "a.yaml.new")
	require.NoError(t, os.WriteFile(left, []byte("left"), 0o600))
	require.NoError(t, os.Chmod(file, 0o600))
	c.call("design_new", `{"file": "a.yaml", "overwrite": true, `+other+`}`)
	data, err = os.ReadFile(left)
	require.NoError(t, err)
	require.Equal(t, "left", string(data))
	require.NoError(t, os.Remove(left))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)

	// A file that is no model stays.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ci.yaml"), []byte("on: push\n"), 0o600))
	require.Contains(t, c.fail("design_new", `{"file": "ci.yaml", "overwrite": true, `+other+`}`), "not a valid model")
	require.Contains(t, c.fail("design_check", `{"model": "ci.yaml", `+other+`}`), "two models")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 3, "temporary files are gone")
}

// An empty database gets its tables from a model.
func TestLoad(t *testing.T) {
	t.Parallel()
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	c := connect(t, mcp.Options{DB: db})
	require.Contains(t, c.call("tables", ""), "design_load")
	require.Contains(t, c.fail("query", `{"table": "Drive", "partition": "x"}`), "design_load")
	require.Contains(t, c.fail("explain", `{"pattern": "x"}`), "does not come from a model")
	c.call("design_load", `{"model": "file-tree", "items": 10}`)
	require.Contains(t, c.call("explain", `{"pattern": "direct children of root/"}`), "Query of Drive")
	require.Contains(t, c.fail("design_load", `{"content": "name: x\ntables: {Drive: {partition: p}}\n"}`), "other keys")
	c.call("fork_discard", "")
	require.Contains(t, c.call("tables", ""), `"tables": []`)
	require.Contains(t, c.fail("explain", `{"pattern": "direct children of root/"}`), "does not come from a model")
}

// A list of many tables is cut, and goes on.
func TestManyTables(t *testing.T) {
	t.Parallel()
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	c := connect(t, mcp.Options{DB: db, MaxAnswer: 500})
	model := "name: many\ntables:\n"
	for i := range 30 {
		model += fmt.Sprintf("  Table%02d: {partition: p, sort: s}\n", i)
	}
	raw, err := json.Marshal(model)
	require.NoError(t, err)
	c.call("design_load", fmt.Sprintf(`{"content": %s}`, raw))
	names, skip := []string(nil), 0
	for {
		text := c.call("tables", fmt.Sprintf(`{"skip": %d}`, skip))
		var page struct {
			Tables []struct{ Name string }
			Note   string
		}
		require.NoError(t, json.Unmarshal([]byte(text), &page), text)
		for _, table := range page.Tables {
			names = append(names, table.Name)
		}
		if page.Note == "" {
			break
		}
		_, err := fmt.Sscanf(page.Note, "cut here; for the rest call tables again with skip: %d", &skip)
		require.NoError(t, err, page.Note)
	}
	require.Len(t, names, 30)
	require.Equal(t, "Table29", names[29])
	require.Contains(t, c.call("fork_diff", `{}`), "skip: ")
}

// TestLongRequests holds that the log keeps the beginning of a long request, and shows those before it.
func TestLongRequests(t *testing.T) {
	t.Parallel()
	c := connect(t, example(t, "shop", false))
	c.page("query", map[string]any{"table": "Shop", "partition": "CUSTOMER#C1"})
	arguments, err := json.Marshal(map[string]any{"table": "Shop", "partition": strings.Repeat("é", 100_000)})
	require.NoError(t, err)
	_, _ = c.try("query", string(arguments))
	var log struct {
		Requests []struct{ Request string }
	}
	require.NoError(t, json.Unmarshal([]byte(c.call("requests", "{}")), &log))
	require.Len(t, log.Requests, 2)
	require.Less(t, len(log.Requests[1].Request), 5000)
}
