package console_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// A bulkRow is a row of a grid, as the page sends it.
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

// bulk deletes rows with the request that the page sends.
func (c *client) bulk(where string, rows []bulkRow) (status int, out struct {
	Written int
	Units   float64
	Refused []struct{ Key, Why string }
	Undo    int
}, text string) {
	c.Helper()
	body, err := json.Marshal(map[string]any{"Rows": rows})
	require.NoError(c, err)
	status, text = c.do(http.MethodPost, "bulk-delete?"+where, string(body))
	if status == http.StatusOK {
		require.NoError(c, json.Unmarshal([]byte(text), &out))
	}
	return status, out, text
}

// TestBulk deletes several rows. It tests that the console does not delete a row that has changed since the page
// showed it.
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
	status, _, _ := c.bulk("name=Tab", rows[3:4])
	require.Equal(t, http.StatusOK, status)

	_, out, _ := c.bulk("name=Tab", rows)
	require.Equal(t, 3, out.Written)
	require.Equal(t, 6.0, out.Units)
	require.Equal(t, `[{p, 1 somebody has changed it since it was shown} {p, 2 somebody has changed it since it was shown} {p, 3 there is no such item any more}]`, fmt.Sprint(out.Refused))
	dump := c.db.Dump("Tab")
	require.Contains(t, dump, "somebody's")
	require.Contains(t, dump, `added: true`)

	// A row of an index has fewer attributes than its item.
	rows = rowsOf(t, c.page("table?name=Tab&index=ByDay"))
	require.Len(t, rows, 2)
	_, out, _ = c.bulk("name=Tab&index=ByDay", rows)
	require.Equal(t, 2, out.Written, out.Refused)
	require.Empty(t, rowsOf(t, c.page("table?name=Tab")))

	for _, bad := range []struct{ where, want string }{
		{"name=Nope", "Nope"}, {"name=Tab&index=Nope", "no index"},
	} {
		status, _, text := c.bulk(bad.where, rows)
		require.Equal(t, http.StatusBadRequest, status, text)
		require.Contains(t, text, bad.want)
	}
	status, _, _ = c.bulk("name=Tab", nil)
	require.Equal(t, http.StatusBadRequest, status)
	status, _, _ = c.bulk("name=Tab", make([]bulkRow, 101))
	require.Equal(t, http.StatusBadRequest, status)
	_, out, _ = c.bulk("name=Tab", []bulkRow{{"", ""}, {"!", "x"}})
	require.Len(t, out.Refused, 2)
}
