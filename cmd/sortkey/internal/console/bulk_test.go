package console_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// A bulkRow is a row of a grid, as its page sends it.
type bulkRow struct{ Key, Sum string }

var rowSums = regexp.MustCompile(`(?s)<tr class="e[0-9n]+" data-sum="([^"]*)">.*?href="(item\?[^"]*)"`)

// rowsOf returns the rows of a page.
func rowsOf(t *testing.T, page string) (all []bulkRow) {
	t.Helper()
	for _, m := range rowSums.FindAllStringSubmatch(page, -1) {
		at, err := url.Parse(html.UnescapeString(m[2]))
		require.NoError(t, err)
		all = append(all, bulkRow{at.Query().Get("key"), m[1]})
	}
	return all
}

func (c *client) bulk(where, name, value string, rows []bulkRow) (status int, out struct {
	Written int
	Units   float64
	Refused []struct{ Key, Why string }
}, text string) {
	c.Helper()
	body, err := json.Marshal(map[string]any{"Rows": rows, "Name": name, "Value": value})
	require.NoError(c, err)
	status, text = c.do(http.MethodPost, "bulk?"+where, string(body))
	if status == http.StatusOK {
		require.NoError(c, json.Unmarshal([]byte(text), &out))
	}
	return status, out, text
}

// TestBulk sets an attribute of several rows and deletes them, each only if it is as it was shown.
func TestBulk(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "PK / SK", sortkeytest.Global("ByDay", "day / SK").Only())
	for i := range 6 {
		c.db.Put("Tab", map[string]any{"PK": "p", "SK": fmt.Sprint(i), "day": "x", "n": i})
	}
	rows := rowsOf(t, c.page("collection?name=Tab&partition=p"))
	require.Len(t, rows, 6)
	c.db.Put("Tab", map[string]any{"PK": "p", "SK": "1", "day": "x", "n": "somebody's"})
	c.db.Put("Tab", map[string]any{"PK": "p", "SK": "2", "day": "x", "n": 2, "added": true})
	status, _, _ := c.bulk("name=Tab", "", "", rows[3:4])
	require.Equal(t, http.StatusOK, status)

	_, out, _ := c.bulk("name=Tab", "state", `"paid"`, rows)
	require.Equal(t, 3, out.Written)
	require.Equal(t, 3.0, out.Units)
	require.Equal(t, `[{p, 1 somebody has changed it since it was shown} {p, 2 somebody has changed it since it was shown} {p, 3 there is no such item any more}]`, fmt.Sprint(out.Refused))
	dump := c.db.Dump("Tab")
	require.Contains(t, dump, "somebody's")
	require.Contains(t, dump, `added: true`)

	// The rows of an index have other attributes than their items.
	rows = rowsOf(t, c.page("table?name=Tab&index=ByDay"))
	require.Len(t, rows, 5)
	_, out, _ = c.bulk("name=Tab&index=ByDay", "n", "42", rows)
	require.Equal(t, 5, out.Written, out.Refused)
	rows = rowsOf(t, c.page("table?name=Tab"))
	_, out, _ = c.bulk("name=Tab", "", "", rows[:4])
	require.Equal(t, 4, out.Written)
	require.Len(t, rowsOf(t, c.page("table?name=Tab")), 1)

	for _, bad := range []struct{ where, name, value, want string }{
		{"name=Nope", "a", "1", "Nope"}, {"name=Tab", "SK", "1", "SK is in the key"}, {"name=Tab", "", "1", "name the attribute"},
		{"name=Tab", "a", `"open`, "quote"}, {"name=Tab&index=Nope", "a", "1", "no index"},
	} {
		status, _, text := c.bulk(bad.where, bad.name, bad.value, rows)
		require.Equal(t, http.StatusBadRequest, status, text)
		require.Contains(t, text, bad.want)
	}
	status, _, _ = c.bulk("name=Tab", "", "", nil)
	require.Equal(t, http.StatusBadRequest, status)
	status, _, _ = c.bulk("name=Tab", "", "", make([]bulkRow, 26))
	require.Equal(t, http.StatusBadRequest, status)
	_, out, _ = c.bulk("name=Tab", "day", `""`, rows[4:]) // the key of the index must not be empty
	require.Len(t, out.Refused, 1)
	_, out, _ = c.bulk("name=Tab", "", "", []bulkRow{{"", ""}, {"!", "x"}})
	require.Len(t, out.Refused, 2)
}

// TestBulkTypes holds that a value has the type that the attribute has in each item.
func TestBulkTypes(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id", sortkeytest.Global("ByCode", "code"))
	for _, tt := range []struct{ was, value, want string }{
		{`"a": {"S": "006"}`, "007", `a: "007"`},
		{`"a": {"S": "x"}`, "true", `a: "true"`},
		{`"a": {"S": "x"}`, `"q"`, `a: "q"`},
		{`"a": {"N": "6"}`, "007", `a: 7`},
		{`"b": {"N": "6"}`, "007", `a: 7`},
		{`"a": {"B": "AAAA"}`, "AP8=", `a: 0x00ff`},
		{`"a": {"SS": ["x"]}`, `["y", "z"]`, `a: <"y", "z">`},
		{`"a": {"BOOL": true}`, "no", `a: "no"`},
	} {
		c.db.PutJSON("Tab", []byte(`{"id": {"S": "1"}, `+tt.was+`}`))
		_, out, text := c.bulk("name=Tab", "a", tt.value, rowsOf(t, c.page("table?name=Tab")))
		require.Equal(t, 1, out.Written, text)
		require.Contains(t, c.db.Dump("Tab"), tt.want, "%+v", tt)
	}
	rows := rowsOf(t, c.page("table?name=Tab"))
	_, out, text := c.bulk("name=Tab", "code", "007", rows)
	require.Equal(t, 1, out.Written, text)
	status, _, text := c.bulk("name=Tab", "a", "", rowsOf(t, c.page("table?name=Tab")))
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, text, "give a value")
}

// TestBulkNames holds that only names that somebody can type are offered.
func TestBulkNames(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id")
	c.db.Put("Tab", map[string]any{"id": "1", "plain": 1, "a\u202eb": 1, strings.Repeat("l", 100): 1})
	options := regexp.MustCompile(`<option value="([^"]*)"></option>`).FindAllStringSubmatch(c.page("table?name=Tab"), -1)
	require.Len(t, options, 1)
	require.Equal(t, "plain", options[0][1])
}

// TestBulkHostile changes and deletes items of whatever key, through the rows that the page shows.
func TestBulkHostile(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Texts", "PK / SK")
	for i, v := range hostileKeys {
		c.db.PutJSON("Texts", fmt.Appendf(nil, `{"PK": {"S": %s}, "SK": {"S": %s}}`,
			quoted("S", v), quoted("S", hostileKeys[(i+1)%len(hostileKeys)])))
	}
	for _, name := range []string{"<b>\u202e", ""} {
		rows := rowsOf(t, c.page("table?name=Texts"))
		require.Len(t, rows, len(hostileKeys))
		for len(rows) > 0 {
			n := min(len(rows), 25)
			_, out, _ := c.bulk("name=Texts", name, name, rows[:n])
			require.Equal(t, n, out.Written, out.Refused)
			rows = rows[n:]
		}
	}
	require.Empty(t, rowsOf(t, c.page("table?name=Texts")))
}
