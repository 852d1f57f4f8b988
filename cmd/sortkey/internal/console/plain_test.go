package console_test

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlain tests that a page offers plain JSON exactly if plain JSON can represent the item, and then also DynamoDB
// JSON.
func TestPlain(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id")
	where := "?name=Tab&key=" + base64.RawURLEncoding.EncodeToString([]byte(`{"id":{"S":"a"}}`))
	for _, tt := range []struct{ typed, plain string }{
		{`"n": {"N": "12345678901234567890123456789012345678"}`, `"n": 12345678901234567890123456789012345678`},
		{`"m": {"M": {"S": {"S": "x"}}}, "l": {"L": [{"NULL": true}]}`, `"m": {"S": "x"}, "l": [null]`},
		{`"nothing": {"NULL": true}, "yes": {"BOOL": true}`, `"nothing": null, "yes": true`},
		{`"tags": {"SS": ["x", "y"]}`, ``},
		{`"l": {"L": [{"M": {"ns": {"NS": ["1"]}}}]}`, ``},
		{`"b": {"B": "YWJj"}`, ``},
	} {
		typed := `{"id": {"S": "a"}, ` + tt.typed + `}`
		c.db.PutJSON("Tab", []byte(typed))
		page := c.page("item" + where)
		is := html.UnescapeString(textarea.FindStringSubmatch(page)[1])
		send := func(path, is string) (int, string) {
			body, err := json.Marshal(map[string]string{"Sum": sums.FindStringSubmatch(page)[1], "Is": is})
			require.NoError(t, err)
			return c.do(http.MethodPost, path+where, string(body))
		}
		if tt.plain == "" {
			require.JSONEq(t, typed, is)
			require.NotContains(t, page, ">as DynamoDB JSON<")
			continue
		}
		plain := `{"id": "a", ` + tt.plain + `}`
		require.JSONEq(t, plain, is)
		other := html.UnescapeString(regexp.MustCompile(`href="([^"]*)">as DynamoDB JSON`).FindStringSubmatch(page)[1])
		require.JSONEq(t, typed, html.UnescapeString(textarea.FindStringSubmatch(c.page(other))[1]))
		for _, same := range []string{is, typed} {
			_, text := send("preview", same)
			require.Contains(t, text, "Nothing changes")
		}
		status, text := send("put", strings.Replace(plain, `"id": "a"`, `"id": "a", "new": 1.50`, 1))
		require.Equal(t, http.StatusOK, status, text)
		want := sum(t, strings.Replace(typed, `"id": {"S": "a"}`, `"id": {"S": "a"}, "new": {"N": "1.5"}`, 1))
		require.Equal(t, want, sums.FindStringSubmatch(c.page("item" + where))[1])
	}
}

// TestDifferences tests the differences in a preview: their paths and, for long values, the parts that differ.
func TestDifferences(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id")
	long := strings.Repeat("é", 300)
	c.db.Put("Tab", map[string]any{
		"id": "a", "m": map[string]any{"city": "Oslo", "code": 154}, "l": []any{1, 2, 3}, "grown": []any{1}, "long": long + "x" + long, "n": 1, "gone": true,
	})
	where := "?name=Tab&key=" + base64.RawURLEncoding.EncodeToString([]byte(`{"id":{"S":"a"}}`))
	page := c.page("item" + where)
	is := `{"id": "a", "m": {"city": "Bergen", "code": 154}, "l": [1, 7, 3], "grown": [1, 2], "long": "` + long + "y" + long + `", "n": "1", "new<b>": "\u202e"}`
	body, err := json.Marshal(map[string]any{"Sum": sums.FindStringSubmatch(page)[1], "Is": is})
	require.NoError(t, err)
	status, text := c.do(http.MethodPost, "preview"+where, string(body))
	require.Equal(t, http.StatusOK, status, text)
	var got []string
	for _, row := range strings.Split(text, "<tr>")[2:] {
		row, _, _ = strings.Cut(row, "</tr>")
		got = append(got, strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(row, " "))), " "))
	}
	near := strings.Repeat("é", 12)
	require.Equal(t, []string{
		`gone true none`, `grown [1] [1, 2]`, `l[1] 2 7`,
		`long …` + near + `x` + strings.Repeat("é", 106) + `… …` + near + `y` + strings.Repeat("é", 106) + `…`,
		`m.city "Oslo" "Bergen"`, `n 1 (N) "1" (S)`, "`new<b>` none \"\\u202e\"",
	}, got)
}
