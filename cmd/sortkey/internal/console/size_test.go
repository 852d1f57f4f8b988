package console_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/sortkeytest"
)

// maxPage bounds the size of a page, in bytes.
const maxPage = 2 << 20

// next matches the link to the next part of a list.
var next = regexp.MustCompile(`href="([^"]*)"(?: data-page="next")?>next rows`)

// TestSizes tests that no page is larger than 2 MB, whatever the database contains. If a list ends early for that
// reason, its next part must begin with the next row.
func TestSizes(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	c := start(t)
	c.db.Table("Keys", "PK / SK", sortkeytest.Global("Swapped", "SK / PK"))
	const n = 100
	for i := range n {
		c.db.PutJSON("Keys", fmt.Appendf(nil, `{"PK": {"S": %s}, "SK": {"S": "%s"}, %s}`,
			`"`+strings.Repeat(`\"`, 1000)+fmt.Sprint(i)+`"`, strings.Repeat("<", 1000)+fmt.Sprint(i), wide(`"`, 3)))
		c.db.PutJSON("Keys", fmt.Appendf(nil, `{"PK": {"S": "one"}, "SK": {"S": "%s%03d"}, %s}`,
			strings.Repeat(`\u0001`, 1000), i, wide("&", 9)))
	}
	parts := 0
	rows := func(address string, row *regexp.Regexp) map[string]bool {
		seen := map[string]bool{}
		for address != "" {
			page := c.page(address)
			parts++
			require.Less(t, len(page), maxPage, address)
			found := links(page, row)
			require.NotEmpty(t, found)
			for _, one := range found {
				require.False(t, row == items && seen[one], one) // pages may repeat a partition, but not an item
				seen[one] = true
			}
			address = ""
			if m := next.FindStringSubmatch(page); m != nil {
				address = html.UnescapeString(m[1])
			}
		}
		return seen
	}
	require.Len(t, rows("table?name=Keys", items), 2*n)
	require.Len(t, rows("table?name=Keys", collections), n+1)
	require.Len(t, rows("table?name=Keys&index=Swapped", collections), 2*n)
	require.Len(t, rows("collection?name=Keys&partition=one", items), n)
	require.Greater(t, parts, 3, "a list of the three ends early")

	// Make a branch with an item of many attributes.
	_, at := c.do(http.MethodPost, "branches", "")
	item, err := json.Marshal(map[string]string{"Is": fmt.Sprintf(`{"PK": {"S": "new"}, "SK": {"S": "x"}, %s}`, wide("<", 300))})
	require.NoError(t, err)
	status, said := c.do(http.MethodPost, at+"put?name=Keys", string(item))
	require.Equal(t, http.StatusOK, status, said)
	page := c.page("branches")
	require.Less(t, len(page), maxPage)
	require.Contains(t, page, "and 294 differences more")
}

// wide returns n attributes with long names and values, as JSON.
func wide(char string, n int) string {
	if char == `"` {
		char = `\"`
	}
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"%s%d": {"S": "%s"}`, strings.Repeat(char, 200), i, strings.Repeat(char, 100)))
	}
	return strings.Join(all, ", ")
}

// TestLargeItems shows items whose JSON is longer than a page can be. If even the shortest JSON is too long, the page
// must show the commands that read and write the item.
func TestLargeItems(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	c := start(t)
	c.db.Table("Things", "PK")
	for name, value := range map[string]string{
		"flat": `{"L": [` + strings.Repeat(`{"NULL": true},`, 190_000) + `{"NULL": true}]}`,
		"deep": strings.Repeat(`{"L": [`, 29) + strings.Repeat(`{"NULL": true},`, 6000) + `{"NULL": true}` +
			strings.Repeat(`]}`, 29),
		"text": `{"S": "` + strings.Repeat(`\"`, 400_000) + `"}`,
	} {
		c.db.PutJSON("Things", fmt.Appendf(nil, `{"PK": {"S": "%s"}, "value": %s}`, name, value))
		key := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"PK": {"S": "%s"}}`, name))
		page := c.page("item?name=Things&key=" + key)
		require.Less(t, len(page), maxPage, name)
		if name != "text" {
			require.Contains(t, page, "<textarea", "it is short as plain JSON without spaces")
			continue
		}
		require.NotContains(t, page, "<textarea")
		require.Contains(t, page, "<code>sortkey get Things</code>")
	}
}
